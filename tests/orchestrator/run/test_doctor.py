"""Doctor: what is wrong here and how to fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey, call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def test_the_doctor_finds_nothing_wrong_in_a_run_that_goes_well(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    answer = call(journey.repository.path, "doctor")
    assert answer.code == 0, answer.text
    assert answer.block.get("wrong") == "0"


def test_the_doctor_says_what_is_wrong_and_how_to_fix_it(make_repo: Repositories) -> None:
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


@pytest.mark.requirement("PP-2")
def test_the_doctor_names_files_that_git_tracks_and_that_look_like_secrets(
    make_repo: Repositories,
) -> None:
    keys = {f"keys/{n}.pem": "x\n" for n in range(6)}
    repository = make_repo(files={**FILES, **keys, ".env": "A=1\n", ".env.example": "A=\n"})
    repository.write(".env.local", "untracked\n")
    answer = call(repository.path / "keys", "doctor")
    assert answer.code == 0, answer.text
    assert (
        "secrets: git tracks '.env', 'keys/0.pem', 'keys/1.pem', 'keys/2.pem', 'keys/3.pem' "
        "and 2 more, so commands may read them"
    ) in answer.text
    repository.git("rm", "-qr", "--cached", ".env", "keys")
    assert "secrets:" not in call(repository.path, "doctor").text


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
