"""What the planning mode's source asks of it, test by test under its names (PM-14).

Those about tools and shell commands are in tests/shared/guard/test_seed_tools.py. A rendered plan
stands for the chat's embed, a command for its slash command and for the agent's tool.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from cli.main import MODULES, planner
from orchestrator.mode.render import NOT_ASKED
from shared.commands import ANYONE, COMMANDS
from shared.mode import sessions
from shared.mode.reminder import injected
from state.actors import HOST
from tests.generated_docs import context_of
from tests.journey import call
from tests.light_plans import PLAN, Lightly

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PM-14")

HERE = Path(__file__)
NAMES = """
    enter_planning_mode_restricts_tools
    exit_planning_mode_restores_tools
    plan_cancel_restores_normal_mode
    plan_already_active_is_noop
    view_tool_allowed_in_planning
    bash_read_only_allowed_in_planning
    bash_write_blocked_in_planning
    create_file_blocked_in_planning
    str_replace_blocked_in_planning
    git_tools_blocked_in_planning
    own_settings_blocked_in_planning
    ask_user_allowed_in_planning
    submit_plan_creates_plan_object
    submit_plan_validates_structure
    submit_plan_persisted_to_db
    submit_plan_sends_rendered_plan
    plan_approve_enters_execution
    plan_reject_cancels_mode
    plan_edit_allows_revision
    plan_timeout_cancels_mode
    plan_approval_logged_to_audit
    execution_has_full_tool_access
    plan_injected_into_system_prompt
    execution_completion_exits_planning_mode
    enter_plan_mode_tool_switches_to_planning
    enter_plan_mode_notifies_user
    enter_plan_mode_reason_displayed
    plan_command_enters_mode
    plan_command_with_task
    plan_status_shows_current_state
    plan_cancel_exits_mode
    planning_bash_allows_cat
    planning_bash_allows_ls
    planning_bash_allows_grep
    planning_bash_allows_find
    planning_bash_blocks_rm
    planning_bash_blocks_write_redirect
    planning_bash_blocks_pip_install
    planning_bash_blocks_git_push
    submit_plan_tool_registered
    enter_plan_mode_tool_registered
    ask_user_tool_registered
    submit_plan_tool_schema
"""


@pytest.fixture
def lightly(repo: Repository) -> Lightly:
    return Lightly(repo)


def test_every_name_of_the_source_is_a_test() -> None:
    files = (HERE, HERE.parents[2] / "shared" / "guard" / "test_seed_tools.py")
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    names = NAMES.split()
    assert len(names) == 43
    assert not [name for name in names if f"\ndef test_{name}(" not in text]


# Planning mode lifecycle


@pytest.mark.requirement("PM-2")
def test_plan_cancel_restores_normal_mode(lightly: Lightly) -> None:
    for stage in ("gathering", "submitted", "executing"):
        lightly.to(stage).run("cancel")
        assert lightly.status()["stage"] == "inactive"
        assert not sessions.is_published(lightly.agent)


@pytest.mark.requirement("PM-2")
def test_plan_already_active_is_noop(lightly: Lightly) -> None:
    for stage in ("gathering", "submitted", "executing"):
        before = lightly.to(stage).status()
        entered = lightly.mode("enter", "Something else", "--reason", "other")
        assert "plans already" in entered.block.findtext("task", "")
        assert lightly.status() == before
        assert entered.block.get("stage") == stage
        lightly.run("cancel")


# Plan submission


@pytest.mark.requirement("PM-6")
def test_submit_plan_creates_plan_object(lightly: Lightly) -> None:
    plan = lightly.to("submitted").status()["plan"]
    assert {key: plan[key] for key in ("summary", "context_notes")} == {
        key: PLAN[key] for key in ("summary", "context_notes")
    }
    assert plan["questions"] == [{**one, "asked": False} for one in PLAN["questions"]]
    assert plan["steps"] == [{**step, "status": "pending"} for step in PLAN["steps"]]


@pytest.mark.requirement("PM-6")
def test_submit_plan_validates_structure(lightly: Lightly) -> None:
    lightly.to("gathering")
    none: list[object] = [{}, [], {**PLAN, "steps": []}, {**PLAN, "steps": [{"risk": "red"}]}]
    for wrong in none:
        answer = lightly.submit(wrong)
        assert (answer.code, answer.problems[0][0]) == (1, "invalid")
    assert lightly.status()["stage"] == "gathering"
    assert lightly.row.plan_json is None


@pytest.mark.requirement("PM-1", "PM-6")
def test_submit_plan_persisted_to_db(lightly: Lightly) -> None:
    row = lightly.to("submitted").row
    assert (row.phase, row.revision, len(row.digest or "")) == ("submitted", 1, 64)
    assert json.loads(row.plan_json or "")["summary"] == PLAN["summary"]
    assert row.submitted_at
    assert row.approved_at is None


@pytest.mark.requirement("PM-6")
def test_submit_plan_sends_rendered_plan(lightly: Lightly) -> None:
    lightly.to("gathering")
    shown = lightly.submit()
    assert shown.data("plan").splitlines() == [
        "Plan: Move the importer to ISO dates.",
        "",
        "1. 🟢 low: Change the parser (tools: Edit, Bash)",
        "2. 🔴 high: Rewrite the archive (tools: Bash)",
        "",
        "Questions:",
        f"- Is 1904 a year here? → Yes. ({NOT_ASKED})",
        "",
        "Found: One caller.",
    ]
    typed = [e.text or "" for e in shown.block.iter("person")]
    digest = shown.block.get("digest", "")
    assert [f"approve {digest}" in typed[0], f"mode reject {digest}" in typed[1]] == [True] * 2
    assert "submit" in shown.next("remarks")


# Plan approval


@pytest.mark.requirement("PM-1", "PM-7")
def test_plan_approve_enters_execution(lightly: Lightly) -> None:
    lightly.to("submitted")
    wrong = lightly.run("approve", "0" * 64)
    assert (wrong.code, wrong.problems[0][0]) == (1, "refused")
    assert lightly.status()["stage"] == "submitted"
    approved = lightly.run("approve", lightly.status()["digest"])
    assert approved.block.get("stage") == "executing"
    assert lightly.run("approve", lightly.status()["digest"]).text == approved.text
    assert lightly.row.approved_at
    assert lightly.row.approved_by


@pytest.mark.requirement("PM-7")
def test_plan_reject_cancels_mode(lightly: Lightly) -> None:
    lightly.to("submitted")
    assert lightly.run("mode", "reject", "0" * 64).code == 1
    lightly.mode("reject", lightly.status()["digest"], "--reason", "not before the release")
    assert lightly.status()["stage"] == "inactive"
    (row,) = [r for r in lightly.audit() if r["action"] == "reject"]
    assert (row["from"], row["to"]) == ("submitted", "inactive")
    assert row["detail"] == "not before the release"


@pytest.mark.requirement("PM-7")
def test_plan_edit_allows_revision(lightly: Lightly) -> None:
    first = lightly.to("submitted").status()["digest"]
    assert lightly.submit({**PLAN, "questions": []}).code == 0
    second = lightly.status()
    assert (second["revision"], second["stage"]) == (2, "submitted")
    assert lightly.run("approve", first).code == 1
    lightly.run("approve", second["digest"])
    assert lightly.status()["plan"]["questions"] == []


@pytest.mark.requirement("PM-8")
def test_plan_timeout_cancels_mode(
    lightly: Lightly, users_settings: Callable[[str], object]
) -> None:
    users_settings('[mode]\non_timeout = "cancel"\n')
    lightly.to("submitted").set_back(1_801)
    answer = lightly.run("approve", lightly.row.digest or "")
    assert answer.code == 1
    assert lightly.status()["stage"] == "inactive"
    assert not sessions.is_published(lightly.agent)
    assert [r["who"] for r in lightly.audit() if r["action"] == "cancel"] == ["time limit"]


@pytest.mark.requirement("PM-9")
def test_plan_approval_logged_to_audit(lightly: Lightly) -> None:
    digest = lightly.to("executing").status()["digest"]
    (row,) = [r for r in lightly.audit() if r["action"] == "approve"]
    assert (row["from"], row["to"], row["digest"]) == ("submitted", "executing", digest)
    assert row["agent"] == lightly.agent
    assert row["detail"].startswith("channel: unproven (")
    assert row["who"].startswith("person")


# Execution phase


@pytest.mark.requirement("PM-10")
def test_plan_injected_into_system_prompt(lightly: Lightly) -> None:
    lightly.to("executing").mode("step", "1", "start")
    session = sessions.find("", lightly.agent)
    assert session is not None
    text = injected(session, 0)
    assert text.startswith("<approved_plan ")
    assert text.endswith("</approved_plan>")
    assert "1. Change the parser (tools: Edit, Bash) ← in progress\n" in text
    assert "2. Rewrite the archive (tools: Bash)\n" in text
    assert "tell the user of significant deviations" in text


@pytest.mark.requirement("PM-11")
def test_execution_completion_exits_planning_mode(lightly: Lightly) -> None:
    lightly.to("executing")
    for number in ("1", "2"):
        assert lightly.status()["stage"] == "executing"
        lightly.mode("step", number, "start")
        last = lightly.mode("step", number, "done")
    assert last.block.get("stage") == "inactive"
    assert "Planning has ended" in last.block.findtext("task", "")
    assert lightly.mode("step", "2", "done").text == last.text
    assert not sessions.is_published(lightly.agent)


def test_a_step_of_a_plan_that_was_cancelled_is_refused(lightly: Lightly) -> None:
    lightly.to("executing").run("cancel")
    late = lightly.run("mode", "step", "1", "start")
    assert "planning mode has ended before this step was done" in late.problems[0][1]


# Agent-initiated planning


@pytest.mark.requirement("PM-2")
def test_enter_plan_mode_tool_switches_to_planning(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-1")
    entered = call(repo.path, "mode", "enter", "--reason", "several files")
    assert (entered.block.get("stage"), entered.block.get("agent")) == ("gathering", "s-1")
    found = sessions.find("s-1", "/")
    assert found is not None
    assert found.repository == str(repo.path.resolve())


@pytest.mark.requirement("PM-2")
def test_enter_plan_mode_notifies_user(lightly: Lightly) -> None:
    entered = lightly.mode("enter", "--reason", "several files")
    assert "tell the user that you plan this before" in entered.block.findtext("task", "")


@pytest.mark.requirement("PM-2")
def test_enter_plan_mode_reason_displayed(lightly: Lightly) -> None:
    entered = lightly.mode("enter", "--reason", "costly to <undo> & several files")
    assert entered.data("reason") == "costly to <undo> & several files"
    assert lightly.status()["reason"] == "costly to <undo> & several files"
    assert lightly.audit()[0]["detail"] == "costly to <undo> & several files"


# Slash commands


@pytest.mark.requirement("PM-2")
def test_plan_command_enters_mode(lightly: Lightly) -> None:
    assert lightly.status()["stage"] == "inactive"
    assert lightly.mode("enter").block.get("stage") == "gathering"
    assert lightly.row.gathering_start


@pytest.mark.requirement("PM-2")
def test_plan_command_with_task(lightly: Lightly) -> None:
    assert lightly.mode("enter", "Move to ISO dates").data("task") == "Move to ISO dates"
    assert lightly.row.task_description == "Move to ISO dates"


@pytest.mark.requirement("PM-2")
def test_plan_status_shows_current_state(lightly: Lightly) -> None:
    for stage in ("gathering", "submitted", "executing"):
        lightly.to(stage)
        assert lightly.mode("status").block.get("stage") == stage
        lightly.run("cancel")
    assert lightly.mode("status").block.get("stage") == "inactive"


@pytest.mark.requirement("PM-2")
def test_plan_cancel_exits_mode(lightly: Lightly) -> None:
    cancelled = lightly.to("submitted").run("cancel")
    assert cancelled.block.get("stage") == "inactive"
    assert lightly.run("cancel").code == 1
    (row,) = [r for r in lightly.audit() if r["action"] == "cancel"]
    assert (row["from"], row["to"]) == ("submitted", "inactive")


# Planning tools


def help_of(*words: str) -> str:
    """Return the help of a command, found as the program finds it."""
    context = context_of(planner, "planner", None)
    for word in words:
        assert isinstance(context.command, click.Group)
        found = context.command.get_command(context, word)
        assert found is not None
        context = context_of(found, word, context)
    return context.get_help()


def test_submit_plan_tool_registered() -> None:
    assert COMMANDS["mode submit"][0] == HOST
    assert "Submit a light plan" in help_of("mode", "submit")


def test_enter_plan_mode_tool_registered() -> None:
    assert COMMANDS["mode enter"][0] == HOST
    assert "--reason" in help_of("mode", "enter")


def test_ask_user_tool_registered() -> None:
    assert COMMANDS["context ask"][0].startswith(HOST)
    assert COMMANDS["help"][0] == ANYONE
    assert "context" in MODULES
    assert help_of("context", "ask")


def test_submit_plan_tool_schema(lightly: Lightly) -> None:
    """What the block asks for is what is taken."""
    said = lightly.mode("enter").block.findtext("task", "")
    for field in (*PLAN, *PLAN["steps"][0], "low | medium | high"):
        assert field in said
    assert lightly.submit().code == 0
