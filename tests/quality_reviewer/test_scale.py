"""How much review a plan gets, by its size and the files that it touches (PL-23)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from quality_reviewer.scale import AUTO, changed_lines, is_sensitive, review_mode
from state import plan_table
from state.plan_table import Change, Documentation, Intent, Milestone, Plan
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def milestone(**fields: object) -> Milestone:
    """Return a milestone as far as the scale of a review reads it."""
    return Milestone(id="M-001", **fields)


def patch_of(lines: int) -> Change:
    """Return a change of so many lines: half of them go, half of them come."""
    rows = "".join(f"-old {n}\n+new {n}\n" for n in range(lines // 2))
    patch = f"--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n same\n{rows} end\n"
    return Change(file="a.py", patch=patch)


@pytest.mark.requirement("PL-23")
@pytest.mark.parametrize(
    ("milestones", "config", "mode"),
    [
        ([], {}, "small"),
        ([milestone()], {}, "small"),
        ([milestone(), milestone()], {}, "full"),
        ([milestone(), milestone()], {"review_milestones": 2}, "small"),
        ([milestone(code_changes=(patch_of(300),))], {}, "small"),
        ([milestone(code_changes=(patch_of(302),))], {}, "full"),
        ([milestone(documentation=Documentation(changes=(patch_of(302),)))], {}, "full"),
        ([milestone(code_changes=(patch_of(150),))], {"review_lines": 149}, "full"),
        ([milestone(flags=("high-risk",))], {}, "full"),
        ([milestone(flags=("needs-migration",))], {}, "small"),
        ([milestone(files=("auth/a.py",))], {"sensitive": ("auth",)}, "full"),
        (
            [milestone(tests=plan_table.Tests(files=("auth/t.py",)))],
            {"sensitive": ("auth/*",)},
            "full",
        ),
        ([milestone(code_intents=(Intent(file="a.sql"),))], {"sensitive": ("*.sql",)}, "full"),
        ([milestone(code_changes=(patch_of(2),))], {"sensitive": ("a.py",)}, "full"),
        ([milestone(files=("authors.md",))], {"sensitive": ("auth",)}, "small"),
    ],
)
def test_what_makes_a_plan_big(
    milestones: list[Milestone], config: dict[str, Any], mode: str
) -> None:
    found, why = review_mode(AUTO, Plan(milestones=tuple(milestones)), config)
    assert found == mode
    assert why
    for chosen in ("full", "small", "none"):
        assert review_mode(chosen, Plan(milestones=tuple(milestones)), config)[0] == chosen


def test_lines_are_counted_in_hunks_alone() -> None:
    assert changed_lines(Plan(milestones=(milestone(code_changes=(patch_of(40),)),))) == 40
    binary = Change(file="a.bin")
    assert changed_lines(Plan(milestones=(milestone(code_changes=(binary,)),))) == 0


def test_a_pattern_is_a_glob_or_a_folder() -> None:
    assert is_sensitive("db/migrations/1.sql", ["db/migrations"])
    assert is_sensitive("db/migrations/1.sql", ["db/migrations/"])
    assert is_sensitive("a/secrets.env", ["*.env"])
    assert not is_sensitive("db/migrations.md", ["db/migrations"])
    assert not is_sensitive("db/a.py", [])


@pytest.mark.requirement("PL-23")
def test_a_file_that_leaves_a_sensitive_folder_gets_a_full_review(make_repo: Repositories) -> None:
    """The plan names only the new path; only the captured rename names the old one."""
    login = "def login(user):\n    return user.is_known\n" * 9
    sensitive = '[review]\nsensitive = ["auth/*"]\n'
    journey = Journey(make_repo(files={**FILES, "auth/login.py": login, "planner.toml": sensitive}))
    journey.review = "auto"
    *_, milestone_edit, intent = journey.answers["design.json"]
    milestone_edit["fields"] |= {"files": ["login.py"], "tests": {"skip_reason": "only moved"}}
    intent["fields"] |= {"file": "login.py", "behavior": "lives at the top"}
    journey.to("code")
    Path(journey.state_dir, "worktree/auth/login.py").unlink()
    journey.edits = {"login.py": login}
    journey.to("code review")
    assert journey.last.data("review") == "full: auth/login.py is on the project's sensitive list"


@pytest.mark.requirement("PL-23")
def test_documentation_of_a_sensitive_file_gets_a_full_review(make_repo: Repositories) -> None:
    sensitive = '[review]\nsensitive = ["README.md"]\n'
    journey = Journey(make_repo(files={**FILES, "planner.toml": sensitive}))
    journey.review = "auto"
    journey.promises_document = True
    journey.to("code review")
    assert journey.last.data("review") == "full: README.md is on the project's sensitive list"


def test_how_small_a_plan_is_is_said_in_good_english() -> None:
    one_line = patch_of(2)
    one_line.patch = (one_line.patch or "").replace("-old 0\n", "")
    plan = Plan(milestones=(milestone(code_changes=(one_line,)),))
    assert review_mode(AUTO, plan, {}) == ("small", "1 milestone, 1 changed line")
    assert review_mode(AUTO, Plan(), {}) == ("small", "0 milestones, 0 changed lines")
