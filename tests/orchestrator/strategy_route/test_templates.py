"""The templates of strategic plans run through set, route and render, and give their forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES
from tests.strategies import (
    FAILURE,
    GATHERED,
    RETRY_EXAMPLE,
    RETRY_TEMPLATE,
    SELF_EXTEND,
    TEMPLATES,
    Choice,
    normalised,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Golden, Repository

    Repositories = Callable[..., Repository]

LEADS_TO = {
    "9.1 discovery": "execute", "9.2 follow-up": "synthesis", "9.3 code task": "context-verify",
    "9.4 greeting": "synthesis", "9.5 ambiguous": "clarify",
}  # fmt: skip


def begun(make_repo: Repositories, mode: str) -> Choice:
    choice = Choice(make_repo(files=FILES), *(["--chat"] if mode == "chat" else []))
    choice.start()
    return choice


@pytest.mark.requirement("ST-2", "ST-3", "ST-4", "ST-11")
@pytest.mark.parametrize("name", TEMPLATES)
def test_each_template_is_taken_routed_and_rendered_in_its_form(
    make_repo: Repositories, golden: Golden, name: str
) -> None:
    mode, template = TEMPLATES[name]
    choice = begun(make_repo, mode)
    answer = choice.choose(template)
    assert (answer.code, choice.name) == (0, LEADS_TO[name]), answer.text
    golden(f"strategy/plan.{name.replace(' ', '-')}.md", choice.section(3))


@pytest.mark.requirement("ST-4", "ST-5", "ST-11")
@pytest.mark.parametrize(
    ("name", "template"), [("9.6", RETRY_TEMPLATE), ("6.4", RETRY_EXAMPLE)], ids=["9.6", "6.4"]
)
def test_a_plan_after_a_failure_is_rendered_with_what_failed_and_what_it_teaches(
    make_repo: Repositories, golden: Golden, name: str, template: dict[str, object]
) -> None:
    choice = begun(make_repo, "chat")
    choice.to_retry()
    assert choice.choose(template).code == 0
    assert choice.name == "execute"
    shown = choice.section(3)
    golden(f"strategy/plan.{name}-retry.md", shown)
    assert shown.startswith("## 3. Strategic Plan (Attempt 2)\n\n**Previous Attempt Failed:** URL_")
    assert shown.rstrip().endswith("**Route To:** executor")


@pytest.mark.requirement("ST-2", "ST-4")
def test_a_plan_of_self_extension_needs_neither_approach_nor_reason(
    make_repo: Repositories, golden: Golden
) -> None:
    choice = begun(make_repo, "code")
    assert choice.choose(SELF_EXTEND).code == 0
    golden("strategy/plan.self-extend.md", choice.section(3))


@pytest.mark.requirement("ST-1", "ST-5")
def test_the_document_has_the_numbered_sections_and_loses_nothing_by_a_retry(
    make_repo: Repositories, golden: Golden
) -> None:
    choice = begun(make_repo, "chat")
    choice.write_answer("gathered.json", {
        "user_purpose": "User wants the cheapest <product_type>.",
        "data_requirements": {"needs_current_prices": True, "freshness_required": "< 1 hour"},
        "gathered": [GATHERED],
    })  # fmt: skip
    assert choice.planner("strategy", "context", "--file", "answers/gathered.json").code == 0
    choice.to_retry()
    golden("strategy/document.retry.md", normalised(choice.document, choice))
    before = choice.facts
    choice.choose(RETRY_TEMPLATE)
    choice.ends("GOAL_1")
    choice.answers("A second answer.")
    after = choice.facts
    for name in ("plans", "progress", "answers", "verdicts", "gathered"):
        kept = getattr(before, name)
        assert getattr(after, name)[: len(kept)] == kept
    text = choice.document
    heads = [line for line in text.splitlines() if line.startswith("## ")]
    assert [head[3] for head in heads] == list("01234567")
    assert "### Executor Iteration 1\n" in text
    assert "### Executor Iteration 1 (Attempt 2)\n" in text
    assert "A second answer." in text
    assert f"**Instruction:** {FAILURE['instruction']}" in text
