"""An answer that has changed nothing, or that nothing shows, is told to who approves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from quality_reviewer.unheard import unheard_answers
from shared.run import open_state
from state import store
from tests.journey import FILES, Journey
from tests.orchestrator.plan.test_context import as_host, ask, question
from tests.orchestrator.plan.test_late_words import done, stated

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.models import Plan
    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("SD-3")


@pytest.fixture
def coding(make_repo: Callable[..., Repository]) -> Journey:
    """Return a run that writes code by a design with one question, which is answered."""
    journey = Journey(make_repo(files=FILES)).to("design")
    options = [
        {"key": "a", "label": "Round to cents"},
        {"key": "b", "label": "Cut after four digits"},
    ]
    assert ask(journey, [{**question(), "options": options}]).code == 0
    journey.follow(as_host(journey).next("CP-001 a"))
    return journey.to("code")


def told(journey: Journey, **changed: Any) -> list[tuple[str, str]]:  # noqa: ANN401 – fields
    """Return what is said of the answers of a run that is ready to freeze."""
    state = open_state(journey.state_dir, "/")
    plan: Plan = store.load_plan(state.plan_path)
    asked = tuple(c.model_copy(update={"answer": "Round to cents", **changed})
                  for c in plan.checkpoints)  # fmt: skip
    return [*unheard_answers(state, plan.model_copy(update={"checkpoints": asked}))]


def test_an_answer_that_nothing_shows_is_told(coding: Journey) -> None:
    coding.to("freeze")
    said = "CP-001 is answered “Round to cents”, and nothing in the plan shows it"
    assert told(coding) == [("CP-001", said)]
    for other in ("Keep it as it is", "withdrawn: no longer", "Change the constant"):
        assert told(coding, answer=other) == [], other
    assert told(coding, outcome="declined: cents are kept") == []
    assert told(coding, outcome="src/a.py:2") == []


def test_an_answer_that_is_cited_is_shown(coding: Journey) -> None:
    cited = {"requirements": ["T-1", "CP-001"]}
    coding.planner("decide", "CP-001", "b")
    done(coding, [{"op": "set", "id": "M-001", "version": 1, "fields": cited}])
    coding.to("freeze")
    assert told(coding, answer="Cut after four digits") == []


def test_another_answer_that_changes_no_byte_is_told(coding: Journey) -> None:
    coding.to("freeze")
    coding.planner("decide", "CP-001", "b")
    done(coding, [stated(coding, "CP-001", "src/a.py:2")])
    coding.to("freeze")
    said = "CP-001 was answered otherwise (“Cut after four digits”) once the change was written"
    text = f"{said}, and the change is byte for byte what it was"
    assert told(coding, answer="Cut after four digits") == [("CP-001", text)]


def test_another_answer_that_changes_the_code_is_heard(coding: Journey) -> None:
    coding.to("freeze")
    coding.planner("decide", "CP-001", "b")
    done(coding, [stated(coding, "CP-001", "src/a.py:2")])
    coding.edits["src/a.py"] = "def f(x):\n    return x + 2.0\n"
    coding.to("freeze")
    assert told(coding, answer="Cut after four digits") == []
