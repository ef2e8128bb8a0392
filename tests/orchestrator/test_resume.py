"""A run goes on from wherever it stopped: after a pause, after a kill, in a new session."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeVar

import pytest

from shared.run import open_state
from state.database import Database
from tests.forms import LONG, part
from tests.journey import FILES, VERIFIED, Answer, Journey, call, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

T = TypeVar("T")
POINTS = ("context", "design", "code", "docs", "freeze", "submitted", "approved", "applied")


@pytest.mark.requirement("PL-1")
def test_a_step_without_a_number_prints_what_is_next_at_every_point(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.promises_document = True
    for point in POINTS:
        wanted = journey.to(point).last.text
        answer = call(journey.repository.path, "step", "planner")
        assert answer.text == wanted
        status = call(journey.repository.path, "status")
        if point != "approved":  # there it names the command that carries the plan out
            assert call(journey.repository.path, *words_of(status.next())).text == wanted
        inside = f"{journey.state_dir}/worktree"
        if os.path.isdir(inside):  # it is put away while the plan waits
            assert call(inside, "step", str(journey.last.block.get("workflow"))).text == wanted
    journey.to("committed")
    ended = journey.planner("step", "planner")
    assert "The run is committed as" in (ended.block.findtext("task") or "")
    assert journey.planner("exec", "commit").text == journey.last.text


def test_every_command_may_be_repeated_at_once(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED}))
    journey.start()
    last: tuple[str, ...] = ("start", journey.request)
    for point in POINTS:
        if point not in ("docs", "freeze"):
            journey.to(point)
            last = journey.calls[-1]
            again = call(journey.repository.path, *last)
            if last[0] == "approve":  # what it prints is the person's, `last` is the host's
                assert again == call(journey.repository.path, *last)
            else:
                assert again == journey.last
    state = open_state(journey.state_dir, os.sep)
    actions = [row["action"] for row in state.database.audit_rows(state.run)]
    assert sorted(actions) == sorted(set(actions)), "a repeated command did something again"


class Killed(BaseException):
    """Ends a command in the middle, like a kill: nothing catches this exception."""


class Fuse:
    """Raises Killed at the n-th durable step: a rename of a file or a commit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
        self.left = 0
        self.after = after
        replace, control = os.replace, Database._control

        def burning_replace(source: str, target: str, **folders: int) -> None:
            self._burn(lambda: replace(source, target, **folders))

        def burning_control(database: Database, sql: str) -> None:
            if sql != "COMMIT":
                control(database, sql)
            else:
                self._burn(lambda: control(database, sql))

        monkeypatch.setattr(os, "replace", burning_replace)
        monkeypatch.setattr(Database, "_control", burning_control)

    def _burn(self, action: Callable[[], T]) -> T:
        self.left -= 1
        if self.left != 0:
            return action()
        if self.after:
            action()
        raise Killed


@pytest.mark.slow
@pytest.mark.requirement("PL-1", "PL-31")
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_command_that_was_killed_between_two_writes_ends_right_when_repeated(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    repository = make_repo(files=FILES)
    fuse = Fuse(monkeypatch, after=after)
    journey = Unkillable(repository, fuse)
    journey.to("committed")
    assert journey.kills > (15 if LONG else 3)
    assert repository.git("log", "--format=%s").split("\n") == ["Add two", "Begin"]
    assert repository.git("status", "--porcelain") == ""
    state = open_state(journey.state_dir, os.sep)
    fuse.left = 0
    found = call(repository.path, "validate", "--commit", "HEAD", "--require", "exact")
    assert found.code == 0, found.text
    outcomes = [state.database.outcomes(state.run, p) for p in ("plan-design", "plan-code")]
    assert [len(rows) for rows in outcomes] == [1, 1]


class Unkillable(Journey):
    """A host that runs a command again when it was killed, each time a little later.

    In the short form it is killed at every fourth of its writes.
    """

    def __init__(self, repository: Repository, fuse: Fuse) -> None:
        super().__init__(repository)
        self.fuse = fuse
        self.kills = 0

    def run(self, *argv: str) -> Answer:
        for step in part(range(1, 200), 4):
            self.fuse.left = step
            try:
                return super().run(*argv)
            except Killed:
                self.kills += 1
        raise AssertionError(f"{argv} never ended")


@pytest.mark.slow
@pytest.mark.requirement("PL-28", "PL-31")
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_revising_taking_back_and_cancelling_survive_kills_too(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    repository = make_repo(files=FILES)
    journey = Unkillable(repository, Fuse(monkeypatch, after=after))
    journey.to("submitted").write_answers()
    journey.answers["design.json"] = []
    journey.follow(journey.last.next("remarks"))
    assert journey.point == "planner 3"
    assert os.path.isfile(f"{journey.state_dir}/plan.r1.json")
    journey.to("applied")
    undone = journey.run("undo")
    assert undone.code == 0, undone.text
    assert repository.git("status", "--porcelain") == ""
    journey.last = undone
    journey.follow(undone.next("again"))
    journey.to("committed")
    reverted = journey.run("undo", "--state-dir", journey.state_dir)
    assert reverted.code == 0, reverted.text
    subjects = repository.git("log", "--format=%s").split("\n")
    assert subjects == ['Revert "Add two"', "Add two", "Begin"]
    assert repository.git("status", "--porcelain") == ""
    assert repository.git("diff", "HEAD~2", "--stat") == ""
    ended = Unkillable(repository, journey.fuse)
    ended.to("code")
    assert ended.run("cancel").code == 0
    assert ended.run("cancel", "--state-dir", ended.state_dir).code == 0
    assert not os.path.exists(f"{ended.state_dir}/worktree")
    assert repository.git("worktree", "list").count("\n") == 0
