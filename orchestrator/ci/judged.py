"""What is said of the commits of a range: the eight verdicts, and what each is about (CM-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from state.errors import Problem

EXACT = "exact"
SAME_BYTES = "same bytes, other history"
SAME_CHANGE = "same change, other surroundings"
EDITED = "edited afterwards"
NO_PLAN = "no plan"
NOT_HERE = "plan not here"
TAKEN_BACK = "taken back"
NOT_APPROVED = "not approved"
VERDICTS = (
    EXACT, SAME_BYTES, SAME_CHANGE, EDITED, NO_PLAN, NOT_HERE, TAKEN_BACK, NOT_APPROVED,
)  # fmt: skip

# The verdicts on a commit that has what a plan holds.
HELD = (EXACT, SAME_BYTES, SAME_CHANGE)
# What `--require` takes, with the verdicts that are enough for it.
ENOUGH = {
    "exact": (EXACT, TAKEN_BACK),
    "same": (*HELD, TAKEN_BACK),
    "any": (*HELD, EDITED, TAKEN_BACK),
}
# How a plan is approved: by a signature that counts, or only by the word of whoever brings it.
BY_SIGNATURE, BY_CLAIM = "signed", "claimed"


class Verdict(NamedTuple):
    """The verdict on one commit, with what it is about."""

    commit: str
    subject: str
    word: str
    plans: tuple[str, ...] = ()
    # Planned files with other content than approved.
    edited: tuple[str, ...] = ()
    # Files that no plan has.
    additional: tuple[str, ...] = ()
    # Files that no plan has either, and that the approval lets stand beside it.
    beside: tuple[str, ...] = ()
    approval: str = ""
    # BY_SIGNATURE, BY_CLAIM, or "" where nobody approved.
    approved: str = ""
    # What else is to know.
    why: str = ""
    problems: tuple[Problem, ...] = ()
    # Of the plans that are here.
    titles: tuple[str, ...] = ()
    # Every path of the commit.
    changed: tuple[str, ...] = ()

    @property
    def counts_as(self) -> str:
        """Whether the commit is what was approved: BY_SIGNATURE, BY_CLAIM, or "" if it is not."""
        return self.approved if self.word in HELD and not self.problems else ""


class Whole(NamedTuple):
    """What a range changes as one difference, and what of it no approved commit made."""

    name: str
    files: int = 0
    unheld: tuple[str, ...] = ()
    # Why it could not be judged.
    why: str = ""
    problems: tuple[Problem, ...] = ()


class Judged(NamedTuple):
    """The verdicts on a range of commits, oldest first; merges that add nothing are counted."""

    verdicts: list[Verdict]
    merges: int = 0
    # None for a single commit.
    whole: Whole | None = None

    @property
    def all(self) -> Sequence[Verdict | Whole]:
        """All that was judged: each commit, and the range as one difference."""
        return [*self.verdicts, *([self.whole] if self.whole else [])]

    @property
    def is_sound(self) -> bool:
        """Whether nothing is a finding."""
        return not any(one.problems for one in self.all)

    def count(self, approved: str) -> int:
        """Return how many commits are what was approved, by a signature or by a claim."""
        return sum(verdict.counts_as == approved for verdict in self.verdicts)
