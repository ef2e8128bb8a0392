"""A change too large for plan.json is refused, or kept beside it under the plan's ref (F7)."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.git import large
from tests.conftest import Repository
from tests.journey import FILES, Answer, Journey, call, way_out, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL = "[plan]\nmax_patch_mb = 1\n"
# Bytes that no compression makes small.
BINARY = hashlib.shake_256(b"one").digest(1_500_000)
OTHER = hashlib.shake_256(b"other").digest(1_600_000)


@pytest.fixture
def journey(make_repo: Callable[..., Repository]) -> Journey:
    """Return a run that adds a large file and whose plan is to be frozen next."""
    journey = Journey(make_repo(files={**FILES, "planner.toml": SMALL}))
    design = journey.answers["design.json"]
    design[2]["fields"]["files"].append("data.bin")
    fields = {"milestone": "$m", "file": "data.bin", "behavior": "holds the samples"}
    design.append({"op": "add", "kind": "intent", "fields": fields})
    journey.edits["data.bin"] = BINARY
    return journey.to("freeze")


def plan_path(journey: Journey) -> str:
    return os.path.join(journey.state_dir, "plan.json")


def retry_of(answer: Answer) -> str:
    return way_out(answer.problems[-1][1])


def allowed(journey: Journey) -> Journey:
    """Freeze as the refusal says."""
    refused = journey.planner("plan", "freeze")
    assert refused.code == 1
    assert journey.follow(retry_of(refused)).code == 0
    return journey


@pytest.mark.requirement("PL-19")
def test_a_large_file_is_refused_with_the_ways_out_and_the_printed_one_works(
    journey: Journey,
) -> None:
    refused = journey.planner("plan", "freeze")
    assert [p.get("at") for p in refused.block.iter("problem")] == ["data.bin"]
    for word in ("1.4 MB", "git-lfs", "commit it yourself first", "plan freeze --allow-large"):
        assert word in refused.text
    frozen = allowed(journey).last
    assert "not self-contained: the plan needs its ref for data.bin" in frozen.data("summary")
    plan = json.loads(Path(plan_path(journey)).read_text())
    assert plan["self_contained"] is False
    assert os.path.getsize(plan_path(journey)) < 30_000
    for name in ("plan.md", "review.html"):
        text = Path(journey.state_dir, name).read_text().lower()
        assert "too large for a patch" in text
        assert len(text) < 100_000
    ref = f"refs/planner-drafts/{plan['digest']}"
    names = journey.repository.git("ls-tree", "--name-only", ref)
    assert f"blob-{plan['milestones'][0]['code_changes'][0]['after']}" in names


@pytest.mark.requirement("HO-5")
def test_no_patch_is_printed_that_would_leave_the_large_file_out(journey: Journey) -> None:
    allowed(journey)
    refused = journey.planner("plan", "diff")
    assert [p.get("at") for p in refused.block.iter("problem")] == ["data.bin"]
    others = refused.problems[0][1].rpartition("as a patch: ")[2].split(", ")
    assert others == ["src/a.py", "tests/test_a.py"]
    assert journey.planner("plan", "diff", *others).text.startswith("diff --git a/src/a.py")


@pytest.mark.requirement("PL-19", "CM-1")
def test_it_is_applied_committed_proved_and_undone(journey: Journey) -> None:
    repository = journey.repository
    allowed(journey).to("committed")
    assert (repository.path / "data.bin").read_bytes() == BINARY
    assert repository.git("status", "--porcelain") == ""
    digest = json.loads(Path(plan_path(journey)).read_text())["digest"]
    assert "blob-" in repository.git("ls-tree", "--name-only", f"refs/planner/{digest}")
    checked = call(repository.path, "validate", "--range", "HEAD^..HEAD")
    assert checked.code == 0, checked.text
    undone = journey.planner("undo")
    assert undone.code == 0, undone.text
    assert not (repository.path / "data.bin").exists()
    assert repository.git("diff", "HEAD~2", "HEAD") == ""


@pytest.mark.requirement("PL-19", "PL-30")
def test_a_clone_validates_it_once_it_has_the_ref_and_says_what_lacks_before(
    journey: Journey, tmp_path: Path
) -> None:
    repository, clone = journey.repository, tmp_path / "clone"
    base = repository.git("rev-parse", "HEAD")
    allowed(journey).to("committed")
    repository.git("clone", "-q", "--no-local", "--single-branch", str(repository.path), str(clone))
    repository.git("-C", str(clone), "reset", "-q", "--hard", base)
    for words in (("reflog", "expire", "--expire=now", "--all"), ("gc", "-q", "--prune=now")):
        repository.git("-C", str(clone), "update-ref", "-d", "refs/remotes/origin/main")
        repository.git("-C", str(clone), *words)
    alone = call(clone, "validate", plan_path(journey))
    assert alone.code == 0, alone.text
    assert "refs/planner/" in alone.data("not self-contained")
    lacking = call(clone, "validate", plan_path(journey), "--repo", ".")
    assert lacking.code == 1
    assert "is not in this repository" in lacking.text
    fetch = "refs/planner/*:refs/planner-fetched/*"
    assert fetch in lacking.text
    repository.git("-C", str(clone), "fetch", "-q", "origin", fetch)
    there = call(clone, "validate", plan_path(journey), "--repo", ".")
    assert there.code == 0, there.text


@pytest.mark.requirement("PL-19", "PL-26")
def test_a_clone_applies_and_commits_it_once_it_has_fetched_what_the_refusal_names(
    journey: Journey, tmp_path: Path
) -> None:
    clone, alone = Repository(tmp_path / "clone"), tmp_path / "alone"
    allowed(journey)
    repository = journey.repository
    repository.git("clone", "-q", "--no-local", str(repository.path), str(clone.path))
    alone.mkdir()
    shutil.copy(plan_path(journey), alone)
    digest = json.loads(Path(plan_path(journey)).read_text())["digest"]
    approved = call(clone.path, "approve", digest, "--state-dir", str(alone))
    assert approved.code == 0, approved.text
    command = words_of(approved.next())
    refused = call(clone.path, *command)
    assert refused.code == 1
    assert "is not in this repository" in refused.text
    assert clone.git("status", "--porcelain") == ""
    fetch = re.search(r"git (fetch [^,]+), then", refused.text)
    assert fetch is not None, refused.text
    clone.git(*shlex.split(fetch[1]))
    done = call(clone.path, *command)
    assert done.code == 0, done.text
    assert (clone.path / "data.bin").read_bytes() == BINARY
    assert f"Plan-Digest: {digest}" in clone.git("log", "-1", "--format=%B")
    assert "blob-" in clone.git("ls-tree", "--name-only", f"refs/planner/{digest}")


@pytest.mark.requirement("PL-19", "PL-28")
def test_a_revision_of_it_is_self_contained_again_without_the_large_file(
    journey: Journey,
) -> None:
    allowed(journey)
    journey.answers["design.json"] = []
    journey.edits["data.bin"] = b"small\n"
    journey.last = journey.planner("plan", "revise")
    journey.to("committed")
    assert json.loads(Path(plan_path(journey)).read_text())["self_contained"] is True
    assert (journey.repository.path / "data.bin").read_bytes() == b"small\n"


@pytest.mark.requirement("PL-19")
def test_a_large_file_that_is_changed_or_deleted_needs_no_patch_either(
    make_repo: Callable[..., Repository],
) -> None:
    files = {**FILES, "planner.toml": SMALL, "data.bin": BINARY, "old.bin": OTHER}
    journey = Journey(make_repo(files=files))
    design = journey.answers["design.json"]
    for name in ("data.bin", "old.bin"):
        design[2]["fields"]["files"].append(name)
        fields = {"milestone": "$m", "file": name, "behavior": "changes"}
        design.append({"op": "add", "kind": "intent", "fields": fields})
    journey.edits["data.bin"] = OTHER
    journey.to("code")
    assert journey.planner("tree", "rm", "old.bin").code == 0
    allowed(journey.to("freeze")).to("committed")
    assert (journey.repository.path / "data.bin").read_bytes() == OTHER
    assert not (journey.repository.path / "old.bin").exists()
    assert journey.planner("undo").code == 0
    assert (journey.repository.path / "old.bin").read_bytes() == OTHER


LINES = [
    f"{number:07} the quick brown fox jumps over the lazy dog\n" for number in range(30_000)
]  # 1.5 MB


def with_text(make_repo: Callable[..., Repository], to: str, name: str = "words.txt") -> Journey:
    """Return a run that changes a text of 1.5 MB where patches may have 1 MB, to be frozen next."""
    files = {**FILES, "planner.toml": SMALL, "words.txt": "".join(LINES)}
    journey = Journey(make_repo(files=files))
    design = journey.answers["design.json"]
    for file in {name, "words.txt"}:
        design[2]["fields"]["files"].append(file)
        fields = {"milestone": "$m", "file": file, "behavior": "changes"}
        design.append({"op": "add", "kind": "intent", "fields": fields})
    journey.edits[name] = to
    if name != "words.txt":
        journey.to("code")
        assert journey.planner("tree", "rm", "words.txt").code == 0
    return journey.to("freeze")


@pytest.mark.requirement("PL-19")
@pytest.mark.parametrize("name", ["words.txt", "moved.txt"])
def test_a_large_text_is_judged_by_its_patch_and_a_few_changed_lines_stand_in_the_plan(
    make_repo: Callable[..., Repository], name: str
) -> None:
    to = "".join([*LINES[:200], "changed\n", *LINES[201:]])
    journey = with_text(make_repo, to, name).to("committed")
    plan = json.loads(Path(plan_path(journey)).read_text())
    assert plan["self_contained"] is True
    assert os.path.getsize(plan_path(journey)) < 30_000
    assert (journey.repository.path / name).read_text() == to
    assert journey.planner("undo").code == 0
    assert (journey.repository.path / "words.txt").read_text() == "".join(LINES)


@pytest.mark.requirement("PL-19", "PL-31")
def test_a_text_that_is_rewritten_is_refused_and_the_refusal_says_what_is_measured(
    make_repo: Callable[..., Repository],
) -> None:
    to = "".join(line.upper() for line in LINES)
    journey = with_text(make_repo, to)
    refused = journey.planner("plan", "freeze")
    assert [p.get("at") for p in refused.block.iter("problem")] == ["words.txt"]
    assert "all patches of a plan together may have 1 MB" in refused.text
    assert "a text counts by its patch, a binary by its content before and after" in refused.text
    assert "more than 40 MB in both" in refused.text
    assert "this file has 1.5 MB before and 1.5 MB after" in refused.text
    allowed(journey).to("committed")
    assert (journey.repository.path / "words.txt").read_text() == to


@pytest.mark.requirement("PL-19")
def test_a_text_too_large_to_be_compared_is_judged_by_its_content(
    make_repo: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "MOST_COMPARED", 2 * large.MEBIBYTE)
    journey = with_text(make_repo, "".join([*LINES, "one more\n"]))
    refused = journey.planner("plan", "freeze")
    assert [p.get("at") for p in refused.block.iter("problem")] == ["words.txt"]


@pytest.mark.requirement("PL-19")
def test_a_text_that_is_not_utf_8_is_measured_as_it_stands_in_the_plan(
    make_repo: Callable[..., Repository],
) -> None:
    """Its patch is base64 there, of which four letters stand for three bytes."""
    latin = bytes(range(0xC0, 0x100)) * 14 + b"\n"
    journey = Journey(make_repo(files={**FILES, "planner.toml": SMALL}))
    design = journey.answers["design.json"]
    design[2]["fields"]["files"].append("latin.txt")
    fields = {"milestone": "$m", "file": "latin.txt", "behavior": "is new"}
    design.append({"op": "add", "kind": "intent", "fields": fields})
    journey.edits["latin.txt"] = latin * 1_000  # 0.9 MB, and 1.1 MB in base64
    refused = journey.to("freeze").planner("plan", "freeze")
    assert [p.get("at") for p in refused.block.iter("problem")] == ["latin.txt"]
    assert "this file has 0.9 MB" in refused.text


@pytest.mark.requirement("PL-16")
def test_the_page_and_plan_md_show_the_beginning_of_a_long_diff(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo(files=FILES))
    lines = "".join(f"x{number} = {number}\n" for number in range(30_000))
    journey.edits["src/a.py"] = f"def f(x):\n    return x + 2\n{lines}"
    journey.to("submitted")
    for name, most in (("plan.md", 300_000), ("review.html", 3_000_000)):
        text = Path(journey.state_dir, name).read_text()
        assert re.search(r"1\d,\d{3} more lines( are)? not shown", text)
        assert len(text) < most
