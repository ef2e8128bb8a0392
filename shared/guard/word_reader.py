"""Reads the words of a shell text, each as the command that it is for would receive it.

`WordReader` is the half of the reader that knows quotes, variables and patterns; what joins words
to commands is in `shared/guard/lexer.py`.
"""

from __future__ import annotations

from shared.guard.denial import Denied
from shared.guard.words import UNKNOWN, Command, Word

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLES = ("HOME", "PWD", "USER")
ENDS = frozenset(" \n;|&")
_SPACE = frozenset(" ")
_MOST_NESTED = 20
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NAME = frozenset(_LETTERS + "0123456789_")
_PLAIN = frozenset(_LETTERS + "0123456789_-./,:+@%^]")
_GLOB = frozenset("*?[")
_IN_BRACKET = frozenset(_LETTERS + "0123456789_-.,")
_BEFORE_TILDE = frozenset(_LETTERS + "0123456789_^@}")
_IN_REFLOG = frozenset(_LETTERS + "0123456789-")
_REASONS = {
    "`": "a backquote runs a command inside the command",
    **dict.fromkeys("()", "parentheses open a subshell, a function or a pattern"),
    **dict.fromkeys("{}", "the shell would expand or group what is in braces"),
    "<": "only `< FILE` after a space is accepted, not a heredoc, `<<<`, `<>` or `<(…)`",
    ">": "output may be redirected only to /dev/null, written `>/dev/null` after a space",
    "&": "shells differ on the meaning of `&>`",
    "#": "`#` starts a comment, which can hide what follows",
    "!": "`!` may recall an earlier command or negate a command",
    "~": "`~` is accepted only as `~/…` at the beginning of a word",
    "=": "some shells read a word that begins with `=` as a command's path",
    "\\": "a backslash is before a newline or a non-ASCII character",
}
_QUOTE = "put the text into single quotes"


class EndedError(Exception):
    """The text ends within a quote, or nests too deeply to be read on."""


class WordReader:
    """A place in a shell text, from which words are read.

    With `exact`, whatever shells may read differently is denied; without it, read as bash does.
    """

    __slots__ = ("at", "closer", "depth", "exact", "found", "heredocs", "text", "variables")

    def __init__(self, text: str, variables: Mapping[str, str], *, exact: bool) -> None:
        self.text, self.variables, self.exact = text.strip(" \n"), variables, exact
        self.at = self.depth = 0
        self.closer = ""  # what ends the substitution or subshell that is being read
        self.found = list[Command]()
        self.heredocs = list[tuple[str, bool]]()  # the delimiter, and whether tabs precede it

    def commands(self, closer: str) -> None:
        """Read the commands of a substitution, a subshell or the whole text."""
        raise NotImplementedError

    def doubt(self, reason: str, instead: str = _QUOTE) -> None:
        """Raise Denied if the text is to be read exactly."""
        if self.exact:
            raise Denied(reason, instead)

    def doubt_of(self, char: str, instead: str = _QUOTE) -> None:
        """Raise Denied for a character outside quotes if the text is to be read exactly."""
        if self.exact:
            other = f"the character {char!a} is not accepted outside quotes"
            raise Denied(_REASONS.get(char) or other, instead)

    def peek(self, ahead: int = 0) -> str:
        """Return a character without moving past it, "" after the end."""
        at = self.at + ahead
        return self.text[at] if at < len(self.text) else ""

    def starts(self, text: str) -> bool:
        """Return whether this text comes next."""
        return self.text.startswith(text, self.at)

    def skip(self, count: int) -> str:
        """Move past so many characters, and return them."""
        begin, self.at = self.at, self.at + count
        return self.text[begin : self.at]

    def skip_to(self, text: str) -> None:
        """Go to where this text comes next."""
        self.at = self.text.find(text, self.at + 1)
        if self.at < 0:
            self.at = len(self.text)
            raise EndedError

    def skip_blanks(self) -> None:
        """Move past spaces, and past what else parts words in some shell."""
        self.run(_SPACE)
        while (char := self.peek()) != "\n" and (char.isspace() or self.starts("\\\n")):
            self.doubt_of(char)
            self.skip(2 if char == "\\" else 1)
            self.run(_SPACE)

    def run(self, characters: frozenset[str]) -> str:
        """Move past all that consists of these characters, and return it."""
        begin = self.at
        while self.at < len(self.text) and self.text[self.at] in characters:
            self.at += 1
        return self.text[begin : self.at]

    def word(self) -> Word:
        """Read a word, which is empty only where a redirection lacks its file."""
        begin, value, globs = self.at, "", list[int]()
        if self.peek() == "=" and self.peek(1) not in ("", " "):
            self.doubt_of("=")
        while (char := self.peek()) and char not in ENDS:
            if char in _PLAIN:
                value += self.run(_PLAIN)
            elif char in _GLOB:
                globs.append(len(value))
                value += self.bracket(begin) if char == "[" else self.skip(1)
            elif char in _PARTS:
                value += _PARTS[char](self, begin)
            elif self.is_itself(char, begin):
                value += self.skip(1)
            else:
                self.doubt_of(char)
                if char in "()<>" or char.isspace() or char == self.closer:
                    break
                value += self.nested(1, "`") if char == "`" else self.skip(1)
        if self.at == begin:
            self.doubt("the file is missing after a redirection", "name the file, as in `< FILE`")
        return Word(value, tuple(globs), self.text[begin : self.at])

    def is_itself(self, char: str, begin: int) -> bool:
        """Return whether `!`, `=` or `#` means nothing but itself in the word that begins there."""
        if self.at > begin:
            return char in "=#"
        return char in "!=" and self.peek(1) in ("", " ")

    def bracket(self, begin: int) -> str:
        """Read the pattern such as `[a-z]` that comes next, or the word `[`; return it."""
        if self.at == begin and self.peek(1) in ("", *ENDS):
            return self.skip(1)
        inside, closed, _ = self.text[self.at + 1 :].partition("]")
        any_of = inside.removeprefix("^")
        if not closed or not any_of or not {*any_of} <= _IN_BRACKET:
            self.doubt("shells differ on where this `[` ends", f"write [a-z] or {_QUOTE}")
            return self.skip(1)
        return self.skip(len(inside) + 2)

    def single(self, begin: int) -> str:
        """Read a text in single quotes."""
        del begin
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self.doubt("a single quote is not closed", "add the closing quote")
            raise EndedError
        if self.text[end + 1 : end + 2] == "'":
            self.doubt("shells join two quoted texts differently", "use one pair of quotes")
        inside, self.at = self.text[self.at + 1 : end], end + 1
        return self.printable(inside)

    def double(self, begin: int) -> str:
        """Read a text in double quotes."""
        value = self.skip(1)[1:]
        while (char := self.peek()) != '"':
            if char == "":
                self.doubt("a double quote is not closed")
                raise EndedError
            if char == "`":
                self.doubt_of(char)
                value += self.nested(1, "`")
            elif char == "$":
                value += self.dollar(begin, quoted=True)
            elif char == "\\" and self.peek(1) in ("$", '"', "\\", "`"):
                value += self.skip(2)[1]
            else:
                value += self.printable(self.skip(1))
        self.skip(1)
        return value

    def escape(self, begin: int) -> str:
        """Read a backslash with the character that it protects; return that."""
        del begin
        if not " " <= self.peek(1) <= "~":
            self.doubt_of("\\")
        return self.skip(2)[1:].strip("\n")

    def dollar(self, begin: int, *, quoted: bool = False) -> str:
        """Read what a `$` begins; return the value of $HOME, $PWD or $USER, or a `$` by itself."""
        del begin
        self.skip(1)
        if self.peek() in ('"', " ", "|") if quoted else self.peek() in ("", " "):
            return "$"
        name = self.run(_NAME)
        value = self.variables.get(name, "") if name in VARIABLES else ""
        if not value or not (self.peek() in ("", "/", '"') or self.peek() in ENDS):
            how = "write the value itself; put text with a dollar sign into single quotes"
            self.doubt("only $HOME, $PWD and $USER are expanded, before `/` or a word's end", how)
            return value or (UNKNOWN if name else self.expansion(quoted=quoted))
        if not quoted and not _PLAIN.issuperset(value):
            self.doubt(f"the value of ${name} has special characters", f'write "${name}"')
        return self.printable(value)

    def expansion(self, *, quoted: bool) -> str:
        """Read what a `$` begins that no name follows; return what is known of it."""
        if self.starts("("):
            self.parenthesis()
        elif self.starts("{"):
            self.skip_to("}")
            self.skip(1)
        elif not quoted and self.starts("'"):
            self.skip(1)
            while (char := self.peek()) != "'":
                if char == "":
                    raise EndedError
                self.skip(2 if char == "\\" else 1)
            self.skip(1)
        elif self.peek() and self.peek() in "@*#?$!-":
            self.skip(1)
        else:
            return "$"
        return UNKNOWN

    def tilde(self, begin: int) -> str:
        """Read a `~`; return the home that it means, or itself."""
        if self.at > begin:
            if self.text[self.at - 1] not in _BEFORE_TILDE:
                self.doubt_of("~")
            return self.skip(1)
        home = self.variables.get("HOME", "")
        if not home or (self.peek(1) not in ("", "/") and self.peek(1) not in ENDS):
            self.doubt_of("~", "write the absolute path")
            return self.skip(1)
        self.skip(1)
        return self.printable(home)

    def reflog(self, begin: int) -> str:
        """Read braces that no shell expands: `{}`, or `{1}` as in git's `HEAD@{1}`; return them."""
        del begin
        if self.starts("{}"):
            return self.skip(2)
        end = self.text.find("}", self.at)
        inside = self.text[self.at + 1 : end]
        if end < 0 or not inside or self.text[self.at - 1] != "@" or not {*inside} <= _IN_REFLOG:
            self.doubt_of("{")
            return self.skip(1)
        return self.skip(len(inside) + 2)

    def printable(self, text: str) -> str:
        """Return `text`, in doubt if it has a newline, a control or an invisible character."""
        if not text.isprintable():
            self.doubt("quoted text contains a newline, a control or an invisible character")
        return text

    def parenthesis(self) -> None:
        """Read the commands in parentheses, or skip arithmetic."""
        if self.starts("(("):
            self.skip_to("))")
            self.skip(2)
        else:
            self.nested(1, ")")

    def nested(self, begin: int, closer: str) -> str:
        """Read the commands of a substitution or subshell, which begins so many characters on."""
        self.depth += 1
        if self.depth > _MOST_NESTED:
            raise EndedError
        self.skip(begin)
        self.commands(closer)
        self.skip(1)
        self.depth -= 1
        return UNKNOWN


_PARTS = {
    "'": WordReader.single,
    '"': WordReader.double,
    "\\": WordReader.escape,
    "$": WordReader.dollar,
    "{": WordReader.reflog,
    "~": WordReader.tilde,
}
