"""A project that names no command for its tests is verified by them all the same (VR-1, VR-3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from quality_reviewer.ask import RAN
from shared.candidates import read_found
from state.store import read_plan
from tests.developer.test_candidates import environment
from tests.journey import ELSEWHERE, FILES, Journey, passing
from tests.place import need_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.usefixtures("own_path")
MOST_COMMANDS = 7  # an approval among them
TEST = "PYTHONPATH=src python3 tests/test_a.py"
# As the package shortuuid is laid out: poetry's pyproject.toml, tests of unittest beside the code.
PYPROJECT = """\
[tool.poetry]
name = "shortid"
version = "1.0.0"
description = "Short ids."
authors = []

[build-system]
requires = ["poetry-core"]
build-backend = "poetry.core.masonry.api"
"""
MAIN = 'def encode(number):\n    """Return a number in base 36."""\n    return hex(number)[2:]\n'
TESTS = """\
import os
import sys
import unittest

from shortid.main import encode

sys.path.insert(0, os.path.abspath(__file__ + "/../.."))


class LegacyShortIDTest(unittest.TestCase):
    def test_encode(self):
        self.assertEqual(encode({}), "{}")
"""
BESIDE: dict[str, str | bytes] = {
    ".gitignore": "__pycache__/\n",
    "pyproject.toml": PYPROJECT,
    "shortid/__init__.py": "from shortid.main import encode\n",
    "shortid/main.py": MAIN,
    "shortid/test_shortid.py": TESTS.format(10, "a"),
}


@pytest.fixture
def own_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the packages of these tests from the projects that they make."""
    monkeypatch.delenv("PYTHONPATH", raising=False)


def renamed(journey: Journey) -> None:
    """Have the host plan and write a change of shortid."""
    text = json.dumps(journey.answers["design.json"])
    text = text.replace("src/a.py", "shortid/main.py")
    text = text.replace("tests/test_a.py", "shortid/test_shortid.py")
    journey.answers["design.json"] = json.loads(text)
    journey.edits = {
        "shortid/main.py": MAIN.replace("hex(number)[2:]", "hex(number)[2:].upper()"),
        "shortid/test_shortid.py": TESTS.format(10, "A"),
    }


@pytest.mark.requirement("VR-1", "VR-4", "FC-3")
def test_tests_beside_the_code_verify_a_plan_in_seven_commands(make_repo: Repositories) -> None:
    need_place()
    journey = Journey(make_repo(files=BESIDE))
    journey.review, journey.verdicts = "auto", passing
    renamed(journey)
    journey.start("--alone")
    assert "NOT VERIFIED" not in journey.last.text, "what runs the tests is known"
    code = journey.to("code").last
    (found,) = code.data("candidates").splitlines()
    assert "(shortid/test_shortid.py:10" in found
    assert "`done` runs candidate 1" in code.text
    assert "--command-file" in code.text
    submitted = journey.to("submitted").last
    assert "NOT VERIFIED" not in submitted.text
    assert "found in the project · 1 passed, 0 failed" in submitted.text
    assert "it fails with the changed code broken, so it runs some of it" in submitted.text
    journey.to("committed")
    assert len(journey.calls) <= MOST_COMMANDS, journey.calls
    assert "Proved" in journey.last.text


@pytest.fixture
def journey(make_repo: Repositories) -> Journey:
    """Return a run at the code step in a project of which no test command is found."""
    need_place()
    made = Journey(make_repo(files=FILES))
    made.review, made.verdicts = "auto", passing
    made.start("--alone")
    made.to("code").do_the_work()
    return made


@pytest.mark.requirement("VR-3", "VR-4")
def test_tests_that_the_assistant_ran_verify_where_nothing_else_is_chosen(
    journey: Journey,
) -> None:
    assert "--command-file" in journey.last.text
    for command in ("git status --short", f"{TEST}", "false", "cat src/a.py"):
        journey.planner("tree", "run", command)
    submitted = journey.to("submitted").last
    assert "NOT VERIFIED" not in submitted.text
    assert f"verify: {TEST}: pass (confined, at the project's own path" in submitted.text
    assert "the assistant's own" in submitted.text


@pytest.mark.requirement("VR-3")
def test_of_runs_that_count_tests_the_one_with_the_most_verifies(journey: Journey) -> None:
    counting = ("printf 'Ran 1 test in 0.1s\\n\\nOK\\n'", "printf 'Ran 3 tests in 0.1s\\n\\nOK\\n'")
    for command in (f"{TEST} && {counting[1]}", f"{TEST} && {counting[0]}", TEST):
        assert journey.planner("tree", "run", command).code == 0
    assert f"verify: {TEST} && {counting[1]}: pass" in journey.to("submitted").last.text


@pytest.mark.requirement("VR-4")
def test_what_only_shows_something_verifies_nothing(journey: Journey) -> None:
    for command in ("git status --short", "cat src/a.py", f"{TEST}; false"):
        journey.planner("tree", "run", command)
    submitted = journey.to("submitted").last
    assert "verify: NOT VERIFIED" in submitted.text


@pytest.mark.requirement("VR-1")
def test_another_candidate_is_chosen_as_the_work_step_ends(make_repo: Repositories) -> None:
    need_place()
    made = Journey(make_repo(files={**FILES, "Makefile": f"lint:\n\ttrue\ntest:\n\t{TEST}\n"}))
    made.to("code").do_the_work()
    assert made.last.data("candidates").splitlines()[1] == "2. make lint (Makefile:1)"
    made.follow(made.last.next("done") + " --use 2 --use 1")
    assert "verify: make lint: pass" in made.to("submitted").last.text
    assert "; make test: pass" in made.last.text


@pytest.mark.requirement("VR-1")
def test_own_commands_are_chosen_as_the_work_step_ends(journey: Journey) -> None:
    assert journey.planner("plan", "done", "--phase", "plan-code", "--use", "1").code == 1
    journey.write_answer("verify.txt", f"# mine\n{TEST}\n")
    own = ("--command-file", "answers/verify.txt")
    done = journey.last.next("done") + " " + " ".join(own)
    for _ in range(2):  # an answer may be lost
        assert journey.follow(done).code == 0, journey.last.text
    assert f"verify: {TEST}: pass" in journey.to("submitted").last.text


@pytest.mark.requirement("VR-3", "RV-1")
def test_a_review_lists_runs_also_where_nothing_was_verified(
    journey: Journey,
) -> None:
    journey.planner("tree", "run", "cat src/a.py")
    asked = journey.to("code review").last
    assert asked.data(RAN) == "run 1: exit 0 (0 s): cat src/a.py: def f(x): · return x + 2"
    journey.edit_worktree({"src/a.py": "def f(x):\n    return 2 + x\n"})
    journey.planner("plan", "done", "--phase", "plan-code")
    again = journey.planner("step", "planner")
    assert again.data(RAN) == "", "it ran on other files"


def answered(journey: Journey) -> list[str]:
    """Return the evidence that the plan keeps of its review."""
    plan = read_plan(f"{journey.state_dir}/plan.json")
    return [a.evidence for outcome in plan.reviews for a in outcome.answers]


def counting(*, base: str, change: str) -> str:
    """Return a Makefile of which `make test` ends otherwise on the base than on the change."""
    return (
        "test:\n\t@if grep -q 'x + 1' src/a.py; "
        f"then printf '{base}'; false; else printf '{change}'; false; fi\n"
    )


@pytest.mark.requirement("VR-4", "RV-1")
def test_a_review_shows_what_verified_the_change_and_takes_it_as_evidence(
    make_repo: Repositories,
) -> None:
    need_place()
    made = Journey(make_repo(files=BESIDE))
    made.review, made.verdicts = "auto", passing
    renamed(made)
    made.start("--alone")
    asked = made.to("code review").last
    (line,) = asked.data(RAN).splitlines()
    (found,) = read_found(made.state_dir).candidates
    assert line == f"verify 1: pass (base: pass) · 1 passed, 0 failed (base: 1, 0) · {found[0]}"
    answers = passing(asked)
    shown = [a for a in answers if a.get("evidence", "").startswith("shortid/")]
    musts = [a for a in shown if "without:" not in a["evidence"]]
    for said, refused in (
        ("verify 2: 1 passed", "verify 2 is none of the commands that verified these files"),
        ("verify 1", "it does not say what came out of verify 1"),
        ("verify 1: 1 passed", ""),
    ):
        musts[0]["evidence"] = said
        made.write_answer("verdicts-plan-code-1.json", answers)
        answer = made.follow(asked.next("done"))
        assert refused in answer.text
        assert answer.code == bool(refused), answer.text
    assert f"verify 1 (`{found[0]}`): 1 passed" in answered(made)


@pytest.mark.requirement("RV-1")
def test_what_does_not_notice_broken_code_is_no_evidence(make_repo: Repositories) -> None:
    need_place()
    made = Journey(make_repo(files={**FILES, "planner.toml": ELSEWHERE}))
    made.review, made.verdicts = "auto", passing
    made.start("--alone")
    asked = made.to("code review").last
    assert "passes with the changed code broken too" in asked.data(RAN)
    answers = passing(asked)
    lines = [a for a in answers if "evidence" in a and "without:" not in a["evidence"]]
    lines[0]["evidence"] = "verify 1: passes"
    made.write_answer("verdicts-plan-code-1.json", answers)
    assert "so it shows nothing" in made.follow(asked.next("done")).text


LACKING = {**FILES, "requirements.txt": "pytest\n", ".gitignore": "__pycache__/\n.venv/\n"}
OVER = (
    "passed over, since it fails on the base as well: "
    ".venv/bin/python -m pytest -q (python: No module named pytest)"
)


def lacking_pytest(make_repo: Repositories, files: dict[str, str | bytes]) -> Journey:
    """Return a run whose first candidate is pytest, which the project's environment lacks."""
    need_place()
    repository = make_repo(files={**LACKING, **files})
    environment(repository.path / ".venv")
    made = Journey(repository)
    made.review, made.verdicts = "auto", passing
    made.start("--alone")
    assert made.to("code").last.data("candidates").startswith("1. .venv/bin/python -m pytest -q (")
    made.do_the_work()
    return made


@pytest.mark.requirement("VR-1", "VR-4")
def test_a_candidate_that_cannot_run_here_is_passed_over_and_that_is_said(
    make_repo: Repositories,
) -> None:
    makefile = f"lint:\n\ttrue\ntest:\n\t{TEST}\n"
    made = lacking_pytest(make_repo, {"Makefile": makefile})
    over = OVER.replace("/REPO", str(made.repository.path))
    asked = made.to("code review").last
    assert asked.data(RAN).splitlines() == [over, "verify 1: pass (base: pass) · make test"]
    submitted = made.to("submitted").last
    assert "verify: make test: pass (" in submitted.text
    assert over in submitted.text
    assert "Proved" in made.to("committed").last.text


@pytest.mark.requirement("VR-1", "VR-3")
def test_after_the_candidates_what_the_assistant_ran_verifies(make_repo: Repositories) -> None:
    made = lacking_pytest(make_repo, {"Makefile": "lint:\n\ttrue\n"})
    made.planner("tree", "run", TEST)
    submitted = made.to("submitted").last
    assert f"verify: {TEST}: pass (" in submitted.text
    assert OVER.replace("/REPO", str(made.repository.path)) in submitted.text


@pytest.mark.requirement("SD-6", "VR-4")
def test_where_nothing_can_verify_the_step_says_so_and_what_to_do(make_repo: Repositories) -> None:
    made = lacking_pytest(make_repo, {"Makefile": "test:\n\tno-such-program\n"})
    before = made.last
    refused = made.follow(before.next("done"))
    assert refused.code == 1
    said = refused.text
    assert "`.venv/bin/python -m pytest -q`: python: No module named pytest" in said
    assert "`make test`: " in said
    assert "no-such-program" in said
    for way in ("--command-file answers/verify.txt", "--use N", "ask the user"):
        assert way in said
    assert refused.retry() == before.next("done").replace(" --role", " --use 1 --role")
    assert made.follow(refused.retry()).code == 0
    asked = made.to("code review").last
    assert asked.data(RAN).splitlines()[-1] == (
        "verify 1: known-failure (base: fail) · cannot run here: python: No module named pytest · "
        ".venv/bin/python -m pytest -q"
    )
    summary = made.to("submitted").last.text
    assert "cannot run here: python: No module named pytest" in summary


@pytest.mark.requirement("SD-6")
def test_what_the_user_has_installed_meanwhile_is_found(make_repo: Repositories) -> None:
    made = lacking_pytest(make_repo, {})
    before = made.last
    assert made.follow(before.next("done")).code == 1
    (site,) = (made.repository.path / ".venv").glob("lib/python3*/site-packages")
    runner = "import runpy, sys\nsys.path.insert(0, 'src')\nrunpy.run_path('tests/test_a.py')\n"
    (site / "pytest.py").write_text(runner, encoding="utf-8")
    made.follow(before.next("done"))
    assert "verify: .venv/bin/python -m pytest -q: pass (" in made.to("submitted").last.text


@pytest.mark.requirement("SD-6", "VR-1")
def test_an_environment_that_the_user_has_made_meanwhile_is_found(
    make_repo: Repositories,
) -> None:
    need_place()
    made = Journey(make_repo(files={**LACKING, ".gitignore": "pytest.py\n.venv/\n"}))
    path = made.repository.path / "pytest.py"
    path.write_text("import sys\nsys.exit('No module named pytest')\n", encoding="utf-8")
    made.review, made.verdicts = "auto", passing
    made.start("--alone")
    made.to("code").do_the_work()
    before = made.last
    assert before.data("candidates").startswith("1. python3 -m pytest -q (")
    refused = made.follow(before.next("done"))
    assert "nothing can run here" in refused.text
    path.unlink()
    environment(made.repository.path / ".venv")
    (site,) = (made.repository.path / ".venv").glob("lib/python3*/site-packages")
    runner = "import runpy, sys\nsys.path.insert(0, 'src')\nrunpy.run_path('tests/test_a.py')\n"
    (site / "pytest.py").write_text(runner, encoding="utf-8")
    made.follow(before.next("done"))
    assert "verify: .venv/bin/python -m pytest -q: pass (" in made.to("submitted").last.text


@pytest.mark.requirement("SD-6")
def test_commands_of_ones_own_lead_on_from_there(make_repo: Repositories) -> None:
    made = lacking_pytest(make_repo, {"Makefile": "test:\n\tno-such-program\n"})
    assert made.follow(made.last.next("done")).code == 1
    made.last = made.planner("step", "planner")
    made.write_answer("verify.txt", TEST)
    made.follow(made.last.next("done") + " --command-file answers/verify.txt")
    assert f"verify: {TEST}: pass (" in made.to("submitted").last.text


@pytest.mark.requirement("VR-1")
def test_a_candidate_that_the_assistant_chose_is_not_passed_over(make_repo: Repositories) -> None:
    made = lacking_pytest(make_repo, {"Makefile": f"test:\n\t{TEST}\n"})
    made.follow(made.last.next("done") + " --use 1")
    assert "pytest -q: fails on the base as well" in made.to("submitted").last.text


@pytest.mark.requirement("VR-4")
@pytest.mark.parametrize("failures", [1, 2])
def test_a_command_that_fails_more_tests_than_on_the_base_blocks_and_is_not_passed_over(
    make_repo: Repositories, failures: int
) -> None:
    said = "No module named x\\nRan 5 tests in 1s\\n\\nFAILED (failures={})\\n"
    need_place()
    text = counting(base=said.format(1), change=said.format(failures))
    made = Journey(make_repo(files={**FILES, "Makefile": text}))
    made.review, made.verdicts = "auto", passing
    made.start("--alone")
    made.to("code").do_the_work()
    made.planner("tree", "run", TEST)
    done = made.follow(made.last.next("done"))
    if failures == 1:
        assert done.code == 0, done.text
        assert f"verify: {TEST}: pass" in made.to("submitted").last.text
        return
    assert done.code == 1
    said = "`make test` fails with the changes (at the base it fails too, in 1 tests instead of 2)"
    assert said in done.text
