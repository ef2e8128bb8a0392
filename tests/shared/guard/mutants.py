"""Random commands, made from the corpus by joining, cutting, quoting and inserting syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

_PIECES = (
    " ", "  ", "\n", ";", " ; ", "&", "&&", " && ", "||", " || ", "|", " | ", "|&", "<", ">",
    " 2>&1", " >/dev/null", " 2>/dev/null", " > /dev/null 2>&1", " 2>&1 >/dev/null", " < ../input",
    " <../input", ">>", "<<", "<<<", "(", ")", "{", "}", "{}", "{a,b}", "{1..3}", "@{1}",
    "@{a..c}", "[", "]", "[a]", "*", "?", "**", "!", "#", " # ", "~", "~/", "~u", "=", " =x",
    "a=b", "a=~/b", ":~", "%", "^", "@", ",", "$", "$x", "$HOME", "$HOME/", "$HOMEx", '"$HOME"',
    '"$PWD/x"', "$USER", "${HOME}", "$(x)", "$((1))", "$'\\x41'", '$"a"', "`x`", "\\", "\\ ",
    "\\\n", "\\'", '\\"', "\\$", "\\*", "'", '"', "''", '""', "'a b'", '"a b"', '"a\\"b"',
    '"a\\\\b"', '"a\\b"', '"a$"', '"$ x"', '"a`b"', "'a\nb'", "'é'", "é", "'$x'", "\t", "\r",
    "\u00a0", "\u2028", "-", "--", " -- ", "-e", " -x ", "1>", "2>", "3>", "12>", " 1>&2", "2>&1x",
    ">/dev/nullx", "/dev/null", "input", " src/*.py", " *.py", " ./*", "if ", "! ", "time ",
    "then", "do", "\\\\", "a\\nb", "'it'\\''s'", '"a"\'b\'"c"', "HEAD~1", "HEAD^", "a#b", "+x",
    "\x7f", "'\x1b'",
)  # fmt: skip
_JOINERS = (" | ", " && ", " || ", "; ", "\n", ";", "&&", "|")


def mutants(seeds: Sequence[str], dice: random.Random) -> Iterator[str]:
    """Yield random commands endlessly."""
    while True:
        text = dice.choice(seeds)
        for _ in range(dice.choice((1, 1, 1, 2, 2, 3))):
            text = dice.choice(_CHANGES)(text, seeds, dice)
        yield text


def _insert(text: str, seeds: Sequence[str], dice: random.Random) -> str:
    del seeds
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(_PIECES) + text[at:]


def _cut(text: str, seeds: Sequence[str], dice: random.Random) -> str:
    del seeds
    at = dice.randint(0, len(text))
    return text[:at] + text[at + dice.randint(1, 3) :]


def _join(text: str, seeds: Sequence[str], dice: random.Random) -> str:
    return text + dice.choice(_JOINERS) + dice.choice(seeds)


def _wrap(text: str, seeds: Sequence[str], dice: random.Random) -> str:
    """Put some of the text into quotes, braces or brackets, or after a backslash."""
    del seeds
    begin = dice.randint(0, len(text))
    end = dice.randint(begin, min(len(text), begin + 8))
    left, right = dice.choice((("'", "'"), ('"', '"'), ("\\", ""), ("{", "}"), ("[", "]")))
    return text[:begin] + left + text[begin:end] + right + text[end:]


def _borrow(text: str, seeds: Sequence[str], dice: random.Random) -> str:
    """Add words of another command."""
    words = dice.choice(seeds).split(" ")
    return f"{text} {' '.join(dice.sample(words, min(len(words), 2)))}"


def _double(text: str, seeds: Sequence[str], dice: random.Random) -> str:
    del seeds
    begin = dice.randint(0, len(text))
    piece = text[begin : begin + dice.randint(1, 5)]
    at = dice.randint(0, len(text))
    return text[:at] + piece + text[at:]


_CHANGES = (_insert, _insert, _insert, _cut, _join, _wrap, _borrow, _double)
