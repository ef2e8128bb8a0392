"""The queue of plans, templates of it, and figures of all runs (PC-14, PC-15)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.journey import FILES, Answer, Journey, call, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


class Queue:
    """The queue of a repository, used by the commands alone."""

    def __init__(self, repository: Repository) -> None:
        self.path = str(repository.path)
        self.git = repository.git

    def __call__(self, *words: str) -> Answer:
        return call(self.path, *words)

    def add(self, request: str, *words: str) -> str:
        answer = self("queue", "add", request, *words)
        assert answer.code == 0, answer.text
        return answer.data("queued")

    def rows(self) -> list[dict[str, Any]]:
        return list(json.loads(self("queue", "list", "--json").text))

    def statuses(self) -> dict[str, str]:
        return {row["id"]: row["status"] for row in self.rows()}


@pytest.fixture
def queue(make_repo: Repositories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Queue:
    """Return the empty queue of a repository; templates go into a folder of the test."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Queue(make_repo("queued", files=FILES))


@pytest.mark.quick
@pytest.mark.requirement("PC-14")
def test_the_highest_priority_is_first_then_the_oldest_and_what_waits_says_for_what(
    queue: Queue,
) -> None:
    assert [queue.add("one"), queue.add("two", "--priority", "5")] == ["Q-001", "Q-002"]
    queue.add("three", "--priority", "9", "--after", "Q-001", "--after", "Q-002")
    assert [(r["id"], r["status"], r["waits_for"]) for r in queue.rows()] == [
        ("Q-003", "WAITING", ["Q-001", "Q-002"]), ("Q-002", "READY", []), ("Q-001", "READY", []),
    ]  # fmt: skip
    shown = queue("queue", "list").data("queue").splitlines()
    assert shown[0] == "Q-003 WAITING three · priority 9 · waits for Q-001, Q-002"


@pytest.mark.requirement("PC-14")
def test_adding_the_same_again_while_it_waits_adds_nothing(queue: Queue) -> None:
    assert queue.add("one") == queue.add(" one ") == "Q-001"
    assert queue.add("one", "--priority", "1") == "Q-002"


@pytest.mark.requirement("PC-14")
@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("queue", "add", "x", "--after", "Q-009"), "not_found"),
        (("queue", "add", "  "), "usage"),
        (("queue", "add", "x", "--priority", "100"), "usage"),
        (("queue", "remove", "Q-009"), "not_found"),
        (("queue", "next"), "not_found"),
        (("template", "use", "none"), "not_found"),
        (("template", "save", "../x"), "invalid"),
        (("template", "save", "x", "--slot", "version"), "usage"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    queue: Queue, words: tuple[str, ...], kind: str
) -> None:
    queue.add("one")
    queue.add("two", "--after", "Q-001")
    if words == ("queue", "next"):
        queue("queue", "remove", "Q-001")
        queue("queue", "remove", "Q-002")
    before = queue.rows()
    answer = queue(*words)
    assert (answer.code in {1, 2}, answer.problems[0][0]) == (True, kind)
    assert queue.rows() == before


@pytest.mark.requirement("PC-14")
def test_the_next_plan_starts_and_is_printed_again_until_it_has_ended(queue: Queue) -> None:
    queue.add("Parse dates")
    queue.add("Format dates", "--after", "Q-001")
    first = queue("queue", "next")
    assert first.code == 0, first.text
    assert queue("queue", "next").block.get("state_dir") == first.block.get("state_dir")
    assert queue.statuses() == {"Q-001": "ACTIVE", "Q-002": "WAITING"}
    status = queue("status")
    assert status.data("queue") == "Q-002 WAITING Format dates · waits for Q-001 (ACTIVE)"
    assert queue("cancel").code == 0
    assert queue.statuses() == {"Q-001": "CANCELLED", "Q-002": "WAITING"}
    refused = queue("queue", "next")
    assert "waits for Q-001 (CANCELLED)" in refused.problems[0][1]
    assert queue("queue", "remove", "Q-001").data("wait for it no longer") == "Q-002"
    assert queue("queue", "remove", "Q-001").code == 0, "repeated, it changes nothing"
    assert queue("queue", "next").code == 0
    assert queue.statuses() == {"Q-002": "ACTIVE"}


@pytest.mark.requirement("PC-14")
def test_of_two_with_the_same_words_the_one_that_waits_is_not_the_one_that_has_begun(
    queue: Queue,
) -> None:
    queue.add("Format dates")
    queue.add("Parse dates", "--after", "Q-001")
    queue.add("Parse dates", "--priority", "1")
    assert queue("queue", "next").code == 0
    assert queue.statuses() == {"Q-001": "READY", "Q-002": "WAITING", "Q-003": "ACTIVE"}


@pytest.mark.requirement("SD-8")
def test_two_sessions_do_not_go_on_with_the_same_plan_of_the_queue(queue: Queue) -> None:
    queue.add("Parse dates")
    queue.add("Format dates")
    first = queue("queue", "next", "--agent", "s-1")
    assert queue("queue", "next", "--agent", "s-1").text == first.text
    second = queue("queue", "next", "--agent", "s-2")
    assert second.block.get("state_dir") != first.block.get("state_dir"), second.text
    assert queue.statuses() == {"Q-001": "ACTIVE", "Q-002": "ACTIVE"}
    for name, block in (("s-1", first), ("s-2", second)):
        again = queue("queue", "next", "--agent", name)
        assert again.block.get("state_dir") == block.block.get("state_dir"), again.text
    third = queue("queue", "next", "--agent", "s-3")
    assert (third.code, third.problems[0][0]) == (1, "not_found")
    assert "another session works on Q-001, Q-002" in third.text


@pytest.mark.requirement("SD-8")
def test_a_session_goes_on_with_its_own_plan_before_one_that_nobody_works_on(queue: Queue) -> None:
    queue.add("Parse dates")
    queue.add("Format dates", "--after", "Q-001")
    queue("start", "Parse dates")
    own = queue("start", "Format dates", "--depth", "full", "--agent", "s-1")
    again = queue("queue", "next", "--agent", "s-1")
    assert again.block.get("state_dir") == own.block.get("state_dir"), again.text


@pytest.mark.requirement("PC-14", "SD-8")
def test_status_shows_what_waits_before_the_first_run_between_runs_and_beside_several(
    queue: Queue,
) -> None:
    queue.add("Parse dates")
    queue.add("Format dates", "--after", "Q-001")
    waits = ["Q-001 READY Parse dates", "Q-002 WAITING Format dates · waits for Q-001"]
    before = queue("status")
    assert before.data("queue").splitlines() == waits, before.text
    assert words_of(before.next("queue")) == ["queue", "next"]
    assert json.loads(queue("status", "--json").text)["queue"] == waits
    assert queue("status", "--line").text == "2 plans wait in the queue\n"
    weighed = queue("start", "Something else")
    assert queue("status").data("queue").splitlines() == waits, "while it is weighed"
    queue("start", "A third", "--depth", "full", "--agent", "s-1")
    queue("start", "A fourth", "--depth", "full", "--agent", "s-2")
    several = queue("status")
    assert several.data("under way")
    assert several.data("queue").splitlines() == waits, several.text
    assert json.loads(queue("status", "--json").text)["queue"] == waits
    for run in json.loads(queue("status", "--json").text)["under_way"]:
        queue("cancel", "--state-dir", run["state_dir"])
    between = queue("status", "--state-dir", weighed.state_dir)
    assert between.data("queue").splitlines() == waits, between.text
    assert words_of(between.next("queue")) == ["queue", "next"]
    assert queue("status", "--line").text.endswith(" · 2 plans wait in the queue\n")
    queue("queue", "remove", "Q-001")
    queue("queue", "remove", "Q-002")
    assert queue("status").data("queue") == ""
    assert not queue("status").block.findall("next")


@pytest.mark.requirement("PC-14")
def test_a_long_request_and_a_long_queue_are_shown_in_short_and_whole_as_json(
    queue: Queue,
) -> None:
    long = "Parse dates " * 10_000
    queue.add(long)
    for number in range(25):
        queue.add(f"Task {number}")
    for words in (("status",), ("queue", "list")):
        shown = queue(*words).data("queue").splitlines()
        assert len(shown[0]) < 300, words
        assert shown[0].startswith("Q-001 READY Parse dates Parse dates")
    assert shown[-1].startswith("Q-026"), "the list itself is whole"
    assert queue("status").data("queue").splitlines()[-1] == "6 more"
    assert queue.rows()[0]["request"] == long.strip()


@pytest.mark.requirement("PC-14", "PC-11")
def test_where_the_planner_is_turned_off_the_queue_starts_nothing(queue: Queue) -> None:
    queue.add("Parse dates")
    config = Path(queue.path, "planner.toml")
    config.write_text("[planner]\nenabled = false\n", encoding="utf-8")
    queue.git("add", "planner.toml")
    queue.git("commit", "-qm", "off")
    refused = queue("queue", "next")
    assert refused.code == 1, refused.text
    assert "the planner is turned off here" in refused.text
    assert queue.statuses() == {"Q-001": "READY"}


@pytest.mark.requirement("PC-14")
def test_a_completed_plan_frees_those_after_it_and_its_proof_names_the_next(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo("queued", files=FILES))
    queue = Queue(journey.repository)
    journey.start()
    queue("cancel")
    queue.add(journey.request)
    queue.add("Format dates", "--after", "Q-001")
    again = Journey(journey.repository)
    again.start()
    assert queue.statuses()["Q-001"] == "ACTIVE", "a run started by hand counts"
    proof = again.to("committed").last
    assert queue.statuses() == {"Q-001": "COMPLETED", "Q-002": "READY"}
    assert words_of(proof.next("queue"))[:2] == ["queue", "next"]
    assert json.loads(queue("stats", "--json").text)["runs"] == {"CANCELLED": 1, "COMPLETED": 1}


@pytest.mark.quick
@pytest.mark.requirement("PC-15")
def test_a_template_brings_several_plans_with_their_order_and_slots(queue: Queue) -> None:
    queue.add("Bump to 1.2")
    queue.add("Release 1.2", "--priority", "3", "--after", "Q-001")
    saved = queue("template", "save", "release", "--slot", "version=1.2")
    assert Path(saved.data("saved")).is_file()
    listed = queue("template", "list").data("release").splitlines()
    assert listed == ["Bump to {{version}}", "Release {{version}}"]
    refused = queue("template", "use", "release", "--set", "date=1.3")
    assert "has the slots version" in refused.problems[0][1]
    queued = queue("template", "use", "release", "--set", "version=1.3")
    assert queued.data("queued").split() == ["Q-003", "Q-004"]
    again = queue("template", "use", "release", "--set", "version=1.3")
    assert again.text == queued.text, "repeated, it changes nothing"
    assert [(r["request"], r["priority"], r["after"]) for r in queue.rows()] == [
        ("Release 1.2", 3, ["Q-001"]), ("Release 1.3", 3, ["Q-003"]),
        ("Bump to 1.2", 0, []), ("Bump to 1.3", 0, []),
    ]  # fmt: skip


@pytest.mark.requirement("PC-15")
@pytest.mark.parametrize(
    "content",
    ["{", "{}", "[1]", '[{"request": "x"}]', '[{"request": "", "priority": 0, "after": []}]',
     '[{"request": "x", "priority": 0, "after": [1]}]',
     '[{"request": "\\ud800", "priority": 0, "after": []}]'],
)  # fmt: skip
def test_a_damaged_template_is_refused_and_nothing_is_queued(queue: Queue, content: str) -> None:
    queue.add("one")
    path = Path(queue("template", "save", "kept").data("saved"))
    path.write_text(content)
    before = queue.rows()
    assert queue("template", "use", "kept").problems[0][0] == "invalid"
    assert queue.rows() == before


@pytest.mark.requirement("PC-15")
def test_the_figures_count_what_the_database_has_and_say_what_is_unknown(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo("figures", files=FILES)).to("committed")
    queue = Queue(journey.repository)
    found = json.loads(queue("stats", "--json").text)
    assert found["runs"] == {"COMPLETED": 1}
    assert found["milestones"] == {"starts": 1, "completed": 1, "blocked": 0, "asked": 0}
    assert found["median_hours"] < 1
    depth = found["depths"].pop("full")
    assert (depth["plans"], depth["tokens"], found["depths"]) == (1, 0, {})
    assert {phase: row["first_time"] for phase, row in found["reviews"].items()}["plan-code"] == 1
    assert found["agents"]["agents"] == 0
    shown = queue("stats").data("stats").splitlines()
    assert shown[0] == "runs: 1 completed; 1 revision"
    assert shown[-1] == "agents: 0, 0 tokens, 0 calls"
