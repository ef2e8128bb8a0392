"""What a user lets through besides the table, and what a repository refuses besides it."""

from __future__ import annotations

import os

from shared.guard.denial import Denied
from shared.resources import CONFIG_FILE

_FORM = 'a list of command lines, for example ["cargo tree", "mytool show *"]'


class Settings:
    """`allow` and `deny` are command lines as words, a last `*` for any operands."""

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
        """Tell whether the user allowed exactly this, options counted."""
        return any(_is_line(line, words) for line in self.allow)

    def check(self, words: list[str]) -> None:
        """Deny what begins as a line of `deny` does."""
        for line in self.deny:
            if tuple(words[: len(line)]) == line:
                reason = f"`{' '.join(line)}` is refused by [guard] deny"
                raise Denied(reason, "another command of the table")


def load_settings(folder: str) -> Settings:
    """Return the user's own settings, tightened by the repository's around `folder`.

    Denied where either file can't be read: nobody knows then what it refuses.
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
    """Return the planner.toml of the folder or the nearest one above it, "" for none."""
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
    if b"guard" not in data:  # most have none, and reading TOML costs more than a decision
        return {}
    import tomllib

    try:
        table = tomllib.loads(data.decode("utf-8-sig")).get("guard", {})
    except (ValueError, RecursionError) as error:
        raise Denied(f"{path} is no TOML: {error}", "ask the user to mend it") from None
    if not isinstance(table, dict):
        raise Denied(f"{path}: [guard] is no table", "ask the user to mend it")
    return table


def _texts(table: dict[str, object], key: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
        raise Denied(f"[guard] {key} is not {_FORM}", "ask the user to mend it")
    return value


def _lines(table: dict[str, object], key: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(text.split()) for text in _texts(table, key))
