"""Read the user's own settings; they limit what those of a repository may decide (PP-6)."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from shared import bounded_toml, resources
from shared.config import Config
from shared.config_keys import KEYS, REQUIRED
from state.errors import Problem, Refused
from state.stages import ON_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_NONE = Config()


class UserConfig(NamedTuple):
    """What the user's config.toml says of time limits and approvals; None where it is silent."""

    gathering_timeout_minutes: int | None = None
    approval_timeout_minutes: int | None = None
    on_timeout: str | None = None
    require: str | None = None
    allowed_signers: str | None = None  # an absolute path, or one in the home folder (`~/…`)
    planner: Mapping[str, Any] = MappingProxyType({})  # the values of its table [planner]


def user_tables() -> dict[str, Any]:
    """Return the tables of the user's own config.toml, empty without one; Refused if it is bad."""
    path = resources.user_config_path()
    try:
        with open(path, "rb") as file:
            return bounded_toml.parse(file.read(bounded_toml.MOST_BYTES + 1))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise Refused("invalid", path, str(error), "correct your own settings") from None


def load_user_config() -> UserConfig:
    """Return the user's own settings of [mode], [approval] and [planner]; Refused if wrong."""
    path, tables = resources.user_config_path(), user_tables()
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    for name in ("mode", "approval"):
        values |= _read(path, name, tables.get(name, {}), problems)
    planner = _read(path, "planner", tables.get("planner", {}), problems)
    if problems:
        raise Refused.of(problems)
    return UserConfig(**values, planner=planner)


def _read(path: str, name: str, table: object, problems: list[Problem]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if not isinstance(table, dict):
        problems.append(Problem("invalid", f"{path} [{name}]", "is not a table", f"[{name}]"))
        return values
    for key, value in table.items():
        at, known = f"{path} [{name}].{key}", KEYS[name].get(key)
        if known is None:
            problems.append(Problem("invalid", at, "there is no such key", ", ".join(KEYS[name])))
        elif key == "allowed_signers" and not _is_own_path(value):
            text = "is not an absolute path, or one in the home folder"
            problems.append(Problem("invalid", at, text, "~/.ssh/allowed_signers"))
        else:
            wrong = () if key == "allowed_signers" else known.check(value)
            problems += [Problem("invalid", at, text, known.allowed) for text in wrong]
            values[known.attribute] = value
    return values


def _is_own_path(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("/", "~/"))


def limited(config: Config, user: UserConfig) -> Config:
    """Return a repository's settings as they count for this user.

    A repository can lengthen a time limit but not shorten it, never lets one cancel, and can demand
    more of an approval but not less. What the user has set counts before it.
    """
    longest = max(config.gathering_timeout_minutes, _NONE.gathering_timeout_minutes)
    waits = max(config.approval_timeout_minutes, _NONE.approval_timeout_minutes)
    return replace(
        config,
        gathering_timeout_minutes=user.gathering_timeout_minutes or longest,
        approval_timeout_minutes=user.approval_timeout_minutes or waits,
        on_timeout=user.on_timeout or ON_TIMEOUT[0],
        require=max(config.require, user.require or REQUIRED[0], key=REQUIRED.index),
        **user.planner,
    )
