"""Doctor: what is wrong here and how to fix it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.mode.sessions import path_of
from shared.resources import PROGRAM, installed_path, quote
from tests.journey import FILES, LAUNCHER, VERIFIED, Journey, call, shell
from tests.terminal import typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.mark.quick
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
        "note\tsecrets\tgit tracks '.env', 'keys/0.pem', 'keys/1.pem', 'keys/2.pem', 'keys/3.pem' "
        "and 2 more, so commands may read them → git rm --cached "
    ) in answer.text
    repository.git("rm", "-qr", "--cached", ".env", "keys")
    assert "secrets\t" not in call(repository.path, "doctor").text


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


@pytest.mark.requirement("HO-5")
def test_the_doctor_names_what_an_assistant_lacks_and_the_command_for_it(
    make_repo: Repositories,
) -> None:
    repository = make_repo(files=FILES)
    home = Path(os.environ["HOME"])
    (home / ".codex").mkdir()
    assert said(repository, "codex").startswith("not set up: skill, hooks, rule → ")
    command = said(repository, "codex").partition(" → ")[2]
    assert shell(command, repository.path).code == 0
    assert said(repository, "codex").startswith("in place: skill, hooks, rule")
    (home / ".codex" / "hooks.json").unlink()
    answer = call(repository.path, "doctor")
    assert answer.code == 1
    assert "problem\tcodex\tnot in place: hooks → " in answer.text
    shell(said(repository, "codex").partition(" → ")[2], repository.path)
    launcher = Path(installed_path("bin", "planner"))
    launcher.write_text("#!/bin/sh\n")
    assert "another version → " in said(repository, "launcher")
    shell(said(repository, "launcher").partition(" → ")[2], repository.path)
    assert call(repository.path, "doctor").code == 0


@pytest.mark.requirement("HO-5")
@pytest.mark.parametrize(
    ("host", "parts"),
    [("claude", "skill with its hooks, rule"), ("vibe", "skill, rule, hooks"),
     ("opencode", "skill, hooks"), ("gemini", "skill, hooks, rule"), ("cursor", "skill, hooks")],
)  # fmt: skip
def test_the_doctor_names_what_is_in_place_for_each_assistant(
    make_repo: Repositories, host: str, parts: str
) -> None:
    repository = make_repo(files=FILES)
    call(repository.path, "setup", host, "--yes")
    assert said(repository, host).partition(";")[0] == f"in place: {parts}"


@pytest.mark.requirement("HO-5")
def test_the_doctor_looks_at_what_is_set_up_for_the_repository_alone(
    make_repo: Repositories,
) -> None:
    repository = make_repo(files=FILES)
    (Path(os.environ["HOME"]) / ".vibe").mkdir()
    call(repository.path, "setup", "--project", "vibe", "--yes")
    name = f"vibe in {repository.path}"
    assert said(repository, name).startswith("in place: skill, rule, hooks")
    assert "setup vibe" not in call(repository.path, "doctor").text
    (repository.path / ".vibe" / "hooks.toml").unlink()
    found = said(repository, name)
    assert found.startswith("not in place: hooks → ")
    assert shell(found.partition(" → ")[2], repository.path).code == 0
    assert said(repository, name).startswith("in place: skill, rule, hooks")


@pytest.mark.requirement("HO-5")
def test_the_doctor_names_sessions_that_are_stale_and_how_to_end_them(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    folder, agent = journey.repository.path, str(journey.repository.path)
    light = make_repo("light", files=FILES)
    call(light.path, "mode", "enter", "Look")
    assert "session " not in call(folder, "doctor").data("findings")
    for name in (agent, str(light.path)):
        os.utime(path_of(name), (1, 1))
    for where, name in ((folder, agent), (light.path, str(light.path))):
        found = said(journey.repository, f"session {name}")
        assert f"plans in {where}, without a call for" in found
        assert shell(quote(LAUNCHER) + found.partition(quote(LAUNCHER))[2], where).code == 0
    assert "session " not in call(folder, "doctor").data("findings")


@pytest.mark.requirement("HO-5")
def test_the_doctor_says_that_no_file_names_the_verify_commands(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    assert "is missing at HEAD" in said(repository, "planner.toml")
    repository.commit({"planner.toml": "[mode]\n"})
    assert "no [verify] commands" in said(repository, "planner.toml")
    repository.commit({"planner.toml": "verify = 1 1"})
    assert "at HEAD is not TOML" in said(repository, "planner.toml")
    assert call(repository.path, "doctor").code == 1
    repository.commit({"planner.toml": VERIFIED})
    assert said(repository, "planner.toml") == "names verify commands"
    assert call(repository.path, "doctor").code == 0


@pytest.mark.requirement("HO-5")
def test_each_line_for_a_person_has_its_mark_and_what_to_do_on_a_line_of_its_own(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    repository = make_repo(files=FILES)
    Path(os.environ["HOME"], ".codex").mkdir()
    text = typed(repository.path, "doctor", width=80).text
    lines = text.splitlines()
    assert not [
        line
        for line in lines
        if not re.match(r"(OK     |note   |problem)  \S|         \S|$", line) and line != lines[-1]
    ]
    # A path of one word is not broken, however long the folder of the tests is.
    broken = [line for line in lines if len(max(line.split(), key=len, default="")) <= 80 - 9]
    assert not [line for line in broken if "→" not in line and len(line) > 80]
    assert "note     planner.toml: is missing at HEAD; each run chooses its own" in text
    assert f"\n         → {quote(PROGRAM)} init\n" in text
    assert f"\n         → {quote(PROGRAM)} setup codex\n" in text
    assert lines[-1] == "Nothing is wrong. The notes say what could be better."
    repository.git("checkout", "--quiet", "--detach")
    text = typed(repository.path, "doctor", width=80).text
    assert "\nproblem  repository: HEAD is detached" in text
    assert text.splitlines()[-1] == "1 problem. What to do stands after →."


@pytest.mark.quick
@pytest.mark.requirement("HO-5")
def test_every_finding_has_a_mark_in_json_and_each_but_ok_says_what_to_do(
    make_repo: Repositories,
) -> None:
    repository = make_repo(files={**FILES, ".env": "A=1\n"})
    Path(os.environ["HOME"], ".codex").mkdir()
    found = json.loads(call(repository.path, "doctor", "--json").text)
    assert {one["mark"] for one in found} >= {"OK", "note"}
    for one in found:
        assert (one["mark"] == "OK") is not bool(one["way_out"] or one["hint"]), one


def said(repository: Repository, what: str) -> str:
    """Return what the doctor says of one thing."""
    rows = call(repository.path, "doctor").data("findings").splitlines()
    return next(row.split("\t")[2] for row in rows if row.split("\t")[1] == what)
