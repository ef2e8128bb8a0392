"""An assistant is told how full its own context is, by what its client has counted (PC-13)."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.run.status import line_of, notice
from shared.mode.context_budget import tokens_in_context
from shared.run import open_state
from state.files import read_json, write_json
from tests.journey import FILES, Journey, call
from tests.shared.guard.client import SESSION, Client

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PC-13")


def line(used: int, **more: object) -> str:
    """Return a line of a transcript after which the context holds so many tokens."""
    usage = {
        "input_tokens": 3, "cache_creation_input_tokens": 7, "cache_read_input_tokens": used - 15,
        "output_tokens": 5,
    }  # fmt: skip
    return json.dumps({"type": "assistant", "message": {"id": "m", "usage": usage}, **more})


@pytest.fixture
def journey(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """Return a run of the session with a limit of 1,000 tokens."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    found = Journey(make_repo(files=FILES)).to("context")
    path = f"{found.state_dir}/config.json"
    config = read_json(path)
    config["config"]["max_context_tokens"] = 1000
    write_json(path, config)
    return found


def prompt(journey: Journey, path: Path, *lines: str) -> str:
    """Return what the assistant is told with a prompt when its transcript has these lines."""
    path.write_text("\n".join(lines))
    client = Client(journey.repository.path)
    answer = client.sends("UserPromptSubmit", transcript_path=str(path))
    told: str = answer["hookSpecificOutput"]["additionalContext"]
    assert "<planning_mode" in told
    return told


def warnings(journey: Journey) -> list[dict[str, Any]]:
    """Return the rows of the warnings that are stored."""
    state = open_state(journey.state_dir, "/")
    rows = state.database.event_rows(state.run)
    return [row for row in rows if row["kind"] == "PlanResourceWarning"]


def test_it_is_told_from_70_percent_on_and_at_95_to_compact(
    journey: Journey, tmp_path: Path
) -> None:
    path = tmp_path / "session.jsonl"
    assert "context holds" not in prompt(journey, path, line(699))
    assert "holds 700 of 1,000 tokens (70 %)" in prompt(journey, path, line(700))
    assert "Compact" not in prompt(journey, path, line(700), line(949))
    told = prompt(journey, path, line(700), line(950))
    assert "holds 950 of 1,000 tokens (95 %)" in told
    assert "Compact it" in told
    command = shlex.split(told.partition("on disk, and ")[2].partition(" says what")[0])
    assert call("/", *command[1:]).code == 0
    assert "context holds" not in prompt(journey, path, line(950), line(100)), "it was compacted"


def test_without_a_limit_that_somebody_named_nothing_is_told(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    found = Journey(make_repo(files=FILES)).to("context")
    told = prompt(found, tmp_path / "session.jsonl", line(150_000))
    assert "context holds" not in told
    assert warnings(found) == []


def test_each_level_is_one_event_which_the_person_sees(journey: Journey, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    for used in (700, 710, 860, 700, 960, 990):
        prompt(journey, path, line(used))
    rows = warnings(journey)
    assert [row["payload"]["percent"] for row in rows] == [70, 86, 96]
    assert rows[-1]["payload"]["notes"] == "compact the context"
    assert "the assistant used 96 % of its context: 960 of 1000" in notice(rows[-1])
    answer = journey.to("submitted").last
    assert answer.code == 0
    journey.follow(answer.person())
    state = open_state(journey.state_dir, "/")
    assert "⚠ the assistant used 96 % of its context" in line_of(state)


def test_what_sub_agents_and_the_user_say_does_not_count(journey: Journey, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    user = json.dumps({"type": "user", "message": {"usage": {"input_tokens": 990}}})
    told = prompt(journey, path, line(750), line(990, isSidechain=True), user, "[1]", "{cut")
    assert "holds 750 of" in told


@pytest.mark.parametrize("content", [None, "", "{cut", '{"type": "assistant", "message": 1}'])
def test_where_nothing_is_counted_nothing_is_told(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "session.jsonl"
    if content is not None:
        path.write_text(content)
    assert tokens_in_context(str(path)) is None


def test_of_a_long_transcript_only_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    filler = json.dumps({"type": "user", "message": "x" * 3_000_000})
    path.write_text("\n".join([line(500), filler, line(640)]))
    assert tokens_in_context(str(path)) == 640
