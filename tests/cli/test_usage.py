"""A command line that is not understood or asks for help: what a person is told of the way on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from cli.main import MODULES, SECTIONS
from shared.commands import GONE, is_for_person
from shared.resources import launcher
from tests.journey import call, shell, way_out
from tests.terminal import typed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("HO-5")


@pytest.mark.parametrize(
    ("word", "guess"),
    [("stauts", "'status' or 'stats'"), ("aprove", "'approve'"), ("diff", "'plan diff'"),
     ("frobnicate", "")],
)  # fmt: skip
def test_a_mistyped_command_gets_a_guess_and_no_list_of_all(
    tmp_path: Path, word: str, guess: str
) -> None:
    for answer in (call(tmp_path, word), typed(tmp_path, word)):
        assert answer.code == 2
        assert f"No such command '{word}'." in answer.text
        assert (f"Did you mean {guess}?" in answer.text) is bool(guess)
        assert "requirements" not in answer.text
        assert f"{launcher()} --help" in answer.text


@pytest.mark.parametrize(("name", "instead"), GONE.items())
def test_a_command_that_is_gone_says_which_one_does_its_deed(
    tmp_path: Path, name: str, instead: str
) -> None:
    answer = call(tmp_path, *name.split(), "M-001")
    assert answer.code == 2
    assert f"`planner {name}` is gone; `planner {instead}` does its deed" in answer.text
    assert call(tmp_path, *instead.split(" --", maxsplit=1)[0].split(), "--help").code == 0


def test_the_help_fits_a_terminal_of_eighty_columns_and_cuts_nothing(tmp_path: Path) -> None:
    text = typed(tmp_path, "--help", width=80).text
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert "..." not in text.partition("COMMAND [ARGS]...")[2]
    for name in MODULES:
        (row,) = [line for line in lines if re.match(rf"  {name}( \*)?  ", line)]
        assert row.endswith("."), row
    for words in ("plan", "mode", "exec", "requirements", "config"):
        assert "..." not in typed(tmp_path, words, "--help", width=80).text.partition("ARGS]...")[2]


def test_the_help_begins_with_what_a_person_types_and_marks_what_only_they_may(
    tmp_path: Path,
) -> None:
    text = typed(tmp_path, "--help", width=80).text
    headings = [text.index(f"\n{heading}:\n") for heading in SECTIONS]
    assert headings == sorted(headings)
    assert text.index("\n  approve") < text.index("\n  status ") < text.index("\n  step ")
    marked = re.findall(r"^  (\w+) \*  ", text, re.MULTILINE)
    assert sorted(marked) == sorted(n for n in MODULES if is_for_person(n))
    assert "* Only a person may run it" in text


@pytest.mark.parametrize("words", [(), ("status",), ("plan", "diff"), ("config",)])
def test_help_before_a_command_says_what_help_behind_it_says(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    wanted = call(tmp_path, *words, "--help")
    answer = call(tmp_path, "help", *words)
    assert (answer.code, answer.text) == (0, wanted.text)


def test_help_for_what_is_no_command_guesses_too(tmp_path: Path) -> None:
    assert "Did you mean 'status' or 'stats'?" in call(tmp_path, "help", "stauts").text
    assert "Did you mean 'diff'?" in call(tmp_path, "help", "plan", "dif").text
    answer = call(tmp_path, "help", "status", "now")
    assert (answer.code, "planner status has no command 'now'" in answer.text) == (2, True)


@pytest.mark.parametrize("words", [(), ("plan",), ("config",)])
def test_a_group_alone_shows_its_help_to_a_person_and_its_commands_to_a_program(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    answer = typed(tmp_path, *words)
    assert answer.code == 2
    assert answer.text.startswith("Usage: planner")
    problem = call(tmp_path, *words)
    assert (problem.code, "Usage: planner" in problem.text) == (2, False)
    assert "name a command" in problem.text


@pytest.mark.parametrize(
    "words",
    [("approve",), ("recall",), ("decide", "x"), ("start", "Parse", "dates"), ("setup", "clade"),
     ("config", "confirm"), ("queue", "add"), ("undo", "x"), ("guard", "check")],
)  # fmt: skip
def test_a_command_with_wrong_words_is_shown_as_it_is_typed_right(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    path = " ".join(words if words[0] in ("config", "queue", "guard") else words[:1])
    answer = call(tmp_path, *words)
    assert answer.code == 2
    assert f"for example {launcher()} {path}" in answer.text
    assert f"retry: {launcher()} {path} --help" in answer.text


def test_validate_alone_names_a_command_that_works(tmp_path: Path) -> None:
    answer = call(tmp_path, "validate")
    assert answer.code == 2
    assert f"retry: {launcher()} validate --commit HEAD" in answer.text
    assert "plan.json" in call(tmp_path, "validate", "--help").text


def test_an_age_that_is_none_is_answered_with_a_command_that_has_one(repo: Repository) -> None:
    answer = call(repo.path, "prune", "--older-than", "month")
    retry = way_out(answer.problems[0][1])
    assert retry.endswith(" prune --dry-run")
    assert shell(retry, repo.path).code == 0
