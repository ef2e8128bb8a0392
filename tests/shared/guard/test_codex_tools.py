"""Codex's own tools, named as its hook events name them: patches and sub-agents (PM-3, PM-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.resources import launcher
from tests.light_plans import Lightly
from tests.orchestrator.execute.waves import writing
from tests.shared.guard.client import SESSION, Client

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PM-3", "PM-4")


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


@pytest.fixture
def codex(repo: Repository) -> Client:
    """Codex in a session that plans."""
    Lightly(repo, SESSION).to("gathering")
    return Client(repo.path, SESSION, "codex")


def test_a_patch_may_write_answers_by_any_path_that_leads_there(codex: Client) -> None:
    answers = f"{codex.cwd}/.planner/answers"
    two = (f"*** Add File: {answers}/a.json", "+{}", f"*** Update File: {answers}/b", "@@", "-a")
    assert codex.asks("apply_patch", command=patch(*two, "*** End of File")) == {}
    one = patch("*** Add File: .planner/answers/a.json", "+*** Delete File: README.md")
    assert codex.asks("apply_patch", command=one) == {}


def test_a_patch_that_writes_elsewhere_is_denied_with_the_way_to_write(codex: Client) -> None:
    answers = f"{codex.cwd}/.planner/answers"
    for lines in (
        ["*** Add File: new.py", "+x"],
        ["*** Delete File: README.md"],
        [f"*** Update File: {answers}/a.json", f"*** Move to: {codex.cwd}/a.py"],
        [f"*** Add File: {answers}/a.json", "+x", "  *** Delete File: README.md"],
        [f"*** Add File: {answers}/a\x0b/../../../new.py", "+x"],
        [f"*** Add File: {answers}/a\u2028/../../../new.py", "+x"],
    ):
        reason = codex.denial("apply_patch", command=patch(*lines))
        assert f"write answers under {answers}" in reason, lines


@pytest.mark.parametrize("name", [".planner/answers/a.json", "new.py"])
def test_a_patch_by_the_shell_is_judged_as_one_by_the_tool(codex: Client, name: str) -> None:
    lines = patch(f"*** Add File: {codex.cwd}/{name}", "+x")
    command = f"apply_patch <<'EOF'\n{lines}\nEOF"
    if name == "new.py":
        assert "write answers under" in codex.denial("Bash", command=command)
    else:
        assert codex.asks("Bash", command=command) == {}


def test_a_patch_that_cannot_be_read_is_denied_with_its_form(codex: Client) -> None:
    inside = f"*** Add File: {codex.cwd}/.planner/answers/a.json"
    for text in (
        "", "touch new.py", f"*** Begin Patch\n{inside}\n+x", patch(inside, "*** Unheard of: x"),
        patch("*** Environment ID: other", inside, "+x"),
    ):  # fmt: skip
        assert "cannot be read from it" in codex.denial("apply_patch", command=text), text


def test_while_a_plan_is_executed_our_own_files_alone_are_kept_from_patches(
    repo: Repository,
) -> None:
    Lightly(repo, SESSION).to("executing")
    codex = Client(repo.path, SESSION, "codex")
    assert codex.asks("apply_patch", command=patch("*** Add File: new.py", "+x")) == {}
    ours = patch("*** Add File: new.py", "+x", "*** Delete File: .planner/planner.db")
    assert "one of the planner's own files" in codex.denial("apply_patch", command=ours)


@pytest.mark.parametrize(
    "name",
    ["spawn_agent", "wait_agent", "send_input", "close_agent", "collaborationspawn_agent",
     "collaborationwait_agent", "collaborationlist_agents", "collaborationsend_message"],
)  # fmt: skip
def test_sub_agents_can_be_started_and_waited_for(codex: Client, name: str) -> None:
    assert codex.asks(name, task_name="one", message="run this") == {}


def test_a_patch_of_a_milestones_agent_stays_in_its_worktree_and_among_its_tools(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    journey = writing(make_repo, allowed_tools=["Read"])
    host = Client(journey.repository.path, SESSION, "codex")
    home = journey.state_dir

    def asks(agent: str, tool: str, command: str) -> str:
        given = {"tool_name": tool, "tool_input": {"command": command}}
        return str(host.sends("PreToolUse", agent_id=agent, agent_type="default", **given))

    for agent, name in (("a1", "M-001"), ("a2", "M-002")):
        words = f"step exec-implement --milestone {name} --state-dir {home}"
        assert asks(agent, "Bash", f"{launcher()} {words}") == "{}"
    own, other = (f"*** Add File: {home}/milestones/M-00{n}/src/new.py" for n in (2, 1))
    answer = f"*** Add File: {home}/answers/result-M-002-1.json"
    assert "does not allow apply_patch for M-001" in asks("a1", "apply_patch", patch(other, "+x"))
    assert asks("a2", "apply_patch", patch(own, "+x", answer, "+{}")) == "{}"
    both = patch(own, "+x", other, "+x")
    assert "outside the worktree of M-002" in asks("a2", "apply_patch", both)
