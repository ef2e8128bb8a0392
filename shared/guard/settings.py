"""Reads which commands and tools the user's settings allow or deny beyond the guard's own table."""

from __future__ import annotations

from shared import bounded_toml, resources
from shared.guard.denial import Denied

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


def load_settings(state_dir: str | None) -> Settings:
    """Return the user's [guard] settings, plus what the repository denies where a session plans.

    `state_dir` is where it plans: the repository's settings were stored there when planning began,
    as its base commit has them. Denied if either file can't be read, since it is unknown what that
    file denies.
    """
    user = _table(resources.user_config_path())
    return Settings(
        _lines(user, "allow"),
        (*_lines(user, "deny"), *_stored(state_dir)),
        tuple(_texts(user, "tools")),
    )


def _is_line(line: tuple[str, ...], words: list[str]) -> bool:
    if line[-1] != "*":
        return tuple(words) == line
    size = len(line) - 1
    further = words[size:]
    return tuple(words[:size]) == line[:-1] and not any(w.startswith("-") for w in further)


def _stored(state_dir: str | None) -> tuple[tuple[str, ...], ...]:
    """Return the lines that the repository denies, as stored in a state directory."""
    if state_dir is None:
        return ()
    # Not at the top: what imports the guard's decision alone does without it.
    import json

    path = resources.run_config_path(state_dir)
    try:
        with open(path, "rb") as file:
            found = json.load(file)["config"]
    except FileNotFoundError:
        reason = f"{path}, the settings stored when planning began, is gone"
        raise Denied(reason, "tell the user, who can run `planner repair`") from None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        reason = f"{path}, the settings stored when planning began, cannot be read"
        raise Denied(reason, "tell the user, who can start planning anew") from None
    return _lines(found, "deny")


def _table(path: str) -> dict[str, object]:
    try:
        return bounded_toml.read_table(path, "guard")
    except ValueError as error:
        raise Denied(str(error), "ask the user to fix this file") from None


def _texts(table: dict[str, object], key: str) -> list[str]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
        raise Denied(f"[guard] {key} is not {_FORM}", "ask the user to fix this setting")
    return value


def _lines(table: dict[str, object], key: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(text.split()) for text in _texts(table, key))
