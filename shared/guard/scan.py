"""Finds the simple commands in any shell text, roughly: to give advice, not to decide what is safe.

Quotes, comments, heredocs, substitutions and compound commands are read as bash reads them where
that is cheap; what is odd is passed over. Where the place holds, a command that is overlooked here
still changes nothing.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_CHARS = 4_000
UNKNOWN = "\0"  # stands in a word for a part that only the shell knows
_MOST_NESTED = 20

_BLANK = re.compile(r"(?:[^\S\n]|\\\n)+")
_PLAIN = re.compile(r"[^\s;|&()<>'\"\\$`]+")
_IN_DOUBLE = re.compile(r"[^\"\\$`]+")
_ANSI = re.compile(r"\$'(?:[^'\\]|\\.)*+'", re.DOTALL)
_VARIABLE = re.compile(r"\$(\w+|[@*#?$!-])")
_REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(<<<|<<-?|<&|<>|<|>>|>\||>&|>|&>>|&>)")
_ASSIGNMENT = re.compile(r"\w+(?:\[[^\]]*\])?\+?=")
_INPUT = ("<", "<&", "<<<")
# What may stand before a command without being one.
_LEADING = frozenset({
    "if", "then", "elif", "else", "do", "while", "until", "!", "{", "}", "fi", "done", "esac",
    "time", "coproc",
})  # fmt: skip


class Found:
    """One simple command: its words, and the files that its output is redirected to."""

    __slots__ = ("targets", "words")

    def __init__(self, words: list[str], targets: list[str]) -> None:
        self.words = words
        self.targets = targets


def commands_in(text: str, variables: Mapping[str, str]) -> list[Found]:
    """Return the simple commands of a shell text in order, those in substitutions first.

    Only its first 4,000 characters are read, and only up to what cannot be read.
    """
    scan = _Scan(text[:MOST_CHARS].replace(UNKNOWN, " "), variables)
    try:
        scan.commands("")
    except _EndedError:
        return scan.found
    return scan.found


class _EndedError(Exception):
    """The text ends within a quote, or nests too deeply to be read on."""


class _Scan:
    __slots__ = ("at", "closer", "depth", "found", "heredocs", "text", "variables")

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self.text, self.variables = text, variables
        self.at = self.depth = 0
        self.closer = ""
        self.found: list[Found] = []
        self.heredocs: list[tuple[str, bool]] = []

    def commands(self, closer: str) -> None:
        """Read commands up to the character that ends them, or the end of the text."""
        outer, self.closer = self.closer, closer
        char = "\n"
        while char not in ("", closer):
            char = self.command(closer)
            self.at += 1
            if char == "\n":
                self.skip_heredocs()
        self.closer = outer

    def command(self, closer: str) -> str:
        """Read one simple command, and return the character that ends it."""
        found = Found([], [])
        while not self.ends(char := self.next_char(), closer):
            if char == "(":
                # A subshell, the sign of a function, or arithmetic.
                self.parenthesis(1)
                found.words = []
            elif char == ")":
                # The end of a pattern of `case`.
                self.at += 1
                found.words = []
            elif char == "#":
                self.skip_to("\n")
            elif redirect := _REDIRECT.match(self.text, self.at):
                self.redirect(redirect, found)
            else:
                word = self.word()
                if found.words or not (word in _LEADING or _ASSIGNMENT.match(word)):
                    found.words.append(word)
        if found.words[:1] == ["[["]:
            found.targets = []  # there `>` compares
        if found.words or found.targets:
            self.found.append(found)
        return char

    def next_char(self) -> str:
        """Skip blanks and return the character after them, "" at the end."""
        if blank := _BLANK.match(self.text, self.at):
            self.at = blank.end()
        return self.text[self.at : self.at + 1]

    def ends(self, char: str, closer: str) -> bool:
        """Return whether a simple command ends at this character."""
        return char in ("", closer) or (char in ";|&\n" and not self.text.startswith("&>", self.at))

    def redirect(self, begin: re.Match[str], found: Found) -> None:
        """Read a redirection with its file, or a `<(…)`."""
        form, self.at = begin[1], begin.end()
        if form in "<>" and self.text.startswith("(", self.at):
            self.nested(1, ")")
            found.words.append(UNKNOWN)
            return
        self.next_char()
        word = self.word()
        if form.startswith("<<") and form != "<<<":
            self.heredocs.append((word, form == "<<-"))
        elif form not in _INPUT and not (form == ">&" and (word.isdigit() or word == "-")):
            found.targets.append(word)

    def word(self) -> str:
        """Read a word; what only the shell knows of it is UNKNOWN."""
        value = ""
        while char := self.text[self.at : self.at + 1]:
            if plain := _PLAIN.match(self.text, self.at):
                value += plain[0]
                self.at = plain.end()
            elif char == "'":
                begin = self.at + 1
                self.skip_to("'")
                value += self.text[begin : self.at]
                self.at += 1
            elif char == '"':
                value += self.double()
            elif char == "\\":
                value += self.text[self.at + 1 : self.at + 2].strip("\n")
                self.at += 2
            elif char == "$":
                value += self.dollar()
            elif char == "`" and self.closer != "`":
                self.nested(1, "`")
                value += UNKNOWN
            else:
                break
        return value

    def double(self) -> str:
        """Read a text in double quotes."""
        value = ""
        self.at += 1
        while (char := self.text[self.at : self.at + 1]) != '"':
            if inside := _IN_DOUBLE.match(self.text, self.at):
                value += inside[0]
                self.at = inside.end()
            elif char == "\\":
                value += self.text[self.at + 1 : self.at + 2]
                self.at += 2
            elif char == "$":
                value += self.dollar()
            elif char == "`":
                self.nested(1, "`")
                value += UNKNOWN
            else:
                raise _EndedError
        self.at += 1
        return value

    def dollar(self) -> str:
        """Read what a `$` begins; return its value where that is known."""
        if self.text.startswith("$(", self.at):
            self.parenthesis(2)
            return UNKNOWN
        if self.text.startswith("${", self.at):
            self.skip_to("}")
            self.at += 1
            return UNKNOWN
        if quoted := _ANSI.match(self.text, self.at):
            self.at = quoted.end()
            return UNKNOWN
        if name := _VARIABLE.match(self.text, self.at):
            self.at = name.end()
            return self.variables.get(name[1], UNKNOWN)
        self.at += 1
        return "$"

    def parenthesis(self, begin: int) -> None:
        """Read the commands in parentheses, or skip arithmetic."""
        if self.text.startswith("(", self.at + begin):
            self.skip_to("))")
            self.at += 2
        else:
            self.nested(begin, ")")

    def nested(self, begin: int, closer: str) -> None:
        """Read the commands of a substitution or subshell, which begins so many characters on."""
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise _EndedError
        self.at += begin
        self.commands(closer)
        self.depth -= 1

    def skip_to(self, text: str) -> None:
        """Go to where this text comes next."""
        self.at = self.text.find(text, self.at + 1)
        if self.at < 0:
            self.at = len(self.text)
            raise _EndedError

    def skip_heredocs(self) -> None:
        """Skip the lines of the heredocs that the line before has begun."""
        for delimiter, tabbed in self.heredocs:
            line = None
            while line != delimiter and self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end].lstrip("\t" if tabbed else "")
                self.at = end + 1
        self.heredocs.clear()
