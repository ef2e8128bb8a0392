"""Which model each role has by the table [providers], from tables made by hand (RL-12)."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.run.providers import check_providers, choose, load_models, merged
from tests.state.plans import refusal

pytestmark = pytest.mark.requirement("RL-12")

Tables = dict[str, Any]
ALL: Tables = {
    "default_provider": "a.default", "planner": "a.planner", "coach": "b.coach",
    "player": "a.default",
    "a": {"default": {"model": "small"}, "planner": {"model": "big"}},
    "b": {"coach": {"model": "strict", "max_tokens": 5}},
}  # fmt: skip


def test_each_role_has_the_model_of_its_part() -> None:
    found = choose(ALL)
    assert found.by_role == {
        "architect": "big", "quality-reviewer": "strict", "developer": "small",
        "technical-writer": "small",
    }  # fmt: skip
    assert found.notes == ()


def test_a_part_that_is_not_set_falls_back_and_says_so() -> None:
    found = choose({"default_provider": "a.default", "a": {"default": {"model": "small"}}})
    assert {*found.by_role.values()} == {"small"}
    assert found.notes == tuple(
        f"[providers] {part} is not set: default_provider a.default is used"
        for part in ("planner", "coach", "player")
    )


def test_without_providers_or_a_model_the_assistants_own_does_all() -> None:
    assert choose({}) == load_models(None)
    assert choose({}).by_role == {}
    keyed = {"default_provider": "a.b", "a": {"b": {"api_key": "x"}}}
    assert choose(keyed).by_role == {}


def test_what_resolves_to_nothing_is_refused_for_every_part() -> None:
    found = refusal(choose, {"planner": "a.b", "default_provider": "a.c", "a": {"c": {}}, "b": {}})
    assert [(p.at, p.problem) for p in found] == [
        ("[providers].planner",
         "neither planner nor default_provider names a configuration that there is (a.b)"),
    ]  # fmt: skip
    found = refusal(choose, {"a": {}})
    assert [p.at for p in found] == [f"[providers].{n}" for n in ("planner", "coach", "player")]
    text = "neither coach nor default_provider names a configuration that there is"
    assert found[1].problem == text


@pytest.mark.parametrize(
    ("table", "at", "said"),
    [
        ("a.b", "F [providers]", "is not a table"),
        ({"planner": "a"}, "F [providers].planner", "is not the TYPE.NAME of a configuration"),
        ({"planner": "a.b.c"}, "F [providers].planner", "is not the TYPE.NAME"),
        ({"coach": "a."}, "F [providers].coach", "is not the TYPE.NAME"),
        ({"player": 1}, "F [providers].player", "is not the TYPE.NAME"),
        ({"a": 1}, "F [providers].a",
         "is not a table; the keys here are default_provider, planner, coach, player"),
        ({"a": {"model": "x"}}, "F [providers.a].model", "stands outside of a named configuration"),
        ({"a": {"b": {"modle": "x"}}}, "F [providers.a.b].modle", "there is no such key"),
        ({"a": {"b": {"model": ""}}}, "F [providers.a.b].model", "is not text"),
        ({"a": {"b": {"model": 1}}}, "F [providers.a.b].model", "is not text"),
        ({"a": {"b": {"max_tokens": 0}}}, "F [providers.a.b].max_tokens",
         "is not a whole number of 1 or more"),
        ({"a": {"b": {"max_tokens": True}}}, "F [providers.a.b].max_tokens",
         "is not a whole number of 1 or more"),
    ],
)  # fmt: skip
def test_each_mistake_is_named_with_its_place(table: object, at: str, said: str) -> None:
    [problem] = check_providers(table, "F")
    assert problem.at == at
    assert problem.problem.startswith(said)
    assert check_providers(ALL, "F") == []


def test_what_the_user_has_set_counts_before_the_projects() -> None:
    project = {"planner": "a.p", "a": {"p": {"model": "1"}, "q": {"model": "2"}}, "b": {"x": {}}}
    user = {"planner": "a.q", "a": {"p": {"model": "3"}}, "c": {"y": {}}}
    assert merged(project, user) == {
        "planner": "a.q", "a": {"p": {"model": "3"}, "q": {"model": "2"}}, "b": {"x": {}},
        "c": {"y": {}},
    }  # fmt: skip
    assert project["planner"] == "a.p"
