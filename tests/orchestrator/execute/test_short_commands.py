"""A person's commands are short: the digest names the plan, the repository its run (FC-4)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.run import open_state
from tests.journey import FILES, Journey, call, way_out, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("FC-4")


def digest_in(journey: Journey) -> str:
    return str(open_state(journey.state_dir, "/").run.digest)


def test_twelve_digits_approve_and_the_answer_names_the_whole_digest_and_the_title(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    digest = digest_in(journey)
    words = words_of(journey.last.person())
    assert words == ["approve", digest[:12]]
    answer = call(journey.repository.path / "src", *words)
    assert answer.code == 0, answer.text
    assert answer.block.get("digest") == digest
    assert answer.data("approved") == "Add two"
    assert answer.block.get("approval") == "unproven"
    assert "nothing shows that a person typed the approval" in answer.text
    assert "Why: no hook checks the session that plans. The plan is approved all" in answer.text
    assert "--state-dir" in answer.next()


def test_an_approval_without_a_digest_approves_nothing_and_names_what_waits(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    nothing = call(journey.repository.path, "approve")
    assert nothing.code == 2
    assert "no plan waits for an approval here" in nothing.text
    journey.to("submitted")
    refused = call(journey.repository.path, "approve")
    assert refused.code == 2
    assert open_state(journey.state_dir, "/").run.stage == "submitted"
    retry = way_out(refused.problems[0][1])
    assert words_of(retry) == ["approve", digest_in(journey)[:12]]
    assert journey.run(*words_of(retry)).code == 0


def test_approving_what_is_committed_or_taken_back_says_so(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    words = words_of(journey.last.person())
    journey.to("committed")
    commit = journey.repository.git("rev-parse", "HEAD")[:12]
    again = call(journey.repository.path, *words)
    assert again.code == 0, again.text
    assert "nothing to approve any more" in again.text
    assert f"Committed as {commit} and proved" in again.text
    assert "exec run" not in again.text
    assert journey.planner("undo").code == 0
    refused = call(journey.repository.path, *words)
    assert refused.code == 1
    assert f"the run is committed as {commit}, then taken back" in refused.text


def test_the_digits_name_the_run_where_several_wait(make_repo: Repositories) -> None:
    first = Journey(make_repo(files={**FILES, "src/b.py": "b = 1\n"})).to("submitted")
    second = Journey(first.repository, request="Another thing").to("submitted")
    assert words_of(second.last.person()) == ["approve", digest_in(second)[:12]]
    assert call(first.repository.path, *words_of(second.last.person())).code == 0
    stages = [open_state(one.state_dir, "/").run.stage for one in (first, second)]
    assert stages == ["submitted", "executing"]


def test_other_commands_name_the_run_only_where_another_is_under_way(
    make_repo: Repositories,
) -> None:
    formatted = '[worktree]\nformat = ["true"]\n'
    journey = Journey(make_repo(files={**FILES, "planner.toml": formatted}))
    assert words_of(journey.start().person())[:2] == ["config", "confirm"]
    assert "--state-dir" not in journey.last.person()
    Journey(journey.repository, request="Another thing").start()
    shown = journey.planner("step", "planner").person()
    assert shown.endswith(f"--state-dir {journey.state_dir}")


def test_a_run_that_is_kept_elsewhere_is_named(make_repo: Repositories, tmp_path: Path) -> None:
    config = "[planner]\nenable_persistence = false\n"
    journey = Journey(make_repo(files={**FILES, "planner.toml": config})).to("submitted")
    assert not journey.state_dir.startswith(str(journey.repository.path))
    assert journey.last.person().endswith(f"--state-dir {journey.state_dir}")
    assert call(tmp_path, *words_of(journey.last.person())).code == 0


def test_a_digest_that_only_a_ref_knows_counts_too(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    digest = digest_in(journey)
    other = digest[:30] + ("1" if digest[30] == "0" else "0") * 34
    head = journey.repository.git("rev-parse", "HEAD")
    journey.repository.git("update-ref", f"refs/planner/{other}", head)
    answer = call(journey.repository.path, "approve", digest[:12])
    assert (answer.code, answer.problems[0][0]) == (1, "conflict")
    assert other in answer.text
    assert call(journey.repository.path, "approve", digest[:31]).code == 0


def test_the_digits_of_a_superseded_revision_never_name_another_plan(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    first = digest_in(journey)
    journey.write_answers()
    journey.follow(journey.last.next("remarks"))
    journey.answers["design.json"] = []
    second = digest_in(journey.to("submitted"))
    answer = call(journey.repository.path, "approve", first[:12])
    assert answer.code == 1
    assert first in answer.text, "known, and not the plan that waits"
    alike = second[:30] + ("1" if second[30] == "0" else "0") * 34
    state = open_state(journey.state_dir, "/")
    with state.database as database:
        for digest in (alike, second):
            database.audit(state.run, "host", "submit", digest=digest)
    answer = call(journey.repository.path, "approve", second[:12])
    assert (answer.code, answer.problems[0][0]) == (1, "conflict")
    assert alike in answer.text


def test_a_plan_is_rejected_by_its_first_digits(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    digest = digest_in(journey)
    for wrong in (digest[:11], "0" * 12):
        assert call(journey.repository.path, "mode", "reject", wrong).code == 1
    assert call(journey.repository.path, "mode", "reject", digest[:12]).code == 0
    assert open_state(journey.state_dir, "/").run.status == "CANCELLED"


def test_an_approved_plan_is_carried_out_at_once_where_the_project_wants_it(
    make_repo: Repositories,
) -> None:
    config = "[planner]\nauto_run = true\n"
    journey = Journey(make_repo(files={**FILES, "planner.toml": config})).to("submitted")
    answer = call(journey.repository.path, *words_of(journey.last.person()))
    assert answer.data("proof"), answer.text


def test_the_page_shows_the_short_command(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    page = Path(journey.state_dir, "review.html").read_text(encoding="utf-8")
    assert f"planner approve {digest_in(journey)[:12]}<" in page
