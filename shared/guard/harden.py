"""Add options to an allowed command so that it starts no programs and leaves secrets out."""

from __future__ import annotations

from shared.guard.git import harden as harden_git
from shared.guard.secrets import FOLDERS, excluded
from shared.resources import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from shared.guard.lexer import Command

_GREP = ("grep", "egrep", "fgrep")


def harden(words: list[str]) -> list[str]:
    """Return an allowed command's words with options against starting programs, reading secrets."""
    if words[0] == "git":
        return harden_git(words)
    added = _leaving_out(words[0])
    end = words.index("--") if "--" in words else len(words)
    # Of several patterns the last one decides, so ours come last.
    return [*words[:end], *added, *words[end:]]


def harden_text(commands: list[Command]) -> str:
    """Return an allowed command line as shell text, safe options added to each command in it."""
    return " ".join(f"{one.joiner} {_text(one)}".strip() for one in commands)


def _text(command: Command) -> str:
    """Return one command's safer form as shell text; words it already had keep their quoting."""
    values = [word.value for word in command.words]
    hardened = harden(values)
    if hardened == values:
        return command.text
    written = {word.value: word.raw for word in command.words}
    targets = [r.form + (r.target.raw if r.target else "") for r in command.redirects]
    return " ".join([*(written.get(word) or quote(word) for word in hardened), *targets])


def _leaving_out(name: str) -> list[str]:
    """Return the options with which a command that reads whole folders skips files with secrets."""
    if name == "rg":
        return ["--no-config", *(f"--iglob=!{pattern}" for pattern in (*excluded(), *FOLDERS))]
    if name in _GREP:
        folders = [f"--exclude-dir={folder}" for folder in FOLDERS]
        return [*folders, *(f"--exclude={pattern}" for pattern in excluded())]
    if name == "diff":
        patterns = (*excluded(), *FOLDERS)
        return ["--no-dereference", *(f"--exclude={pattern}" for pattern in patterns)]
    return []
