"""Reads which commands and tools the user's settings allow or deny beyond the guard's own table."""

from __future__ import annotations

import os

from shared.guard.denial import Denied
from shared.resources import CONFIG_FILE

_FORM = 'a list of command lines, for example ["cargo tree", "mytool show *"]'


class Settings:
    """The guard's settings: `allow` and `deny` are command lines, split into words."""

    __slots__ = ("allow", "deny", "tools")

    def __init__(
        self,
        allow: tuple[tuple[str, ...], ...] = (),
        deny: tuple[tuple[str, ...], ...] = (),
        tools: tuple[str, ...] = (),
    ) -> None:
        self.allow = allow
        self.deny = deny
        self.tools = tools

    def allows(self, words: list[str]) -> bool:
        """Return whether the user allowed just this command; a last `*` allows any operands."""
        return any(_is_line(line, words) for line in self.allow)

    def check(self, words: list[str]) -> None:
        """Deny a command that starts with the words of a `deny` line in the settings."""
        for line in self.deny:
            if tuple(words[: len(line)]) == line:
                reason = f"`{' '.join(line)}` is denied by [guard] deny in the settings"
                raise Denied(reason, "use another command that only reads")


def load_settings(folder: str) -> Settings:
    """Return the user's [guard] settings, plus the `deny` lines of the repository around `folder`.

    Denied if either file can't be read, since it is unknown what that file denies.
    """
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    user = _table(os.path.join(home, "planner", "config.toml"))
    project = _table(_project_file(folder))
    return Settings(
        _lines(user, "allow"),
        (*_lines(user, "deny"), *_lines(project, "deny")),
        tuple(_texts(user, "tools")),
    )


def _is_line(line: tuple[str, ...], words: list[str]) -> bool:
    if line[-1] != "*":
        return tuple(words) == line
    size = len(line) - 1
    further = words[size:]
    return tuple(words[:size]) == line[:-1] and not any(w.startswith("-") for w in further)


def _project_file(folder: str) -> str:
    """Return the nearest planner.toml in `folder` or a folder above it, "" if there is none."""
    while not os.path.isfile(path := os.path.join(folder, CONFIG_FILE)):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return path


def _table(path: str) -> dict[str, object]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    if (
        b"guard" not in data
    ):  # most files have no [guard], and reading TOML takes longer than a decision
        return {}
    import tomllib

    try:
        table = tomllib.loads(data.decode("utf-8-sig")).get("guard", {})
    except (ValueError, RecursionError) as error:
        raise Denied(
            f"{path} is not valid TOML: {error}", "ask the user to fix this file"
        ) from None
    if not isinstance(table, dict):
        raise Denied(f"{path}: [guard] is not a table", "ask the user to fix this file")
    return table


def _texts(table: dict[str, object], key: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
        raise Denied(f"[guard] {key} is not {_FORM}", "ask the user to fix this setting")
    return value


def _lines(table: dict[str, object], key: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(text.split()) for text in _texts(table, key))
