"""The kinds of policy rules; a rule says with which words one shell command is allowed."""

from __future__ import annotations

NO_VALUE, ATTACHED, VALUE = "", "?", ":"


class _Rule:
    """Base of all policy rules: why the command changes nothing, and examples that a test checks.

    `passes` and `denied` are command lines, one a line. `builtin` says that the shell itself runs
    the command, so that there is no such program.
    """

    __slots__ = ("builtin", "denied", "passes", "reason")

    def __init__(self, reason: str, passes: str, denied: str, *, builtin: bool = False) -> None:
        self.reason = reason
        self.passes = passes
        self.denied = denied
        self.builtin = builtin


class Exact(_Rule):
    """A rule that allows a command only as one of the listed lines, such as `python --version`.

    A file of `unless`, in the folder or one above it, makes the command do something else.
    """

    __slots__ = ("unless",)

    def __init__(self, reason: str, passes: str, denied: str, *, unless: str = "") -> None:
        super().__init__(reason, passes, denied)
        self.unless = unless


class Special(_Rule):
    """A rule for a command that is checked by a function of its own, which `judge` names."""

    __slots__ = ("judge",)

    def __init__(
        self, reason: str, judge: str, *, passes: str, denied: str, builtin: bool = False
    ) -> None:
        super().__init__(reason, passes, denied, builtin=builtin)
        self.judge = judge


class Options(_Rule):
    """A rule that lists every option, option value and operand which a command may have.

    `options` are words: `-x` is a flag, `-x:kind` takes a value (`-x5` or `-x 5`), `-x?kind` takes
    one only when attached, `-#` is a number such as `-5`; `--long`, `--long=kind`, `--long?=kind`
    likewise. `operands` are kinds in order; `?` after the last ones means that they may be
    missing, `*` or `+` after the last one that it may be repeated. A kind is a name of
    `shared.guard.kinds`, or the values themselves: `always|never`, `list|`.
    """

    __slots__ = (
        "clusters", "glob_safe", "instead_of_first", "operands", "operands_need", "options",
        "recursive", "stdin_unless",
    )  # fmt: skip

    def __init__(  # noqa: PLR0913 – each is a column of the table
        self,
        reason: str,
        options: str = "",
        operands: str = "",
        *,
        passes: str,
        denied: str,
        glob_safe: bool = False,
        stdin_unless: str | None = None,
        instead_of_first: str = "",
        recursive: str | None = None,
        operands_need: str = "",
        clusters: bool = True,
        builtin: bool = False,
    ) -> None:
        super().__init__(reason, passes, denied, builtin=builtin)
        self.options = options
        self.operands = operands
        # No option of the real command is harmful, so a pattern may expand to any of them.
        self.glob_safe = glob_safe
        # Without a file it reads standard input, unless given one of these options; None: never.
        self.stdin_unless = stdin_unless
        # With one of these options there is no first operand.
        self.instead_of_first = instead_of_first
        # With one of these options it reads folders recursively; "": always, None: never.
        self.recursive = recursive
        # Without one of these options it would create what the operands name; "": no such need.
        self.operands_need = operands_need
        # Several short options may be joined in one word.
        self.clusters = clusters


Rule = Exact | Special | Options


def parse_options(notation: str) -> dict[str, tuple[str, str]]:
    """Parse a rule's options: return name → (how it takes its value, the kind of that value)."""
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
    """Parse a rule's operands: return kinds of the first, kind of the others, if one is needed.

    A first kind ends in `?` if the operand may be missing; "" if no further operand may follow.
    """
    kinds = notation.split()
    if kinds and kinds[-1][-1] in "*+":
        return kinds[:-1], kinds[-1][:-1], kinds[-1][-1] == "+"
    return kinds, "", False
