"""What a change alters and no words of the plan name is told to who approves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from quality_reviewer.unnamed_changes import changed_expectations, unnamed_functions
from shared.run import open_state
from state import store
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.run import State
    from state.models import Plan
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("SD-4")

CODE = "def f(x):\n    return x + 1\n\n\ndef g(x):\n    return f(x) * 3\n"
OLD = "from a import f, g\n\nassert f(1) == 2\nassert g(1) == 6\nassert f(5) == 6\n"
GONE = "1 old assertion is changed, and the plan does not say so: tests/test_a.py:4"


def frozen(make_repo: Repositories, edits: dict[str, str]) -> tuple[State, Plan]:
    """Return a run and its plan, ready to freeze, whose change is `edits`."""
    journey = Journey(make_repo(files={**FILES, "src/a.py": CODE, "tests/test_a.py": OLD}))
    journey.edits |= edits
    journey.to("freeze")
    state = open_state(journey.state_dir, "/")
    return state, store.load_plan(state.plan_path)


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        (OLD.replace("f(1) == 2", "f(1) == 3"), ""),  # the criterion holds the 3
        (OLD.replace("g(1) == 6", "g(1) == 77"), GONE),
        (OLD.replace("g(1) == 6", "g(1)"), GONE),
        (OLD.replace("assert g(1) == 6\n", ""), GONE),
        (OLD.replace("assert g(1) == 6\n", "") + "\n\nassert g(1) == 6\n", ""),
        (OLD.replace("g(1) == 6", "g( 1 )  == 6"), ""),
        (OLD + "assert f(7) == 9\n", ""),
    ],
)
def test_old_assertions_that_no_words_tell_of_are_counted(
    make_repo: Repositories, tests: str, said: str
) -> None:
    edits = {"src/a.py": CODE.replace("+ 1", "+ 2"), "tests/test_a.py": tests}
    found = [*changed_expectations(*frozen(make_repo, edits))]
    assert found == ([("tests", said)] if said else [])


@pytest.mark.parametrize(
    ("code", "named"),
    [
        (CODE.replace("+ 1", "+ 2"), False),
        (CODE.replace("+ 1", "+ 2").replace("* 3", "* 4"), True),
        (CODE.replace("+ 1", "+ 2").replace("return f(x)", "return (f)(x)"), True),
        (CODE.replace("+ 1", "+ 2") + "\n\ndef helper():\n    pass\n", False),
        (
            CODE.replace("+ 1", "+ 2").replace("def g(x):\n", "def g(x):\n    # three times\n"),
            False,
        ),
    ],
)
def test_an_old_function_that_no_words_name_is_told(
    make_repo: Repositories, code: str, *, named: bool
) -> None:
    edits = {"src/a.py": code, "tests/test_a.py": OLD.replace("f(1) == 2", "f(1) == 3")}
    state, plan = frozen(make_repo, edits)
    (milestone,) = plan.milestones
    intents = tuple(i.model_copy(update={"function": "f"}) for i in milestone.code_intents)
    milestone = milestone.model_copy(update={"code_intents": intents})
    plan = plan.model_copy(update={"milestones": (milestone,)})
    text = "src/a.py changes g, which the plan does not name"
    assert [*unnamed_functions(state, plan)] == ([("M-001", text)] if named else [])
