"""The commit holds the approved changes alone; plan and approval are kept under a ref (CM-1)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.submit.freeze import keep_draft
from shared.plan_file import check_frozen
from shared.plan_refs import REFSPEC
from shared.recall import recall
from shared.run import open_state
from state.errors import Refused
from state.freeze import settled_digest
from state.frozen_bytes import digest_of
from tests.conftest import Repository
from tests.journey import FILES, Journey, call
from tests.kills import Kept, first_moment, kill_everywhere, moments_of

if TYPE_CHECKING:
    from collections.abc import Callable

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("CM-1")

IN_FILES: dict[str, str | bytes] = {**FILES, "planner.toml": '[commit]\nplan = "file"\n'}
OURS, DRAFTS, KEPT = "refs/planner", "refs/planner-drafts/", "refs/planner/"


def refs(repository: Repository, place: str) -> list[str]:
    names = repository.git("for-each-ref", "--format=%(refname)").splitlines()
    return [name for name in names if name.startswith(place)]


def shown(repository: Repository, ref: str, name: str) -> bytes:
    return repository.git("show", f"{ref}:{name}").encode()


def names_in(repository: Repository, revision: str) -> list[str]:
    return repository.git("ls-tree", "-r", "--name-only", revision).splitlines()


def changed(repository: Repository) -> list[str]:
    return repository.git("diff", "--name-only", "--no-renames", "HEAD~1", "HEAD").splitlines()


@pytest.fixture
def done(make_repo: Repositories) -> Journey:
    """Return a run whose plan is committed."""
    return Journey(make_repo(files=FILES)).to("committed")


def digest_in(journey: Journey) -> str:
    digest = open_state(journey.state_dir, "/").run.digest
    assert digest is not None
    return digest


def test_a_commit_holds_the_changes_and_the_line_with_the_digest(done: Journey) -> None:
    assert changed(done.repository) == sorted(done.edits)
    message = done.repository.git("log", "-1", "--format=%B")
    assert message.splitlines()[-1] == f"Plan-Digest: {digest_in(done)}"
    assert done.repository.git("status", "--porcelain") == ""
    assert not (done.repository.path / "planning").exists()


def test_plan_and_approval_are_in_a_commit_without_parents(done: Journey) -> None:
    repository, digest = done.repository, digest_in(done)
    assert refs(repository, KEPT) == [KEPT + digest]
    assert refs(repository, DRAFTS) == []
    assert repository.git("rev-list", "--parents", KEPT + digest).count(" ") == 0
    assert names_in(repository, KEPT + digest) == ["approval.json", "plan.json", "plan.md"]
    assert digest_of(shown(repository, KEPT + digest, "plan.json")) == (digest, digest)
    assert "Add two" in shown(repository, KEPT + digest, "plan.md").decode()
    approval = json.loads(shown(repository, KEPT + digest, "approval.json"))
    head = repository.git("rev-parse", "HEAD")
    author = "A Tester <tester@example.invalid>"
    assert approval == {
        "form": 2, "digest": digest, "base": repository.git("rev-parse", "HEAD~1"),
        "tree": repository.git("rev-parse", "HEAD^{tree}"), "beside": [], "author": author,
        "committer": author, "signing": None, "word": "unproven", "who": "person (unproven)",
        "proof": None, "commit": head, "staged": [],
    }  # fmt: skip
    told = done.last.block.findtext("task", "")
    assert "nothing else" in told
    assert f"under {KEPT}" in told


def test_a_frozen_plan_is_in_a_draft_that_no_push_of_ours_names(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    first = digest_in(journey)
    assert refs(journey.repository, OURS) == [DRAFTS + first]
    assert names_in(journey.repository, DRAFTS + first) == ["plan.json", "plan.md"]
    assert journey.planner("plan", "freeze").code == 0
    assert not REFSPEC.startswith(DRAFTS)
    journey.answers["design.json"] = []
    journey.write_answer("remarks.md", "Once more.")
    journey.follow(journey.last.next("remarks"))
    journey.to("submitted")
    second = digest_in(journey)
    assert sorted(refs(journey.repository, DRAFTS)) == sorted({DRAFTS + first, DRAFTS + second})
    approved = journey.to("committed")
    assert refs(approved.repository, OURS) == [DRAFTS + first, KEPT + second]


def test_a_ref_that_is_there_is_never_moved(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    repository, digest = journey.repository, digest_in(journey)
    foreign = repository.git("rev-parse", "HEAD")
    repository.git("update-ref", KEPT + digest, foreign)
    refused = journey.planner("exec", "commit")
    assert refused.code == 1
    assert f"{KEPT}{digest} has no plan.json" in refused.text
    assert repository.git("rev-parse", KEPT + digest) == foreign
    repository.git("update-ref", "-d", KEPT + digest)
    assert journey.planner("exec", "commit").code == 0
    kept = repository.git("rev-parse", KEPT + digest)
    assert repository.git("rev-list", "--count", "HEAD") == "2"
    assert journey.planner("exec", "commit").code == 0
    assert repository.git("rev-parse", KEPT + digest) == kept


@pytest.mark.parametrize("branch", ["other", "new"], ids=["a branch", "no branch yet"])
def test_a_symbolic_ref_in_place_of_a_committed_plan_is_refused_and_not_followed(
    make_repo: Repositories, branch: str
) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    repository, ref = journey.repository, KEPT + digest_in(journey)
    repository.git("branch", "other")
    repository.git("symbolic-ref", ref, f"refs/heads/{branch}")
    before = repository.git("for-each-ref", "refs/heads/other", "refs/heads/new")
    refused = journey.planner("exec", "commit")
    assert refused.code == 1
    ((kind, text),) = refused.problems
    assert kind == "conflict"
    assert f"is a symbolic ref, which leads to refs/heads/{branch}" in text
    assert f"git symbolic-ref --delete {ref}" in text
    assert repository.git("for-each-ref", "refs/heads/other", "refs/heads/new") == before
    assert repository.git("symbolic-ref", ref) == f"refs/heads/{branch}"
    assert refs(repository, DRAFTS) == [DRAFTS + digest_in(journey)]
    repository.git("symbolic-ref", "--delete", ref)
    assert journey.planner("exec", "commit").code == 0
    assert names_in(repository, ref) == ["approval.json", "plan.json", "plan.md"]
    assert repository.git("for-each-ref", "refs/heads/other", "refs/heads/new") == before


def test_a_committed_plan_that_is_only_another_name_of_its_draft_is_refused(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    repository, digest = journey.repository, digest_in(journey)
    repository.git("symbolic-ref", KEPT + digest, DRAFTS + digest)
    assert journey.planner("exec", "commit").code == 1
    assert names_in(repository, DRAFTS + digest) == ["plan.json", "plan.md"]


def test_of_a_draft_that_is_a_symbolic_ref_only_that_ref_is_removed(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    repository, draft = journey.repository, DRAFTS + digest_in(journey)
    repository.git("branch", "other")
    repository.git("symbolic-ref", draft, "refs/heads/other")
    other = repository.git("rev-parse", "other")
    assert journey.planner("exec", "commit").code == 0
    assert repository.git("rev-parse", "other") == other
    assert refs(repository, DRAFTS) == []
    assert journey.planner("exec", "commit").code == 0


def test_a_draft_is_not_stored_through_a_symbolic_ref(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    repository, draft = journey.repository, DRAFTS + digest_in(journey)
    repository.git("update-ref", "-d", draft)
    repository.git("symbolic-ref", draft, "refs/heads/new")
    state = open_state(journey.state_dir, "/")
    with pytest.raises(Refused, match="is a symbolic ref, which leads to refs/heads/new"):
        keep_draft(state, check_frozen(state))
    assert refs(repository, "refs/heads/new") == []


@pytest.mark.requirement("PL-31")
def test_a_commit_that_is_killed_gets_its_ref_when_the_command_is_repeated(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("applied")
    repository, digest = journey.repository, digest_in(journey)

    def committed() -> bool:
        return repository.git("rev-list", "--count", "HEAD") == "2"

    def check(moment: int) -> None:
        if refs(repository, KEPT):
            assert committed(), f"moment {moment}: a ref of a commit that is not there"
        again = journey.planner("exec", "commit")
        assert again.code == 0, f"moment {moment}: {again.text}"
        approval = json.loads(shown(repository, KEPT + digest, "approval.json"))
        assert approval["commit"] == repository.git("rev-parse", "HEAD")
        assert repository.git("rev-list", "--count", "HEAD") == "2"
        assert refs(repository, OURS) == [KEPT + digest]

    words = ("exec", "commit", "--state-dir", journey.state_dir)
    kept = Kept(repository)
    kill_everywhere(kept, words, check, wanted=2)
    kept.restore()
    moments = moments_of(repository.path, *words)
    between = first_moment(kept, words, moments, committed)
    assert refs(repository, KEPT) == []
    check(between)


def test_undo_after_the_commit_leaves_the_ref_and_no_file(done: Journey) -> None:
    taken_back = done.planner("undo")
    assert taken_back.code == 0, taken_back.text
    assert done.repository.git("diff", "HEAD~2", "HEAD") == ""
    assert refs(done.repository, KEPT) == [KEPT + digest_in(done)]


def test_a_project_that_wants_files_gets_the_plan_beside_the_change(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=IN_FILES)).to("submitted")
    run = Path(journey.state_dir).name
    copies = [f"planning/plans/{run}.json", f"planning/plans/{run}.md"]
    assert f"the commit adds {' and '.join(copies)}" in journey.last.data("summary")
    journey.to("committed")
    repository, digest = journey.repository, digest_in(journey)
    assert changed(repository) == sorted([*copies, *journey.edits])
    assert refs(repository, KEPT) == [KEPT + digest]
    assert repository.git("status", "--porcelain") == ""
    data = (repository.path / copies[0]).read_bytes()
    assert data.startswith(b"{\n  ")
    assert settled_digest(data) == digest
    assert digest in (repository.path / copies[1]).read_text(encoding="utf-8")
    check = ("validate", "--require-frozen", copies[0], "--commit")
    valid = call(repository.path, *check, "HEAD")
    assert valid.code == 0, valid.text
    edited = data.replace(b"Change the constant.", b"Change the constants")
    (repository.path / copies[0]).write_bytes(edited)
    broken = call(repository.path, *check, "HEAD")
    assert broken.code == 1
    assert "overview" in broken.text
    repository.git("checkout", "--", copies[0])
    assert journey.planner("undo").code == 0
    assert repository.git("diff", "HEAD~2", "HEAD") == ""
    assert not (repository.path / copies[0]).exists()


def test_a_setting_for_the_plan_of_a_commit_is_checked(make_repo: Repositories) -> None:
    bad = {**FILES, "planner.toml": '[commit]\nplan = "notes"\n'}
    answer = call(make_repo(files=bad).path, "start", "x", "--depth", "full")
    assert answer.code == 1
    assert "ref, file" in answer.text


class Shared:
    """A repository with a committed plan, a server that has it, and a clone of that."""

    def __init__(self, journey: Journey, folder: Path) -> None:
        self.journey, self.digest = journey, digest_in(journey)
        self.server = folder / "server.git"
        journey.repository.git("init", "-q", "--bare", str(self.server))
        journey.repository.git("remote", "add", "origin", str(self.server))
        journey.repository.git("push", "-q", "origin", "main")
        self.clone = Repository(folder / "clone")
        journey.repository.git("clone", "-q", str(self.server), str(self.clone.path))


def test_a_plan_is_pushed_and_fetched_by_one_refspec_and_prune_takes_none_of_ours(
    done: Journey, tmp_path: Path
) -> None:
    shared = Shared(done, tmp_path)
    repository, clone = done.repository, shared.clone
    command = f"git push origin {KEPT}{shared.digest}"
    assert command in done.planner("exec", "commit").block.findtext("task", "")
    repository.git(*command.split()[1:])
    for one in (clone, repository):
        one.git("config", "--add", "remote.origin.fetch", REFSPEC)
    clone.git("fetch", "-q")
    assert refs(clone, OURS) == [f"refs/planner-fetched/{shared.digest}"]
    repository.git("push", "-q", "origin", f":{KEPT}{shared.digest}")
    repository.git("fetch", "-q", "--prune")
    assert refs(repository, KEPT) == [KEPT + shared.digest]


@pytest.mark.requirement("ST-9")
def test_earlier_plans_are_recalled_from_refs_fetched_ones_too(
    done: Journey, tmp_path: Path
) -> None:
    def found(repository: Repository) -> list[str]:
        return [one.entry.source for one in recall(str(repository.path), "change constant", 5)]

    shared = Shared(done, tmp_path)
    assert KEPT + shared.digest in found(done.repository)
    done.repository.git("push", "-q", "origin", KEPT + shared.digest)
    assert found(shared.clone) == []
    shared.clone.git("fetch", "-q", "origin", REFSPEC)
    assert f"refs/planner-fetched/{shared.digest}" in found(shared.clone)


def test_the_ref_outlives_the_folder_of_the_run(done: Journey) -> None:
    digest = digest_in(done)
    shutil.rmtree(done.repository.path / ".planner")
    done.repository.git("gc", "-q", "--prune=now")
    assert settled_digest(shown(done.repository, KEPT + digest, "plan.json")) == digest


def test_an_approval_in_advance_is_kept_with_the_plan(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.start()
    assert journey.planner("auto", "on", "--files", "9", "--risk", "high").code == 0
    journey.to("committed")
    kept: dict[str, Any] = json.loads(
        shown(journey.repository, KEPT + digest_in(journey), "approval.json")
    )
    assert (kept["word"], kept["commit"]) == (
        "in advance", journey.repository.git("rev-parse", "HEAD"),
    )  # fmt: skip
