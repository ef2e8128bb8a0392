"""A project that names no command for its tests is verified by them all the same (VR-1, VR-3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey, passing
from tests.place import need_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

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
    assert found.endswith("(shortid/test_shortid.py:3)")
    assert "`done` takes candidate 1" in code.text
    assert "--command-file" in code.text
    submitted = journey.to("submitted").last
    assert "NOT VERIFIED" not in submitted.text
    assert "chosen by the assistant · 1 passed, 0 failed" in submitted.text
    assert "with the changed code broken this fails, so some of it is run" in submitted.text
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
    title = "run on these files by the assistant"
    journey.planner("tree", "run", "cat src/a.py")
    asked = journey.to("code review").last
    assert asked.data(title) == "run 1: exit 0 (0 s): cat src/a.py: def f(x): · return x + 2"
    assert "or a listed run" in asked.text
    journey.edit_worktree({"src/a.py": "def f(x):\n    return 2 + x\n"})
    journey.planner("plan", "done", "--phase", "plan-code")
    again = journey.planner("step", "planner")
    assert again.data(title) == "", "it ran on other files"
    assert "listed run" not in again.text
