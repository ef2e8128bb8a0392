"""Agents that write milestones: each is held to its own tools and its own worktree (PM-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from shared.resources import launcher
from tests.orchestrator.execute.waves import NEW, hand_in, opened, writing
from tests.shared.guard.client import SESSION, Client

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository
    from tests.journey import Journey

    Repositories = Callable[..., Repository]


class Agent(Client):
    """A sub-agent of the session, as its client's hook events name it."""

    def __init__(self, journey: Journey, agent: str) -> None:
        super().__init__(journey.repository.path)
        self.agent = agent

    def sends(self, event: str, **more: object) -> dict[str, Any]:
        return super().sends(event, agent_id=self.agent, agent_type="general-purpose", **more)

    def begins(self, journey: Journey, name: str) -> dict[str, Any]:
        """Run the command with which an agent of a milestone begins."""
        words = f"step exec-implement --milestone {name} --state-dir {journey.state_dir}"
        return self.asks("Bash", command=f"{launcher()} {words}")


@pytest.fixture
def journey(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run of the session whose first two milestones are being written."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    return writing(make_repo, denied_tools=["Bash", "NotebookEdit"])


def agents_of(journey: Journey) -> dict[str, str]:
    state = opened(journey)
    return {name: row.agent for name, row in state.database.progress(state.run).items()}


@pytest.mark.requirement("PM-4")
def test_the_first_command_with_a_milestone_binds_the_agent(journey: Journey) -> None:
    agent = Agent(journey, "a1")
    assert agent.begins(journey, "M-001") == {}
    assert agents_of(journey) == {"M-001": "a1", "M-002": ""}
    assert "this agent writes M-001" in str(agent.begins(journey, "M-002"))
    assert agents_of(journey) == {"M-001": "a1", "M-002": ""}


@pytest.mark.requirement("PM-4")
def test_a_tool_that_the_milestone_denies_is_refused_to_its_agent_alone(journey: Journey) -> None:
    first, second = Agent(journey, "a1"), Agent(journey, "a2")
    assert first.asks("Bash", command="ls") == second.asks("Bash", command="ls"), "not bound yet"
    first.begins(journey, "M-001")
    second.begins(journey, "M-002")
    assert "does not allow Bash for M-001" in first.denial("Bash", command="ls")
    assert "does not allow" not in str(second.asks("Bash", command="ls"))
    assert "does not allow" not in str(Client(journey.repository.path).asks("Bash", command="ls"))
    done = f"{launcher()} exec done --milestone M-001 --attempt 1 --file answers/r.json"
    assert first.asks("Bash", command=f"{done} --state-dir {journey.state_dir}") == {}


@pytest.mark.requirement("PM-4")
@pytest.mark.parametrize("allowed", [["Edit", "Read"], ["write", "read"], ["EDIT", "read"]])
def test_only_the_allowed_tools_pass_by_name_or_kind(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch, allowed: list[str]
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    journey = writing(make_repo, allowed_tools=allowed)
    agent = Agent(journey, "a1")
    agent.begins(journey, "M-001")
    place = f"{journey.state_dir}/milestones/M-001/src/m1_1.py"
    assert agent.asks("Edit", file_path=place) == {}
    assert agent.asks("Read", file_path=place) == {}
    assert "use only" in agent.denial("Bash", command="ls")
    assert "use only" in agent.denial("WebFetch", url="https://example.org")


@pytest.mark.requirement("PM-4")
def test_an_agent_writes_in_its_own_worktree_alone(journey: Journey) -> None:
    agent = Agent(journey, "a1")
    agent.begins(journey, "M-001")
    home = journey.state_dir
    assert agent.asks("Write", file_path=f"{home}/milestones/M-001/src/new.py") == {}
    assert agent.asks("Write", file_path=f"{home}/answers/result-M-001-1.json") == {}
    for path in ("milestones/M-002/src/m2_1.py", "worktree/src/m1_1.py", "plan.json"):
        assert "outside the worktree of M-001" in agent.denial("Write", file_path=f"{home}/{path}")
    mine = f"{journey.repository.path}/src/m1_1.py"
    assert "outside the worktree of M-001" in agent.denial("Write", file_path=mine)


@pytest.mark.requirement("PM-4")
def test_an_agent_is_free_again_when_its_milestone_is_handed_in(journey: Journey) -> None:
    agent = Agent(journey, "a1")
    agent.begins(journey, "M-001")
    assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}).code == 0
    assert "does not allow" not in str(agent.asks("Bash", command="ls"))
    again = Agent(journey, "a2")
    assert again.begins(journey, "M-001") == {}, "the command itself says that it is handed in"
    assert agents_of(journey) == {"M-001": "", "M-002": ""}


@pytest.mark.requirement("PM-4")
def test_an_agent_that_is_started_anew_takes_its_milestone_over(journey: Journey) -> None:
    Agent(journey, "a1").begins(journey, "M-001")
    Agent(journey, "a2").begins(journey, "M-001")
    assert agents_of(journey)["M-001"] == "a2"


def test_the_main_assistant_may_write_in_every_worktree_of_the_run(journey: Journey) -> None:
    client = Client(journey.repository.path)
    for tree in ("worktree", "milestones/M-001", "milestones/M-002"):
        assert client.asks("Write", file_path=f"{journey.state_dir}/{tree}/src/new.py") == {}
        assert client.denial("Write", file_path=f"{journey.state_dir}/{tree}/.git")
    assert client.denial("Write", file_path=f"{journey.state_dir}/milestones/M-001.json")
