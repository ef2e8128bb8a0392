"""Runs a project's own commands on the scratch worktree and says what came of them (PL-34).

`verify` is what a command calls; the work is done by `worker_main` in a process that outlives it.
Nothing runs that a person has not confirmed, and whoever reads or changes the worktree holds
`undisturbed`, since part of the time its files are broken on purpose.
"""

from __future__ import annotations

from shared.verify.background import cancel_verify, verify, wait_until_idle
from shared.verify.job import Done, Job, Result, Running
from shared.verify.lock import restore_canary, undisturbed
from shared.verify.prepare import check_confirmed, prepare
from shared.verify.worker import worker_main

__all__ = [
    "Done",
    "Job",
    "Result",
    "Running",
    "cancel_verify",
    "check_confirmed",
    "prepare",
    "restore_canary",
    "undisturbed",
    "verify",
    "wait_until_idle",
    "worker_main",
]
