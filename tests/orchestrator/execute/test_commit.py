"""Committing an applied plan: what is returned is what the commit was proven to hold (PL-29)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.execute.commit import commit_plan
from orchestrator.submit.message import SUBJECT_LENGTH, message_of
from shared import approval
from shared.run import open_state
from state import store
from state.errors import Refused
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.fixture
def applied(make_repo: Repositories) -> Journey:
    """Return a run whose plan is applied."""
    return Journey(make_repo(files=FILES)).to("applied")


def test_the_proven_changes_are_returned_again_when_the_command_is_repeated(
    applied: Journey,
) -> None:
    state = open_state(applied.state_dir, "/")
    changes = commit_plan(state)
    assert [c.file for c in changes] == sorted(applied.edits)
    head = applied.repository.git("rev-parse", "HEAD")
    assert (state.run.status, state.run.commit_id) == ("COMPLETED", head)
    for change in changes:
        assert applied.repository.git("rev-parse", f"HEAD:{change.file}") == change.after
    assert commit_plan(state) == changes
    assert applied.repository.git("rev-parse", "HEAD") == head


def test_a_plan_that_is_not_applied_is_not_committed(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("approved")
    with pytest.raises(Refused, match="the plan is not applied"):
        commit_plan(open_state(journey.state_dir, "/"))
    assert journey.repository.git("rev-list", "--count", "HEAD") == "1"


def test_a_long_title_is_cut_and_the_trailer_names_the_digest(applied: Journey) -> None:
    plan = store.load_plan(f"{applied.state_dir}/plan.json")
    overview = plan.overview.model_copy(update={"title": "word " * 40, "approach": "a\nb\n\nc"})
    subject, body = message_of(plan.model_copy(update={"overview": overview})).split("\n\n", 1)
    assert len(subject) <= SUBJECT_LENGTH
    assert subject.endswith("…")
    assert body == f"a b\n\nc\n\nPlan-Digest: {plan.digest}\n"


@pytest.mark.requirement("CM-1")
def test_a_sign_off_that_ends_the_approach_is_a_trailer_of_the_commit(applied: Journey) -> None:
    plan = store.load_plan(f"{applied.state_dir}/plan.json")
    signed = "Signed-off-by: A Person <a@example.org>\nCo-authored-by: B <b@example.org>"
    for last, kept in ((signed, f"{signed}\n"), ("Plan-Digest: 1", "")):
        overview = plan.overview.model_copy(update={"approach": f"a\n\n{last}"})
        message = message_of(plan.model_copy(update={"overview": overview}))
        applied.repository.git("commit", "-q", "--allow-empty", "-m", message)
        found = applied.repository.git("log", "-1", "--format=%(trailers)")
        assert found.strip() == f"{kept}Plan-Digest: {plan.digest}"


@pytest.mark.requirement("CM-4")
def test_what_git_names_after_the_approval_is_not_committed_by_others(applied: Journey) -> None:
    """Where the approval says nobody, as one of form 1, it is committed as before."""
    git, head = applied.repository.git, applied.repository.git("rev-parse", "HEAD")
    name = git("config", "user.name")
    git("config", "user.email", "eve@example.org")
    answer = applied.planner("exec", "commit")
    [(_, text)] = answer.problems
    assert f"would name {name} <eve@example.org> as author, and the approval {name}" in text
    assert "or take the apply back: " in text
    assert git("rev-parse", "HEAD") == head
    given = approval.of_run(applied.state_dir)
    approval.save(applied.state_dir, given._replace(form=1))
    assert "Proved: " in applied.planner("exec", "commit").text


@pytest.mark.requirement("CM-4")
def test_the_users_own_commit_by_another_person_is_told_and_not_proved(applied: Journey) -> None:
    git = applied.repository.git
    git("commit", "-q", "-a", "-m", "By hand", "--author", "Eve <eve@example.org>")
    made = git("rev-parse", "HEAD")
    answer = applied.planner("exec", "commit")
    assert answer.code == 0, answer.text
    assert "Proved: " not in answer.text
    said = f"{made[:12]} names Eve <eve@example.org> as author, and the approval"
    [task] = answer.all("task")
    assert f"NOT PROVED as a whole: {said}" in task
    shown = applied.call("validate", f"{applied.state_dir}/plan.json", "--commit", made)
    assert shown.code == 1
    assert "as author, and the approval" in shown.text
