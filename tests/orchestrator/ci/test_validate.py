"""Validate: frozen plans in CI."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey, call

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.mark.requirement("PL-30")
def test_validate_reads_many_files_and_answers_for_each(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    good, folder = f"{journey.state_dir}/plan.json", journey.state_dir
    bad = {"cut.json": "{", "list.json": "[]", "newer.json": '{"schema_version": 9}'}
    for name, text in bad.items():
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    files = [good, *(f"{folder}/{name}" for name in bad)]
    answer = call(os.sep, "validate", *files, "--format", "json")
    assert answer.code == 1
    rows = json.loads(answer.text)["files"]
    assert [row["valid"] for row in rows] == [True, False, False, False]
    assert rows[0]["digest"]
    shown = call(os.sep, "validate", *files)
    assert shown.code == 1
    assert (shown.block.get("files"), shown.block.get("invalid")) == ("4", "3")


@pytest.mark.requirement("SD-9")
def test_a_frozen_plan_with_a_second_overview_is_not_sound(make_repo: Repositories) -> None:
    """Readers differ in which of the two they take."""
    journey = Journey(make_repo(files=FILES)).to("submitted")
    with open(f"{journey.state_dir}/plan.json", encoding="utf-8") as file:
        text = file.read()
    twice = f"{journey.state_dir}/twice.json"
    with open(twice, "w", encoding="utf-8") as file:
        file.write(
            text.replace('"overview":', '"overview":{"problem":"p","approach":"a"},"overview":')
        )
    answer = call(os.sep, "validate", twice)
    assert answer.code == 1
    assert "an object has the name 'overview' twice" in answer.text


@pytest.mark.requirement("PL-30")
def test_validate_compares_a_plan_with_its_commit(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("committed")
    repository = journey.repository
    words = (
        "validate",
        "--require-frozen",
        f"{journey.state_dir}/plan.json",
        "--repo",
        ".",
        "--commit",
    )
    assert call(repository.path, *words, "HEAD").code == 0
    other = call(repository.path, *words, "HEAD~1")
    assert other.code == 1
    assert "Plan-Digest" in other.text
    repository.write("src/a.py", "def f(x):\n    return x + 3\n")
    repository.git("commit", "--quiet", "--all", "--amend", "--no-edit")
    amended = call(repository.path, *words, "HEAD")
    assert amended.code == 1
    assert "src/a.py" in amended.text


@pytest.mark.requirement("PL-30")
def test_validate_asks_for_a_frozen_plan_where_it_is_told_to(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    path = f"{journey.state_dir}/plan.json"
    assert call(os.sep, "validate", path).code == 0
    strict = call(os.sep, "validate", "--require-frozen", path)
    assert strict.code == 1
    assert "the plan is not frozen" in strict.text
    assert call(os.sep, "validate").code == 2
    assert call(os.sep, "validate", path, path, "--commit", "HEAD").code == 2


@pytest.mark.requirement("PL-30")
def test_validate_finds_references_and_waves_that_do_not_hold(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    with open(f"{journey.state_dir}/plan.json", encoding="utf-8") as file:
        plan = json.load(file)
    [milestone] = plan["milestones"]
    waves = [{"wave": 2, "milestones": [milestone["id"]]}]
    broken: dict[str, dict[str, object]] = {
        "T-9": {"milestones": [{**milestone, "requirements": ["T-9"]}]},
        "the waves in the file do not fit": {"milestone_dependencies": {"waves": waves}},
    }
    path = f"{journey.state_dir}/broken.json"
    for words, members in broken.items():
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**plan, **members}, file)
        answer = call(os.sep, "validate", path)
        assert answer.code == 1
        assert words in answer.text


@pytest.mark.requirement("PL-30")
def test_validate_compares_the_changes_with_the_tree_of_a_repository(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    repository = journey.repository
    words = ("validate", f"{journey.state_dir}/plan.json", "--repo", str(repository.path))
    assert call(os.sep, *words).code == 0
    repository.write("src/a.py", "def f(x):\n    return x + 3\n")
    moved = call(os.sep, *words)
    assert moved.code == 1
    assert "src/a.py" in moved.text
    assert "check out the plan's base" in moved.text
