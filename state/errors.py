"""The exception Refused and its problems: what is wrong, where, what is allowed, what to run.

Only the standard library, and little of it: printed steps import this module.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    Kind = Literal[
        "not_found", "conflict", "frozen", "invalid", "refused", "locked", "usage", "internal"
    ]


# As a way out: the command that was refused, as it was called. Whoever raises need not know which.
AGAIN = "the same command"

_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number",
          float: "a number", type(None): "null"}  # fmt: skip
_MOST_SHOWN = 24


def kind_of_value(value: object) -> str:
    """Return which kind of value of JSON, or of TOML, this is, in words."""
    return _KINDS.get(type(value), "a date or time")


def value_text(value: object) -> str:
    """Return a value for a message about it: a short one itself, of a longer one its kind.

    A file of the wrong shape may hold what is not meant for the reader.
    """
    try:
        text = repr(value)
    except RecursionError:
        return f"{kind_of_value(value)} that nests too deeply"
    short = len(text) <= _MOST_SHOWN and not isinstance(value, dict | list)
    return text if short else f"{kind_of_value(value)} of {len(text)} characters"


class Problem:
    """One reason why a command is refused, worded so that a language model can act on it."""

    __slots__ = ("allowed", "at", "kind", "output", "problem", "retry")

    def __init__(
        self,
        kind: Kind,
        at: str,
        problem: str,
        allowed: str = "",
        retry: str = "",
        output: str = "",
    ) -> None:
        self.kind: Kind = kind
        # A path into the input (`milestones[2].depends_on`), a file or a command.
        self.at = at
        self.problem = problem
        # Names values that exist now.
        self.allowed = allowed
        # A command that works as printed, or AGAIN: the printer replaces a bare `planner` by our
        # launcher, adds what the refused command named (its state directory, --alone), and says
        # for whom it is (shared/ways_out.py).
        self.retry = retry
        # What a command of the project printed, never shown as our own words.
        self.output = output

    def __repr__(self) -> str:
        return f"Problem({self.kind!r}, {self.at!r}, {self.problem!r})"


class Refused(Exception):  # noqa: N818 – an answer, not a fault
    """A command is refused and changes nothing."""

    def __init__(
        self,
        kind: Kind,
        at: str,
        problem: str,
        allowed: str = "",
        retry: str = "",
        output: str = "",
    ) -> None:
        super().__init__(f"{at}: {problem}")
        self.kept = ""
        # Every reason, at least one.
        self.problems: tuple[Problem, ...] = (Problem(kind, at, problem, allowed, retry, output),)

    @classmethod
    def of(cls, problems: Iterable[Problem], kept: str = "") -> Refused:
        """Return one Refused exception that carries all the given problems (at least one).

        `kept` says what the command did all the same; without it nothing was changed (SD-7).
        """
        every = tuple(problems)
        first = every[0]
        refusal = cls(first.kind, first.at, first.problem)
        refusal.problems, refusal.kept = every, kept
        refusal.args = ("; ".join(f"{p.at}: {p.problem}" for p in every),)
        return refusal
