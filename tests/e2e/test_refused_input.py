"""What a run refuses of what it is given says what, where and what is allowed, and leads on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.e2e.test_wrong_moments import words_at
from tests.journey import FILES, VERIFIED, Journey
from tests.kills import Kept
from tests.ways_out import Walk, is_refusal, only_reads

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PL-31")

TOO_MANY = "".join(f"python3 -c {number}\n" for number in range(30))
ANSWERS = {
    "list.json": [1], "object.json": {"op": "add"}, "empty.md": "  \n", "none.json": [],
    "plan.json": {"schema_version": 2, "milestones": 5},
    "commands.txt": TOO_MANY,
}  # fmt: skip


class Row(NamedTuple):
    """A point of a run, a command there, and words of what it is refused with: kind, place, text.

    `allowed` are words of what is named as possible.
    """

    point: str
    command: str
    kind: str
    at: str
    said: str
    allowed: str


ROWS = [
    Row("design", "plan add milestone --name X --json answers/list.json",
        "invalid", "--json", "this is a list, not an object", '{"field": value'),
    Row("design", "plan batch --file answers/object.json",
        "invalid", "object.json", "this is an object, not a list", '[{"op": "add"'),
    Row("design", "plan verify --command-file answers/commands.txt",
        "invalid", "plan verify", "commands of", "choose fewer or shorter"),
    Row("design", "plan import {state_dir}/answers/plan.json",
        "invalid", "plan.milestones", "", ""),
    Row("code", "plan import {state_dir}/plan.json",
        "conflict", "plan.json", "already has content", "a run whose plan is empty"),
    Row("code", "retry M-001",
        "conflict", "retry", "no milestone is executed yet", "the step that is due"),
    Row("code", "qr accept nothing --phase plan-code --reason mine",
        "not_found", "nothing", "neither a failing item nor a check", "verify"),
    Row("code", "tree run --milestone M-001 true",
        "not_found", "M-001", "not being written now", "leave --milestone out"),
    Row("code", "audit --follow",
        "usage", "--follow", "must be a terminal", "leave out --follow"),
    Row("code", "validate {state_dir}/plan.json --require exact",
        "usage", "--require", "goes with --range", "validate --help"),
    Row("code", "template save small",
        "not_found", "queue", "nothing waits in the queue", "queue add"),
    Row("code", "queue add \udc80",
        "invalid", "TEXT", "", ""),
    Row("code", "workflow run nothing",
        "not_found", "nothing", "no workflow bundle", "workflow list"),
    Row("code", "requirements startup --yes --resume",
        "usage", "--resume", "exclude each other", "--mark-complete"),
    Row("code", "requirements history --state-dir {state_dir}",
        "not_found", "/.planner/runs/", "not of a requirements lane", "start --planning"),
    Row("approved", "exec deviate M-009 --file src/a.py --reason why",
        "not_found", "M-009", "no such milestone", "M-001"),
    Row("approved", "exec deviate M-001 --file ../out --reason why",
        "invalid", "--file", "", "a relative path"),
    Row("approved", "exec deviate M-001 --file src/a.py --reason ' '",
        "invalid", "--reason", "is empty", "say why"),
    Row("approved", "mode step 1 start",
        "conflict", "mode step", "no approved light plan", "mode status"),
    Row("writing", "exec ask --milestone M-001 --attempt 1 --file answers/none.json",
        "invalid", "none.json", "this is empty", '[{"question"'),
]  # fmt: skip


def at(make_repo: Callable[..., Repository], point: str) -> Journey:
    """Return a run at a point, with the files of answers that the table names."""
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED}))
    if point == "writing":
        journey.start("--depth", "intent")
    journey.to(point)
    for name, value in ANSWERS.items():
        journey.write_answer(name, value)
    return journey


@pytest.mark.slow
@pytest.mark.parametrize("point", sorted({row.point for row in ROWS}))
def test_wrong_input_is_refused_with_what_is_allowed_and_the_run_goes_on(
    make_repo: Callable[..., Repository], point: str
) -> None:
    journey = at(make_repo, point)
    kept, block = Kept(journey.repository), journey.last
    for row in (row for row in ROWS if row.point == point):
        walk = Walk(journey)
        words = words_at(journey, row.command.format(state_dir=journey.state_dir))
        answer = walk.run(words)
        assert is_refusal(answer), (row, answer.text)
        (problem,) = answer.block.iter("problem")
        text = problem.text or ""
        assert problem.get("kind") == row.kind, answer.text
        assert row.at in (problem.get("at") or ""), answer.text
        assert row.said in text, answer.text
        assert row.allowed in text, answer.text
        walk.lead_out(words, answer)
        if walk.changed and not only_reads(walk.taken[-1]):
            kept.restore()
            journey.last = block
    Walk(journey).to_the_end()
