"""The history is appended, merged by git, and read in the order of time (RL-10)."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from orchestrator.requirements_lane.history import Entry, is_started, parse, started
from tests.journey import LAUNCHER
from tests.requirement_rounds import TIME

if TYPE_CHECKING:
    from tests.requirement_rounds import Rounds

# From the document that the lifecycle comes from.
EXAMPLE = """\
2025-12-08 14:31:00 - REFINING REQUIREMENTS (new_requirements.md)
2025-12-08 17:24:05 - GIT HEAD (0123)
2025-12-08 17:25:31 - START IMPLEMENTING (current_requirements.md)
                      <<
                      This is an example of a short summary of what's in the requirements.
                      Keep it indented like this.
                      >>
2025-12-08 18:20:00   ATTEMPTING RECOVERY
2025-12-08 18:30:00 - COMPLETED REQUIREMENTS (completed_requirements_2025-12-08_18-30-00.md,  \
completed_todo_2025-12-08_18-30-00.md)
2025-12-08 18:30:00 - GIT COMMIT (Add it)
"""


@pytest.mark.requirement("RL-10")
def test_the_example_of_the_design_is_read(rounds: Rounds) -> None:
    entries = parse(EXAMPLE)
    assert [entry.text.partition(" (")[0] for entry in entries] == [
        "REFINING REQUIREMENTS", "GIT HEAD", "START IMPLEMENTING", "ATTEMPTING RECOVERY",
        "COMPLETED REQUIREMENTS", "GIT COMMIT",
    ]  # fmt: skip
    assert entries[2].summary[1] == "Keep it indented like this."
    rounds.start()
    rounds.write("planner_history.txt", EXAMPLE)
    assert "Keep it indented like this." in rounds.planner("requirements", "history").text


@pytest.mark.requirement("RL-10")
def test_an_entry_has_the_form_of_the_design() -> None:
    first, *block = started(["one", "two"]).splitlines()
    assert re.fullmatch(rf"{TIME} - START IMPLEMENTING \(current_requirements\.md\)", first)
    assert block == [" " * 22 + line for line in ("<<", "one", "two", ">>")]


def test_whether_the_present_round_has_begun() -> None:
    assert is_started(EXAMPLE.partition("2025-12-08 18:30:00")[0])
    assert not is_started(EXAMPLE)
    assert not is_started("")


@pytest.mark.requirement("RL-10")
def test_the_histories_of_two_branches_merge_and_are_read_in_the_order_of_time(
    rounds: Rounds,
) -> None:
    repository, name = rounds.repository, "planning/planner_history.txt"
    rounds.start()
    repository.commit(message="Begin planning")
    sides = {"ours": ("10", "12"), "theirs": ("09", "11")}
    for branch, hours in sides.items():
        repository.git("switch", "--quiet", "-c", branch, "main")
        text = "".join(
            re.sub(TIME, f"2026-01-02 {hour}:00:00", started([f"summary of {branch} {hour}"]))
            for hour in hours
        )
        repository.commit({name: text}, branch)
    repository.git("merge", "--quiet", "--no-edit", "ours")
    merged = (repository.path / name).read_text()
    for branch, hours in sides.items():
        for hour in hours:
            assert f"summary of {branch} {hour}" in merged
    shown = json.loads(rounds.planner("requirements", "history", "--json").text)
    assert [(e["time"][11:13], e["summary"]) for e in shown] == [
        ("09", ["summary of theirs 09"]), ("10", ["summary of ours 10"]),
        ("11", ["summary of theirs 11"]), ("12", ["summary of ours 12"]),
    ]  # fmt: skip


@pytest.mark.requirement("RL-10")
def test_a_history_with_conflict_markers_is_refused_and_kept(rounds: Rounds) -> None:
    rounds.to_prompt()
    text = f"<<<<<<< HEAD\n{EXAMPLE}=======\n>>>>>>> other\n"
    rounds.write("planner_history.txt", text)
    rounds.write("new_requirements.md", "- f adds two\n")
    for words in (("requirements", "refine"), ("requirements", "history")):
        answer = rounds.planner(*words)
        assert answer.problems[0][0] == "conflict"
        assert "conflict markers in line 1, " in answer.problems[0][1]
        assert "keep the lines of both sides" in answer.problems[0][1]
    assert rounds.text("planner_history.txt") == text
    assert rounds.text("new_requirements.md") == "- f adds two\n"
    assert rounds.start().code == 1


@pytest.mark.requirement("RL-10")
def test_lines_are_appended_after_what_others_wrote(rounds: Rounds) -> None:
    rounds.to_prompt()
    rounds.path("planner_history.txt").write_bytes(b"2025-01-02 03:04:05 - THEIRS, no line end")
    rounds.write("new_requirements.md", "- f adds two\n")
    rounds.follow("done")
    assert rounds.history() == (
        "TIME - THEIRS, no line end\nTIME - REFINING REQUIREMENTS (new_requirements.md)\n"
    )


@pytest.mark.requirement("RL-10")
def test_one_writer_at_a_time(rounds: Rounds) -> None:
    """Many commands at once: each entry of each of them is there once, and whole."""
    rounds.to_accepted()
    launcher = [LAUNCHER, "requirements"]
    commands = [
        subprocess.Popen(
            [*launcher, *words, "--state-dir", rounds.state_dir], stdout=subprocess.DEVNULL
        )
        for words in (["accept", "--no"], *[["refine"]] * 5)
    ]
    for command in commands:
        command.wait()
    assert all(re.fullmatch(r"TIME - REFINING .*", line) for line in rounds.history().splitlines())
    assert rounds.history().count("REFINING") == (2 if rounds.state == "refine" else 1)


def test_the_lines_of_an_entry_belong_to_it_where_a_merge_took_its_end_mark() -> None:
    text = "2026-01-02 03:04:05 - START IMPLEMENTING (x)\n  <<\n  a\n2026-01-02 04:04:05 - B\n"
    assert parse(text) == [
        Entry("2026-01-02 03:04:05", "START IMPLEMENTING (x)", ("a",)),
        Entry("2026-01-02 04:04:05", "B"),
    ]
