"""What is approved is what is committed, wherever the plan is, and one differing byte is found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import Repository
from tests.e2e.conftest import NEW_APP, answer_two, assert_proved, committed
from tests.e2e.drive import Host
from tests.journey import call


@pytest.mark.requirement("PL-19", "PL-26")
def test_plan_json_alone_is_executed_in_a_clone(project: Repository, tmp_path: Path) -> None:
    author = Host(project.path, answer_two, ["src/app.py"])
    author.to("submitted")
    frozen = Path(author.state_dir, "plan.json").read_bytes()
    project.git("clone", "-q", str(project.path), str(tmp_path / "clone"))
    clone = Repository(tmp_path / "clone")
    reader = Host(clone.path)
    reader.state_dir = str(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "plan.json").write_bytes(frozen)
    digest = json.loads(frozen)["digest"]
    there = ("--state-dir", reader.state_dir)
    wrong = call(clone.path, "approve", "0" * 64, *there)
    assert wrong.code == 1
    assert digest in wrong.text
    reader.last = call(clone.path, "approve", digest, *there)
    assert reader.last.code == 0, reader.last.text
    reader.last = reader.follow(reader.last.next())
    assert_proved(clone, reader.to("committed").last, "src/app.py")
    assert committed(clone, "src/app.py") == NEW_APP.encode()
    assert (project.path / "src/app.py").read_text() != NEW_APP


@pytest.mark.requirement("PL-29", "PL-30")
def test_one_byte_more_in_the_tree_fails_reconcile(project: Repository) -> None:
    host = Host(project.path, answer_two, ["src/app.py"])
    block = host.to("applied").last
    before = project.git("rev-parse", "HEAD")
    for path, text in (("src/app.py", f"{NEW_APP}\n"), ("notes.txt", "a note.\n")):
        kept = (project.path / path).read_bytes()
        project.write(path, text)
        refused = host.follow(block.next("done"))
        assert refused.code == 1, refused.text
        assert path in refused.text
        project.write(path, kept)
    assert project.git("rev-parse", "HEAD") == before


@pytest.mark.requirement("PL-28", "PL-29", "PM-9")
def test_a_deviation_that_a_person_accepts_stays_out_of_the_commit_and_is_in_the_audit(
    project: Repository,
) -> None:
    host = Host(project.path, answer_two, ["src/app.py"])
    block = host.to("applied").last
    project.write("notes.txt", "my own note\n")
    reported = host.planner(
        "exec", "deviate", "M-001", "--file", "notes.txt", "--reason", "the user wrote it"
    )
    assert reported.code == 0, reported.text
    refused = host.follow(block.next("done"))
    assert refused.code == 1
    assert "notes.txt" in refused.text
    assert host.follow(reported.person()).code == 0
    done = host.follow(block.next("done"))
    assert done.code == 0, done.text
    assert project.git("status", "--porcelain") == " M notes.txt"
    assert committed(project, "notes.txt") == b"a note\n"
    rows = host.planner("audit").data("audit").splitlines()
    kept = [row.split(" · ")[1] for row in rows if "notes.txt: the user wrote it" in row]
    assert kept == ["deviate", "accept deviation"]


@pytest.mark.requirement("PL-30", "PL-29")
def test_one_byte_more_in_the_commit_fails_validate(project: Repository) -> None:
    host = Host(project.path, answer_two, ["src/app.py"])
    assert_proved(project, host.to("committed").last, "src/app.py")
    plan = Path(host.state_dir, "plan.json")
    check = ("validate", "--require-frozen", str(plan), "--repo", str(project.path), "--commit")
    assert host.call(*check, "HEAD").code == 0
    message = project.git("log", "-1", "--format=%B")

    def amended(message: str = message) -> str:
        project.git("add", "--all")
        project.git("commit", "-q", "--amend", "-m", message)
        found = host.call(*check, "HEAD")
        assert found.code == 1, found.text
        return found.text

    project.write("src/app.py", f"{NEW_APP}\n")
    assert "src/app.py" in amended()
    project.write("src/app.py", NEW_APP)
    project.write("notes.txt", "one more\n")
    assert "notes.txt" in amended()
    project.git("checkout", "HEAD^", "--", "notes.txt")
    assert "Plan-Digest" in amended("Change it")
    shutil.copy(plan, f"{host.state_dir}/kept.json")
    plan.write_bytes(plan.read_bytes().replace(b"It is old.", b"It is odd."))
    assert "overview" in amended()
