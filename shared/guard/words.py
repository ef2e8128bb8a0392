"""Holds what a shell command line consists of: words, redirections and simple commands."""

from __future__ import annotations

from shared.resources import quote

UNKNOWN = "\0"  # stands in a word for a part that only the shell knows
# What may stand before a command without being one.
LEADING = frozenset({
    "if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "fi", "done", "esac",
    "time", "coproc",
})  # fmt: skip
_INPUT = ("<", "<&", "<<<")


class Word:
    """One shell word after quotes are removed; `globs` are the positions of `*?[` in `value`."""

    __slots__ = ("globs", "raw", "value")

    def __init__(self, value: str, globs: tuple[int, ...] = (), raw: str = "") -> None:
        self.value, self.globs, self.raw = value, globs, raw

    def after(self, count: int) -> Word:
        """Return a copy of a shell word without its first `count` characters."""
        return Word(self.value[count:], tuple(n - count for n in self.globs if n >= count))


class Redirect:
    """One shell redirection: `form` is `<`, `>`, `2>` or `2>&1`; `target` is the file, if any.

    What is read roughly may have any other form.
    """

    __slots__ = ("form", "target")

    def __init__(self, form: str, target: Word | None) -> None:
        self.form, self.target = form, target


class Command:
    """One simple shell command; `joiner` is the operator before it: "", `|`, `&&`, `||` or `;`.

    What is read roughly may be joined by `&`, too.
    """

    __slots__ = ("joiner", "redirects", "text", "words")

    def __init__(self, joiner: str, words: list[Word], redirects: list[Redirect]) -> None:
        self.joiner, self.text = joiner, ""
        self.words, self.redirects = words, redirects

    @property
    def called(self) -> list[str]:
        """The words from the command's name on, without keywords and assignments before it."""
        values = [word.value for word in self.words]
        at = 0
        while at < len(values) and (values[at] in LEADING or is_assignment(values[at])):
            at += 1
        return values[at:]

    @property
    def written(self) -> list[str]:
        """The files that the command's output is redirected to."""
        if self.called[:1] == ["[["]:  # there `>` compares
            return []
        return [r.target.value for r in self.redirects if r.target and r.form not in _INPUT]


def is_assignment(word: str) -> bool:
    """Return whether a shell word before a command gives a variable a value."""
    name, equals, _ = word.partition("=")
    name = name.removesuffix("+")
    name = name.partition("[")[0] if name.endswith("]") else name
    return bool(equals) and name.replace("_", "a").isalnum()


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
