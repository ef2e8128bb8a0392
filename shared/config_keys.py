"""The tables and keys of `planner.toml`: the setting each sets, its allowed values, its check.

A check takes any value of TOML and yields what is wrong with it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from shared.git.large import MOST_MB
from shared.resources import CONFIG_FILE
from state.errors import Problem
from state.stages import ON_TIMEOUT
from state.validator import path_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LONGEST_TIMEOUT_MINUTES = 525_600  # a year
LONGEST_TIME_LIMIT_S = 86_400
# How an approval has to be given: by whatever channel, or by one that proves a person.
REQUIRED = ("any", PROVEN_ONLY := "proven")
# Where the plan of a commit is kept: under a ref of its own alone, or also as files of the commit.
PLAN_IN = ("ref", "file")
ALLOWED_SIGNERS = "planning/allowed_signers"
MOST_PARALLEL = 64
RESERVED_NAMES = ("verify", "format", "setup")

_COMMANDS = 'a list of shell commands, for example ["python -m pytest -q"]'
_PATHS = 'a list of paths inside the repository, for example ["node_modules"]'
_SECRETS = 'a list of paths inside the repository, for example [".env.test"]'
_WRITE = 'a list of paths: in the repository, in the home folder or absolute, for example ["~/.m2"]'
_COUNT = "a whole number, the largest that counts as a small plan, for example "
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Key(NamedTuple):
    """One key of planner.toml: the Config attribute it sets, its allowed values, its check."""

    attribute: str
    allowed: str
    check: Callable[[object], Iterable[str]]


def check_run_table(table: dict[str, Any]) -> list[Problem]:
    """Return the mistakes in planner.toml's `[run]` table, which maps names to shell commands."""
    problems = []
    for name, command in table.items():
        at = f"{CONFIG_FILE} [run].{name}"
        if not _NAME.fullmatch(name):
            allowed = (
                "a name of letters, digits, '.', '_' and '-' that begins with a letter or digit"
            )
            problems.append(Problem("invalid", at, "is not a name for a command", allowed))
        if name in RESERVED_NAMES:
            text = f"this name is reserved: `tree run {name}` runs the commands in the list {name}"
            problems.append(Problem("invalid", at, text, "choose another name"))
        problems += [
            Problem("invalid", at, text, 'a shell command, for example lint = "ruff check ."')
            for text in _command_problems(command)
        ]
    return problems


def _command_problems(command: object) -> Iterable[str]:
    if not isinstance(command, str):
        yield f"{json.dumps(command, default=str)} is not text"
    elif not command.strip() or "\0" in command:
        yield f"{command!r} is not a command"


def _check_commands(value: object) -> Iterable[str]:
    if not isinstance(value, list):
        yield "is not a list"
        return
    for n, command in enumerate(value):
        yield from (f"entry {n + 1}: {text}" for text in _command_problems(command))


def _check_paths(value: object) -> Iterable[str]:
    yield from _bad_paths(value, outside=False)


def _check_write(value: object) -> Iterable[str]:
    yield from _bad_paths(value, outside=True)


def _bad_paths(value: object, *, outside: bool) -> Iterable[str]:
    if not isinstance(value, list):
        yield "is not a list"
        return
    for path in value:
        if not isinstance(path, str):
            yield f"{json.dumps(path, default=str)} is not text"
        elif outside and path.startswith("~") and not path.startswith("~/"):
            yield f"{path!r} is not a path: the home folder is written ~/…"
        elif text := path_problem(re.sub(r"^(~/|/)", "", path) if outside else path):
            yield f"{path!r} {text}"


def _check_limit(value: object) -> Iterable[str]:
    yield from _bad_number(value, LONGEST_TIME_LIMIT_S)


def _check_minutes(value: object) -> Iterable[str]:
    yield from _bad_number(value, LONGEST_TIMEOUT_MINUTES)


def _bad_number(value: object, most: int) -> Iterable[str]:
    # In Python a bool is an int; in TOML it is not.
    if not isinstance(value, int) or isinstance(value, bool):
        yield "is not a whole number"
    elif not 1 <= value <= most:
        yield f"{value} is out of range"


def _check_parallel(value: object) -> Iterable[str]:
    yield from _bad_number(value, MOST_PARALLEL)


def _check_on_timeout(value: object) -> Iterable[str]:
    if value not in ON_TIMEOUT:
        yield f"{json.dumps(value, default=str)} is not an action for a time limit"


def _check_count(value: object) -> Iterable[str]:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        yield "is not a whole number of 0 or more"


def _check_flag(value: object) -> Iterable[str]:
    if not isinstance(value, bool):
        yield f"{json.dumps(value, default=str)} is not true or false"


def _check_patterns(value: object) -> Iterable[str]:
    if not isinstance(value, list) or not all(isinstance(p, str) and p.strip() for p in value):
        yield "is not a list of patterns"


def _check_deny(value: object) -> Iterable[str]:
    if not isinstance(value, list) or not all(isinstance(t, str) and t.strip() for t in value):
        yield "is not a list of command lines"


def _check_require(value: object) -> Iterable[str]:
    if value not in REQUIRED:
        yield f"{json.dumps(value, default=str)} is not a demand on approvals"


def _check_plan(value: object) -> Iterable[str]:
    if value not in PLAN_IN:
        yield f"{json.dumps(value, default=str)} is not a place for a plan"


def _check_signers(value: object) -> Iterable[str]:
    yield from _bad_paths([value], outside=False)


# Table → key → what it means.
KEYS: dict[str, dict[str, Key]] = {
    "worktree": {
        "setup": Key("setup", _COMMANDS, _check_commands),
        "link": Key("link", _PATHS, _check_paths),
        "format": Key("format", _COMMANDS, _check_commands),
    },
    "verify": {
        "commands": Key("verify", _COMMANDS, _check_commands),
        "write": Key("write", _WRITE, _check_write),
        "secrets": Key("secrets", _SECRETS, _check_paths),
        "network": Key("network", "true or false", _check_flag),
        "time_limit_s": Key(
            "time_limit_s",
            f"seconds per command, 1 to {LONGEST_TIME_LIMIT_S}, for example 600",
            _check_limit,
        ),
    },
    "mode": {
        "gathering_timeout_minutes": Key(
            "gathering_timeout_minutes",
            f"minutes without a call of a tool, 1 to {LONGEST_TIMEOUT_MINUTES}",
            _check_minutes,
        ),
        "approval_timeout_minutes": Key(
            "approval_timeout_minutes",
            f"minutes without an answer, 1 to {LONGEST_TIMEOUT_MINUTES}",
            _check_minutes,
        ),
        "on_timeout": Key("on_timeout", ", ".join(ON_TIMEOUT), _check_on_timeout),
    },
    "guard": {
        "deny": Key("deny", 'a list of command lines, for example ["rg"]', _check_deny),
    },
    "approval": {
        "require": Key("require", ", ".join(REQUIRED), _check_require),
        "allowed_signers": Key(
            "allowed_signers",
            f"the path of a file in the repository, for example {ALLOWED_SIGNERS}",
            _check_signers,
        ),
    },
    "commit": {
        "plan": Key("commit_plan", ", ".join(PLAN_IN), _check_plan),
    },
    "plan": {
        "max_patch_mb": Key("max_patch_mb", _COUNT + str(MOST_MB), _check_count),
    },
    "planner": {
        "max_parallel_steps": Key(
            "max_parallel_steps",
            f"how many agents write at once at depth intent, 1 to {MOST_PARALLEL}",
            _check_parallel,
        ),
        "decision_timeout_seconds": Key(
            "decision_timeout_seconds",
            "seconds until an unanswered question blocks its milestone; 0 for no limit",
            _check_count,
        ),
        "max_context_tokens": Key(
            "max_context_tokens",
            "the size of an assistant's context in tokens; unless set nothing is said of it",
            _check_count,
        ),
        "enabled": Key("enabled", "true or false", _check_flag),
        "auto_run": Key("auto_run", "true or false", _check_flag),
        "enable_persistence": Key("enable_persistence", "true or false", _check_flag),
    },
    "review": {
        "milestones": Key("review_milestones", _COUNT + "1", _check_count),
        "lines": Key("review_lines", _COUNT + "300", _check_count),
        "sensitive": Key(
            "sensitive",
            'files whose change is always reviewed in full, for example ["auth/*", "billing"]',
            _check_patterns,
        ),
    },
}
