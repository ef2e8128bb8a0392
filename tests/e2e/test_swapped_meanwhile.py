"""The user's `.git` is replaced while one of our commands runs: nothing outside is changed."""

from __future__ import annotations

import shutil
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import set_hook
from tests.e2e.test_swapped_places import everything, finish
from tests.forms import part
from tests.journey import FILES, Journey, words_of
from tests.kills import Kept, at_moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PL-32")

TIMES = 12  # of them a quarter in the short form
POINTS, WAYS = ["code", "freeze", "approved", "applied", "committed"], ["moved away", "replaced"]


class Swap:
    """A project whose `.git` goes away, or gives its place to that of another repository."""

    def __init__(self, make_repo: Repositories, how: str) -> None:
        self.outer = make_repo("outer", {"a.txt": "outer\n"})
        self.project = make_repo("outer/project", FILES)
        other = make_repo("other", {"b.txt": "b\n"}) if how == "replaced" else None
        self.git, self.away = self.project.path / ".git", self.outer.path.with_name("away")
        self.other = other.path / ".git" if other else None

    def do(self) -> None:
        self.git.rename(self.away)
        if self.other:
            shutil.copytree(self.other, self.git)

    def put_back(self) -> None:
        if self.away.exists():
            shutil.rmtree(self.git, ignore_errors=True)
            self.away.rename(self.git)

    def outside(self) -> dict[str, bytes]:
        """Return what must stay: the repository around, and the one that has taken the place."""
        found = everything(self.outer.path)
        return {name: data for name, data in found.items() if not name.startswith("project/")}


def due(journey: Journey, point: str) -> list[str]:
    """Bring the run to a point; return the words of the command that is due there."""
    journey.to(point)
    if point == "code":
        journey.edit_worktree(journey.edits)
        return words_of(journey.last.next())
    command = {
        "freeze": ("plan", "freeze"), "approved": ("exec", "apply"), "applied": ("exec", "commit"),
        "committed": ("undo",),
    }[point]  # fmt: skip
    return [*command, "--state-dir", journey.state_dir]


def unlike(swap: Swap) -> set[str]:
    """Return what differs between the other repository and its copy in the place of ours.

    Loose objects are left out: nothing leads to them, and git removes them in time.
    """
    if swap.other is None:
        return set(everything(swap.git)) if swap.git.exists() else set()
    ours, theirs = everything(swap.git), everything(swap.other)
    changed = {name for name in {*ours, *theirs} if ours.get(name) != theirs.get(name)}
    return {name for name in changed if name in theirs or not name.startswith("objects/")}


@pytest.mark.slow
@pytest.mark.parametrize(("point", "how"), part([*product(POINTS, WAYS)], 3, outer=True))
def test_at_whatever_moment_nothing_outside_is_changed_and_the_command_can_be_repeated(
    make_repo: Repositories, point: str, how: str
) -> None:
    swap = Swap(make_repo, how)
    journey = Journey(swap.project)
    words = due(journey, point)
    kept = Kept(swap.project)
    with at_moment(0, lambda: None) as count:
        assert journey.run(*words).code == 0
    tried = part(range(1, count() + 1, count() // TIMES), 7)
    # The first moment, at which nothing is done yet, comes last: from there the run goes on.
    for number in sorted({1, *tried}, reverse=True):
        kept.restore()
        before = swap.outside()
        with at_moment(number, swap.do):
            answer = journey.run(*words)
        if not swap.away.exists():
            continue  # what was in memory has spared it some moments
        assert (answer.code in (0, 1), answer.stderr) == (True, ""), (number, answer)
        assert swap.outside() == before, number
        # No check is so late that no moment is left before git writes an index.
        assert unlike(swap) <= ({"index"} if answer.code else set()), (number, answer)
        swap.put_back()
        # What is done without git, as the writing of the approved files, is done all the same.
        again = journey.run(*words) if answer.code else answer
        assert again.code == 0, (number, again.text)
    assert answer.code == 1
    if point in ("applied", "committed"):
        assert swap.project.git("status", "--porcelain") == ""
    else:
        journey.last = again
        finish(journey)


@pytest.mark.parametrize(
    ("hook", "how"), part([*product(["pre-commit", "commit-msg", "post-commit"], WAYS)], 3)
)
def test_by_a_hook_of_the_commit_nothing_outside_is_changed_and_what_it_did_is_refused(
    make_repo: Repositories, hook: str, how: str
) -> None:
    swap = Swap(make_repo, how)
    journey = Journey(swap.project).to("applied")
    swap_it = f"[ -e {swap.away} ] && exit 0\nmv {swap.git} {swap.away}\n"
    swap_it += f"cp -r {swap.other} {swap.git}\n" if swap.other else ""
    set_hook(swap.project, hook, swap_it)
    head, before = swap.project.git("rev-parse", "HEAD"), swap.outside()
    files = {n: d for n, d in everything(swap.project.path).items() if not n.startswith(".git/")}
    answer = journey.planner("exec", "commit")
    assert (answer.code, answer.stderr) == (1, ""), answer
    assert swap.away.exists()
    assert swap.outside() == before
    assert unlike(swap) == set()
    now = {n: d for n, d in everything(swap.project.path).items() if not n.startswith(".git/")}
    assert now == files
    swap.put_back()
    # The last of them is told of the commit that is there.
    assert (swap.project.git("rev-parse", "HEAD") == head) == (hook != "post-commit")
    (swap.git / "hooks" / hook).unlink()
    journey.last = journey.planner("step", "executor")
    finish(journey)
