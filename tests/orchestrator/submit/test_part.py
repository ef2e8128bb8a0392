"""A person takes some milestones of a submitted plan, or sends it back with remarks (PM-7)."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from orchestrator.submit import part as parting
from shared.run import open_state
from tests.journey import Answer, Journey, way_out, words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.plan_table import Plan
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PM-7")

# Green on the base, with all milestones, and with the first alone; red with the second alone.
VERIFIED = """\
[verify]
commands = ["sh check.sh"]
"""
CHECK = 'grep -q "x + 2" src/m1_1.py || ! grep -q "x + 2" src/m2_1.py\n'


def three(make_repo: Repositories, extra: dict[str, str | bytes] | None = None) -> Journey:
    """Return a run whose plan of three milestones, the third on the second, is submitted."""
    journey = larger(make_repo, "project", [1, 1, 1], extra or {})
    for edit in journey.answers["design.json"]:
        if edit.get("as") == "$m2":
            edit["fields"]["depends_on"] = []
    return journey.to("submitted")


def verified(make_repo: Repositories) -> Journey:
    return three(make_repo, {"planner.toml": VERIFIED, "check.sh": CHECK})


def plan_of(journey: Journey) -> Plan:
    return open_state(journey.state_dir, "/").plan


def digest_of(journey: Journey) -> str:
    return open_state(journey.state_dir, "/").run.digest or ""


def take(journey: Journey, only: str, digest: str | None = None) -> Answer:
    return journey.planner("approve", digest or digest_of(journey), "--only", only)


def files(journey: Journey) -> set[str]:
    return {c.file for m in plan_of(journey).milestones for c in m.code_changes}


def look(journey: Journey) -> dict[str, bytes]:
    """Return the run's files that a refused command must leave as they are."""
    found = {}
    for at, folders, names in os.walk(journey.state_dir):
        folders[:] = [f for f in folders if f not in {".git", "vault.git", "verify", "fingerprint"}]
        for name in names:
            if name not in {".git", "lock"}:
                with open(os.path.join(at, name), "rb") as file:
                    found[os.path.join(at, name)] = file.read()
    return found


def test_a_part_is_submitted_under_a_digest_of_its_own_and_applied_alone(
    make_repo: Repositories,
) -> None:
    journey = three(make_repo)
    whole = digest_of(journey)
    journey.last = take(journey, "M-001")
    assert journey.last.code == 0, journey.last.text
    assert digest_of(journey) != whole
    assert words_of(journey.last.person()) == ["approve", digest_of(journey)[:12]]
    assert plan_of(journey).revision == 2
    assert [m.id for m in plan_of(journey).milestones] == ["M-001"]
    state = open_state(journey.state_dir, "/")
    assert not state.database.is_approved(state.run, digest_of(journey)), "it waits for a yes"
    journey.to("committed")
    changed = journey.repository.git("show", "--name-only", "--format=", "HEAD").splitlines()
    assert [f for f in changed if not f.startswith("planning/")] == ["src/m1_1.py"]
    assert f"Plan-Digest: {digest_of(journey)}" in journey.repository.git("log", "-1")


def test_the_digest_of_the_whole_approves_nothing_any_more(make_repo: Repositories) -> None:
    journey = three(make_repo)
    whole = digest_of(journey)
    assert take(journey, "M-001").code == 0
    refused = journey.planner("approve", whole)
    assert refused.code == 1
    assert "not the digest of the submitted revision" in refused.text


@pytest.mark.requirement("VR-5")
def test_a_part_that_a_hook_would_not_let_pass_is_refused_before_it_is_submitted(
    make_repo: Repositories,
) -> None:
    journey = larger(make_repo, "project", [1, 1, 1], {})
    hook = journey.repository.path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ngrep -q "x + 2" src/m1_1.py || { echo m1 first; exit 1; }\n')
    hook.chmod(0o755)
    for edit in journey.answers["design.json"]:
        if edit.get("as") == "$m2":
            edit["fields"]["depends_on"] = []
    journey.to("submitted")
    before = look(journey)
    refused = take(journey, "M-002,M-003")
    assert refused.code == 1, refused.text
    assert "m1 first" in refused.text
    assert "approve the whole plan or other milestones; nothing was changed" in refused.text
    assert look(journey) == before
    lock = journey.repository.path / ".git" / "index.lock"
    lock.touch()
    again = words_of(way_out(take(journey, "M-001").problems[0][1]))
    assert again[:4] == ["approve", digest_of(journey), "--only", "M-001"]
    lock.unlink()
    assert take(journey, "M-001").code == 0


def test_what_is_left_out_is_said_where_it_is_approved(make_repo: Repositories) -> None:
    journey = three(make_repo)
    shown = take(journey, "M-002, M-003")
    assert "Part of revision 1: M-002, M-003. Left out: M-001." in shown.data("summary")
    with open(f"{journey.state_dir}/plan.md", encoding="utf-8") as file:
        assert "Left out: M-001." in file.read()
    with open(f"{journey.state_dir}/plan.r1.json", encoding="utf-8") as file:
        assert len(json.load(file)["milestones"]) == 3


@pytest.mark.requirement("SD-1", "SD-3")
def test_what_a_left_out_milestone_would_have_done_is_declined_and_not_due_again(
    make_repo: Repositories,
) -> None:
    journey = larger(make_repo, "project", [1, 1], {})
    journey.answers["context.json"] = {"task_spec": ["m1 adds two", "m2 adds two", "both do"]}
    for edit in journey.answers["design.json"]:
        if edit.get("kind") == "milestone":
            edit["fields"]["requirements"] = [f"T-{edit['as'][-1]}", "T-3"]
            edit["fields"]["depends_on"] = []
    journey.to("submitted")
    assert take(journey, "M-001").code == 0
    said = {
        "T-1": "done: M-001",
        "T-2": "declined: left out by the person: M-002",
        "T-3": "done: M-001; left out by the person: M-002",
    }
    rows = json.loads(journey.planner("plan", "show", "said", "--json").text)
    assert {row["id"]: row["outcome"] for row in rows} == said
    with open(f"{journey.state_dir}/plan.md", encoding="utf-8") as file:
        assert f"m2 adds two → {said['T-2']}" in file.read()
    assert not plan_of(journey).unproven
    journey.last = journey.planner("plan", "revise")
    journey.answers["design.json"] = []
    journey.edits = {}
    journey.to("submitted")
    rows = json.loads(journey.planner("plan", "show", "said", "--json").text)
    assert {row["id"]: row["outcome"] for row in rows} == said


@pytest.mark.parametrize(
    ("only", "said"),
    [
        ("M-003", "depends on M-002, which would be left out · allowed: --only M-002,M-003"),
        ("M-001,M-003", "depends on M-002, which would be left out · allowed: --only M-001,M-002"),
        ("M-009", "the plan has no such milestone · allowed: M-001, M-002, M-003"),
        ("M-001,M-002,M-003", "names all milestones"),
        (" , ", "names no milestone"),
    ],
)
def test_a_part_that_cannot_be_is_refused_and_changes_nothing(
    make_repo: Repositories, only: str, said: str
) -> None:
    journey = three(make_repo)
    before = look(journey)
    refused = take(journey, only)
    assert refused.code == 1
    assert said in refused.text
    assert look(journey) == before


def test_another_digest_is_refused(make_repo: Repositories) -> None:
    journey = three(make_repo)
    before = look(journey)
    assert "not the digest" in take(journey, "M-001", "0" * 64).text
    assert look(journey) == before


def test_an_approved_plan_is_not_taken_apart(make_repo: Repositories) -> None:
    journey = three(make_repo).to("approved")
    refused = take(journey, "M-001")
    assert [kind for kind, _ in refused.problems] == ["conflict"]
    assert "already approved" in refused.text


def test_a_part_is_refused_while_the_tree_is_not_as_it_was(make_repo: Repositories) -> None:
    journey = three(make_repo)
    journey.repository.write("mine.txt", "1\n")
    assert "mine.txt (new)" in take(journey, "M-001").text
    assert journey.planner("mode", "rebase").code == 0
    assert take(journey, "M-001").code == 0


def test_the_projects_commands_judge_the_part_itself(make_repo: Repositories) -> None:
    journey = verified(make_repo)
    (whole,) = plan_of(journey).verify
    assert take(journey, "M-001").code == 0
    (part,) = plan_of(journey).verify
    assert (part.command, part.outcome) == ("sh check.sh", "pass")
    assert part.tree != whole.tree
    tree = journey.repository.git("ls-tree", "-r", part.tree)
    assert not os.path.exists(f"{journey.state_dir}/worktree"), "it waits for its approval"
    blob = plan_of(journey).milestones[0].code_changes[0].after
    assert f"{blob}\tsrc/m1_1.py" in tree
    assert not os.path.exists(f"{journey.state_dir}/part")


def test_a_part_that_fails_alone_is_refused_with_the_output_and_the_whole_still_waits(
    make_repo: Repositories,
) -> None:
    journey = verified(make_repo)
    before = look(journey)
    refused = take(journey, "M-002,M-003")
    assert refused.code == 1
    assert "do not pass verify without the others: sh check.sh fails" in refused.text
    assert look(journey) == before
    journey.to("committed")


def test_commands_that_take_long_are_come_back_to_by_the_person(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = three(make_repo, {"planner.toml": VERIFIED, "check.sh": "sleep 1\n"})
    whole = digest_of(journey)
    with monkeypatch.context() as patched:
        patched.setattr(parting, "WAIT_S", 0.0)
        for _ in range(2):
            waiting = take(journey, "M-002,M-003")
            assert waiting.code == 0, waiting.text
            assert "verify has run for" in waiting.data("progress")
            assert digest_of(journey) == whole
    done = journey.planner(*words_of(waiting.person()))
    assert done.block.get("name") == "init", done.text
    assert [m.id for m in plan_of(journey).milestones] == ["M-002", "M-003"]


def test_changes_that_need_the_others_undeclared_are_refused(make_repo: Repositories) -> None:
    journey = larger(make_repo, "project", [1, 1], {"src/thing": "a file\n"})
    design = journey.answers["design.json"]
    for edit in design:
        if edit.get("as") == "$m2":
            edit["fields"]["depends_on"] = []
        if edit.get("kind") == "intent":
            first = edit["fields"]["milestone"] == "$m1"
            edit["fields"]["file"] = "src/thing" if first else "src/thing/inside.py"
        if edit.get("kind") == "milestone":
            first = edit["as"] == "$m1"
            edit["fields"]["files"] = ["src/thing" if first else "src/thing/inside.py"]
    journey.edits = {}
    journey.to("code")
    os.unlink(f"{journey.state_dir}/worktree/src/thing")
    os.mkdir(f"{journey.state_dir}/worktree/src/thing")
    journey.edits = {"src/thing/inside.py": "1\n"}
    journey.to("submitted")
    before = look(journey)
    refused = take(journey, "M-002")
    assert "cannot be applied without the others" in refused.text
    assert look(journey) == before


def test_the_same_command_again_prints_the_submission(make_repo: Repositories) -> None:
    journey = three(make_repo)
    whole = digest_of(journey)
    first = take(journey, "M-001")
    before = look(journey)
    assert take(journey, "M-001", whole) == first
    assert look(journey) == before


@pytest.mark.parametrize("at", ["discard", "_remove", "keep_draft"])
def test_a_part_that_was_killed_is_finished_by_the_same_command(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    journey = three(make_repo)
    whole = digest_of(journey)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(parting, at, killed)
        assert take(journey, "M-001").code == 130
    assert digest_of(journey) == whole
    journey.last = take(journey, "M-001", whole)
    assert journey.last.code == 0, journey.last.text
    journey.to("committed")


def test_a_part_can_be_revised_and_the_worktree_holds_just_it(make_repo: Repositories) -> None:
    journey = three(make_repo)
    assert take(journey, "M-001").code == 0
    journey.last = journey.planner("plan", "revise")
    journey.answers["design.json"] = []
    journey.edits = {}
    journey.to("submitted")
    assert plan_of(journey).revision == 3
    assert files(journey) == {"src/m1_1.py"}


def test_the_audit_says_who_took_which_part(make_repo: Repositories) -> None:
    journey = three(make_repo)
    take(journey, "M-001")
    state = open_state(journey.state_dir, "/")
    row = state.database.audit_rows(state.run)[-1]
    assert "person" in row["who"]
    assert row["detail"] == "M-001 of revision 1"
    assert row["digest"] == digest_of(journey)


# remarks


def test_remarks_open_the_next_revision_and_leave_the_frozen_one(make_repo: Repositories) -> None:
    journey = three(make_repo)
    with open(f"{journey.state_dir}/plan.json", "rb") as file:
        frozen = file.read()
    journey.last = journey.planner("mode", "edit", "Keep the old name as an alias")
    assert journey.last.code == 0, journey.last.text
    assert "Keep the old name as an alias" in journey.last.data("plan")
    with open(f"{journey.state_dir}/plan.r1.json", "rb") as file:
        assert file.read() == frozen
    state = open_state(journey.state_dir, "/")
    assert (state.run.stage, state.run.revision) == ("gathering", 2)
    row = state.database.audit_rows(state.run)[-1]
    assert (row["action"], row["detail"]) == ("revise", "Keep the old name as an alias")


def test_remarks_without_a_word_are_refused(make_repo: Repositories) -> None:
    journey = three(make_repo)
    before = look(journey)
    assert "empty" in journey.planner("mode", "edit", "  ").text
    assert look(journey) == before


@pytest.mark.requirement("SD-3")
def test_remarks_on_what_is_not_submitted_make_its_design_due(make_repo: Repositories) -> None:
    journey = larger(make_repo, "project", [1], {}).to("code")
    back = journey.planner("mode", "edit", "Another name")
    assert (back.code, back.block.get("name")) == (0, "plan-design-execute")
    assert back.data("due again because") == "RM-001: Another name"
    state = open_state(journey.state_dir, "/")
    assert (state.run.stage, state.run.revision) == ("gathering", 1)
    assert [one.text for one in plan_of(journey).user_remarks] == ["Another name"]
    before = look(journey)
    refused = journey.planner("plan", "revise")
    assert refused.code == 1, "without a remark there is nothing to make again"
    assert "not frozen" in refused.text
    assert look(journey) == before


def test_a_person_types_the_command_that_the_part_waits_for(make_repo: Repositories) -> None:
    journey = three(make_repo)
    shown = take(journey, "M-001")
    assert words_of(shown.person()) == ["approve", digest_of(journey)[:12]]


@pytest.mark.requirement("FC-4")
def test_a_part_is_taken_by_the_first_digits_of_the_whole(make_repo: Repositories) -> None:
    journey = three(make_repo)
    shown = take(journey, "M-001", digest_of(journey)[:12])
    assert shown.code == 0, shown.text
