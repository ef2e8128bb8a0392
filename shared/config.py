"""Read a project's settings from the file `planner.toml` in the base commit (PL-33, PL-34).

Its commands are other people's code: nothing here runs one, and whoever does asks first whether
a person confirmed `commands_hash`.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from shared import bounded_toml
from shared.bounded_toml import MOST_BYTES
from shared.config_keys import ALLOWED_SIGNERS, KEYS, PLAN_IN, REQUIRED, check_run_table
from shared.defaults import DEFAULT_LINES, DEFAULT_MILESTONES, PARALLEL_STEPS
from shared.git.large import MOST_MB
from shared.resources import CONFIG_FILE, CONFIG_FILES, OWN_CONFIG_FILE
from state.beneath import Beneath
from state.errors import Problem, Refused
from state.stages import APPROVAL_TIMEOUT_S, GATHERING_TIMEOUT_S, ON_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.git.command import Git

DEFAULT_TIME_LIMIT_S = 1_800

# Tables that other parts of the planner read; they are not checked here.
OTHER_TABLES = ("providers", "qr")
_SHOWN = 5


@dataclass(frozen=True)
class Config:
    """A project's settings from planner.toml; commands are lines for `sh -c`, run in order."""

    setup: tuple[str, ...] = ()
    # Paths of the repository that the worktree borrows.
    link: tuple[str, ...] = ()
    format: tuple[str, ...] = ()
    verify: tuple[str, ...] = ()
    # Further paths that commands may write to: in the repository, in the home folder (`~/…`) or
    # absolute.
    write: tuple[str, ...] = ()
    time_limit_s: int = DEFAULT_TIME_LIMIT_S
    # A plan with more than these two say, or with a `sensitive` file, is reviewed in full.
    review_milestones: int = DEFAULT_MILESTONES
    review_lines: int = DEFAULT_LINES
    sensitive: tuple[str, ...] = ()
    gathering_timeout_minutes: int = GATHERING_TIMEOUT_S // 60
    approval_timeout_minutes: int = APPROVAL_TIMEOUT_S // 60
    on_timeout: str = ON_TIMEOUT[0]
    max_parallel_steps: int = PARALLEL_STEPS
    decision_timeout_seconds: int = 0
    # 0 where nobody has named it; see decision 0172.
    max_context_tokens: int = 0
    enabled: bool = True
    # Whether an approved plan is carried out at once.
    auto_run: bool = False
    # Without it a run's files lie in a temporary folder.
    enable_persistence: bool = True
    run: Mapping[str, str] = field(default_factory=dict)
    # Command lines that the guard denies besides its own.
    deny: tuple[str, ...] = ()
    require: str = REQUIRED[0]
    allowed_signers: str = ALLOWED_SIGNERS
    # Files of the repository that formatters and hooks may read although their names say that they
    # hold secrets, once a person has confirmed `commands_hash`.
    secrets: tuple[str, ...] = ()
    # Whether the verify commands reach the network, once a person has confirmed `commands_hash`.
    network: bool = False
    # Where a committed plan is kept.
    commit_plan: str = PLAN_IN[0]
    # How much of patches a plan may hold.
    max_patch_mb: int = MOST_MB

    def to_json(self) -> dict[str, Any]:
        """Return the project's settings as a dict that can be written as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Config:
        """Return the project's settings from a dict that `to_json` made."""
        values: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in data.items()
        }
        return cls(**values)


def load_config(git: Git, commit: str) -> Config:
    """Return the settings in the planner.toml of `commit`, or the defaults if it has none.

    Refused (`invalid`) with every mistake at once.
    """
    data = file_at(git, commit, *CONFIG_FILES)
    return Config() if data is None else parse_config(data)


def file_at(git: Git, commit: str, *paths: str) -> bytes | None:
    """Return the first of these files that a commit has, by name; None if it has none of them.

    Refused (`invalid`) for a link, a folder and a file larger than 64 kB.
    """
    literal = [f":(top,literal){path}" for path in paths]
    words = ("ls-tree", "-z", "--long", "--full-tree", commit, "--", *literal)
    entry = git.lasting(*words, of=[commit]).partition(b"\0")[0]
    if not entry:
        return None
    (mode, _, blob, size), path = entry.partition(b"\t")[0].split(), entry.partition(b"\t")[2]
    name = os.fsdecode(path)
    if mode not in {b"100644", b"100755"}:
        text = f"is not a plain file at the commit {commit[:12]}"
        raise Refused("invalid", name, text, f"make {name} a plain file, or remove it")
    if int(size) > MOST_BYTES:
        text = f"is longer than {MOST_BYTES // 1024} kB at the commit {commit[:12]}"
        raise Refused("invalid", name, text, f"make {name} shorter, or remove it")
    return git.lasting("cat-file", "blob", blob.decode(), of=[blob.decode()])


def own_config(root: str) -> str:
    """Return the name of the file with the planner's settings in a working tree."""
    return OWN_CONFIG_FILE if Beneath(root).exists(OWN_CONFIG_FILE) else CONFIG_FILE


def parse_config(data: bytes) -> Config:
    """Return the settings in a planner.toml's bytes; raise Refused with every mistake at once.

    A file in which nothing is ours is refused as a whole.
    """
    tables = _parse_toml(data)
    if is_of_another_tool(tables):
        raise _of_another_tool(tables)
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for name, table in tables.items():
        if name in OTHER_TABLES:
            continue
        at = f"{CONFIG_FILE} [{name}]"
        if name == "guard" and isinstance(table, dict):
            # What it allows is read from the user's own file alone.
            values |= _read_table(name, {k: table[k] for k in KEYS[name] if k in table}, problems)
        elif name not in KEYS and name != "run":
            problems.append(Problem("invalid", at, "there is no such table", _tables()))
        elif not isinstance(table, dict):
            problems.append(
                Problem("invalid", at, "is not a table", f"write it as a table: [{name}]")
            )
        elif name == "run":
            problems += check_run_table(table)
            values["run"] = table
        else:
            values |= _read_table(name, table, problems)
    if problems:
        raise Refused.of(problems)
    return Config(**values)


def is_of_another_tool(tables: Mapping[str, Any]) -> bool:
    """Return whether a planner.toml holds no table and key of ours, but several others.

    A single table of ours with keys that are not may hold a slip of the pen.
    """
    ours = {"run", "guard", *OTHER_TABLES}
    known = any(
        name in ours
        or (isinstance(table, dict) and not KEYS.get(name, {}).keys().isdisjoint(table))
        for name, table in tables.items()
    )
    return not known and (len(tables) > 1 or not KEYS.keys() >= tables.keys())


def _of_another_tool(tables: Mapping[str, Any]) -> Refused:
    names = ", ".join(sorted(tables)[:_SHOWN])
    text = f"holds nothing that the planner knows, so it seems to be another tool's: {names}"
    allowed = f"the tables are {_tables()}; if it is another tool's, have the user commit a file "
    allowed += f"{OWN_CONFIG_FILE}, which may be empty and is read in its place"
    made = f"touch {OWN_CONFIG_FILE} && git add {OWN_CONFIG_FILE}"
    made += f" && git commit -m 'Planner settings' {OWN_CONFIG_FILE}"
    return Refused("invalid", CONFIG_FILE, text, allowed, made)


def _tables() -> str:
    return ", ".join(f"[{known}]" for known in sorted((*KEYS, "run", *OTHER_TABLES)))


def commands_hash(config: Config) -> str:
    """Return a hash of what a person confirms of the project's settings, "" if there is nothing."""
    shown: dict[str, object] = {
        "setup": config.setup,
        "format": config.format,
        "verify": config.verify,
        "run": dict(config.run),
    }
    if config.secrets:
        shown["secrets"] = config.secrets
    if config.network:
        shown["network"] = True
    if not (any(shown.values()) or config.write):
        return ""
    # The names are ASCII, so that sorting them and no spaces make this the canonical form.
    text = json.dumps(
        {**shown, "write": config.write}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def render_commands(config: Config) -> str:
    """Return the project's commands as text that a person reads and confirms, one per line."""
    lists = (
        ("[worktree] setup", config.setup),
        ("[worktree] format", config.format),
        ("[verify] commands", config.verify),
        ("[verify] write", config.write),
        ("[verify] secrets", config.secrets),
        ("[verify] network", ("true",) * config.network),
    )
    lines = [f"{title}: {_visible(value)}" for title, values in lists for value in values]
    lines += [f"[run] {name}: {_visible(command)}" for name, command in config.run.items()]
    return "\n".join(lines)


def named_commands(config: Config) -> dict[str, tuple[str, ...]]:
    """Return the project's shell commands by the name that `tree run NAME` takes."""
    named = {name: (command,) for name, command in config.run.items()}
    lists = {"verify": config.verify, "format": config.format, "setup": config.setup}
    return named | {name: commands for name, commands in lists.items() if commands}


def write_paths(config: Config, repository: str) -> list[str]:
    """Return the configured paths where the project's commands may write, made absolute."""
    return [
        os.path.expanduser(path) if path.startswith("~/") else os.path.join(repository, path)
        for path in config.write
    ]


def secret_paths(config: Config, repository: str) -> list[str]:
    """Return the absolute paths of the secrets that the project's commands may read."""
    return [os.path.join(repository, path) for path in config.secrets]


def _visible(command: str) -> str:
    # A right-to-left mark or an escape sequence could show a person another command than runs.
    return command if command.isprintable() else json.dumps(command)


def _parse_toml(data: bytes) -> dict[str, Any]:
    try:
        return bounded_toml.parse(data)
    except ValueError as error:
        allowed = f'TOML of at most {MOST_BYTES // 1024} kB, for example commands = ["pytest"]'
        raise Refused("invalid", CONFIG_FILE, str(error), allowed) from None


def _read_table(name: str, table: dict[str, Any], problems: list[Problem]) -> dict[str, Any]:
    """Return the settings in one table of planner.toml; add its mistakes to `problems`."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        at = f"{CONFIG_FILE} [{name}].{key}"
        if key not in KEYS[name]:
            known = ", ".join(KEYS[name])
            problems.append(Problem("invalid", at, "there is no such key", known))
            continue
        known_key = KEYS[name][key]
        problems += [
            Problem("invalid", at, text, known_key.allowed) for text in known_key.check(value)
        ]
        values[known_key.attribute] = tuple(value) if isinstance(value, list) else value
    return values
