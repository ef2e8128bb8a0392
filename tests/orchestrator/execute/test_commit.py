"""Committing an applied plan: what is returned is what the commit was proven to hold (PL-29)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.execute.commit import commit_plan
from orchestrator.submit.message import SUBJECT_LENGTH, message_of
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
