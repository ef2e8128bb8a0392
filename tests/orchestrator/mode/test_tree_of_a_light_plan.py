"""A light plan, too, is made on a tree that nobody changes: compared at submission and approval."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Answer, Journey, call, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

LIGHT = {
    "summary": "Rename f.",
    "steps": [{"description": "Rename it", "tools": ["Edit"], "risk": "low"}],
    "questions": [],
    "context_notes": "",
}


class Session:
    """One agent that plans without a run."""

    def __init__(self, repository: Repository, agent: str = "an agent") -> None:
        self.repository, self.agent = repository, agent
        self.mode("enter", "Rename f")

    def run(self, *words: str) -> Answer:
        return call(self.repository.path, *words, "--agent", self.agent)

    def mode(self, *words: str) -> Answer:
        return self.run("mode", *words)

    def submit(self) -> Answer:
        file = self.repository.path / ".planner" / "light.json"
        file.write_text(json.dumps(LIGHT))
        return self.mode("submit", "--file", str(file))


@pytest.fixture
def repository(make_repo: Repositories) -> Repository:
    """Return the sample project."""
    return make_repo(files={**FILES, "notes.txt": "a note\n"})


def test_an_edit_is_refused_at_submission_until_a_person_accepts_it(repository: Repository) -> None:
    session = Session(repository)
    repository.write("notes.txt", "mine\n")
    refused = session.submit()
    assert "notes.txt (changed)" in refused.text
    ((_, text),) = refused.problems
    accepted = call("/", *words_of(text.rpartition(" · person: ")[2]))
    assert accepted.code == 0, accepted.text
    assert "accepted" in accepted.text
    assert session.submit().code == 0


def test_an_edit_is_refused_at_approval_and_at_remarks(repository: Repository) -> None:
    session = Session(repository)
    digest = session.submit().block.get("digest", "")
    repository.write("new.txt", "1\n")
    assert "new.txt (new)" in session.run("approve", digest).text
    assert "new.txt (new)" in session.mode("edit", "Another name").text
    (repository.path / "new.txt").unlink()
    assert session.run("approve", digest).code == 0


@pytest.mark.requirement("PM-7")
def test_remarks_send_a_light_plan_back(repository: Repository) -> None:
    session = Session(repository)
    session.submit()
    answer = session.mode("edit", "Call it g")
    assert answer.block.get("stage") == "gathering"
    assert answer.data("remarks") == "1. Call it g"
    assert session.mode("edit", "Again").code == 1


def test_a_rebase_with_nothing_to_accept_records_nothing(repository: Repository) -> None:
    session = Session(repository)
    before = session.mode("status").text
    assert session.mode("rebase").code == 0
    rows = json.loads(call(repository.path, "audit", "--json").text.splitlines()[-1])
    assert "rebase" not in json.dumps(rows)
    assert session.mode("status").text == before


def test_a_rebase_in_execution_is_refused(repository: Repository) -> None:
    session = Session(repository)
    session.run("approve", session.submit().block.get("digest", ""))
    repository.write("notes.txt", "mine\n")
    assert [kind for kind, _ in session.mode("rebase").problems] == ["conflict"]


def test_the_commit_of_a_run_is_no_change_to_a_light_plan(repository: Repository) -> None:
    session = Session(repository)
    Journey(repository).to("committed")
    assert session.submit().code == 0


def test_a_folder_that_git_does_not_know_is_planned_for_without(tmp_path: Path) -> None:
    words = ("--agent", "an agent")
    assert call(tmp_path, "mode", "enter", "Rename f", *words).code == 0
    (tmp_path / "light.json").write_text(json.dumps(LIGHT))
    file = str(tmp_path / "light.json")
    assert call(tmp_path, "mode", "submit", "--file", file, *words).code == 0
