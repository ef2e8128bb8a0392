"""Checks a command's words by kind, such as path, number or git revision, as policy tables name."""

from __future__ import annotations

from shared.guard import secrets
from shared.guard.denial import Denied
from shared.known_secrets import SECRET_SETTINGS

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.guard.scene import Scene
    from shared.guard.words import Word

_QUOTE = "put it in single quotes if you mean the text itself"
_MAX_DIGITS = 7
_PRETTY = ("oneline", "short", "medium", "full", "fuller", "reference", "raw", "email")
_PROCESS_COLUMNS = frozenset((
    "pid", "ppid", "pgid", "sid", "uid", "user", "ruser", "euser", "gid", "group", "tty", "tt",
    "stat", "state", "s", "pri", "ni", "nice", "pcpu", "%cpu", "c", "pmem", "%mem", "rss", "vsz",
    "sz", "time", "cputime", "etime", "etimes", "start", "lstart", "stime", "comm", "ucmd", "args",
    "cmd", "command", "nlwp", "thcount", "psr", "wchan", "f",
))  # fmt: skip


def check_kind(kind: str, word: Word, scene: Scene) -> None:
    """Deny a command's word that is not a value of the named kind, or names a file with secrets."""
    if "|" in kind:
        if word.globs or word.value not in kind.split("|"):
            raise Denied(f"`{word.value}` is not a known value", f"use one of {kind.strip('|')}")
    elif kind in FILES:
        if not word.globs:
            FILES[kind](word.value, scene)
            return
        for path in secrets.expand(word, scene):
            FILES[kind](path, scene)
    elif word.globs and kind not in PATTERNS:
        raise Denied(f"the shell would expand `{word.raw}`", _QUOTE)
    else:
        _VALUES[kind](word.value)


def _file(path: str, scene: Scene) -> None:
    if path.startswith("+") and not path[1:].isdecimal():  # `tail +1f` never ends
        raise Denied(f"{path} may be read as an option", f"write ./{path}")
    if path != "-":
        secrets.check_read(path, scene)


def _binary(path: str, scene: Scene) -> None:
    if path.startswith("@"):
        raise Denied(f"{path} would be read as a list of options", f"write ./{path}")
    _file(path, scene)


def _path(path: str, scene: Scene) -> None:
    secrets.check_look(path, scene)


def _tree(path: str, scene: Scene) -> None:
    if path != "-":
        secrets.check_tree(path, scene)


def _rev(text: str, scene: Scene) -> None:
    """Deny a git revision, range or path that reads a file with secrets, such as `HEAD:.env`."""
    magic, closed, rest = text.partition(")")
    if text.startswith((":!", ":^")) or (closed and magic.startswith(":(exclude")):
        return
    path = rest if closed and magic.startswith(":(") else text.rpartition(":")[2].lstrip("/")
    if text.startswith("/"):
        path = text
    secrets.check_read(path or ".", scene)
    secrets.check_pattern(path)


def _revtree(text: str, scene: Scene) -> None:
    _rev(text, scene)
    # If one folder lies outside the repository, `git diff` reads any two folders.
    if text.startswith(("/", ".")):
        secrets.check_tree(text, scene)


def _lines(text: str, scene: Scene) -> None:
    secrets.check_read(text.rpartition(":")[2] or ".", scene)


def _text(value: str) -> None:
    del value


def _name(value: str) -> None:
    if (
        not value
        or not all((c.isalnum() and c.isascii()) or c in "_.+-" for c in value)
        or value[0] == "-"
    ):
        raise Denied(
            f"`{value}` is not a plain name", "use a name of letters, digits, `_`, `.`, `+`, `-`"
        )


def _count(value: str) -> None:
    """Deny a word that is not a number, or is one so long that the work might never end."""
    digits = value.lstrip("+-").rstrip("bkKmMGTiB")
    if not (digits.isdecimal() and digits.isascii() and len(digits) <= _MAX_DIGITS):
        raise Denied(
            f"`{value}` is not a number that the guard understands", "use a number such as 20"
        )


def _step(value: str) -> None:
    _count(value)
    if not value.strip("+-0"):
        raise Denied("with a step of 0 the list never ends", "use a step other than 0")


def _list(value: str) -> None:
    if not value or not set(value) <= set("0123456789,-.+bdfginMhnrRVXx: "):
        raise Denied(f"`{value}` is not a list of numbers", "use a list such as 1,3-5")


def _measure(value: str) -> None:
    """Deny a word unless it is a size, age, mode or time that the `find` command takes."""
    if not value or not all(c.isalnum() or c in "+-/:=., " for c in value):
        raise Denied(f"`{value}` is not a size, age or mode", "use for example -7, +10k or 644")


def _stamp(value: str) -> None:
    if not value.startswith("+"):
        raise Denied(f"`{value}` could set the clock", "use a format such as '+%Y-%m-%d'")


def _format(value: str) -> None:
    """Deny a git output format that makes git start the program that checks signatures."""
    pieces = value.split("%")[1:]
    if any(piece.lstrip("+- ")[:1] == "G" for piece in pieces) or "signature" in value.lower():
        raise Denied(
            "`%G` in a format starts a program that checks signatures",
            "use the format without `%G`",
        )


def _pretty(value: str) -> None:
    if "%" not in value and value not in _PRETTY:
        raise Denied(
            f"`{value}` may be a format that the repository's settings define",
            "use " + ", ".join(_PRETTY),
        )
    _format(value)


def _setting(value: str) -> None:
    lowered = value.lower()
    if "." not in value or any(part in lowered for part in SECRET_SETTINGS):
        raise Denied(
            f"`{value}` is not a git setting that may be shown", "ask for one such as user.name"
        )


def _columns(value: str) -> None:
    if not {column.rstrip("=") for column in value.split(",")} <= _PROCESS_COLUMNS:
        raise Denied(
            f"`{value}` has columns that the guard does not know",
            "use for example pid,ppid,etime,args",
        )


def _sed(value: str) -> None:
    from shared.guard.languages import check_sed

    check_sed(value)


def _awk(value: str) -> None:
    from shared.guard.languages import check_awk

    check_awk(value)


def _jq(value: str) -> None:
    from shared.guard.languages import check_jq

    check_jq(value)


FILES: dict[str, Callable[[str, Scene], None]] = {
    "file": _file,
    "plain": secrets.check_file,
    "binary": _binary,
    "path": _path,
    "tree": _tree,
    "rev": _rev,
    "revtree": _revtree,
    "lines": _lines,
}
# The command and the shell read a pattern of file names the same way.
PATTERNS = frozenset(("glob",))
_VALUES: dict[str, Callable[[str], None]] = {
    "text": _text,
    "name": _name,
    "count": _count,
    "step": _step,
    "list": _list,
    "measure": _measure,
    "stamp": _stamp,
    "format": _format,
    "pretty": _pretty,
    "setting": _setting,
    "columns": _columns,
    "glob": secrets.check_pattern,
    "sed": _sed,
    "awk": _awk,
    "jq": _jq,
}
KINDS = frozenset((*FILES, *_VALUES))
