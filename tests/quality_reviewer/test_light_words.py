"""The steps of a light plan bear what was said of it, or that is told (PM-6, SD-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from quality_reviewer.light_words import unproven_of_light

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("SD-3")


def light(*steps: str, asked: tuple[str, str] | None = None, notes: str = "") -> dict[str, Any]:
    questions = [{"question": asked[0], "answer": asked[1]}] if asked else []
    return {"summary": "Change it.", "steps": [{"description": step} for step in steps],
            "questions": questions, "context_notes": notes}  # fmt: skip


ORDER, KEEP = ("Which order?", "Newest first"), ("What of /v1?", "Keep it for one release")
# A plan that says otherwise, what is told of it, and its true twin.
ANSWERS: list[tuple[tuple[str, str], str, str, str]] = [
    (ORDER, "Sort users oldest first", "the steps say 'oldest first'", "Sort users newest first"),
    (("Should it be on?", "Off by default"), "Add an option, on by default",
     "the steps say 'on by default'", "Add an option, off by default"),
    (("Use uv or pip?", "uv"), "Install with pip", "the steps say pip", "Install with uv"),
    (("How long?", "14 days"), "Keep copies 30 days", "no step names 14 days",
     "Keep copies for two weeks"),
    (KEEP, "Drop the old /v1", "the steps say 'Drop the old /v1'", "Keep /v1 for one release"),
    (("New dependency?", "No new dependency"), "Add requests as a dependency",
     "the steps say 'Add requests as a dependency'", "Use urllib of the standard library"),
    (("Who is told?", "The accountants"), "Change the total", "no step says anything of it",
     "Change the total and tell accountants"),
]  # fmt: skip


def test_an_answer_that_the_steps_say_otherwise_is_told() -> None:
    for asked, untrue, sentence, true in ANSWERS:
        [found] = unproven_of_light(light(untrue, asked=asked), "", [], "/")
        assert found == f"{asked[0]!r} is answered {asked[1]!r}, and {sentence}"
        assert unproven_of_light(light(true, asked=asked), "", [], "/") == [], true


def test_a_remark_or_a_part_of_the_request_that_no_step_takes_up_is_told() -> None:
    said = "Use the keychain, not a file."
    [found] = unproven_of_light(light("Store the token in a file"), "", [said], "/")
    assert found == f"remark 1 says {said!r}, and the steps say 'Store the token in a file'"
    assert unproven_of_light(light("Store the token in the keychain"), "", [said], "/") == []
    task = "Read dates as ISO and log skipped rows, and say it in the guide"
    [first, second] = unproven_of_light(light("Read dates as ISO"), task, [], "/")
    assert first.endswith("no step says anything of log")
    assert second.endswith("no step says anything of guide")
    steps = ("Read dates as ISO", "Log each skipped row", "Mention it in docs/guide.md")
    assert unproven_of_light(light(*steps), task, [], "/") == [
        "step 3 names docs/guide.md, which is not there"
    ]


def test_what_a_light_plan_cites_is_looked_up_in_the_users_tree(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/client.py").write_text("TIMEOUT = 30\n\n\ndef fetch(url): ...\n")
    untrue = light("Change src/fetcher.py", "See src/client.py:40",
                   notes="TIMEOUT is 60 in src/client.py")  # fmt: skip
    assert unproven_of_light(untrue, "", [], str(tmp_path)) == [
        "step 1 names src/fetcher.py, which is not there",
        "step 2 cites src/client.py:40, and that file has 4 lines",
        "the plan says that TIMEOUT is 60, and it is 30 in src/client.py",
    ]
    true = light("Change src/client.py", "Add src/fetcher.py", "See src/client.py:4",
                 notes="TIMEOUT is 30 in src/client.py; ../outside.py:9 is not read")  # fmt: skip
    assert unproven_of_light(true, "", [], str(tmp_path)) == []
