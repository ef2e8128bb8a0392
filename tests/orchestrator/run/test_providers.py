"""The models of the roles in the settings: what is chosen, what is refused (RL-12)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.run.providers import NO_MODELS, check_providers, choose, merged
from shared.resources import user_config_path
from state.errors import Refused
from tests.journey import FILES, Journey, call, words_of
from tests.requirement_rounds import Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

EXAMPLE = (Path(__file__).resolve().parents[3] / "examples" / "planner.toml").read_text()
DEFAULT_ONLY = '[providers]\ndefault_provider = "a.b"\n[providers.a.b]\nmodel = "m"\n'


def table(text: str) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(text)["providers"]
    return found


@pytest.mark.requirement("RL-12")
def test_the_example_gives_each_role_the_model_of_its_part() -> None:
    providers = table(EXAMPLE)
    assert check_providers(providers, "planner.toml") == []
    assert choose(providers).by_role == {
        "architect": "claude-opus-4-5", "quality-reviewer": "claude-sonnet-4-5",
        "developer": "gpt-5", "technical-writer": "gpt-5",
    }  # fmt: skip
    assert choose(providers).notes == ()


@pytest.mark.requirement("RL-12")
def test_a_part_that_is_not_set_falls_back_to_the_default_and_the_user_is_told(
    make_repo: Repositories,
) -> None:
    repository = make_repo(files={**FILES, "planner.toml": DEFAULT_ONLY})
    rounds = Rounds(repository)
    note = rounds.start().data("note")
    assert "[providers] planner is not set: default_provider a.b is used" in note
    review = rounds.to_review()
    assert review.block.find("dispatch").get("model") == "m"  # type: ignore[union-attr]


@pytest.mark.requirement("RL-12")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[providers]\nplanner = "a.b"\n', "neither planner nor default_provider"),
        ('[providers]\ndefault_provider = "anthropic"\n', "the old style names no NAME"),
        ('[providers.anthropic]\nmodel = "m"\n', "this is the old style"),
        ('[providers]\nplanner = "a.b.c"\n', "is not the TYPE.NAME"),
        ("[providers]\nother = 1\n", "is not a table; the keys here are"),
        (f'{DEFAULT_ONLY}colour = "red"\n', "there is no such key"),
        (f"{DEFAULT_ONLY}max_tokens = true\n", "is not a whole number"),
        ("providers = 1\n", "is not a table"),
    ],
)
def test_what_cannot_be_used_is_refused_with_an_example_and_nothing_begins(
    make_repo: Repositories, text: str, said: str
) -> None:
    repository = make_repo(files={**FILES, "planner.toml": text})
    for words in (("start", "Do it"), ("start", "--planning", "--codepath", ".")):
        answer = call(repository.path, *words)
        assert answer.code == 1
        found = "\n".join(text for _, text in answer.problems)
        assert said in found
        if "no such key" not in said and "whole number" not in said:
            assert 'planner = "anthropic.planner"' in found
    assert not (repository.path / "planning").exists()


@pytest.mark.requirement("RL-12")
def test_every_dispatch_carries_the_model_of_its_role(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files={**FILES, "planner.toml": EXAMPLE.replace("python", "true")}))
    journey.review = "full"
    found: dict[str, str | None] = {}
    journey.start()
    while "executor" not in journey.point:
        for dispatch in journey.last.block.iter("dispatch"):
            found[dispatch.get("agent", "")] = dispatch.get("model")
        journey.advance()
    assert found == {
        "architect": "claude-opus-4-5", "developer": "gpt-5",
        "quality-reviewer": "claude-sonnet-4-5",
    }  # fmt: skip


@pytest.mark.requirement("RL-12")
def test_without_providers_the_assistants_own_model_does_all(make_repo: Repositories) -> None:
    assert choose({}) == NO_MODELS
    review = Rounds(make_repo(files=FILES)).to_review()
    assert review.block.find("dispatch").get("model") is None  # type: ignore[union-attr]


@pytest.mark.requirement("RL-12")
def test_what_the_user_has_set_counts_before_the_repository(make_repo: Repositories) -> None:
    assert merged(table(EXAMPLE), {"planner": "x.y", "anthropic": {"default": {"model": "n"}}}) == {
        **table(EXAMPLE), "planner": "x.y",
        "anthropic": {**table(EXAMPLE)["anthropic"], "default": {"model": "n"}},
    }  # fmt: skip
    repository = make_repo(files={**FILES, "planner.toml": DEFAULT_ONLY})
    own_settings('[providers.a.b]\nmodel = "mine"\napi_key = "sk-secret"\n')
    shown = call(repository.path, "config", "show").data("settings")
    assert f'[providers.a.b] model\t"mine"\t{user_config_path()}' in shown
    assert "sk-secret" not in shown
    assert "api_key\t(set, not shown)" in shown
    assert "note\tapi_key: not handed on" in shown
    assert "committed file" not in shown


@pytest.mark.requirement("RL-12")
def test_a_key_in_a_committed_file_deserves_a_word(make_repo: Repositories) -> None:
    text = '[providers]\ndefault_provider = "a.b"\n[providers.a.b]\nmodel = "m"\n'
    keyed = f'{text}api_key = "sk-secret"\nmax_tokens = 5\n'
    shown = call(make_repo(files={"planner.toml": keyed}).path, "config", "show").data("settings")
    assert "sk-secret" not in shown
    assert "note\tapi_key, max_tokens: not handed on" in shown
    assert "move it away\tplanner.toml" in shown


def own_settings(text: str) -> None:
    path = Path(user_config_path())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.requirement("PC-11")
def test_every_setting_is_shown_with_its_source(make_repo: Repositories) -> None:
    own_settings("[planner]\nmax_context_tokens = 5\n")
    text = "[planner]\nmax_parallel_steps = 3\nmax_context_tokens = 7\n"
    repository = make_repo(files={"planner.toml": text})
    lines = call(repository.path, "config", "show").data("settings").splitlines()
    assert "[planner] enabled\ttrue\tdefault" in lines
    assert "[planner] max_parallel_steps\t3\tplanner.toml" in lines
    assert f"[planner] max_context_tokens\t5\t{user_config_path()}" in lines
    assert '[mode] on_timeout\t"pause"\tdefault' in lines


@pytest.mark.requirement("PC-11")
def test_where_the_planner_is_turned_off_nothing_starts(make_repo: Repositories) -> None:
    repository = make_repo(files={"planner.toml": "[planner]\nenabled = false\n"})
    for words in (("start", "Do it"), ("start", "--planning", "--codepath", ".")):
        answer = call(repository.path, *words)
        assert "turned off" in answer.problems[0][1]
    assert not (repository.path / ".planner").exists()


@pytest.mark.requirement("PC-11")
def test_without_persistence_a_run_keeps_its_files_in_a_temporary_folder(
    make_repo: Repositories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    repository = make_repo(files={"planner.toml": "[planner]\nenable_persistence = false\n"})
    answer = call(repository.path, "start", "Do it")
    assert (answer.block.get("state_dir") or "").startswith(f"{tmp_path}/planner-")
    assert not (repository.path / ".planner" / "planner.db").exists()


@pytest.mark.requirement("PC-11")
@pytest.mark.parametrize("command", [("approve",)])
def test_with_auto_run_an_approved_plan_is_carried_out_at_once(
    make_repo: Repositories, command: tuple[str, ...]
) -> None:
    own_settings("[planner]\nauto_run = true\n")
    journey = Journey(make_repo(files=FILES)).to("submitted")
    digest = words_of(journey.last.person())[1]
    assert journey.planner(*command, digest).data("proof")
    assert "x + 2" in (journey.repository.path / "src/a.py").read_text()


@pytest.mark.requirement("RL-2", "PM-13")
def test_the_autonomous_lane_leaves_the_limits_to_a_person(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    answer = call(repository.path, "start", "--autonomous", "--review", "none", "Make f add two")
    assert words_of(answer.person())[:2] == ["auto", "on"]
    journey = Journey(repository)
    journey.last = call(repository.path, *words_of(answer.next("done")))
    journey.state_dir = answer.block.get("state_dir", "")
    assert "approve" in journey.to("submitted").last.person()


def test_choosing_refuses_every_part_that_does_not_resolve() -> None:
    with pytest.raises(Refused) as refused:
        choose({"planner": "a.b", "a": {"c": {"model": "m"}}})
    assert len(refused.value.problems) == 3
