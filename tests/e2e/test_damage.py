"""What is damaged, missing, full or hanging is named with a way out, and the way is walked."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared import approval
from shared.git import commit as commits
from tests.e2e.conftest import set_hook
from tests.journey import FILES, Answer, Journey, way_out, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository


def begun(make_repo: Callable[..., Repository], **files: str | bytes) -> Journey:
    return Journey(make_repo("project", {**FILES, **files}))


def assert_committed(journey: Journey) -> None:
    git = journey.repository.git
    assert journey.last.block.get("commit") == git("rev-parse", "HEAD"), journey.last.text


@pytest.mark.requirement("PL-32")
def test_a_planned_file_that_git_ignores_is_named_with_its_rule(
    make_repo: Callable[..., Repository],
) -> None:
    journey = begun(make_repo, **{".gitignore": "__pycache__/\n*.gen\n"})
    design = journey.answers["design.json"]
    design[2]["fields"]["files"].append("src/a.gen")
    design.append(
        {"op": "add", "kind": "intent",
         "fields": {"milestone": "$m", "file": "src/a.gen", "behavior": "is generated"}}
    )  # fmt: skip
    journey.edits["src/a.gen"] = "generated\n"
    journey.to("code")
    block = journey.last
    refused = journey.advance()
    assert "git ignores this file (`*.gen` in .gitignore)" in refused.text
    # The way out: the intent and the file leave the plan.
    assert journey.planner("plan", "remove", "CI-002", "--version", "1").code == 0
    fields = ("--file", "src/a.py", "--file", "tests/test_a.py")
    assert journey.planner("plan", "set", "M-001", "--version", "1", *fields).code == 0
    journey.last = block
    journey.to("committed")
    assert_committed(journey)


# the fingerprint of the user's tree


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("data", [b"", b"\xff\x00garbage", b"file 100644 \x00head"])
def test_a_damaged_fingerprint_is_no_record_and_a_person_takes_a_new_one(
    make_repo: Callable[..., Repository], data: bytes
) -> None:
    journey = begun(make_repo).to("submitted")
    Path(journey.state_dir, "fingerprint", "rows").write_bytes(data)
    refused = journey.run(*words_of(journey.last.person()))
    assert "there is no record of your tree" in refused.text
    rebase = refused.problems[0][1].rpartition(" · person: ")[2]
    assert journey.run(*words_of(rebase)).code == 0
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-32")
def test_a_damaged_index_of_the_fingerprint_is_made_again(
    make_repo: Callable[..., Repository],
) -> None:
    journey = begun(make_repo).to("submitted")
    Path(journey.state_dir, "fingerprint", "index").write_bytes(b"nonsense")
    journey.to("committed")
    assert_committed(journey)


# hooks that hang


def all_processes() -> str:
    done = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.requirement("PL-29")
@pytest.mark.parametrize("hook", ["pre-commit", "commit-msg", "reference-transaction"])
def test_a_hook_that_hangs_at_the_commit_is_ended_with_all_that_it_started(
    make_repo: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch, hook: str
) -> None:
    journey = begun(make_repo).to("applied")
    sleep = f"sleep 98{len(hook)}"  # not that of a test that runs beside this one
    set_hook(journey.repository, hook, f"{sleep} &\n{sleep}\n")
    monkeypatch.setattr(commits, "HOOK_LIMIT_S", 2.0)
    block = journey.last
    before = time.monotonic()
    refused = journey.advance()
    assert refused.code == 1
    assert "had not ended after 2 s" in refused.text
    assert time.monotonic() - before < 60
    while sleep in all_processes():  # killed, and not all gone yet
        assert time.monotonic() - before < 60
    assert not list(journey.repository.path.glob(".git/**/*.lock"))
    Path(journey.repository.path, ".git", "hooks", hook).unlink()
    monkeypatch.setattr(commits, "HOOK_LIMIT_S", 900.0)
    journey.last = block
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-29")
@pytest.mark.parametrize("form", ["openpgp", "ssh"])
@pytest.mark.parametrize("hooked", [False, True], ids=["no hook", "a hook"])
def test_a_signing_program_that_hangs_at_the_commit_is_ended_and_named(
    make_repo: Callable[..., Repository],
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    *,
    hooked: bool,
) -> None:
    journey = begun(make_repo).to("applied")
    repository = journey.repository
    if hooked:
        set_hook(repository, "pre-commit", "exit 0\n")
    sleep = f"sleep 97{len(form)}{int(hooked)}"
    program = repository.path.with_name("sign")
    program.write_text(f"#!/bin/sh\n{sleep} &\n{sleep}\n")
    program.chmod(0o755)
    settings = {
        "commit.gpgSign": "true", "gpg.format": form, f"gpg.{form}.program": str(program),
        "user.signingKey": "key::ssh-ed25519 AAAA",
    }  # fmt: skip
    for name, value in settings.items():
        repository.git("config", name, value)
    # An approval that says nothing of it: else only the approved key is asked to sign.
    approval.save(journey.state_dir, approval.of_run(journey.state_dir)._replace(form=1))
    monkeypatch.setattr(commits, "HOOK_LIMIT_S", 2.0)
    block, head = journey.last, repository.git("rev-parse", "HEAD")
    before = time.monotonic()
    refused = journey.advance()
    assert refused.code == 1
    assert f"git commit had not ended after 2 s: signing by {program}" in refused.text
    while sleep in all_processes():
        assert time.monotonic() - before < 60
    assert repository.git("rev-parse", "HEAD") == head
    assert not list(repository.path.glob(".git/**/*.lock"))
    repository.git("config", "commit.gpgSign", "false")
    monkeypatch.setattr(commits, "HOOK_LIMIT_S", 900.0)
    journey.last = block
    journey.to("committed")
    assert_committed(journey)


# what git lacks


def with_git_that_fails(tmp_path: Path, when: str, said: str) -> str:
    """Return a PATH on which git prints `said` and fails for the command `when`."""
    folder = tmp_path / "broken-git"
    folder.mkdir()
    refuse = f'[ "$w" = {when} ] && {{ echo "{said}" >&2; exit 128; }}'
    (folder / "git").write_text(
        f'#!/bin/sh\nfor w in "$@"; do {refuse}; done\nexec {shutil.which("git")} "$@"\n'
    )
    (folder / "git").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.requirement("PL-29")
@pytest.mark.parametrize(
    ("when", "said", "way"),
    [
        ("commit-tree", "fatal: write error: No space left on device", "make room on the disk"),
        ("update-ref", "fatal: write error: No space left on device", "make room on the disk"),
        ("read-tree", "error: unable to write file: No space left on device", "make room"),
        ("read-tree", "git-lfs filter-process: 1: git-lfs: not found", "install git-lfs"),
        ("read-tree", "fatal: could not fetch x from promisor remote", "make its remote reach"),
    ],
)
def test_what_git_lacks_is_said_with_what_helps(
    make_repo: Callable[..., Repository],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    when: str,
    said: str,
    way: str,
) -> None:
    journey = begun(make_repo).to("applied")
    if when != "commit-tree":  # without a hook the tree is known
        set_hook(journey.repository, "pre-commit", "exit 0\n")
    block = journey.last
    with monkeypatch.context() as patch:
        patch.setenv("PATH", with_git_that_fails(tmp_path, when, said))
        refused: Answer = journey.advance()
    assert refused.code == 1
    assert way in refused.text
    journey.last = block
    journey.to("committed")
    assert_committed(journey)


# the database is gone


def without_database(journey: Journey) -> Answer:
    (journey.repository.path / ".planner" / "planner.db").unlink()
    refused = journey.planner("status")
    assert "the planner's database" in refused.text
    assert words_of(way_out(refused.problems[0][1]))[0] == "repair"
    assert "planner repair" in journey.run("doctor").text
    repaired = journey.run("repair")
    assert repaired.code == 0, repaired.text
    return repaired


@pytest.mark.requirement("PL-19", "PC-10")
@pytest.mark.parametrize("point", ["submitted", "approved", "applied"])
def test_a_frozen_plan_whose_database_is_lost_is_taken_up_and_approved_anew(
    make_repo: Callable[..., Repository], point: str
) -> None:
    journey = begun(make_repo).to(point)
    without_database(journey)
    assert journey.run("repair").block.get("damaged") == "0"
    journey.last = journey.planner("step", "executor")
    assert "approve" in journey.last.person()
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-31", "PC-10")
@pytest.mark.parametrize("point", ["applied", "committed"])
def test_what_was_applied_can_be_undone_without_its_database(
    make_repo: Callable[..., Repository], point: str
) -> None:
    journey = begun(make_repo).to(point)
    undo = without_database(journey).data("set aside").rpartition(": ")[2]
    undone = journey.run(*words_of(undo))
    assert undone.code == 0, undone.text
    assert (journey.repository.path / "src/a.py").read_text() == FILES["src/a.py"]
    assert journey.repository.git("show", "HEAD:src/a.py") + "\n" == FILES["src/a.py"]


@pytest.mark.requirement("PC-10")
def test_a_plan_under_way_whose_database_is_lost_is_copied_into_a_new_run(
    make_repo: Callable[..., Repository],
) -> None:
    journey = begun(make_repo).to("code")
    copy = without_database(journey).data("set aside").rpartition("into it: ")[2].split(";")[0]
    journey.start()
    journey.to("design")
    imported = journey.planner(*words_of(copy))
    assert imported.code == 0, imported.text
    journey.answers["design.json"] = []
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PC-10")
@pytest.mark.parametrize("point", ["submitted", "approved"])
def test_a_database_that_was_emptied_names_the_repair_that_takes_the_plan_up(
    make_repo: Callable[..., Repository], point: str
) -> None:
    journey = begun(make_repo).to(point)
    (journey.repository.path / ".planner" / "planner.db").write_bytes(b"")
    block = journey.last
    refused = journey.advance()
    retry = words_of(way_out(refused.problems[0][1]))
    assert retry[0] == "repair"
    assert "it is taken up again" in journey.run(*retry).text
    journey.last = block
    journey.last = journey.planner("step", "executor")
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PC-10")
@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize("point", ["design", "submitted", "applied"])
def test_a_damaged_plan_names_its_repair_and_a_frozen_one_is_restored(
    make_repo: Callable[..., Repository], point: str, *, gone: bool
) -> None:
    journey = begun(make_repo).to(point)
    path = Path(journey.state_dir, "plan.json")
    data = path.read_bytes()
    path.unlink()
    if not gone:
        path.write_bytes(data[:100])
    block = journey.last
    refused = journey.advance()
    retry = words_of(way_out(refused.problems[0][1]))
    assert retry[0] == "repair"
    repaired = journey.run(*retry)
    assert repaired.code == 0, repaired.text
    if point == "design":
        assert "which is cancelled" in repaired.text
        return
    assert "again as it was frozen" in repaired.text
    journey.last = block
    journey.to("committed")
    assert_committed(journey)
