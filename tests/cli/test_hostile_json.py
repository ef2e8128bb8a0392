"""Whatever JSON a model hands in, each command refuses it in the same words and changes nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from developer.hand_in import read_result
from orchestrator.strategy_route.strategic_plan import check_plan
from quality_reviewer.answer_rows import read_rows
from shared.named_files import Named
from shared.resources import review_path
from shared.strategy_record import Strategy
from state.files import read_json, write_json
from state.light import parse_light
from tests.forms import some
from tests.hostile_json import cases, is_refused
from tests.journey import FILES, LAUNCHER, Journey
from tests.light_plans import PLAN
from tests.orchestrator.execute.waves import writing
from tests.strategies import TEMPLATES, Choice, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository
    from tests.journey import Driven

    Repositories = Callable[..., Repository]

FILE = "answers/hostile.json"
LIST, OBJECT = "a list", "an object"
# By where a run stands: commands that read JSON there, and what they want.
PLACES: dict[str, dict[str, str]] = {
    "context": {"context set --file": OBJECT},
    "design": {
        "plan batch --file": LIST, "plan done --phase plan-design --batch": LIST,
        "plan add milestone --name One --json": OBJECT,
        "plan set overview --version 1 --json": OBJECT, "plan import": OBJECT,
        "context ask --role architect --file": LIST,
    },
    "code review": {
        "qr set --phase plan-code --group 1 --file": LIST, "qr add --phase plan-code --file": LIST,
    },
    "writing": {
        "exec done --milestone M-001 --attempt 1 --file": OBJECT,
        "exec ask --milestone M-001 --attempt 1 --file": LIST,
    },
    "strategy": {
        "strategy set --file": OBJECT, "strategy context --file": OBJECT,
        "workflow new sheet-report --file": OBJECT,
    },
    "validation": {"strategy verdict RETRY --file": OBJECT},
    "light": {"mode submit --agent session-1 --file": OBJECT},
}  # fmt: skip


def standing(make_repo: Repositories, where: str) -> Driven:
    """Return a run that stands where the table says."""
    if where == "writing":
        return writing(make_repo)
    if where in ("strategy", "validation"):
        choice = Choice(make_repo(files=FILES), *(["--chat"] if where == "validation" else []))
        choice.start()
        if where == "validation":
            choice.choose(plan("synthesis"))
            choice.answers()
        return choice
    journey = Journey(make_repo(files=FILES))
    if where == "light":
        journey.state_dir = str(journey.repository.path)
        Path(journey.state_dir, "answers").mkdir()
        assert journey.run("mode", "enter", "--agent", "session-1").code == 0
        return journey
    journey.review = "small"
    return journey.to(where)


def held(run: Driven) -> dict[str, bytes]:
    """Return every file of the run but what its host writes for us, and the database."""
    files = [p for p in (run.repository.path / ".planner").rglob("*") if p.is_file()]
    return {
        str(p): p.read_bytes() for p in files if p.parent.name != "answers" and p.name != "lock"
    }


@pytest.mark.requirement("PL-11", "SD-9")
@pytest.mark.parametrize("where", PLACES)
def test_hostile_json_is_refused_in_the_same_words_wherever_it_is_handed_in(
    make_repo: Repositories, where: str
) -> None:
    run = standing(make_repo, where)
    before = held(run)
    for command, wanted in PLACES[where].items():
        for text, said in some(cases(wanted), 4):
            run.write_answer("hostile.json", text)
            path = str(Path(run.state_dir, FILE))
            is_refused(run.call(*command.split(), path), said)
    assert held(run) == before


def test_sound_json_is_taken_without_the_package_that_says_what_is_wrong(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Loading it would take longer than the command."""
    journey = Journey(make_repo(files=FILES))
    journey.to("context")
    monkeypatch.setitem(sys.modules, "jsonschema", None)  # to import it is an error now
    for _ in ("context", "design"):
        assert journey.advance().code == 0, journey.last.text
    answers = [
        {"id": "qa-001", "status": "PASS"},
        {"check": "c", "finding": "f"},
        {"verdict": "pass"},
    ]
    assert not read_rows(answers).problems
    chosen = check_plan(TEMPLATES["9.3 code task"][1], Strategy("Make f add two", "code"))
    assert len(chosen["goals"]) == 3
    assert parse_light(PLAN)["summary"] == PLAN["summary"]
    result = Named("result.json", json.dumps({"status": "success", "stats": {}}).encode(), 0)
    assert not read_result(result, "M-001").error


@pytest.mark.requirement("PL-18")
def test_a_printed_step_says_what_is_wrong_with_a_damaged_review(make_repo: Repositories) -> None:
    """It is the only one that loads a package, and it prints no traceback."""
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    journey.to("code review")
    path = review_path(journey.state_dir, "plan-code")
    review = read_json(path)
    review["items"][0] |= {"status": "FINE", "rounds": -1}
    write_json(path, review)
    words = [sys.executable, "-I", "-S", LAUNCHER, "step", "planner", "--state-dir"]
    done = subprocess.run([*words, journey.state_dir], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert f"{path}: items[0].status" in done.stdout
    assert "this is none of the possible values · allowed: TODO, PASS" in done.stdout
    assert "this is too small" in done.stdout
