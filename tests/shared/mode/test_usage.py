"""What Claude Code has counted of a sub-agent that has ended (PC-13)."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest

from shared.execution.costs import costs_of
from shared.mode.token_usage import read_usage
from tests.orchestrator.execute.waves import NEW, hand_in, opened, writing
from tests.shared.guard.client import SESSION
from tests.shared.guard.test_milestones import Agent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository
    from tests.journey import Journey

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PC-13")


def line(name: str, tokens: tuple[int, int, int], tool: str = "") -> str:
    """Return a line of a transcript: a part of a message, new and cached prompt, completion."""
    usage = dict(zip(("input_tokens", "cache_read_input_tokens", "output_tokens"), tokens,
                     strict=True))  # fmt: skip
    content = [{"type": "tool_use", "id": tool, "name": "Edit"}] if tool else [{"type": "text"}]
    message = {"id": name, "role": "assistant", "usage": usage, "content": content}
    return json.dumps({"type": "assistant", "isSidechain": True, "message": message})


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    """Return a transcript of three messages, the first in two parts, and lines of other forms."""
    path = tmp_path / "agent.jsonl"
    user = json.dumps({"type": "user", "message": {"role": "user", "content": "go"}})
    first = [line("m1", (400, 9000, 20)), line("m1", (400, 9000, 50), "t1")]
    rest = [line("m2", (90, 9500, 25), "t2"), line("m3", (10, 9600, 5)), "[1]", "{cut"]
    path.write_text("\n".join([user, *first, *rest]))
    return path


def test_each_message_counts_once_with_its_last_figures_and_without_the_cache(
    transcript: Path,
) -> None:
    assert read_usage(str(transcript)) == {
        "prompt_tokens": 500, "completion_tokens": 80, "tool_calls": 2
    }  # fmt: skip


def test_the_end_that_the_client_has_not_written_yet_is_waited_for(transcript: Path) -> None:
    whole = transcript.read_text()
    transcript.write_text(whole[: whole.index(line("m2", (90, 9500, 25), "t2"))])
    late = threading.Timer(0.2, transcript.write_text, [whole])
    late.start()
    counted = read_usage(str(transcript), wait_s=60)
    late.join()
    assert counted is not None
    assert (counted["tool_calls"], counted["completion_tokens"]) == (2, 80)


def test_an_agent_that_was_cut_off_counts_as_far_as_it_came(transcript: Path) -> None:
    whole = transcript.read_text()
    transcript.write_text(whole[: whole.index(line("m3", (10, 9600, 5)))])
    assert read_usage(str(transcript), wait_s=0.1) == {
        "prompt_tokens": 490, "completion_tokens": 75, "tool_calls": 2
    }  # fmt: skip


@pytest.mark.parametrize("content", [None, "", "{cut", '{"type": "assistant", "message": {}}'])
def test_where_nothing_is_counted_it_stays_unknown(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "agent.jsonl"
    if content is not None:
        path.write_text(content)
    assert read_usage(str(path), wait_s=0) is None


@pytest.fixture
def journey(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run of the session whose first milestone has a limit of 600 tokens."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    return writing(make_repo, max_tokens=600)


@pytest.mark.parametrize("handed_in", [True, False])
def test_it_counts_for_the_milestone_that_the_agent_wrote_and_warns_near_its_limit(
    journey: Journey, transcript: Path, *, handed_in: bool
) -> None:
    agent = Agent(journey, "a1")
    agent.begins(journey, "M-001")
    if handed_in:
        said = {"status": "success", "output": "done", "stats": {"prompt_tokens": 1}}
        assert hand_in(journey, "M-001", {"src/m1_1.py": NEW}, **said).code == 0
    for _ in range(2):  # an agent that is gone on with ends twice
        assert agent.sends("SubagentStop", agent_transcript_path=str(transcript)) == {}
    state = opened(journey)
    cost = costs_of(state.database, state.run)["M-001"]
    assert (cost.agents, cost.tokens, cost.calls, cost.unknown) == (1, 580, 2, 0)
    rows = [r["payload"] for r in state.database.event_rows(state.run)
            if r["kind"] == "PlanResourceWarning"]  # fmt: skip
    assert (rows[0]["subagent_id"], rows[0]["percent"]) == ("M-001-1", 96)
    assert rows[0]["notes"].startswith("compact the context")
    told = journey.planner("events").data("events")
    assert "M-001 used 500 prompt and 80 completion tokens" in told


def test_an_agent_that_wrote_no_milestone_is_not_counted(
    journey: Journey, transcript: Path
) -> None:
    stranger = Agent(journey, "a9")
    assert stranger.sends("SubagentStop", agent_transcript_path=str(transcript)) == {}
    assert stranger.sends("SubagentStop") == {}
    state = opened(journey)
    assert costs_of(state.database, state.run) == {}
