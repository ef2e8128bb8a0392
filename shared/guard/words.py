"""Holds what a shell command line consists of: words, redirections and simple commands."""

from __future__ import annotations

from shared.resources import quote


class Word:
    """One shell word after quotes are removed; `globs` are the positions of `*?[` in `value`."""

    __slots__ = ("globs", "raw", "value")

    def __init__(self, value: str, globs: tuple[int, ...] = (), raw: str = "") -> None:
        self.value, self.globs, self.raw = value, globs, raw

    def after(self, count: int) -> Word:
        """Return a copy of a shell word without its first `count` characters."""
        return Word(self.value[count:], tuple(n - count for n in self.globs if n >= count))


class Redirect:
    """One shell redirection: `form` is `<`, `>`, `2>` or `2>&1`; `target` is the file, if any."""

    __slots__ = ("form", "target")

    def __init__(self, form: str, target: Word | None) -> None:
        self.form, self.target = form, target


class Command:
    """One simple shell command; `joiner` is the operator before it: "", `|`, `&&`, `||` or `;`."""

    __slots__ = ("joiner", "redirects", "text", "words")

    def __init__(
        self, joiner: str, words: list[Word], redirects: list[Redirect], text: str
    ) -> None:
        self.joiner, self.text = joiner, text
        self.words, self.redirects = words, redirects


def literal(*values: str) -> list[Word]:
    """Return words that every shell reads as exactly these values."""
    return [Word(value, raw=quote(value)) for value in values]


def pipelines(commands: list[Command]) -> list[str]:
    """Return the text of each pipeline (shell commands joined by `|`), in order."""
    found: list[str] = []
    for command in commands:
        if command.joiner == "|":
            found[-1] += f" | {command.text}"
        else:
            found.append(command.text)
    return found
