"""Runs a project's own commands on the scratch worktree and says what came of them (PL-34).

`background.verify` is what a command calls; the work is done by `worker.worker_main` in a process
that outlives it. Nothing runs that a person has not confirmed, and whoever reads or
changes the worktree holds `lock.undisturbed`, since part of the time its files are broken on
purpose.
"""
