"""Checks the shell commands that need their own function: git, find, test, printf and others."""

from __future__ import annotations

from shared.guard import secrets
from shared.guard.denial import Denied
from shared.guard.kinds import check_kind
from shared.guard.languages import check_printf, check_test
from shared.guard.policy.searching import FIND, FIND_LINKS

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.guard.scene import Scene
    from shared.guard.words import Word

_FILE_TESTS = ["-d", "-e", "-f", "-h", "-L", "-r", "-s", "-S", "-p", "-w", "-x"]


def _text(words: list[Word], scene: Scene) -> None:
    for word in words:
        check_kind("text", word, scene)


def _printf(words: list[Word], scene: Scene) -> None:
    _text(words, scene)
    check_printf([word.value for word in words])


def _test(words: list[Word], scene: Scene) -> None:
    _text(words, scene)
    values = [word.value for word in words]
    check_test(values)
    if values[-2] in _FILE_TESTS:
        secrets.check_look(values[-1], scene)


def _bracket(words: list[Word], scene: Scene) -> None:
    if not words or words[-1].value != "]":
        raise Denied("`[` is not closed by `]`", "write `[ -f FILE ]`")
    _test(words[:-1], scene)


def _command(words: list[Word], scene: Scene) -> None:
    if len(words) < 2 or words[0].value not in ("-v", "-V"):  # noqa: PLR2004 – option and name
        raise Denied(
            "`command` runs a command that it is given",
            "send that command itself, or `command -v NAME`",
        )
    for word in words[1:]:
        check_kind("name", word, scene)


def _git(words: list[Word], scene: Scene) -> None:
    # Not at the top: only git needs its tables.
    from shared.guard.git import check_git

    check_git(words, scene)


def _find(words: list[Word], scene: Scene) -> None:
    """Deny a `find` command unless it has only starting points, then known tests and actions."""
    at = 0
    while at < len(words) and words[at].value in FIND_LINKS:
        at += 1
    while at < len(words) and not words[at].value.startswith("-") and words[at].value not in FIND:
        word = words[at]
        if word.globs[:1] == (0,):
            raise Denied(f"`{word.raw}` can expand to a test or an action", f"write `./{word.raw}`")
        check_kind("path", word, scene)
        at += 1
    rest = iter(words[at:])
    for word in rest:
        kind = FIND.get(word.value)
        if kind is None or word.globs:
            reason = (
                f"`find … {word.raw}` is not on the guard's list of options that only list files"
            )
            raise Denied(reason, "use `find FOLDER -name '*.py' -type f`, then grep or cat")
        value = next(rest, None) if kind else word
        if value is None or value.globs:
            raise Denied(
                f"`{word.value}` needs a quoted value", "quote it as in `find . -name '*.py'`"
            )
        check_kind(kind or "text", value, scene)


SPECIAL: dict[str, Callable[[list[Word], Scene], None]] = {
    "text": _text,
    "printf": _printf,
    "test": _test,
    "[": _bracket,
    "command": _command,
    "find": _find,
    "git": _git,
}
