"""Mutants of strategic plans: valid ones are rendered, each fault of the others is told.

Each mutation says which places it makes wrong, so that the expectation is not the checker's own.
The short form makes 300 mutants, the long one 2,000.
"""

from __future__ import annotations

import copy
import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.strategy_route.strategic_plan import check_plan
from shared.strategy_record import Strategy
from shared.strategy_text import render_plan
from tests.forms import LONG, SEED
from tests.journey import FILES
from tests.strategies import TEMPLATES, Choice, goal, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]
    Json = dict[str, Any]
    Places = tuple[str, ...]
    Mutation = Callable[[Json, random.Random], Places]

COUNT = 2_000 if LONG else 300
WRONG: tuple[object, ...] = (None, 3, 1.5, True, [], {}, "", "  ", ["x"], {"a": 1})


def seeds() -> list[Json]:
    """Valid plans of the mode code, each with at least two goals."""
    wide = plan(
        "executor",
        goal(1, "Measure the importer"), goal(2, "Speed it up", "high", 1),
        goal(3, "Write down what was found", "low", 1, 2),
        depth="intent", context_summary="The importer is slow", constraints={"avoid": ["caches"]},
    )  # fmt: skip
    asks = plan("clarify", goal(1, "a"), goal(2, "b"), clarification_question="Which one?")
    gathers = plan(
        "refresh_context", goal(1, "a"), goal(2, "b", None, 1), refresh_context_request=["an index"]
    )
    return [copy.deepcopy(TEMPLATES["9.3 code task"][1]), wide, asks, gathers]


def drop(name: str) -> Mutation:
    def mutate(value: Json, _: random.Random) -> Places:
        del value[name]
        return (name,)

    return mutate


def spoil(name: str) -> Mutation:
    def mutate(value: Json, chance: random.Random) -> Places:
        value[name] = chance.choice(WRONG)
        return (name,)

    return mutate


def unknown_field(value: Json, _: random.Random) -> Places:
    value["tool_calls"] = [{"tool": "x"}]
    return ("tool_calls",)


def unknown_route(value: Json, _: random.Random) -> Places:
    value["route_to"] = "coordinator"
    # What a route forbids or needs cannot be told for one that does not exist.
    return ("route_to",)


def unknown_depth(value: Json, _: random.Random) -> Places:
    value["depth"] = "deep"
    return ("depth",)


def another_attempt(value: Json, _: random.Random) -> Places:
    value |= {"is_retry": True, "attempt": 2, "previous_failure": {"reason": "x", "colour": "red"}}
    return ("is_retry", "attempt", "previous_failure", "previous_failure.colour")


def extension_without_type(value: Json, _: random.Random) -> Places:
    value["self_extension"] = {"action": "CREATE_WORKFLOW", "workflow_name": "x"}
    return ("self_extension",)


def surrogate(value: Json, _: random.Random) -> Places:
    value["context_summary"] = "half \ud800 a character"
    return ("context_summary",)


def not_a_number(value: Json, _: random.Random) -> Places:
    value["constraints"] = {"most": float("nan"), "least": 10**400}
    return ("constraints.most", "constraints.least")


# of goals: mutations of different goals or fields do not hide one another


def same_id(value: Json, _: random.Random) -> Places:
    value["goals"].append(goal(1, "the same again"))
    return (f"goals[{len(value['goals']) - 1}].id",)


def unknown_dependency(value: Json, _: random.Random) -> Places:
    value["goals"].append({"id": f"X{len(value['goals'])}", "description": "x", "depends_on": "NO"})
    return (f"goals[{len(value['goals']) - 1}].depends_on",)


def circle(value: Json, _: random.Random) -> Places:
    count = len(value["goals"])
    names = [f"C{count + n}" for n in range(3)]
    for number, name in enumerate(names):
        needs = [names[(number + 1) % 3]]
        value["goals"].append({"id": name, "description": "x", "depends_on": needs})
    return tuple(f"goals[{count + n}].depends_on" for n in range(3))


def tool_name(value: Json, chance: random.Random) -> Places:
    named = chance.choice((
        "Use internet.research for it", "then git.* as needed", "call WebFetch", "mcp__x__y",
        'Edit(file_path="a")', '{"tool": "x"}', "run test.run at the end",
    ))  # fmt: skip
    value["goals"].append({"id": f"T{len(value['goals'])}", "description": named})
    return (f"goals[{len(value['goals']) - 1}].description",)


def shapeless(value: Json, chance: random.Random) -> Places:
    value["goals"].append(chance.choice((None, 3, "x", [])))
    return (f"goals[{len(value['goals']) - 1}]",)


def wrong_priority(value: Json, _: random.Random) -> Places:
    value["goals"].append({"id": f"P{len(value['goals'])}", "description": "x", "priority": "top"})
    return (f"goals[{len(value['goals']) - 1}].priority",)


def how(value: Json, _: random.Random) -> Places:
    new = {"id": f"H{len(value['goals'])}", "description": "x", "parameters": {}}
    value["goals"].append(new)
    return (f"goals[{len(value['goals']) - 1}].parameters",)


# what leaves a plan valid


def one_more_goal(value: Json, _: random.Random) -> Places:
    value["goals"].append({"id": f"Ä | {len(value['goals'])}", "description": "## 4. a|b\n```"})
    return ()


def many_needs(value: Json, _: random.Random) -> Places:
    value["goals"].append(
        {"id": f"M{len(value['goals'])}", "description": "x", "depends_on": ["GOAL_1", "GOAL_2"]}
    )
    return ()


def longer(value: Json, chance: random.Random) -> Places:
    value["context_summary"] = "word " * chance.randint(1, 200)
    return ()


def shuffled(value: Json, chance: random.Random) -> Places:
    chance.shuffle(value["goals"])  # mutations of goals come after it
    return ()


FIELDS: dict[str, Mutation] = {
    "approach": drop("approach"), "reason": spoil("reason"), "_type": spoil("_type"),
    "success_criteria": drop("success_criteria"), "tool_calls": unknown_field,
    "attempt": another_attempt, "self_extension": extension_without_type,
    "context_summary": surrogate, "constraints": not_a_number,
}  # fmt: skip
GOALS: tuple[Mutation, ...] = (
    same_id, unknown_dependency, circle, tool_name, shapeless, wrong_priority, how,
)  # fmt: skip
HARMLESS: tuple[Mutation, ...] = (one_more_goal, many_needs, shuffled)


def mutant(chance: random.Random) -> tuple[Json, set[str]]:
    """Return a mutated plan and the places at which it is wrong, none if it is still valid."""
    value = copy.deepcopy(chance.choice(seeds()))
    places: list[str] = []
    chosen = chance.sample(HARMLESS, chance.randint(0, len(HARMLESS)))
    if shuffled in chosen:
        chosen.remove(shuffled)
        chosen.insert(0, shuffled)
    if chance.random() < 0.25:
        chosen.append(longer)
    else:
        chosen += [FIELDS[name] for name in chance.sample(sorted(FIELDS), chance.randint(0, 3))]
        chosen += chance.sample(GOALS, chance.randint(0, 3))
        if chance.random() < 0.3:
            chosen.append(unknown_depth if value["route_to"] == "executor" else unknown_route)
    for mutate in chosen:
        places += mutate(value, chance)
    return value, set(places)


@pytest.mark.requirement("ST-2", "ST-4")
def test_valid_mutants_are_rendered_and_each_fault_of_the_others_is_told(
    make_repo: Repositories,
) -> None:
    choice = Choice(make_repo(files=FILES))
    choice.start()
    before = choice.document
    chance, valid = random.Random(SEED), 0  # noqa: S311 – mutants, no secrets
    for _ in range(COUNT):
        value, places = mutant(chance)
        if not places:
            valid += 1
            checked = check_plan(json.loads(json.dumps(value)), Strategy("x", "code"))
            shown = render_plan(checked)
            heads = [line for line in shown.splitlines() if line.startswith("## ")]
            assert heads == ["## 3. Strategic Plan"]
            assert shown.count("\n| ") == len(value["goals"]) + 1, shown
            continue
        choice.write_answer("route.json", json.dumps(value))  # ASCII, so that half characters pass
        answer = choice.follow("done")
        assert (answer.code, answer.stderr) == (1, ""), answer.text
        told = {p.attrib["at"] for p in answer.block.iter("problem")}
        assert told == places, (value, answer.text)
    assert choice.document == before
    assert COUNT / 10 < valid < COUNT / 2


@pytest.mark.requirement("ST-2")
def test_a_file_that_is_cut_anywhere_is_refused_and_changes_nothing(
    make_repo: Repositories,
) -> None:
    choice = Choice(make_repo(files=FILES))
    choice.start()
    text = json.dumps(TEMPLATES["9.3 code task"][1])
    before = choice.document
    for end in range(0, len(text), max(1, len(text) // 60)):
        choice.write_answer("route.json", text[:end])
        answer = choice.follow("done")
        assert (answer.code, answer.stderr) == (1, "")
        assert "is not JSON" in answer.text
    assert choice.document == before


@pytest.mark.requirement("ST-2")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 400 + "1" + "}" * 400, "nested more than"),
        (json.dumps({"plan": "x" * (10 << 20)}), "at most"),
        ('{"_type": "STRATEGIC_PLAN", "goals": [' + "0," * 5_000 + "0]}", "5001 entries"),
        ("null", "this is null"),
        ("[]", "this is a list"),
        ('"STRATEGIC_PLAN"', "this is a text"),
        (json.dumps({"summary": "x", "steps": []}), "there is no such field"),
    ],
    ids=["deep list", "deep object", "10 MB", "many goals", "null", "list", "text", "another"],
)
def test_a_file_of_another_form_is_refused(make_repo: Repositories, text: str, said: str) -> None:
    choice = Choice(make_repo(files=FILES))
    choice.start()
    choice.write_answer("route.json", text)
    answer = choice.follow("done")
    assert (answer.code, answer.stderr) == (1, "")
    assert said in answer.text
    assert len(answer.text) < 30_000


@pytest.mark.requirement("ST-2")
@pytest.mark.parametrize(
    "text",
    [
        "Fix the typo in README.md and test.py", "parse() in dates.py returns None for git.log()",
        "Read the file, write the tests, search the web page", "Rename memory.json to cache.json",
        "Read(p []byte) in reader.go loops", "The bash script exits with 1",
    ],
)  # fmt: skip
def test_files_functions_and_plain_words_are_not_taken_for_tools(text: str) -> None:
    value = plan("executor", goal(1, text), depth="none")
    assert check_plan(value, Strategy("x", "code"))["goals"][0]["description"] == text
