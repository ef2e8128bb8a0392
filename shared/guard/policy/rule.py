"""The notation of the policy table: what one command may be given.

`options` are words: `-x` a flag, `-x:kind` takes a value (`-x5` or `-x 5`), `-x?kind` takes one
only when attached, `-#` is a number such as `-5`; `--long`, `--long=kind`, `--long?=kind` likewise.
`operands` are kinds in order, the last perhaps with `?` (may be missing), `*` or `+`.
A kind is a name of `shared.guard.kinds`, or the values themselves: `always|never`, `list|`.
"""

from __future__ import annotations

NO_VALUE, ATTACHED, VALUE = "", "?", ":"


class Rule:
    """What a command may be given so that it changes nothing, and why that is all it does."""

    __slots__ = (
        "builtin", "clusters", "exact", "first", "harmless", "needs_input", "operands", "options",
        "reason", "tree", "unless", "whole", "with_operands",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 – one column of the table each
        self,
        reason: str,
        options: str = "",
        operands: str = "",
        *,
        harmless: bool = False,
        needs_input: str | None = None,
        first: str = "",
        tree: str | None = None,
        whole: str = "",
        exact: str = "",
        unless: str = "",
        with_operands: str = "",
        clusters: bool = True,
        builtin: bool = False,
    ) -> None:
        self.reason = reason
        self.options = options
        self.operands = operands
        # All options of the real command are harmless, so a glob cannot make one that is not.
        self.harmless = harmless
        # It reads standard input where no file is named, unless one of these options is given.
        self.needs_input = needs_input
        # Options that take the place of the first operand.
        self.first = first
        # Options with which folders are read through and through; "" for always.
        self.tree = tree
        # Instead of options and operands: the name of a function that judges all words.
        self.whole = whole
        # Instead of options and operands: the command lines, one a line.
        self.exact = exact
        # Files in this folder or one above it that make the command do something else.
        self.unless = unless
        # Operands need one of these options, without which they would be something to make.
        self.with_operands = with_operands
        # Several short options may stand in one word.
        self.clusters = clusters
        # The shell does it itself: there is no such program.
        self.builtin = builtin


def parse_options(notation: str) -> dict[str, tuple[str, str]]:
    """Return name → (how it takes its value, the value's kind)."""
    found = {}
    for word in notation.split():
        if word.startswith("--"):
            name, equals, kind = word.partition("=")
            optional = name.endswith("?")
            found[name.rstrip("?")] = (
                (ATTACHED if optional else VALUE, kind) if equals else (NO_VALUE, "")
            )
        else:
            name, mode, kind = word[:2], word[2:3], word[3:]
            found[name] = (mode, kind)
    return found


def parse_operands(notation: str) -> tuple[list[str], str, bool]:
    """Return the kinds that come first, the kind of all further ones, and whether one is needed.

    A kind with `?` is among the first, and those that may be missing follow those that may not.
    """
    kinds = notation.split()
    if kinds and kinds[-1][-1] in "*+":
        return kinds[:-1], kinds[-1][:-1], kinds[-1][-1] == "+"
    return kinds, "", False
