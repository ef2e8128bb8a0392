"""Every place in the program that starts a process is known, with what holds what it starts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from shared.git.command import Git
from tests.test_layers import modules

if TYPE_CHECKING:
    from collections.abc import Iterator

# Before the approval, what runs code of the worktree is here or is git without its programs.
IN_THE_PLACE = {
    "shared/place/enter": "runs a command in the place",
    "shared/place/inside": "the processes of the place itself",
    "shared/place/level": "tries the place in a process of its own, which ends with the answer",
    "shared/place/owners": "holds a namespace that knows only some owners; runs nothing",
}
OUR_GIT = {
    "shared/git/command": "git with settings that keep it from starting programs",
    "shared/guard/git": "asks git for settings, which starts nothing",
    "shared/git/limited": "the git of shared/git/command where it may take only so long",
}
# Without namespaces: what the parser admits, and the hooks of a capture, by Landlock and seccomp.
BELOW_THE_PLACE = {
    "shared/sandbox": "becomes a command whose writes are limited",
}
# What a person has confirmed: verify commands where there is no place, and `[worktree] setup`.
CONFIRMED = {"developer/verify/process": "commands of planner.toml, in the worktree"}
OURS = {
    "developer/verify/background": "our own worker",
    "shared/ssh_signature": "ssh-keygen, which signs or checks a digest",
    "shared/installation": "the pip that installs our dependencies",
    "shared/git/files": "rm, which removes a folder of ours and goes on alone",
    "cli/demo/host": "our own commands, as the demo's host sends them",
    "orchestrator/ci/code_host": "gh or glab, by which a person reaches the issue and the request",
    "cli/whole_run": "the editor of a person, at a terminal",
    "orchestrator/submit/editing": "the same, for remarks",
    "developer/trials": "a copy of ours for each trial, whose commands run in the place",
}
STARTING = {
    "subprocess": {"run", "Popen", "call", "check_call", "check_output"},
    "os": {
        "fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp", "execv", "execve",
        "execvp", "execvpe", "execl", "execle", "execlp", "execlpe", "spawnv", "spawnve", "spawnvp",
        "spawnl", "spawnlp",
    },
    "pty": {"fork", "spawn"}, "multiprocessing": {"Process", "Pool"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
}  # fmt: skip
# Git with the user's own settings runs their hooks: commit does, after the approval, when people
# asks their program whose signature it has; the others ask where the hooks are.
WITH_HOOKS = {
    "shared/git/command", "shared/git/commit", "shared/git/hooks", "shared/git/own_files",
    "shared/git/people",
}  # fmt: skip


def starts(place: str) -> Iterator[str]:
    """Yield what in a module starts a process, also where the function is imported by name."""
    for node in ast.walk(modules()[place].tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in STARTING.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            names = STARTING.get(node.module or "", set())
            yield from (alias.name for alias in node.names if alias.name in names)


@pytest.mark.requirement("PP-1")
def test_what_starts_a_process_is_in_the_place_or_is_our_git_or_is_named_here() -> None:
    known = {**IN_THE_PLACE, **OUR_GIT, **BELOW_THE_PLACE, **CONFIRMED, **OURS}
    found = {place: sorted(starts(place)) for place in modules() if any(starts(place))}
    unknown = {place: what for place, what in found.items() if place not in known}
    assert not unknown, f"{unknown} · allowed: shared/place/enter.run, or a row here with a reason"
    assert set(known) == set(found), "a row that nothing needs would allow what comes later"


@pytest.mark.requirement("PP-1")
def test_our_git_starts_no_program_of_the_repository() -> None:
    words = Git("/x/.git", "/x").words("status")
    for setting in ("core.hooksPath=/dev/null", "core.fsmonitor=false"):
        assert words[words.index(setting) - 1] == "-c"
    users = {
        place
        for place, module in modules().items()
        for node in ast.walk(module.tree)
        if (isinstance(node, ast.Attribute) and node.attr == "as_set_up")
        or (isinstance(node, ast.FunctionDef) and node.name == "as_set_up")
    }  # fmt: skip
    assert users <= WITH_HOOKS
