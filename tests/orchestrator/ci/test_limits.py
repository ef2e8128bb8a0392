"""What CI reads is limited, and a clone that lacks something says what (CM-3)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from orchestrator.ci.limits import MOST_VALUES, plan_problem, within_memory
from shared.git.failure import failed
from shared.git.history import read_stored
from shared.git.reader import Reader
from shared.git.repository import find_repository
from state.errors import Refused
from state.store import parse_plan
from tests.journey import call
from tests.orchestrator.ci.forger import Forger

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("CM-3")


@pytest.fixture
def forger(make_repo: Repositories) -> Forger:
    return Forger(make_repo)


def test_what_is_more_than_is_read_is_refused_with_its_limit(
    forger: Forger, tmp_path: Path
) -> None:
    def refused(words: str, *given: str) -> None:
        answer = forger.validate(*given)
        assert answer.code == 1, answer.text
        assert words in answer.text, answer.text

    forger.repository.commit({"b.txt": "b\n"}, "One more")
    between = ("--range", f"{forger.base}..HEAD")
    refused("more than the 1 commits that are judged at once", *between, "--most", "1")
    assert "--most N" in forger.validate(*between, "--most", "1").text
    assert forger.validate(*between, "--most", "2").code == 0
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(33 << 20)
    refused("more than the 32 MB that are read", str(large))
    many = tmp_path / "many.json"
    many.write_text(f"[{'1,' * 500_000}1]")
    refused("has more than 400,000 values", str(many))
    refused("more than the 1,048,576 bytes that are read of an approval", "--approval", str(large))
    # A ref with such a plan, named by a commit.
    digest = "d" * 64
    forger.store(large.read_bytes(), None, digest)
    forger.amend({}, f"Large\n\nPlan-Digest: {digest}")
    row = forger.row()
    assert (row["code"], "33 MB, more than the 32 MB" in row["why"]) == (1, True)
    names = "\n".join(f"Plan-Digest: {number:064x}" for number in range(300))
    forger.amend({}, f"Many\n\n{names}")
    assert "names more than 200 plans" in forger.row()["why"]
    forger.amend({}, "x" * 100)
    packed = forger.repository.path / ".git" / "packed-refs"
    head = forger.git("rev-parse", "HEAD")
    rows = "".join(f"{head} refs/planner-fetched/{number:064x}\n" for number in range(10_001))
    packed.write_text(f"# pack-refs with: peeled fully-peeled sorted \n{rows}")
    refused("more than the 10,000 plans", *between)


def test_a_commit_message_that_is_too_large_is_refused(forger: Forger, tmp_path: Path) -> None:
    message = tmp_path / "message"
    message.write_text("x" * (2 << 20))
    forger.git("commit", "-q", "--allow-empty", "-F", str(message))
    answer = forger.validate("--range", "HEAD~1..HEAD")
    assert (answer.code, answer.problems[0][0]) == (1, "refused")
    assert "more than the 1,048,576 that are read of one" in answer.text


def test_a_shallow_clone_says_what_is_missing_and_passes_nothing(
    forger: Forger, tmp_path: Path
) -> None:
    forger.repository.commit({"b.txt": "b\n"}, "One more")
    clone = tmp_path / "clone"
    source = f"file://{forger.repository.path}"
    forger.git("clone", "-q", "--depth", "2", "--branch", "work", source, str(clone))
    refs = ("refs/planner/*:refs/planner-fetched/*", "+refs/heads/main:refs/heads/start")
    forger.git("-C", str(clone), "fetch", "-q", "--depth", "1", "origin", *refs)
    for words in ((), ("--require", "any")):
        answer = call(clone, "validate", "--range", "start..HEAD", *words)
        assert answer.code == 1, answer.text
        assert "this clone is shallow" in answer.text
        assert "git fetch --unshallow" in answer.text
    one = call(clone, "validate", "--commit", "HEAD~1")
    assert (one.code, "git fetch --unshallow" in one.text) == (1, True)
    forger.git("-C", str(clone), "fetch", "-q", "--unshallow")
    found = call(clone, "validate", "--range", "start..HEAD~1", "--require", "exact")
    assert found.code == 0, found.text


@pytest.mark.parametrize("left_out", ["blob:none", "tree:0"])
def test_a_partial_clone_fetches_what_it_needs_or_says_so(
    forger: Forger, tmp_path: Path, left_out: str
) -> None:
    clone, source = tmp_path / "clone", forger.repository.path
    forger.git("config", "uploadpack.allowFilter", "true")
    forger.git("config", "uploadpack.allowAnySHA1InWant", "true")
    words = ("clone", "-q", f"--filter={left_out}", "--no-checkout", f"file://{source}", str(clone))
    forger.git(*words)
    forger.git("-C", str(clone), "fetch", "-q", "origin", "refs/planner/*:refs/planner-fetched/*")
    between = ("validate", "--range", f"{forger.base}..origin/work", "--require", "exact")
    source.rename(source.with_name("away"))
    lost = call(clone, *between)
    assert lost.code == 1
    assert "git fetch --refetch --no-filter" in lost.text, lost.text
    source.with_name("away").rename(source)
    found = call(clone, *between)
    assert found.code == 0, found.text


def test_no_more_memory_is_taken_than_is_allowed() -> None:
    with pytest.raises(Refused, match="takes more than 300 MB"), within_memory():
        bytearray(400 << 20)
    with pytest.raises(Refused, match="takes more than 300 MB"), within_memory():
        raise failed("git apply", "Out of memory, malloc failed (tried to allocate 400000000)")
    with pytest.raises(Refused, match="something else"), within_memory():
        raise Refused("refused", "x", "something else", "y")
    with within_memory():
        bytearray(20 << 20)
    assert bytearray(400 << 20)


def test_commas_in_texts_are_no_values_and_very_many_mistakes_are_counted() -> None:
    assert plan_problem(b'{"patch": "%s"}' % (rb"a, \" , " * MOST_VALUES)) == ""
    assert plan_problem(b"[%s]" % (b"[], " * MOST_VALUES + b"1, 1")) != ""
    data = json.dumps({"schema_version": 2, "remarks": [1] * 100_000}).encode()
    with pytest.raises(Refused, match="values are none that may stand there") as caught:
        parse_plan(data, "plan.json")
    assert len(caught.value.problems) == 1


def test_a_difference_with_more_files_than_are_compared_is_refused(repo: Repository) -> None:
    repo.commit({f"f{number}": "x" for number in range(5)})
    old, new = (repo.git("rev-parse", f"HEAD{at}^{{tree}}") for at in ("~1", ""))
    git = find_repository(str(repo.path)).git
    with Reader(git) as reader:
        assert len(reader.changed(old, new, 5)) == 5
    with Reader(git) as reader, pytest.raises(Refused, match="more than 4 files differ"):
        reader.changed(old, new, 4)
    with Reader(git) as reader, pytest.raises(Refused):
        reader.changed(old, "1" * 40, 4)


def test_a_commit_that_is_not_here_or_that_git_would_not_make_is_refused(forger: Forger) -> None:
    stored = forger.git("cat-file", "commit", "HEAD").encode()
    broken = forger.object("commit", stored.replace(b"\nauthor", b"\nwriter", 1))
    with Reader(find_repository(str(forger.repository.path)).git) as reader:
        assert read_stored(reader, forger.commit).parents == (forger.base,)
        for commit, kind in (("1" * 40, "not_found"), (broken, "invalid")):
            with pytest.raises(Refused) as caught:
                read_stored(reader, commit)
            assert caught.value.problems[0].kind == kind
        for coding in (b"no-such", b"base64", b"undefined", b"latin-1"):
            odd = stored.replace(b"\n\n", b"\nencoding %s\n\n" % coding, 1)
            assert read_stored(reader, forger.object("commit", odd)).subject == "Add two"
        for more in (b"", b"x"):  # half of a letter
            odd = stored.replace(b"\n\n", b"\nencoding utf-16\n\n", 1) + more
            assert read_stored(reader, forger.object("commit", odd)).message
