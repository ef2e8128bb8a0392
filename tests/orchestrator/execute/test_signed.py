"""Approvals with a signature: given here, by a colleague elsewhere, and checked in any clone."""

from __future__ import annotations

import json
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.execute.to_come import commit_to_come
from orchestrator.summary import summary
from shared.plan_file import check_named
from shared.run import open_state
from shared.ssh_signature import message_of_form_1
from state.files import write_json
from tests.journey import FILES, Answer, Journey, call
from tests.shared.software_key import Key
from tests.shared.test_ssh_signature import plain_key, plain_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PP-7")

ANN, BOB = "ann@example.com", "bob@example.com"
OPEN = "signed, key open to programs"


class Signing:
    """A submitted plan in a repository whose base lists Ann's touched key and a plain one."""

    def __init__(self, make_repo: Repositories, folder: Path, config: str = "") -> None:
        self.touched = Key(b"Bob's")
        self.listed = self.touched.line(BOB) + plain_line()
        files = {**FILES, "planning/allowed_signers": self.listed, "planner.toml": config}
        self.repository = make_repo(files=files)
        self.journey = Journey(self.repository).to("submitted")
        status = json.loads(self.journey.planner("status", "--json").text)
        self.digest = str(status["digest"])
        self.base = self.repository.git("rev-parse", "HEAD")
        # Not before: what begins with files of its own is not kept.
        self.plain, _ = plain_key(folder)
        self.folder = folder

    def colleagues(self, key: Key | None = None, flags: int = 1, **changed: object) -> str:
        """Write the approval.json that a colleague sends, and return its path."""
        state = open_state(self.journey.state_dir, "/")
        asked = commit_to_come(state, check_named(state, self.digest))
        asked = asked._replace(word="signed", who=BOB, author="Bob <b@x>", committer="Bob <b@x>")
        signature = (key or self.touched).sign(asked.message, flags=flags)
        found = asked.with_signature(signature)._asdict() | changed
        (self.folder / "sent.json").write_text(json.dumps(found), encoding="utf-8")
        return str(self.folder / "sent.json")

    def of_form_1(self, **changed: object) -> str:
        """Write an approval.json as it was sent before it had a form, and return its path."""
        signature = self.touched.sign(message_of_form_1(self.digest, self.base))
        found = {
            "digest": self.digest, "base": self.base, "word": "signed", "who": BOB,
            "signature": signature, "commit": None, **changed,
        }  # fmt: skip
        (self.folder / "sent.json").write_text(json.dumps(found), encoding="utf-8")
        return str(self.folder / "sent.json")

    def approve(self, *options: str) -> Answer:
        return call(self.repository.path, "approve", self.digest[:12], *options)

    @property
    def stage(self) -> str:
        return open_state(self.journey.state_dir, "/").run.stage

    @property
    def kept(self) -> dict[str, Any]:
        """The run's own approval.json."""
        found: dict[str, Any] = json.loads(
            Path(self.journey.state_dir, "approval.json").read_text(encoding="utf-8")
        )
        return found

    def validated(self, path: str, *options: str) -> Answer:
        """Return what a fresh clone says of an approval."""
        clone = self.folder / "clone"
        if not clone.exists():
            words = ["git", "clone", "-q", str(self.repository.path), str(clone)]
            subprocess.run(words, check=True, capture_output=True)
        return call(clone, "validate", "--approval", path, *options)


@pytest.fixture
def signing(make_repo: Repositories, tmp_path: Path) -> Signing:
    return Signing(make_repo, tmp_path)


@pytest.fixture
def strict(make_repo: Repositories, tmp_path: Path) -> Signing:
    return Signing(make_repo, tmp_path, '[approval]\nrequire = "proven"\n')


@pytest.mark.quick
def test_a_persons_own_signature_stands_wherever_the_plan_is_shown(signing: Signing) -> None:
    answer = signing.approve("--sign", "--key", signing.plain)
    assert answer.code == 0, answer.text
    said = f"{OPEN} (not proven), by {ANN}"
    block = answer.block
    assert (block.get("digest"), block.get("approval")) == (signing.digest, said)
    assert "Add two" in answer.data("approved")
    journey = signing.journey
    assert json.loads(journey.planner("status", "--json").text)["approval"] == said
    assert f"channel: {OPEN}" in journey.planner("audit").text
    assert f"approved: {said}" in summary(open_state(journey.state_dir, "/"))
    page = journey.planner("review")
    assert page.code == 0
    assert OPEN in Path(journey.state_dir, "review.html").read_text(encoding="utf-8")
    assert not signing.kept["commit"]
    for words in (("exec", "apply"), ("exec", "commit")):
        answer = journey.planner(*words)
        assert answer.code == 0, answer.text
    assert answer.block.get("approval") == said
    commit = signing.repository.git("rev-parse", "HEAD")
    assert signing.kept["commit"] == commit
    plan = f"{journey.state_dir}/plan.json"
    shown = call(signing.repository.path, "validate", plan, "--commit", commit)
    assert shown.code == 0, shown.text
    assert f"{OPEN} (not proven), by {ANN}" in shown.data("approval")
    kept = f"{journey.state_dir}/approval.json"
    assert "says who may sign" not in signing.validated(kept, "--commit", commit).text


def test_git_names_the_key_where_the_command_does_not(signing: Signing) -> None:
    assert "user.signingkey" in signing.approve("--sign").problems[0][1]
    signing.repository.git("config", "--global", "user.signingkey", signing.plain)
    assert signing.approve("--sign").code == 0


def test_a_colleagues_signature_counts_here_and_in_a_fresh_clone(signing: Signing) -> None:
    path = signing.colleagues()
    shown = signing.validated(path)
    assert shown.code == 0, shown.text
    assert shown.data("approval").startswith(f"signed (proven), by {BOB}, whom planning/allowed_")
    answer = signing.approve("--approval", path)
    assert answer.code == 0, answer.text
    assert answer.block.get("approval") == f"signed (proven), by {BOB}"
    assert signing.validated(f"{signing.journey.state_dir}/approval.json").code == 0


def test_a_signature_covers_the_commit_that_is_to_come(signing: Signing) -> None:
    repository, journey = signing.repository, signing.journey
    assert signing.approve("--sign", "--key", signing.plain).code == 0
    kept = signing.kept
    author = f"{repository.git('config', 'user.name')} <{repository.git('config', 'user.email')}>"
    assert (kept["form"], kept["beside"], kept["signing"]) == (2, [], None)
    assert (kept["author"], kept["committer"], kept["proof"]["kind"]) == (author, author, "ssh")
    for words in (("exec", "apply"), ("exec", "commit")):
        assert journey.planner(*words).code == 0
    assert kept["tree"] == repository.git("rev-parse", "HEAD^{tree}")
    assert {**kept, "commit": repository.git("rev-parse", "HEAD")} == signing.kept
    for name in ("tree", "beside", "author", "committer", "signing"):
        changed = {**kept, name: ["x"] if name == "beside" else "0" * 40}
        write_json(str(signing.folder / "changed.json"), changed)
        assert signing.validated(str(signing.folder / "changed.json")).code == 1, name


def test_another_tree_on_the_approved_base_is_not_what_was_approved(signing: Signing) -> None:
    signing.repository.commit({"other.py": "x = 1\n"})
    # What nothing signs changes nothing of that.
    for staged in ([], ["other.py"]):
        path = signing.colleagues(staged=staged)
        answer = signing.validated(path, "--commit", "HEAD", "--target", signing.base)
        assert answer.code == 1
        assert "approves the tree" in answer.text


def test_a_signature_of_form_1_counts_and_says_what_it_does_not_cover(signing: Signing) -> None:
    path = signing.of_form_1()
    shown = signing.validated(path)
    assert shown.code == 0, shown.text
    assert "does not cover the tree to come, files beside" in shown.data("approval")
    answer = signing.approve("--approval", path)
    assert answer.code == 0, answer.text
    assert answer.block.get("approval") == f"signed (proven), by {BOB}"
    for words in (("exec", "apply"), ("exec", "commit")):
        assert signing.journey.planner(*words).code == 0
    assert signing.validated(f"{signing.journey.state_dir}/approval.json").code == 0
    assert "form" not in signing.kept


def test_an_approval_that_does_not_fit_is_refused_and_changes_nothing(signing: Signing) -> None:
    either: tuple[dict[str, object], ...] = (
        {"digest": "0" * 64}, {"base": "0" * 40}, {"word": "sure"}, {"word": []}, {"more": 1},
    )  # fmt: skip
    other = Key().sign(message_of_form_1(signing.digest, signing.base))
    old: tuple[dict[str, object], ...] = (
        {"signature": None}, {"signature": "x"}, {"signature": 1}, {"signature": other},
    )  # fmt: skip
    new: tuple[dict[str, object], ...] = (
        {"proof": None}, {"proof": {"kind": "ssh", "signature": "x"}}, {"proof": {"kind": "typed"}},
        {"proof": {"kind": "ssh"}}, {"proof": {"kind": []}}, {"form": 1}, {"form": 3},
        {"tree": "0" * 40}, {"tree": None}, {"beside": ["more.py"]}, {"beside": "more.py"},
        {"author": "\ud800"}, {"author": "Eve <e@x>"}, {"committer": "Eve <e@x>"},
        {"signing": "ssh key"},
    )  # fmt: skip
    sent = [*(partial(signing.colleagues, None, 1, **changed) for changed in (*either, *new)),
            *(partial(signing.of_form_1, **changed) for changed in (*either, *old))]  # fmt: skip
    for write in sent:
        answer = signing.approve("--approval", write())
        assert answer.code == 1, (write, answer.text)
        assert signing.stage == "submitted"
    assert not Path(signing.journey.state_dir, "approval.json").exists()


def test_a_key_that_only_the_working_tree_lists_does_not_count(signing: Signing) -> None:
    """Nor one that the commit lists which is judged: the base says who may sign."""
    other = Key()
    signing.repository.commit({"planning/allowed_signers": signing.listed + other.line(ANN)})
    path = signing.colleagues(other)
    assert "not among the allowed signers" in signing.approve("--approval", path).text
    assert "not among the allowed signers" in signing.validated(path).text
    head = signing.repository.git("rev-parse", "HEAD")
    changed = signing.colleagues(other, base=head)
    assert signing.validated(changed, "--commit", head).code == 1


def test_the_target_branch_can_say_who_may_sign(signing: Signing) -> None:
    other = Key()
    signing.repository.git("switch", "-q", "-c", "trusted")
    signing.repository.commit({"planning/allowed_signers": other.line(ANN)})
    signing.repository.git("switch", "-q", "main")
    assert signing.validated(signing.colleagues(other), "--target", "origin/trusted").code == 0
    assert signing.validated(signing.colleagues(), "--target", "origin/trusted").code == 1


def test_the_users_own_settings_can_say_who_may_sign(
    signing: Signing, users_settings: Callable[[str], object], tmp_path: Path
) -> None:
    other = Key()
    (tmp_path / "mine").write_text(other.line(ANN), encoding="utf-8")
    users_settings(f'[approval]\nallowed_signers = "{tmp_path}/mine"\n')
    shown = signing.validated(signing.colleagues(other))
    assert shown.code == 0, shown.text
    assert f"{tmp_path}/mine" in shown.data("approval")


def test_what_a_file_says_without_a_signature_is_only_said(signing: Signing) -> None:
    for word in ("command", "terminal", "signed"):
        shown = signing.validated(signing.colleagues(word=word, proof=None))
        assert "only a signature can prove that" in shown.data("approval")
    shown = signing.validated(signing.colleagues(flags=0))
    assert shown.code == 1
    assert "its signature proves signed, key open to programs (not proven)" in shown.text


def test_a_project_that_wants_proof_refuses_what_is_weaker(strict: Signing) -> None:
    weak = [
        ("approve", strict.digest),
        ("approve", strict.digest, "--key", strict.plain),
        ("approve", strict.digest, "--approval", strict.colleagues(flags=0, word=OPEN)),
    ]  # fmt: skip
    for words in weak:
        answer = call(strict.repository.path, *words)
        kind, text = answer.problems[0]
        assert (answer.code, kind) == (1, "refused")
        assert "[approval] require is proven" in text
        assert f"approve {strict.digest} --sign" in text
        assert strict.stage == "submitted"
    assert "only a proven approval counts" in strict.journey.planner("step", "executor").text
    assert strict.validated(strict.colleagues(signature=None)).code == 1
    assert strict.approve("--approval", strict.colleagues()).code == 0
    assert strict.stage == "executing"


def test_no_assistant_signs(signing: Signing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    for options in (("--sign", "--key", signing.plain), ("--approval", signing.colleagues())):
        answer = signing.approve(*options)
        assert answer.code == 1
        assert "an assistant runs this command" in answer.text


@pytest.mark.requirement("PM-13")
def test_a_prefix_names_one_plan_among_all_that_were_ever_frozen(signing: Signing) -> None:
    def approve(given: str) -> Answer:
        return call(signing.repository.path, "approve", given)

    digest = signing.digest
    assert "too few" in approve(digest[:11]).text
    assert "no plan was ever frozen" in approve("0" * 12).text
    superseded = digest[:20] + ("1" if digest[20] == "0" else "0") * 44
    state = open_state(signing.journey.state_dir, "/")
    with state.database as database:
        database.audit(state.run, "host", "submit", digest=superseded)
    answer = approve(digest[:20])
    assert (answer.code, answer.problems[0][0]) == (1, "conflict")
    assert superseded in answer.text
    assert digest in answer.text
    assert signing.stage == "submitted"
    assert approve(digest[:21]).code == 0


def test_where_nobody_may_sign_or_the_list_cannot_be_read_that_is_said(
    make_repo: Repositories, tmp_path: Path, users_settings: Callable[[str], Path]
) -> None:
    signing = Signing(make_repo, tmp_path)
    repository = make_repo("bare", files=FILES)
    path = signing.colleagues(base=repository.git("rev-parse", "HEAD"))
    nobody = call(repository.path, "validate", "--approval", path)
    assert "nobody is listed who may sign approvals" in nobody.text
    assert "planning/allowed_signers at the base" in nobody.text
    mine = tmp_path / "mine"
    settings = users_settings(f'[approval]\nallowed_signers = "{mine}"\n')
    gone = signing.approve("--approval", signing.colleagues())
    assert gone.problems[0][0] == "not_found", gone.text
    assert "correct [approval] allowed_signers" in gone.text
    settings.unlink()
    assert signing.approve("--approval", signing.colleagues()).code == 0


def test_an_approval_on_a_commit_that_a_clone_lacks_says_which_to_fetch(signing: Signing) -> None:
    answer = signing.validated(signing.colleagues(base="1" * 40))
    assert "this clone does not have this commit" in answer.text
    assert "fetch it, or name a branch by --target" in answer.text
    assert signing.validated(signing.colleagues()).code == 0
