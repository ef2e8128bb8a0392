"""What a project tells the planner: `planner.toml` as the base commit holds it (PL-33, PL-34).

Its commands are other people's code: nothing here runs one, and whoever does asks first whether
a person confirmed `commands_hash`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from shared.defaults import DEFAULT_LINES, DEFAULT_MILESTONES
from shared.resources import CONFIG_FILE
from state.errors import Problem, Refused
from state.stages import APPROVAL_TIMEOUT_S, GATHERING_TIMEOUT_S, ON_TIMEOUT
from state.validator import path_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from shared.git.command import Git

DEFAULT_TIME_LIMIT_S = 1_800
LONGEST_TIMEOUT_MINUTES = 525_600  # a year
LONGEST_TIME_LIMIT_S = 86_400
RESERVED_NAMES = ("verify", "format", "setup")

# Tables that other parts of the planner read.
OTHER_TABLES = ("guard", "planner", "providers", "qr")

_COMMANDS = 'a list of shell commands, for example ["python -m pytest -q"]'
_PATHS = 'a list of paths inside the repository, for example ["node_modules"]'
_WRITE = 'a list of paths: in the repository, in the home folder or absolute, for example ["~/.m2"]'
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True)
class Config:
    """A project's settings; commands are lines for `sh -c`, in the order in which they run.

    `link` are paths of the repository that the worktree borrows. `write` are further paths that
    commands may write to: in the repository, in the home folder (`~/…`) or absolute. A plan with
    more milestones or lines than `review_…` say, or with a `sensitive` file, is reviewed in full.
    """

    setup: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    format: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    time_limit_s: int = DEFAULT_TIME_LIMIT_S
    review_milestones: int = DEFAULT_MILESTONES
    review_lines: int = DEFAULT_LINES
    sensitive: tuple[str, ...] = ()
    gathering_timeout_minutes: int = GATHERING_TIMEOUT_S // 60
    approval_timeout_minutes: int = APPROVAL_TIMEOUT_S // 60
    on_timeout: str = ON_TIMEOUT[0]
    run: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the settings as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Config:
        """Return the settings that `to_json` gave."""
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in data.items()
        }
        return cls(**values)


def load_config(git: Git, commit: str) -> Config:
    """Return the settings that `commit` holds, the defaults where it has no planner.toml.

    Refused (`invalid`) with every mistake at once.
    """
    entry = git.run("ls-tree", "-z", "--full-tree", commit, "--", f":(top){CONFIG_FILE}")
    if not entry:
        return Config()
    mode, _, rest = entry.partition(b" ")
    if mode not in {b"100644", b"100755"}:
        text = "is no plain file at the base commit"
        raise Refused("invalid", CONFIG_FILE, text, "a plain file, or none")
    return parse_config(git.run("cat-file", "blob", rest.split()[1].decode()))


def parse_config(data: bytes) -> Config:
    """Return the settings in the bytes of a planner.toml; Refused with every mistake at once."""
    tables = _parse_toml(data)
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for name, table in tables.items():
        if name in OTHER_TABLES:
            continue
        at = f"{CONFIG_FILE} [{name}]"
        if name not in _KEYS and name != "run":
            known = ", ".join(f"[{known}]" for known in sorted((*_KEYS, "run", *OTHER_TABLES)))
            problems.append(Problem("invalid", at, "there is no such table", known))
        elif not isinstance(table, dict):
            problems.append(Problem("invalid", at, "is no table", f"a table: [{name}]"))
        elif name == "run":
            problems += _check_run(table)
            values["run"] = table
        else:
            values |= _read_table(name, table, problems)
    if problems:
        raise Refused.of(problems)
    return Config(**values)


def commands_hash(config: Config) -> str:
    """Return the hash that a person confirms: commands and where they may write; "" for none."""
    shown = {
        "setup": config.setup,
        "format": config.format,
        "verify": config.verify,
        "run": dict(config.run),
    }
    if not any(shown.values()):
        return ""
    # The names are ASCII, so that sorting them and no spaces make this the canonical form.
    text = json.dumps(
        {**shown, "write": config.write}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def render_commands(config: Config) -> str:
    """Return what confirming means, one command per line; invisible characters are escaped."""
    lists = (
        ("[worktree] setup", config.setup),
        ("[worktree] format", config.format),
        ("[verify] commands", config.verify),
        ("[verify] write", config.write),
    )
    lines = [f"{title}: {_visible(value)}" for title, values in lists for value in values]
    lines += [f"[run] {name}: {_visible(command)}" for name, command in config.run.items()]
    return "\n".join(lines)


def named_commands(config: Config) -> dict[str, tuple[str, ...]]:
    """Return what `tree run` knows by name: the run table, then verify, format and setup."""
    named = {name: (command,) for name, command in config.run.items()}
    lists = {"verify": config.verify, "format": config.format, "setup": config.setup}
    return named | {name: commands for name, commands in lists.items() if commands}


def write_paths(config: Config, repository: str) -> list[str]:
    """Return the `write` entries as absolute paths."""
    return [
        os.path.expanduser(path) if path.startswith("~/") else os.path.join(repository, path)
        for path in config.write
    ]


def _visible(command: str) -> str:
    # A right-to-left mark or an escape sequence could show a person another command than runs.
    return command if command.isprintable() else json.dumps(command)


def _parse_toml(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        text = f"is not UTF-8 at line {line}"
    except tomllib.TOMLDecodeError as error:
        # Where the text ends too soon Python gives no line.
        last = data.count(b"\n") + 1
        text = f"is no TOML: {error}" + ("" if "line" in str(error) else f" (line {last})")
    except RecursionError:
        text = "is nested too deeply to be read"
    raise Refused("invalid", CONFIG_FILE, text, 'TOML, for example commands = ["python -m pytest"]')


def _read_table(name: str, table: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """Return the settings of a table and add what is wrong with it to `problems`."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        at = f"{CONFIG_FILE} [{name}].{key}"
        if key not in _KEYS[name]:
            known = ", ".join(_KEYS[name])
            problems.append(Problem("invalid", at, "there is no such key", known))
            continue
        attribute, allowed, check = _KEYS[name][key]
        wrong = list(check(value))
        problems += [Problem("invalid", at, text, allowed) for text in wrong]
        values[attribute] = tuple(value) if isinstance(value, list) else value
    return values


def _check_run(table: dict[str, Any]) -> list[Problem]:
    problems = []
    for name, command in table.items():
        at = f"{CONFIG_FILE} [run].{name}"
        if not _NAME.fullmatch(name):
            allowed = "letters, digits, '.', '_' and '-', a letter or digit first"
            problems.append(Problem("invalid", at, "is no name", allowed))
        if name in RESERVED_NAMES:
            text = f"the name is taken: `tree run {name}` runs the commands of that list"
            problems.append(Problem("invalid", at, text, "another name"))
        problems += [
            Problem("invalid", at, text, 'a shell command, for example lint = "ruff check ."')
            for text in _command_problems(command)
        ]
    return problems


def _command_problems(command: object) -> Iterable[str]:
    if not isinstance(command, str):
        yield f"{json.dumps(command, default=str)} is no text"
    elif not command.strip() or "\0" in command:
        yield f"{command!r} is no command"


def _check_commands(value: object) -> Iterable[str]:
    if not isinstance(value, list):
        yield "is no list"
        return
    for n, command in enumerate(value):
        yield from (f"entry {n + 1}: {text}" for text in _command_problems(command))


def _check_paths(value: object) -> Iterable[str]:
    yield from _bad_paths(value, outside=False)


def _check_write(value: object) -> Iterable[str]:
    yield from _bad_paths(value, outside=True)


def _bad_paths(value: object, *, outside: bool) -> Iterable[str]:
    if not isinstance(value, list):
        yield "is no list"
        return
    for path in value:
        if not isinstance(path, str):
            yield f"{json.dumps(path, default=str)} is no text"
        elif outside and path.startswith("~") and not path.startswith("~/"):
            yield f"{path!r} is no path: the home folder is written ~/…"
        elif text := path_problem(re.sub(r"^(~/|/)", "", path) if outside else path):
            yield f"{path!r} {text}"


def _check_limit(value: object) -> Iterable[str]:
    # In Python a bool is an int; in TOML it is not.
    if not isinstance(value, int) or isinstance(value, bool):
        yield "is no whole number"
    elif not 1 <= value <= LONGEST_TIME_LIMIT_S:
        yield f"{value} is out of range"


def _check_minutes(value: object) -> Iterable[str]:
    if not isinstance(value, int) or isinstance(value, bool):
        yield "is no whole number"
    elif not 1 <= value <= LONGEST_TIMEOUT_MINUTES:
        yield f"{value} is out of range"


def _check_on_timeout(value: object) -> Iterable[str]:
    if value not in ON_TIMEOUT:
        yield f"{json.dumps(value, default=str)} is nothing that a time limit does"


def _check_count(value: object) -> Iterable[str]:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        yield "is no whole number from 0"


def _check_patterns(value: object) -> Iterable[str]:
    if not isinstance(value, list) or not all(isinstance(p, str) and p.strip() for p in value):
        yield "is no list of patterns"


_KEYS: dict[str, dict[str, tuple[str, str, Callable[[object], Iterable[str]]]]] = {
    "worktree": {
        "setup": ("setup", _COMMANDS, _check_commands),
        "link": ("link", _PATHS, _check_paths),
        "format": ("format", _COMMANDS, _check_commands),
    },
    "verify": {
        "commands": ("verify", _COMMANDS, _check_commands),
        "write": ("write", _WRITE, _check_write),
        "time_limit_s": (
            "time_limit_s",
            f"seconds per command, 1 to {LONGEST_TIME_LIMIT_S}, for example 600",
            _check_limit,
        ),
    },
    "mode": {
        "gathering_timeout_minutes": (
            "gathering_timeout_minutes",
            f"minutes without a call of a tool, 1 to {LONGEST_TIMEOUT_MINUTES}",
            _check_minutes,
        ),
        "approval_timeout_minutes": (
            "approval_timeout_minutes",
            f"minutes without an answer, 1 to {LONGEST_TIMEOUT_MINUTES}",
            _check_minutes,
        ),
        "on_timeout": ("on_timeout", ", ".join(ON_TIMEOUT), _check_on_timeout),
    },
    "review": {
        "milestones": (
            "review_milestones",
            "the most of a small plan, for example 1",
            _check_count,
        ),
        "lines": ("review_lines", "the most of a small plan, for example 300", _check_count),
        "sensitive": (
            "sensitive",
            'files whose change is always reviewed in full, for example ["auth/*", "billing"]',
            _check_patterns,
        ),
    },
}
