"""Commands that look and say: status, doctor, validate."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey, call, words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def test_status_says_where_a_run_is_and_what_is_next(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    status = json.loads(journey.planner("status", "--json").text)
    assert (status["status"], status["stage"], status["workflow"], status["step"]) == (
        "ACTIVE", "executing", "executor", 3,
    )  # fmt: skip
    assert status["request"] == journey.request
    assert status["apply"] == "applied"
    assert [m["changes"] for m in status["milestones"]] == [2]
    assert call(journey.repository.path, *words_of(status["next"])).text == journey.last.text


def test_the_doctor_finds_nothing_wrong_in_a_run_that_goes_well(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    answer = call(journey.repository.path, "doctor")
    assert answer.code == 0, answer.text
    assert answer.block.get("wrong") == "0"


def test_the_doctor_says_what_is_wrong_and_how_to_mend_it(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.write_answers()
    journey.follow(journey.last.next("remarks"))
    with open(f"{journey.state_dir}/plan.json", "w", encoding="utf-8") as file:
        file.write("{")
    journey.repository.git("checkout", "--quiet", "--detach")
    answer = call(journey.repository.path, "doctor")
    assert answer.code == 1
    assert answer.block.get("wrong") == "2"
    assert "HEAD is detached" in answer.text
    assert "plan.r1.json is the revision before" in answer.text


def test_the_doctor_does_not_stumble_over_a_damaged_database(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    database = journey.repository.path / ".planner" / "planner.db"
    database.write_bytes(database.read_bytes()[:100] + b"\xff" * 5000)
    answer = call(journey.repository.path, "doctor")
    assert answer.code == 1
    assert "database" in answer.text


def test_the_doctor_outside_a_repository_says_so(tmp_path: Path) -> None:
    answer = call(tmp_path, "doctor")
    assert answer.code == 1
    assert "not inside a git repository" in answer.text


@pytest.mark.requirement("PL-30")
def test_validate_reads_many_files_and_answers_for_each(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    good, folder = f"{journey.state_dir}/plan.json", journey.state_dir
    bad = {"cut.json": "{", "list.json": "[]", "newer.json": '{"schema_version": 9}'}
    for name, text in bad.items():
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    files = [good, *(f"{folder}/{name}" for name in bad), f"{folder}/gone.json"]
    answer = call(os.sep, "validate", *files, "--format", "json")
    assert answer.code == 1
    rows = json.loads(answer.text)["files"]
    assert [row["valid"] for row in rows] == [True, False, False, False, False]
    assert rows[0]["digest"]
    shown = call(os.sep, "validate", *files)
    assert shown.code == 1
    assert (shown.block.get("files"), shown.block.get("invalid")) == ("5", "4")


@pytest.mark.requirement("PL-30")
def test_validate_holds_a_plan_against_its_commit(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("committed")
    repository = journey.repository
    [name] = repository.git("ls-tree", "-r", "--name-only", "HEAD", "planning/").split("\n")
    words = ("validate", "--require-frozen", name, "--repo", ".", "--commit")
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
        "the waves do not follow": {"milestone_dependencies": {"waves": waves}},
    }
    path = f"{journey.state_dir}/broken.json"
    for words, members in broken.items():
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**plan, **members}, file)
        answer = call(os.sep, "validate", path)
        assert answer.code == 1
        assert words in answer.text


@pytest.mark.requirement("PL-30")
def test_validate_holds_the_changes_against_the_tree_of_a_repository(
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
    assert "the base of the plan" in moved.text


@pytest.mark.requirement("PL-19")
def test_a_frozen_plan_alone_beside_a_clone_of_the_base_is_executed(
    make_repo: Repositories, tmp_path: Path
) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    journey.repository.git(
        "clone", "--quiet", str(journey.repository.path), str(tmp_path / "clone")
    )
    clone = type(journey.repository)(tmp_path / "clone")
    alone = tmp_path / "alone"
    alone.mkdir()
    with open(f"{journey.state_dir}/plan.json", "rb") as file:
        (alone / "plan.json").write_bytes(file.read())
    digest = words_of(journey.last.person())[2]
    answer = call(clone.path, "mode", "approve", digest, "--state-dir", str(alone))
    assert answer.code == 0, answer.text
    while answer.block.tag == "step":
        answer = call("/", *words_of(answer.next()))
        assert answer.code == 0, answer.text
    assert "Plan-Digest: " + digest in clone.git("log", "-1", "--format=%B")
