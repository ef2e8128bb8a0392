"""The user commits a part of an applied plan: the program commits the rest, and proves both."""

from __future__ import annotations

import os
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests import forms
from tests.e2e.conftest import set_hook
from tests.journey import FILES, Journey, default_answers
from tests.kills import Kept, first_moment, kill_everywhere, moments_of
from tests.ways_out import Walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

OLD, NEW = "docs/old.md", "docs/new.md"
EDITED = {"src/a.py", "tests/test_a.py"}
PARTS = {
    "one file": ["src/a.py"],
    "one end of a rename": [OLD],
    "all but one end of a rename": [*EDITED, OLD],
}


class Renaming(Journey):
    """A journey whose developer also renames a document."""

    def edit_worktree(self, files: dict[str, str | bytes], worktree: str = "worktree") -> None:
        super().edit_worktree(files, worktree)
        folder = f"{self.state_dir}/{worktree}"
        os.rename(f"{folder}/{OLD}", f"{folder}/{NEW}")


def with_a_rename(make_repo: Callable[..., Repository]) -> Journey:
    answers = default_answers()
    milestone = next(e for e in answers["design.json"] if e.get("kind") == "milestone")
    milestone["fields"]["files"] += [OLD, NEW]
    answers["design.json"] += [
        {"op": "add", "kind": "intent", "fields": {
            "milestone": "$m", "file": file, "behavior": "is renamed"}}
        for file in (OLD, NEW)
    ]  # fmt: skip
    text = "".join(f"line {number}\n" for number in range(40))
    return Renaming(make_repo("project", {**FILES, OLD: text}), answers=answers)


@pytest.mark.requirement("PL-29", "PL-31")
@pytest.mark.parametrize(
    ("part", "hook"), forms.part([*product(PARTS, [False, True])], 3, outer=True)
)
def test_a_part_of_a_plan_that_the_user_commits_is_completed_with_the_rest(
    make_repo: Callable[..., Repository], part: str, hook: bool
) -> None:
    journey = with_a_rename(make_repo).to("applied")
    project, before = journey.repository, journey.repository.git("rev-parse", "HEAD")
    if hook:
        set_hook(project, "pre-commit", "exit 0\n")
    project.write("README.md", "# Mine\n")
    paths = [*PARTS[part], "README.md"]
    project.git("commit", "--quiet", "--message", "Mine", "--only", "--", *paths)
    mine = project.git("rev-parse", "HEAD")
    journey.to("committed")
    assert journey.last.block.get("commit") == project.git("rev-parse", "HEAD")
    assert project.git("rev-parse", "HEAD^") == mine
    rest = {*EDITED, OLD, NEW} - {*PARTS[part]}
    assert {*project.git("diff", "--name-only", "--no-renames", "HEAD^").split()} == rest
    assert project.git("status", "--porcelain") == ""
    now = project.git("rev-parse", "HEAD")
    assert f"Proved: {before[:12]}..{now[:12]}" in journey.last.text
    assert "README.md" in journey.last.text
    assert "Plan-Digest:" not in project.git("log", "-1", "--format=%B")
    again = journey.planner("exec", "commit")
    assert again.text == journey.last.text
    assert journey.planner("undo").code == 0
    assert project.git("diff", "--name-only", before) == "README.md"


@pytest.mark.requirement("PL-29", "PL-31")
def test_the_rest_of_a_plan_is_committed_once_whenever_the_commit_is_killed(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo("project", FILES)).to("applied")
    project, block = journey.repository, journey.last
    project.git("commit", "--quiet", "--message", "Mine", "--only", "src/a.py")
    kept = Kept(project)
    words = ("exec", "commit", "--state-dir", journey.state_dir)

    def check(_: int = 0) -> None:
        journey.last = block
        journey.to("committed")
        assert journey.last.block.get("commit") == project.git("rev-parse", "HEAD")
        assert project.git("rev-list", "--count", "HEAD") == "3"
        assert project.git("status", "--porcelain") == ""
        assert "and one that holds the rest" in journey.last.text

    def made() -> bool:
        return project.git("rev-list", "--count", "HEAD") == "3"

    first_moment(kept, words, moments_of(project.path, *words), made)
    check()
    kill_everywhere(kept, words, check, wanted=3)


@pytest.mark.requirement("PL-29", "PL-31")
@pytest.mark.parametrize("paths", [["--all"], ["src/a.py"]])
def test_a_plan_that_the_user_amends_into_its_base_is_proved_against_the_base(
    make_repo: Callable[..., Repository], paths: list[str]
) -> None:
    journey = Journey(make_repo("project", FILES)).to("applied")
    project, base = journey.repository, journey.repository.git("rev-parse", "HEAD")
    project.git("commit", "--quiet", "--amend", "--message", "Mine", *paths)
    journey.to("committed")
    assert journey.last.block.get("commit") == project.git("rev-parse", "HEAD")
    assert f" {base[:12]}.." in journey.last.text
    assert {*project.git("diff", "--name-only", base, "HEAD").split()} == EDITED
    assert journey.planner("undo").code == 0
    assert project.git("diff", base) == ""


@pytest.mark.requirement("PL-29", "PL-31")
def test_a_part_beside_other_content_of_a_planned_file_leads_back_to_a_revision(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo("project", FILES)).to("applied")
    project = journey.repository
    applied = (project.path / "tests/test_a.py").read_text()
    project.commit({"tests/test_a.py": f"# mine\n{FILES['tests/test_a.py']!s}"}, "A part, and mine")
    project.write("tests/test_a.py", applied)
    refused = journey.advance()
    assert "committed already as planned" in refused.text
    walk = Walk(journey)
    walk.lead_out(list(journey.calls[-1]), refused)
    walk.go_on()
    walk.to_the_end()
    assert walk.status()["status"] == "COMPLETED"
    assert walk.taken[0][0] == "undo"
    assert "+# mine" in project.git("log", "--patch").splitlines()
