"""A revision says why it is due: for the user, for a base that moved, a hook, a verify command."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.resources import rendered_plan_path, review_page_path
from shared.run import open_state
from state.shape import as_json
from tests.journey import FILES, Journey, way_out, words_of
from tests.orchestrator.submit.page.test_html import Parsed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

EACH_TEST = "for t in tests/*.py; do PYTHONPATH=src python3 $t || exit 1; done"


def task_of(journey: Journey) -> str:
    """Return the task of the block that the host has before it."""
    return journey.last.block.findtext("task") or ""


def page_of(journey: Journey) -> str:
    """Return the words of the review page, with single spaces."""
    with open(review_page_path(journey.state_dir), encoding="utf-8") as file:
        return " ".join(Parsed(file.read().replace("<", " <")).text.split())


@pytest.mark.requirement("SD-1")
def test_what_the_user_has_remarked_is_an_entry_of_its_own(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.write_answers()
    journey.follow(journey.last.next("remarks"))
    assert task_of(journey).startswith("The user wants a change: RM-001.")
    assert "RM-001 v1 Say why in a comment." in journey.last.data("plan")
    assert journey.last.data("remarks") == ""
    plan = open_state(journey.state_dir, "/").plan
    assert as_json(plan.user_remarks) == [
        {
            "id": "RM-001",
            "version": 1,
            "text": "Say why in a comment.",
            "revision": 1,
            "anchor": None,
            "outcome": "",
            "left_out": [],
            "overrules": [],
        }
    ]
    assert [task.id for task in plan.task_spec] == ["T-1", "T-2"]
    assert plan.milestones[0].requirements == ("T-1", "RM-001")
    assert '"RM-001"' in journey.planner("plan", "show", "RM-001").text


@pytest.mark.requirement("SD-1")
def test_remarks_of_all_revisions_are_shown_and_numbered_on(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.answers["design.json"] = []
    for text in ("Say why in a comment.", "Say it in the docstring."):
        journey.write_answer("remarks.md", text)
        journey.follow(journey.last.next("remarks"))
        journey.to("submitted")
    summary = journey.last.data("summary")
    assert "RM-002: Say it in the docstring." in summary
    assert "RM-001: " not in summary
    with open(rendered_plan_path(journey.state_dir), encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert "- RM-001, on revision 1: Say why in a comment. → done: M-001" in lines
    assert "- RM-002, on revision 2: Say it in the docstring. → done: M-001" in lines
    assert "No difference in the code RM-002 Say it in the docstring." in page_of(journey)


@pytest.mark.requirement("SD-1")
def test_a_remark_is_not_made_changed_or_removed_by_an_edit(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.write_answers()
    journey.follow(journey.last.next("remarks"))
    edits = [
        {"op": "add", "kind": "remark", "fields": {}},
        {"op": "set", "id": "RM-001", "version": 1, "fields": {"text": "Nothing."}},
        {"op": "remove", "id": "RM-001", "version": 2},
    ]
    journey.write_answer("edits.json", edits)
    refused = journey.planner("plan", "batch", "--file", "answers/edits.json")
    assert re.findall(r'at="(.*?)"', refused.text) == [
        "[0].kind", "[1].fields.text", "[2].id"]  # fmt: skip


@pytest.mark.requirement("SD-3")
def test_a_declined_remark_and_why_are_read_by_who_approves(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.write_answers()
    journey.follow(journey.last.next("remarks"))
    outcome = "declined: the name <b>says</b> it"
    declined = {"op": "set", "id": "RM-001", "version": 1, "fields": {"outcome": outcome}}
    journey.answers["design.json"] = [declined]
    journey.write_answers()
    refused = journey.follow(journey.last.next("done"))
    assert "RM-001 is declined, and M-001 cites it" in refused.text
    freed = {"op": "set", "id": "M-001", "version": 2, "fields": {"requirements": ["T-1"]}}
    journey.answers["design.json"] = [declined, freed]
    journey.last = journey.planner("step", "planner")
    journey.to("submitted")
    assert f"RM-001: Say why in a comment. → {outcome}" in journey.last.data("summary")
    with open(rendered_plan_path(journey.state_dir), encoding="utf-8") as file:
        assert "Say why in a comment. → declined: the name \\<b>says\\</b> it" in file.read()
    page = page_of(journey)
    assert f"RM-001 on revision 1 Say why in a comment. → {outcome}" in page
    assert "1 remark declined" in page


@pytest.mark.requirement("SD-9")
def test_a_run_whose_remark_became_an_entry_of_the_task_goes_on(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.write_answers()
    journey.follow(journey.last.next("remarks"))
    path = Path(journey.state_dir, "plan.json")
    plan = json.loads(path.read_text())
    [remark] = plan.pop("user_remarks")
    plan["remarks"] = [remark["text"]]
    plan["task_spec"].append({"id": "T-3", "text": remark["text"]})
    plan["milestones"][0]["requirements"] = ["T-1", "T-3"]
    path.write_text(json.dumps(plan))
    journey.last = journey.planner("step", "planner")
    assert task_of(journey).startswith("The user wants a change: T-3.")
    assert journey.last.data("remarks") == ""
    journey.answers["design.json"] = []
    journey.to("submitted")
    assert "You remarked Say why in a comment." in page_of(journey)


def test_a_revision_shows_the_message_that_its_commit_would_have(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.write_answers()
    journey.follow(journey.last.next("remarks"))
    assert "overview v2 Add two: Change the constant." in journey.last.data("plan")
    assert "commit message" in task_of(journey)


def test_a_moved_base_is_no_wish_of_the_user(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("approved")
    journey.repository.commit({"src/a.py": "# kept\n\n\ndef f(x):\n    return x + 1\n"})
    journey.follow(journey.last.next())
    assert journey.last.code == 1, journey.last.text
    journey.last = journey.planner("plan", "revise")
    assert task_of(journey).startswith("The user has not asked for this revision")
    assert journey.last.data("remarks").startswith("The base moved to ")
    assert "T-3" not in journey.last.data("plan")
    journey.answers["design.json"] = []
    journey.edits = {}
    journey.to("submitted")
    with open(review_page_path(journey.state_dir), encoding="utf-8") as file:
        page = file.read()
    assert "The base moved to" in page
    assert "You remarked" not in page


def test_a_hook_that_makes_another_commit_is_the_cause_and_no_wish_of_the_user(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("approved")
    hook = journey.repository.path / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho '# by the hook' >> src/a.py\ngit add src/a.py\n")
    hook.chmod(0o755)
    refused = journey.follow(journey.last.next())
    assert "a hook (pre-commit) changed the commit" in refused.text
    undone = journey.follow(way_out(refused.problems[0][1]))
    assert undone.code == 0, undone.text
    assert "answers/remarks.md" in task_of(journey)
    assert journey.last.next("remarks").count("--file answers/remarks.md") == 1
    journey.follow(journey.last.next("hook"))
    assert task_of(journey).startswith("The user has not asked for this revision")
    assert "hook" in journey.last.data("remarks")
    journey.answers["design.json"] = []
    journey.write_answers()
    journey.follow(journey.last.next("done"))
    assert "hook" in journey.last.data("remarks")  # who writes the code learns it too
    assert [t.id for t in open_state(journey.state_dir, "/").plan.task_spec] == ["T-1", "T-2"]


def test_verify_commands_that_fail_on_a_new_head_make_a_revision_on_that_head(
    make_repo: Repositories,
) -> None:
    toml = f"[verify]\ncommands = ['''{EACH_TEST}''']\n"
    journey = Journey(make_repo(files={**FILES, "planner.toml": toml})).to("approved")
    head = journey.repository.commit({"tests/test_b.py": "from a import f\n\nassert f(2) == 3\n"})
    refused = journey.follow(journey.last.next())
    assert "there the verify commands fail" in refused.text
    journey.follow(way_out(refused.problems[0][1]))
    assert "--cause verify" in " ".join(words_of(way_out(refused.problems[0][1])))
    assert "verify commands fail" in journey.last.data("remarks")
    plan = open_state(journey.state_dir, "/").plan
    assert plan.base is not None
    assert plan.base.commit == head


def test_a_revision_without_a_remark_does_not_pretend_to_have_one(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.last = journey.planner("plan", "revise")
    assert task_of(journey).startswith("The plan is open again, without a remark")


def test_the_edits_of_an_earlier_round_are_not_read_again(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.write_answers()
    journey.follow(journey.last.next("remarks"))
    assert os.path.exists(f"{journey.state_dir}/answers/design.json")
    forgotten = journey.run(*words_of(journey.last.next("done")))
    assert [kind for kind, _ in forgotten.problems] == ["not_found"]
    assert len(open_state(journey.state_dir, "/").plan.milestones) == 1


@pytest.mark.requirement("SD-3")
def test_a_revision_asked_for_again_is_there_and_another_wish_joins_it(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.write_answer("other.md", "Say it in the name.")
    journey.write_answers()
    words = words_of(journey.last.next("remarks"))
    again = journey.run(*words).text
    page = Path(review_page_path(journey.state_dir))
    shown = page.read_text()
    page.write_text("of the frozen plan")
    assert journey.run(*words).text == again
    assert page.read_text() == shown
    assert journey.run(*[word.replace("remarks.md", "other.md") for word in words]).code == 0
    said = open_state(journey.state_dir, "/").plan.user_remarks
    assert [(one.id, one.revision) for one in said] == [("RM-001", 1), ("RM-002", 2)]
    refused = journey.run(*words[:2], *words[4:])
    assert refused.code == 1
    assert "the plan is not frozen" in refused.text
