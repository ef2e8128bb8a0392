"""Parses the part of shell syntax that all shells read alike; denies a command with any other.

No parser copies every shell exactly, so this one accepts only what bash, dash and zsh read alike:
simple commands joined by `|`, `&&`, `||`, `;` or a new line, words of plain and quoted text, three
variables, input from files, and output to /dev/null.
"""

from __future__ import annotations

from shared.guard.denial import Denied
from shared.guard.words import Command, Redirect, Word

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CHARS = 4_000
VARIABLES = ("HOME", "PWD", "USER")

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NAME = frozenset(_LETTERS + "0123456789_")
_PLAIN = frozenset(_LETTERS + "0123456789_-./,:+@%^]")
_GLOB = frozenset("*?[")
_IN_BRACKET = frozenset(_LETTERS + "0123456789_-.,")
_ENDS = frozenset(" \n;|&")
_BEFORE_TILDE = frozenset(_LETTERS + "0123456789_^@}")
_IN_REFLOG = frozenset(_LETTERS + "0123456789-")
_REASONS = {
    "`": "a backquote runs a command inside the command",
    **dict.fromkeys("()", "parentheses open a subshell, a function or a pattern"),
    **dict.fromkeys("{}", "the shell would expand or group what is in braces"),
    "<": "only `< FILE` after a space is accepted, not a heredoc, `<<<`, `<>` or `<(…)`",
    ">": "output may be redirected only to /dev/null, written `>/dev/null` after a space",
    "#": "`#` starts a comment, which can hide what follows",
    "!": "`!` may recall an earlier command or negate a command",
    "~": "`~` is accepted only as `~/…` at the beginning of a word",
    "=": "some shells read a word that begins with `=` as a command's path",
}
_QUOTE = "put the text into single quotes"
_SPLIT = "send each command alone, in its plain form; write texts with your file tool"


def read(text: str, variables: Mapping[str, str]) -> list[Command]:
    """Parse a shell command line into its simple commands, in order; Denied if it can't be."""
    if len(text) > MAX_CHARS:
        raise Denied(f"the command has more than {MAX_CHARS} characters", _SPLIT)
    reader, commands = _Reader(text.strip(" \n"), variables), list[Command]()
    joiner: str | None = ""
    while joiner is not None:
        commands.append(reader.command(joiner))
        joiner = reader.joiner()
    return commands


class _Reader:
    __slots__ = ("at", "text", "variables")

    def __init__(self, text: str, variables: Mapping[str, str]) -> None:
        self.text, self.variables, self.at = text, variables, 0

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.text[at] if at < len(self.text) else ""

    def skip(self, characters: str) -> None:
        while self.peek() and self.peek() in characters:
            self.at += 1

    def command(self, joiner: str) -> Command:
        begin = end = self.at
        words, redirects = list[Word](), list[Redirect]()
        while self.peek() and self.peek() not in "\n;|&":
            if self.text.startswith(("<", ">", "1>", "2>"), self.at):
                if not words:
                    raise Denied("a redirection comes first", "write it after the command")
                redirects.append(self.redirect())
            else:
                words.append(self.word())
            end = self.at
            self.skip(" ")
        if not words:
            raise Denied("a command is missing before or after `|`, `&&`, `||` or `;`", _SPLIT)
        return Command(joiner, words, redirects, self.text[begin:end])

    def joiner(self) -> str | None:
        """Return the shell operator at the reader's position and move past it; None at the end."""
        if not self.peek():
            return None
        found = next((j for j in ("&&", "||", "|", ";", "\n", "&>") if self.starts(j)), "&")
        if found == "&>":
            raise Denied("shells differ on the meaning of `&>`", "write `>/dev/null 2>&1`")
        if found == "&":
            raise Denied("`&` leaves a command running in the background", _SPLIT)
        self.at += len(found)
        if self.peek() == "&":
            raise Denied(f"`{found}&` is not accepted", "write `2>&1 |` instead of `|&`")
        self.skip(" \n")
        if found not in ";\n":
            return found
        return ";" if self.peek() else None

    def starts(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def redirect(self) -> Redirect:
        if self.starts("2>&1"):
            self.at += 4
            if self.peek() and self.peek() not in _ENDS:
                raise Denied(_reason(self.peek()), _QUOTE)
            return Redirect("2>&1", None)
        form = next((f for f in ("1>", "2>", ">") if self.starts(f)), "<")
        self.at += len(form)
        if self.peek() and self.peek() in "<>&|!(":
            raise Denied(_REASONS[form[-1]], "write `2>&1`, `>/dev/null` or `2>/dev/null`")
        self.skip(" ")
        target = self.word()
        if form != "<" and (target.value != "/dev/null" or target.raw != target.value):
            raise Denied(_REASONS[">"], "leave the redirection out and read the output")
        return Redirect(form.replace("1", ""), target)

    def word(self) -> Word:
        begin, value, globs = self.at, "", list[int]()
        if self.peek() == "=" and self.peek(1) not in ("", " "):
            raise Denied(_REASONS["="], _QUOTE)
        while (char := self.peek()) and char not in _ENDS:
            if char in _GLOB:
                globs.append(len(value))
                value += self.bracket(begin) if char == "[" else char
                self.at += len(value) - globs[-1]
            else:
                value += self.part(begin)
        if self.at == begin:
            raise Denied("the file is missing after a redirection", "name the file, as in `< FILE`")
        return Word(value, tuple(globs), self.text[begin : self.at])

    def bracket(self, begin: int) -> str:
        """Return the pattern such as `[a-z]` that begins here, or the word `[`."""
        if self.at == begin and self.peek(1) in ("", *_ENDS):
            return "["
        inside, closed, _ = self.text[self.at + 1 :].partition("]")
        any_of = inside.removeprefix("^")
        if not closed or not any_of or not {*any_of} <= _IN_BRACKET:
            raise Denied("shells differ on where this `[` ends", f"write [a-z] or {_QUOTE}")
        return f"[{inside}]"

    def part(self, begin: int) -> str:
        """Return the next quoted or plain part of a shell word, as the command will receive it."""
        char = self.peek()
        if char in _PLAIN:
            return self.run(_PLAIN)
        if char in _PARTS:
            return _PARTS[char](self)
        if char == "~":
            return self.tilde(begin)
        alone = char in "!=" and self.at == begin and self.peek(1) in ("", " ")
        if alone or (char in "=#" and self.at > begin):
            self.at += 1
            return char
        raise Denied(_reason(char), _QUOTE)

    def run(self, characters: frozenset[str]) -> str:
        begin = self.at
        while self.at < len(self.text) and self.text[self.at] in characters:
            self.at += 1
        return self.text[begin : self.at]

    def single(self) -> str:
        end = self.text.find("'", self.at + 1)
        inside = self.text[self.at + 1 : end]
        if end < 0:
            raise Denied("a single quote is not closed", "add the closing quote")
        if self.text[end + 1 : end + 2] == "'":
            raise Denied("shells join two quoted texts differently", "use one pair of quotes")
        self.at = end + 1
        return _printable(inside)

    def double(self) -> str:
        value, self.at = "", self.at + 1
        while (char := self.peek()) != '"':
            if char in ("", "`"):
                raise Denied(_reason(char) if char else "a double quote is not closed", _QUOTE)
            if char == "$":
                value += self.variable(quoted=True)
            elif char == "\\" and self.peek(1) in ("$", '"', "\\", "`"):
                value += self.peek(1)
                self.at += 2
            else:
                value += _printable(char)
                self.at += 1
        self.at += 1
        return value

    def escape(self) -> str:
        char = self.peek(1)
        if not " " <= char <= "~":
            raise Denied("a backslash is before a newline or a non-ASCII character", _QUOTE)
        self.at += 2
        return char

    def variable(self, *, quoted: bool = False) -> str:
        """Return the value of $HOME, $PWD or $USER in a command line, or a `$` that ends a word."""
        self.at += 1
        if self.peek() in ('"', " ", "|") if quoted else self.peek() in ("", " "):
            return "$"
        name = self.run(_NAME)
        value = self.variables.get(name, "") if name in VARIABLES else ""
        if not value or not (self.peek() in ("", "/", '"') or self.peek() in _ENDS):
            how = "write the value itself; put text with a dollar sign into single quotes"
            raise Denied("only $HOME, $PWD and $USER are expanded, before `/` or a word's end", how)
        if not quoted and not _PLAIN.issuperset(value):
            raise Denied(f"the value of ${name} has special characters", f'write "${name}"')
        return _printable(value)

    def tilde(self, begin: int) -> str:
        if self.at > begin:
            if self.text[self.at - 1] not in _BEFORE_TILDE:
                raise Denied(_REASONS["~"], _QUOTE)
            self.at += 1
            return "~"
        home = self.variables.get("HOME", "")
        if not home or (self.peek(1) not in ("", "/") and self.peek(1) not in _ENDS):
            raise Denied(_REASONS["~"], "write the absolute path")
        self.at += 1
        return _printable(home)

    def reflog(self) -> str:
        """Read braces that no shell expands: `{}`, or `{1}` as in git's `HEAD@{1}`; return them."""
        if self.starts("{}"):
            self.at += 2
            return "{}"
        end = self.text.find("}", self.at)
        inside = self.text[self.at + 1 : end]
        if end < 0 or not inside or self.text[self.at - 1] != "@" or not {*inside} <= _IN_REFLOG:
            raise Denied(_REASONS["{"], _QUOTE)
        self.at = end + 1
        return "{" + inside + "}"


_PARTS = {
    "'": _Reader.single,
    '"': _Reader.double,
    "\\": _Reader.escape,
    "$": _Reader.variable,
    "{": _Reader.reflog,
}


def _printable(text: str) -> str:
    """Return `text` unchanged; Denied if it has a newline, a control or an invisible character."""
    if not text.isprintable():
        raise Denied("quoted text contains a newline, a control or an invisible character", _QUOTE)
    return text


def _reason(char: str) -> str:
    return _REASONS.get(char) or f"the character {char!a} is not accepted outside quotes"
