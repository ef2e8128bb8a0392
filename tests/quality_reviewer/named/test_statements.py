"""What a statement names is borne by the change, or is listed for who approves it (SD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from quality_reviewer.unproven import with_unproven
from shared.resources import superseded_plan_path
from shared.run import State, open_state
from state.models import Plan
from state.store import load_plan, save_plan
from tests.journey import Journey
from tests.state.plans import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("SD-1")

OLD = '''"""Keep values that were read."""

PLACES = {}


def get(name):
    """Return a value."""
    return PLACES[name]


def clear():
    PLACES.clear()
'''
NEW = '''"""Keep values that were read."""

PLACES = {}
LIMIT = 250
WAIT_S = 90


def get(name):
    """Return a value, or raise KeyNotKept."""
    if name not in PLACES:
        raise KeyNotKept(f"no value of {name}")
    return PLACES[name]


def evict_oldest():
    while len(PLACES) > LIMIT:
        PLACES.pop(next(iter(PLACES)))


class KeyNotKept(KeyError):
    """Nobody has stored it."""


def clear():
    PLACES.clear()
'''
TEST = "from cache import get\n\nassert get\n"
# It fails without the change, and names nothing of it.
NEEDS_IT = "assert len(vars(__import__('cache'))) > 12\n"
FILES: dict[str, str | bytes] = {
    "planner.toml": '[verify]\ncommands = ["PYTHONPATH=src python3 tests/test_cache.py"]\n',
    "README.md": "# Cache\n",
    "CHANGELOG.md": "# Changes\n",
    "docs/guide.md": "# Guide\n",
    "src/cache.py": OLD,
    "src/table.py": "import os\n\n\ndef rows():\n    return os.sep\n",
    "tests/test_cache.py": TEST,
}
REQUEST = "Give the cache a limit of 250 values; get raises KeyNotKept. Wait 90 seconds at most."
TASK = ["get raises KeyNotKept", "out of scope: rows on disk"]


OVERVIEW = {
    "title": "A limit", "problem": "It grows.", "approach": "Evict the oldest in evict_oldest.",
}  # fmt: skip


@pytest.fixture
def frozen(make_repo: Callable[..., Repository]) -> tuple[State, Plan]:
    journey = Journey(make_repo(files=FILES), request=REQUEST)
    files = ["src/cache.py", "tests/test_cache.py", "README.md"]
    milestone = {
        "name": "Limit the cache", "files": files, "requirements": ["T-1"],
        "acceptance_criteria": ["250 values are kept"],
        "tests": {
            "files": ["tests/test_cache.py"], "type": "unit", "scenarios": {"normal": ["get"]},
        },
    }  # fmt: skip
    journey.answers["context.json"] = {"task_spec": TASK}
    journey.answers["design.json"] = [
        {"op": "set", "id": "overview", "version": 1, "fields": OVERVIEW},
        {"op": "add", "kind": "milestone", "as": "$m", "fields": milestone},
        *({"op": "add", "kind": "intent", "fields": {
            "milestone": "$m", "file": file, "behavior": "has a limit"}} for file in files),
    ]  # fmt: skip
    journey.edits = {
        "src/cache.py": NEW,
        "tests/test_cache.py": f"{TEST}assert 'two words'\n{NEEDS_IT}",
        "README.md": "# Cache\n\nIt keeps 250 values.\n",
    }
    journey.documents = {}
    journey.to("submitted")
    state = open_state(journey.state_dir, "/")
    return state, load_plan(state.plan_path)


def listed(frozen: tuple[State, Plan], **fields: object) -> list[str]:
    """Return what is listed where the plan says these things too."""
    state, plan = frozen
    changed = Plan.model_validate({**plain(plan), **fields})
    return [one.text for one in with_unproven(state, changed).unproven]


def task(text: str, *, out_of_scope: bool = False) -> dict[str, Any]:
    return {"id": "T-1", "text": text, "out_of_scope": out_of_scope}


UNTRUE = {
    "the guide says how to clear the cache": "T-1 names the guide (docs/guide.md)",
    "the cache's limit stands in CHANGELOG": "T-1 names CHANGELOG",
    "at most 4000 values of the cache": "T-1 names 4000",
    "values of the cache live 15 minutes": "T-1 names 15 minutes",
    "a cache miss raises `KeyGone`": "T-1 names KeyGone",
    "a cache miss calls on_miss()": "T-1 names on_miss",
    "the cache has a max_age": "T-1 names max_age",
    "if a name is not known, the cache raises `KeyGone`": "T-1 names KeyGone",
    "the cache raises `KeyGone` when a name is not known": "T-1 names KeyGone",
    'a cache miss says "nothing stored"': 'T-1 names "nothing stored"',
    "src/table.py uses the cache": "T-1 names src/table.py",
    "the readme explains evict_oldest": "T-1 has readme tell of evict_oldest",
    "the readme describes penguins of ice": "T-1 has readme tell of something",
    "a test shows that evict_oldest is called": "T-1 has evict_oldest tested",
    "get() has a flag --limit": "T-1 names --limit",
    "clear() returns a count of the cache": "T-1 says something of clear, of which",
    "evict_oldest logs what it evicts as YAML": "T-1 names YAML",
    "the penguin dances on ice": "T-1 is said to be done by M-001",
}
TRUE = [
    "the readme says how many values the cache keeps",
    "the cache holds at most 250 values",
    "a get waits 1.5 minutes",
    "a cache miss raises KeyNotKept, a KeyError",
    "evict_oldest() is called `evict_oldest`",
    "the readme says that 250 values are kept",
    "raise KeyNotKept and update the readme of the cache",
    "a test shows that `get` is there for the cache",
    'a test of the cache has "two words"',
    "tests/test_cache.py has a test of it",
    "handle e.g. 5000 names of the cache",
    "callers of `get` in src/table.py go on as they are",
    'a miss reads "no value of x" in the cache',
    "get currently crashes with `IndexError` in the cache",
    "limit the cache, see docs/guide.md",
    "the guide stays as it is, and so does the cache's CHANGELOG",
    "no max_age of values in the cache",
    "get is not changed to return None, as in Python 3.11 of 2024",
    "Eine Grenze für Werte, wie gewünscht",
    "penguins dance on a cache whose ice melts",
    'the error of the cache reads "no value of <name>"',
]


def test_a_statement_that_names_what_the_change_bears_is_listed_nowhere(
    frozen: tuple[State, Plan],
) -> None:
    assert listed(frozen) == []
    found = {text: listed(frozen, task_spec=[task(text)]) for text in TRUE}
    assert {text: rows for text, rows in found.items() if rows} == {}


def test_a_statement_that_names_what_the_change_does_not_bear_is_listed(
    frozen: tuple[State, Plan],
) -> None:
    found = {text: listed(frozen, task_spec=[task(text)]) for text in UNTRUE}
    known = {text: [s for s in rows if s.startswith(UNTRUE[text])] for text, rows in found.items()}
    assert found == known
    assert all(found.values()), found


def test_an_answer_or_an_option_that_the_change_does_not_bear_is_listed(
    frozen: tuple[State, Plan],
) -> None:
    options = [
        {"key": "a", "label": "Raise LookupFailed"},
        {"key": "b", "label": "Raise KeyNotKept"},
    ]
    asked = {"id": "CP-001", "question": "What on a miss?", "options": options}
    assert listed(frozen, checkpoints=[{**asked, "answer": "Raise KeyNotKept"}]) == []
    [sentence] = listed(frozen, checkpoints=[{**asked, "answer": "Raise LookupFailed"}])
    assert sentence.startswith("the answer to CP-001 names LookupFailed")
    options = [{"key": "a", "label": "Newest goes"}, {"key": "b", "label": "Oldest goes"}]
    asked |= {"options": options}
    assert listed(frozen, checkpoints=[{**asked, "answer": "Oldest goes"}]) == []
    [sentence] = listed(frozen, checkpoints=[{**asked, "answer": "Newest goes"}])
    assert "adds oldest, which is of an option that was not chosen" in sentence


def test_a_statement_is_listed_that_holds_at_a_line_that_says_nothing_of_it(
    frozen: tuple[State, Plan],
) -> None:
    remark = {"id": "RM-001", "text": "evict the oldest first", "revision": 1}
    for line, count in (("src/cache.py:16", 0), ("src/table.py:1", 1)):
        assert len(listed(frozen, user_remarks=[{**remark, "outcome": line}])) == count, line
    one_word = {
        **remark,
        "text": "evict once the memory pressure rises",
        "outcome": "src/cache.py:16",
    }
    assert len(listed(frozen, user_remarks=[one_word])) == 1


NOWHERE = "which neither the task, what is out of scope nor the change holds"


def test_what_the_request_wants_is_listed_where_it_is_left_out_or_forgotten(
    frozen: tuple[State, Plan],
) -> None:
    state, plan = frozen
    state.run.request = f"{REQUEST} Write the rows to disk.\n- say it in the guide"
    assert listed((state, plan)) == [
        f"the request names the guide (say it in the guide), {NOWHERE}",
        "T-2 is out of scope, and the request asks for it: 'Write the rows to disk.'",
    ]
    state.run.request = f"{REQUEST} Also translate penguins to the Icelandic."
    assert [one[:16] for one in listed((state, plan))] == ["the request asks"]
    state.run.request = f"Leave all rows where they are, and say it in the guide. {REQUEST}"
    assert [one for one in listed((state, plan)) if "names the guide" in one]
    state.run.request = f"{REQUEST} No rows on disk. The guide stays."
    assert listed((state, plan)) == []


def test_a_remark_is_borne_by_lines_that_differ_since_it_was_made(
    frozen: tuple[State, Plan],
) -> None:
    state, plan = frozen
    values = plain(plan)
    values["milestones"][0]["requirements"] = ["T-1", "RM-001"]

    def remarked(text: str) -> list[str]:
        said = [{"id": "RM-001", "text": text, "revision": 1}]
        return listed((state, plan), **values | {"revision": 2, "user_remarks": said})

    assert remarked("raise KeyNotKept") == []  # said before the first freeze
    old = superseded_plan_path(state.state_dir, 1)
    save_plan(old, plan)
    [sentence] = remarked("raise KeyNotKept")
    assert "done by M-001, and no byte of the change differs from revision 1" in sentence
    kept = [c for c in plan.milestones[0].code_changes if c.file != "README.md"]
    [milestone] = plan.milestones
    fewer = milestone.model_copy(update={"code_changes": tuple(kept)})
    save_plan(old, plan.model_copy(update={"milestones": (fewer,)}))
    assert remarked("the readme says that 250 are kept") == []
    [sentence] = remarked("raise KeyNotKept")
    assert sentence.startswith("RM-001 names KeyNotKept, which no line bears that has changed")
