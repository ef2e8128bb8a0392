"""Reads shell text into its simple commands: exactly, or roughly where it is more than those.

No parser copies every shell exactly, so `read` accepts only what bash, dash and zsh read alike:
simple commands joined by `|`, `&&`, `||`, `;` or a new line, words of plain and quoted text, three
variables, input from files, and output to /dev/null. `read_roughly` goes on where `read` denies:
as bash does through compound commands, substitutions, heredocs and comments where that is cheap,
and past what is odd. What has to be certain is decided by the first alone.
"""

from __future__ import annotations

from shared.guard.denial import Denied
from shared.guard.word_reader import ENDS, EndedError, WordReader
from shared.guard.words import UNKNOWN, Command, Redirect, Word

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_CHARS = 4_000
# The longer ones first.
_REDIRECTS = ("<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">", "&>>", "&>")
_PLAIN = ("<", ">", "1>", "2>")
_JOINERS = ("&&", "||", "|", ";", "\n", "&")
_SPLIT = "send each command alone, in its plain form; write texts with your file tool"


def read(text: str, variables: Mapping[str, str]) -> list[Command]:
    """Parse a shell command line into its simple commands, in order; Denied if it can't be."""
    if len(text) > MAX_CHARS:
        raise Denied(f"the command has more than {MAX_CHARS} characters", _SPLIT)
    reader = _Reader(text, variables, exact=True)
    reader.commands("")
    return reader.found


def read_roughly(text: str, variables: Mapping[str, str]) -> list[Command]:
    """Return the simple commands of any shell text in order, those in substitutions first.

    Only its first 4,000 characters are read, and only up to what cannot be read. What only the
    shell knows of a word is UNKNOWN there.
    """
    reader = _Reader(text[:MAX_CHARS].replace(UNKNOWN, " "), variables, exact=False)
    try:
        reader.commands("")
    except EndedError:
        return reader.found
    return reader.found


class _Reader(WordReader):
    __slots__ = ()

    def commands(self, closer: str) -> None:
        """Read commands up to the character that ends them, or the end of the text."""
        outer, self.closer = self.closer, closer
        joiner: str | None = ""
        while joiner is not None:
            self.command(joiner)
            joiner = self.joiner()
        self.closer = outer

    def command(self, joiner: str) -> None:
        """Read one simple command, up to the character that ends it."""
        self.skip_blanks()
        begin, found = self.at, Command(joiner, [], [])
        while not self.ends():
            char = self.peek()
            if char in "()":
                # A subshell, arithmetic, the sign of a function, or the end of a `case` pattern.
                self.doubt_of(char)
                self.parenthesis() if char == "(" else self.skip(1)
                found.words = []
            elif char == "#":
                self.doubt_of(char)
                self.skip_to("\n")
            elif operator := self.operator():
                self.redirect(operator, found)
            else:
                found.words.append(self.word())
            found.text = self.text[begin : self.at]
            self.skip_blanks()
        if not found.words:
            self.doubt("a command is missing before or after `|`, `&&`, `||` or `;`", _SPLIT)
        if self.exact or found.called or found.written:
            self.found.append(found)

    def ends(self) -> bool:
        """Return whether a simple command ends here."""
        char = self.peek()
        return char in ("", self.closer) or (char in ";|&\n" and not self.starts("&>"))

    def joiner(self) -> str | None:
        """Move past the operator after a command and return it; None after the last command."""
        found = next((one for one in _JOINERS if self.starts(one)), None)
        if found is None:
            return None
        self.skip(len(found) if found != "\n" else 0)
        if found == "&":
            self.doubt("`&` leaves a command running in the background", _SPLIT)
        elif self.peek() == "&":
            self.doubt(f"`{found}&` is not accepted", "write `2>&1 |` instead of `|&`")
        self.skip_blanks()
        while self.peek() == "\n":
            self.skip(1)
            self.skip_heredocs()
            self.skip_blanks()
        if found not in ";\n":
            return found
        return ";" if self.peek() else None

    def operator(self) -> str:
        """Return the operator by which a redirection begins here, "" where none does."""
        at = self.at
        while self.text[at : at + 1].isdecimal():
            at += 1
        if self.starts("{"):  # bash gives the variable named there a number
            name, closed, _ = self.text[at + 1 :].partition("}")
            at += len(name) + 2 if closed and name.isidentifier() else 0
        if not self.text.startswith(_REDIRECTS, at):
            return ""
        return next(one for one in _REDIRECTS if self.text.startswith(one, at))

    def redirect(self, form: str, found: Command) -> None:
        """Read a redirection by this operator with its file, or a `<(…)`."""
        if not found.words:
            self.doubt("a redirection comes first", "write it after the command")
        if self.starts("2>&1"):
            after = self.peek(4)
            if not after or after in ENDS:
                found.redirects.append(Redirect(self.skip(4), None))
                return
            self.doubt_of(after)
        whole = self.skip(self.text.index(form, self.at) + len(form) - self.at)
        if whole not in _PLAIN or (self.peek() and self.peek() in "<>&|!("):
            self.doubt_of(form[0], "write `2>&1`, `>/dev/null` or `2>/dev/null`")
        if form in ("<", ">") and self.starts("("):
            found.words.append(Word(self.nested(1, ")")))
            return
        self.skip_blanks()
        target = self.word()
        if form[0] != "<" and (target.value != "/dev/null" or target.raw != target.value):
            self.doubt_of(">", "leave the redirection out and read the output")
        if form in ("<<", "<<-"):
            self.heredocs.append((target.value, form == "<<-"))
        elif form != ">&" or not (target.value.isdecimal() or target.value == "-"):
            found.redirects.append(Redirect("2>" if whole == "2>" else form, target))

    def skip_heredocs(self) -> None:
        """Move past the lines of the heredocs that the line before has begun."""
        for delimiter, tabbed in self.heredocs:
            line = None
            while line != delimiter and self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end].lstrip("\t" if tabbed else "")
                self.at = end + 1
        self.heredocs.clear()
