"""What each step of the strategy prints, byte for byte, what it costs, and that it works."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest

from orchestrator.strategy_steps import COSTS
from tests.conftest import GOLDEN
from tests.forms import LONG, SEED
from tests.journey import FILES, Answer, Journey, at_home, shell, words_of
from tests.orchestrator.test_golden import tokens
from tests.orchestrator.test_imports import NOT_FOR_STEPS, costly, traced
from tests.strategies import GATHERED, RETRY_TEMPLATE, SELF_EXTEND, Choice, goal, normalised, plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import Golden, Repository

    Repositories = Callable[..., Repository]

BUNDLE = {"purpose": "Report", "steps": [{"name": "write", "text": "Write it."}]}
NEW_BUNDLE = ("workflow", "new", "sheet-report", "--file", "answers/bundle.json")
PROMPT, INPUT, ROUTED = 1_540, 2_000, 800  # tokens
Stop = tuple[str, Choice, Answer]
EVERY = 4  # of the printed commands, one of so many runs in the short form


def code(make_repo: Repositories) -> Iterator[Stop]:
    """The mode code: gather, ask the user, then make the change directly."""
    choice = Choice(make_repo(files=FILES))
    yield "2-strategy", choice, choice.start()
    missing = ["the callers of f"]
    yield (
        "1-gather",
        choice,
        choice.choose(plan("refresh_context", refresh_context_request=missing)),
    )
    yield "2-strategy.gathered", choice, choice.gather(gathered=[GATHERED])
    asks = plan("clarify", clarification_question="Which f?") | {"goals": []}
    yield "3-clarify", choice, choice.choose(asks)
    choice.write_answer("clarified.md", "The one in src/a.py.")
    choice.follow("done")
    yield "result.direct", choice, choice.choose(plan("executor", depth="none"))


def chat(make_repo: Repositories) -> Iterator[Stop]:
    """A chat whose first answer is revised, then chosen anew, then accepted."""
    choice = Choice(make_repo(files=FILES), "--chat")
    yield "2-strategy.chat", choice, choice.start()
    goals = (goal(1, "Find candidates"), goal(2, "Compare them", "high", 1))
    yield "4-execute", choice, choice.choose(plan("executor", *goals))
    choice.ends("GOAL_1")
    yield "5-synthesis", choice, choice.ends("GOAL_2")
    yield "6-validation", choice, choice.answers()
    yield "5-synthesis.revise", choice, choice.judge("REVISE")
    choice.answers("Another answer.")
    yield "2-strategy.retry", choice, choice.judge("RETRY", replan="local")
    choice.choose(RETRY_TEMPLATE)
    choice.ends("GOAL_1")
    choice.answers("The last answer.")
    yield "result.approved", choice, choice.judge("APPROVE")


def given_up(make_repo: Repositories) -> Iterator[Stop]:
    """A chat that is given up."""
    choice = Choice(make_repo("failing", files=FILES), "--chat")
    choice.choose(plan("synthesis"))
    choice.answers()
    yield "result.failed", choice, choice.judge("FAIL")


def extended(make_repo: Repositories) -> Iterator[Stop]:
    """What no workflow can do yet: a new one, and a command that is proposed."""
    choice = Choice(make_repo("extended", files=FILES))
    yield "7-extend", choice, choice.choose(SELF_EXTEND)
    choice.write_answer("bundle.json", BUNDLE)
    yield "result.made", choice, choice.planner(*NEW_BUNDLE)
    yield "result.extended", choice, choice.follow("done")
    other = Choice(make_repo("proposed", files=FILES))
    tool = {"action": "CREATE_TOOL", "tool_name": "spelling", "command": "make spell"}
    value = plan("executor", plan_type="self_extend", self_extension=tool)
    yield "7-extend.tool", other, other.choose(value)


TOURS = (code, chat, given_up, extended)


@pytest.mark.quick
@pytest.mark.requirement("ST-3", "ST-5", "ST-6")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_every_step_prints_its_golden_block(
    make_repo: Repositories, golden: Golden, tour: Callable[[Repositories], Iterator[Stop]]
) -> None:
    failures = []
    for name, choice, answer in tour(make_repo):
        assert answer.code == 0, answer.text
        try:
            golden(f"strategy/{name}.xml", normalised(answer.text, choice))
        except pytest.fail.Exception as failure:
            failures.append(str(failure))
    assert not failures, "\n".join(failures)


def test_each_golden_block_costs_what_the_token_table_says(golden: Golden) -> None:
    files = sorted((GOLDEN / "strategy").glob("*.xml"))
    rows = [f"{file.stem:<24} {tokens(file.read_text(encoding='utf-8')):>5}" for file in files]
    golden("strategy/tokens.txt", "\n".join(rows) + "\n")


@pytest.mark.requirement("PL-1", "ST-3")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_printing_a_step_loads_nothing_slow_and_changes_nothing(
    make_repo: Repositories, tour: Callable[[Repositories], Iterator[Stop]]
) -> None:
    for _, choice, answer in tour(make_repo):
        if answer.block.tag == "step":
            before = contents(choice)
            text, modules = traced("step", "strategy", "--state-dir", choice.state_dir)
            assert text == answer.text
            assert not costly(modules)
            assert not [m for m in modules if m.startswith(NOT_FOR_STEPS)]
            assert contents(choice) == before


def contents(choice: Choice) -> dict[str, bytes]:
    """Return every file of our folder, content included."""
    folder = choice.repository.path / ".planner"
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.slow
@pytest.mark.requirement("PL-1", "ST-3")
@pytest.mark.parametrize("tour", TOURS, ids=lambda tour: tour.__name__)
def test_every_printed_command_runs_from_a_foreign_folder(
    make_repo: Repositories, tmp_path: Path, tour: Callable[[Repositories], Iterator[Stop]]
) -> None:
    seen: set[str] = set()
    for _, choice, answer in tour(make_repo):
        for command in answer.commands():
            plain = normalised(command, choice)
            if plain not in seen:
                seen.add(plain)
                if LONG or (SEED + len(seen)) % EVERY == 0:
                    check_command(command, choice, tmp_path)
    assert seen or tour is given_up


def check_command(command: str, choice: Choice, elsewhere: Path) -> None:
    """Run a command by a shell and put the repository back as it was."""
    live = choice.repository.path
    kept = live.with_suffix(".kept")
    shutil.copytree(live, kept, symlinks=True)
    try:
        answer = shell(command, elsewhere)
        assert "Traceback" not in answer.stderr, answer.stderr
        kinds = {kind for kind, _ in answer.problems}
        # An answer that is not written yet, or is that of an earlier step, may be refused.
        assert not kinds & {"usage", "internal"}, answer.text
    finally:
        shutil.rmtree(live)
        kept.rename(live)


# the budget


@pytest.mark.requirement("ST-10")
@pytest.mark.parametrize("mode", [[], ["--chat"]], ids=["code", "chat"])
def test_with_nothing_gathered_a_small_task_is_routed_within_800_tokens(
    make_repo: Repositories, mode: list[str]
) -> None:
    choice = Choice(make_repo(files=FILES), *mode, request='Fix the typo "helo" in README.md')
    choice.start()
    choice.choose(plan("synthesis") if mode else plan("executor", depth="none"))
    assert sum(tokens(at_home(text, choice)) for text in choice.read) <= ROUTED


@pytest.mark.requirement("ST-10")
def test_the_query_is_never_cut_and_what_is_left_out_is_named(make_repo: Repositories) -> None:
    request = "Speed up the importer. " + "It reads each row twice. " * 120
    choice = Choice(make_repo(files=FILES), request=request)
    choice.start()
    texts = {1: "the importer reads each row twice " * 12}
    blocks = [
        {**GATHERED, "title": f"Note {number}", "confidence_avg": number / 40,
         "content": texts.get(number, f"other things {number} " * 25)}
        for number in range(30)
    ]  # fmt: skip
    choice.write_answer("gathered.json", {"gathered": blocks})
    shown = choice.planner("strategy", "context", "--file", "answers/gathered.json")
    assert request.strip() in shown.data("request")
    kept = set(re.findall(r"^### (Note \d+)$", shown.data("§2 gathered context"), re.MULTILINE))
    left = shown.data("§2 gathered context").rpartition("Left out to stay short: ")[2]
    assert {"Note 1", "Note 29"} <= kept
    assert "Note 0" in left
    assert not kept & set(re.findall(r"Note \d+", left))
    more = re.search(r"(\d+) more; `", left)
    assert more
    assert len(kept) + len(re.findall(r"Note \d+", left)) + int(more[1]) == len(blocks)
    assert tokens(shown.text) <= PROMPT + INPUT
    assert len(choice.facts.gathered) == len(blocks)
    assert "### Note 0\n" in choice.document


@pytest.mark.quick
@pytest.mark.requirement("ST-10")
def test_what_earlier_attempts_did_becomes_one_line_each(make_repo: Repositories) -> None:
    choice = Choice(make_repo(files=FILES), "--chat")
    choice.start()
    choice.write_answer("gathered.json", {"gathered": [{**GATHERED, "content": "fact " * 2_000}]})
    choice.planner("strategy", "context", "--file", "answers/gathered.json")
    choice.choose(plan("executor", *(goal(n, f"Find {n}") for n in range(1, 31))))
    names = [line.partition(":")[0] for line in choice.last.data("goals").splitlines()]
    entries = [
        {"goal": name, "status": "done", "result": f"{name} found " + "much " * 300}
        for name in names
    ]
    choice.gather(progress=entries)
    choice.answers()
    shown = choice.judge("RETRY", issues=["x" * 60] * 20)
    told = shown.data("§4 execution progress").splitlines()
    assert told[0] == "## 4. Execution Progress (Previous Attempt)"
    assert told[1] == "- 18 entries before these"
    assert len(told) == 14
    assert all(line.startswith("- Attempt 1, GOAL_") and len(line) < 200 for line in told[2:])
    assert "Left out to stay short: Session Preferences" in shown.data("§2 gathered context")
    assert tokens(shown.text) <= PROMPT + INPUT
    assert choice.document.count("### Executor Iteration") == len(names)


@pytest.mark.requirement("ST-3")
def test_the_costs_that_a_strategy_weighs_are_those_of_a_small_change(
    make_repo: Repositories,
) -> None:
    for depth, said in COSTS.items():
        journey = Journey(make_repo(depth, files=FILES))
        journey.review = "auto"
        journey.start("--depth", depth)
        journey.to("committed")
        spent = sum(tokens(at_home(text, journey)) for text in journey.read)
        assert spent == pytest.approx(int(said.replace(",", "")), rel=0.15)


def test_the_commands_of_a_block_name_the_run(make_repo: Repositories) -> None:
    choice = Choice(make_repo(files=FILES))
    for command in choice.start().commands():
        assert words_of(command)[-2:] == ["--state-dir", choice.state_dir]
