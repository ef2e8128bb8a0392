"""What a plan that is more than small must say is asked of its architect, and shown to readers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared.resources import ROOT, rendered_plan_path, review_page_path
from tests.journey import FILES, Answer, Journey, words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

KNOWLEDGE: dict[str, Any] = {
    "architecture": {"description": "each layer has a module of its own"},
    "data_flow": {"description": "callers hand numbers down", "diagram_ascii": "caller -> f"},
    "structure_rationale": "layers are released apart",
}
PROMISE = {"milestone": "$m1", "kind": "docstring", "file": "src/m1_1.py", "function": "f",
           "text": "why it is two"}  # fmt: skip
LINES = (
    "architecture: each layer has a module of its own",
    "data flow: callers hand numbers down\ncaller -> f",
    "built so because: layers are released apart",
)


def test_knowledge_and_promises_are_asked_for_and_reach_every_reader(
    make_repo: Repositories,
) -> None:
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "full"
    journey.answers["design.json"] += [
        {"op": "set", "id": "knowledge", "version": 1, "fields": KNOWLEDGE},
        {"op": "add", "kind": "doc", "fields": PROMISE},
    ]
    journey.edits["src/m1_1.py"] = (
        'def f(x):\n    """Add two, since callers do."""\n    return x + 2\n'
    )
    journey.to("design")
    asked: Answer = journey.run(*words_of(journey.last.runs()[0]))
    asked = journey.run(*words_of(asked.next("done")))
    task = asked.block.findtext("task") or ""
    assert '"structure_rationale"' in task
    assert '"kind": "doc"' in task
    journey.to("design review")
    read = journey.run(*words_of(journey.last.runs()[0])).data("plan")
    journey.to("code")
    written = journey.run(*words_of(journey.last.runs()[0])).data("plan")
    for line in LINES:
        assert line in read
        assert line in written
    assert "DOC-001 docstring of f in src/m1_1.py: why it is two" in written
    journey.to("submitted")
    for path in (rendered_plan_path(journey.state_dir), review_page_path(journey.state_dir)):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        assert "each layer has a module of its own" in text, path
        assert "layers are released apart" in text, path
        assert "docstring of f in" in text, path


def test_a_host_without_sub_agents_is_asked_for_it_as_well(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    task = journey.start("--alone", "--review", "full").block.findtext("task") or ""
    assert '"structure_rationale"' in task
    assert '"kind": "doc"' in task


def test_a_small_plan_is_not_asked_for_it(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    assert "structure_rationale" not in journey.start().text
    assert "structure_rationale" not in journey.to("design").last.text


def test_comments_that_say_why_are_asked_of_nobody() -> None:
    """The schema keeps `why_comments`; what no reader is shown is asked of no writer."""
    prompts = Path(ROOT).glob("*/prompts/**/*.md")
    assert [p.name for p in prompts if "why_comments" in p.read_text("utf-8")] == []
