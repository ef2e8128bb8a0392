"""CI believes nothing that the judged bring: forged plans, approvals, commits and merges (CM-3)."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

from shared import approval
from tests.journey import call
from tests.orchestrator.ci.forger import ANN, LAST, PROVEN, SIGNERS, Forger
from tests.planned import ONE, TWO
from tests.shared.software_key import Key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from shared.approval import Approval
    from state.models import Plan
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("CM-3", "CM-2")

BACKDOOR = "import os\n"


@pytest.fixture
def forger(make_repo: Repositories) -> Forger:
    return Forger(make_repo)


# approvals


@pytest.mark.quick
def test_a_plan_without_an_approval_is_never_enough(forger: Forger) -> None:
    forger.store(None, None)
    row = forger.row()
    assert (row["verdict"], row["approved"], row["code"]) == ("not approved", "", 1)
    assert f"{forger.ref} has no approval" in row["approval"]
    assert (forger.met(), row["counts"]) == ("", (0, 0))
    # A copy among the commit's own files is brought along as well.
    forger.git("update-ref", "-d", forger.ref)
    data, digest = forger.refrozen(forger.plan)
    forger.repository.write("planning/plans/run.json", data)
    forger.amend({}, f"Add two\n\nPlan-Digest: {digest}")
    assert forger.fails()


def test_a_claim_is_counted_apart_and_is_not_enough_where_proof_is_asked_for(
    forger: Forger,
) -> None:
    row = forger.row()
    assert (row["verdict"], row["approved"], row["counts"]) == ("exact", "claimed", (0, 1))
    assert row["code"] == 0
    said = forger.each_form(LAST)
    assert 'approved="0" claimed="1"' in said["xml"]
    assert '"claimed": 1' in said["sarif"]
    head = said["markdown"].splitlines()[0]
    assert "0 of 1 commits are what was approved by a signature. 1 say that they were" in head
    forger.store(None, forger.signed())
    row = forger.row()
    assert (row["verdict"], row["approved"], row["counts"]) == ("exact", "signed", (1, 0))
    assert "1 of 1 commits are what was approved" in forger.each_form(LAST)["markdown"]

    strict = ("--target", forger.strict)
    assert forger.met(*strict) == "exact"
    for claim in (forger.given(), forger.given(word="command", proof={"kind": "typed"})):
        forger.store(None, claim)
        row = forger.row(*strict)
        assert (row["verdict"], row["code"], row["counts"]) == ("exact", 1, (0, 0))
    assert forger.met(*strict) == ""


def test_a_signature_that_does_not_count_approves_nothing(forger: Forger) -> None:
    strange = forger.given(word="signed", who=ANN)
    strange = strange.with_signature(Key().sign(strange.message))
    forged = {
        "a key that nobody lists": strange,
        "a signature over other words": forger.signed()._replace(tree="0" * 40),
        "files that were added": forger.signed()._replace(beside=("src/",)),
        "another author": forger.signed()._replace(author="Eve <e@x>"),
        "none": forger.given()._replace(proof={"kind": "ssh", "signature": "x"}, word="signed"),
        "another base": forger.signed(base=forger.commit),
    }
    for name, found in forged.items():
        forger.store(None, found)
        assert forger.fails(), name


def test_who_may_sign_is_said_by_the_target_alone(forger: Forger) -> None:
    eve = Key()
    found = forger.given(word="signed", who=ANN)
    forger.store(None, found.with_signature(eve.sign(found.message)))
    forger.repository.commit({SIGNERS: eve.line(ANN)}, "Mine")
    [row, _] = forger.rows(f"{forger.base}..HEAD")
    assert row["verdict"] == "not approved"
    # A key that was removed since the range began.
    forger.store(None, forger.signed())
    assert forger.rows(f"{forger.base}..HEAD")[0]["verdict"] == "exact"
    forger.git("branch", "target", forger.base)
    forger.git("switch", "-q", "target")
    forger.repository.commit({SIGNERS: Key().line("bob@example.com")}, "Ann has left")
    forger.git("switch", "-q", "work")
    assert forger.rows(f"{forger.base}..HEAD", "--target", "target")[0]["verdict"] == "not approved"
    # A tag that is called as the branch.
    forger.git("tag", "target", "HEAD")
    ambiguous = forger.validate("--range", f"{forger.base}..HEAD", "--target", "target")
    assert (ambiguous.code, ambiguous.problems[0][0]) == (1, "conflict")
    assert "refs/heads/target" in ambiguous.text
    # A single commit, without a target: its parent, and the base of the plan as well.
    assert forger.validate("--commit", forger.commit).code == 0
    forger.repository.commit({SIGNERS: eve.line(ANN), "planner.toml": PROVEN}, "Strict")
    forger.repository.commit({"src/a.py": ONE}, "Before it")
    forger.repository.commit({"src/a.py": TWO}, f"Again\n\nPlan-Digest: {forger.digest}")
    assert "not among the allowed signers" in forger.validate("--commit", "HEAD").text
    forger.git("reset", "-q", "--hard", "HEAD~3")
    forger.git("switch", "-q", "--detach", forger.base)
    forger.repository.commit({SIGNERS: eve.line("eve@example.com")}, "I may sign")
    forger.repository.commit({"src/a.py": TWO}, f"Mine\n\nPlan-Digest: {forger.digest}")
    bare = forger.given(word="signed", who="eve@example.com")
    forger.store(None, bare.with_signature(eve.sign(bare.message)))
    lone = forger.validate("--commit", "HEAD")
    assert (lone.code, "not among the allowed signers" in lone.text) == (1, True)
    assert "1 not approved" in lone.data("verdicts")
    forger.git("switch", "-q", "work")
    forger.store(None, forger.signed())
    whole = ("--target", "refs/heads/target")
    assert forger.rows(f"{forger.base}..HEAD", *whole)[0]["verdict"] == "not approved"


# plans


def test_a_plan_whose_patch_gives_another_content_is_a_finding_whoever_signed_it(
    forger: Forger,
) -> None:
    """One reads and signs a comment, and the id is that of a backdoor."""
    evil = f"{BACKDOOR}{TWO}"
    blob = forger.blob(evil.encode())
    [change] = [c for m in forger.plan.milestones for c in m.code_changes if c.file == "src/a.py"]
    patch = (change.patch or "").replace(change.after or "", blob)
    data, digest = forger.refrozen(forger.with_changes(src__a_py={"after": blob, "patch": patch}))
    tree = forger.git("rev-parse", f"{forger.amend({'src/a.py': evil})}^{{tree}}")
    forger.store(data, forger.signed(digest, tree=tree), digest)
    forger.amend({}, f"Add two\n\nPlan-Digest: {digest}")
    row = forger.row()
    assert (row["verdict"], row["code"]) == ("not approved", 1)
    assert "src/a.py: the patch of this file is not the change that the plan names" in row["why"]
    for form, text in forger.each_form(LAST).items():
        assert "src/a.py" in text, form
    # By the file alone, at an approval and at a first look in another clone.
    alone = forger.repository.path.parent / "alone"
    alone.mkdir()
    (alone / "plan.json").write_bytes(data)
    by_file = call(forger.repository.path, "validate", str(alone / "plan.json"))
    approving = call(forger.repository.path, "approve", digest, "--state-dir", str(alone))
    for answer in (by_file, approving):
        assert answer.code == 1
        assert "is not the change that the plan names" in answer.text, answer.text
        assert "src/a.py" in answer.text


def test_a_plan_that_breaks_its_own_rules_is_a_finding_by_name(forger: Forger) -> None:
    [milestone] = forger.plan.milestones
    broken = milestone.model_copy(update={"requirements": ("T-9",)})
    data, digest = forger.refrozen(forger.plan.model_copy(update={"milestones": (broken,)}))
    forger.store(data, forger.signed(digest), digest)
    forger.amend({}, f"Add two\n\nPlan-Digest: {digest}")
    row = forger.row()
    assert (row["verdict"], row["code"]) == ("not approved", 1)
    assert "T-9" in row["why"]
    assert row["problems"][0]["at"].startswith(f"refs/planner/{digest} ")


# files beside a plan


def test_nothing_unsigned_lets_a_file_stand_beside_a_plan(forger: Forger) -> None:
    todo = "# Todo\n\n## Committed as well, as the user agreed\n\n- src/evil.py\n"
    lists = {"src/completed_todo_2026-01-02.md": todo, "src/evil.py": BACKDOOR}
    trailer = f"Add two\n\nTodo: completed_todo_2026-01-02.md\nPlan-Digest: {forger.digest}"
    forger.amend(lists, trailer)
    for beside, staged in (((), (*lists,)), (("src/",), ()), ((*lists,), ()), ((), ())):
        forger.store(None, forger.given(beside=beside, staged=staged))
        row = forger.row()
        assert (row["verdict"], row["additional"]) == ("edited afterwards", sorted(lists))
        assert (row["beside"], row["code"]) == ([], 0)
    assert forger.met() == "any"
    for form, text in forger.each_form(LAST).items():
        assert "src/evil.py" in text, form
    plan = forger.repository.path.parent / "plan.json"
    plan.write_text(forger.git("show", f"{forger.ref}:plan.json"))
    by_file = forger.validate(str(plan), "--commit", "HEAD")
    assert [p.get("at") for p in by_file.block.iter("problem")] == sorted(lists)


def test_of_what_is_signed_only_the_planning_folder_stands_beside_and_every_form_names_it(
    forger: Forger,
) -> None:
    files = {"planning/notes.md": "x\n", "docs/more.md": "x\n"}
    forger.amend(files)
    forger.store(None, forger.signed(tree=None, beside=("planning/", "docs/more.md")))
    row = forger.row()
    assert (row["verdict"], row["additional"]) == ("edited afterwards", ["docs/more.md"])
    assert row["beside"] == ["planning/notes.md"]
    forger.amend({"docs/more.md": None})
    row = forger.row("--require", "exact")
    assert (row["verdict"], row["beside"], row["code"]) == ("exact", ["planning/notes.md"], 0)
    for form, text in forger.each_form(LAST, "exact").items():
        assert "planning/notes.md" in text, form
    # Who may sign is looked at, wherever it lies, and so is what is no plain file.
    forger.amend({SIGNERS: Key().line(ANN)})
    assert forger.row()["additional"] == [SIGNERS]
    forger.amend({SIGNERS: forger.key.line(ANN)})
    (forger.repository.path / "planning/link").symlink_to("../src")
    forger.amend({})
    assert forger.row()["additional"] == ["planning/link"]
    # What is not signed reaches no further than the folder at the root.
    forger.amend({"planning/link": None, "src/planning/evil.py": BACKDOOR})
    forger.store(None, forger.given(tree=None, beside=("planning/", "src/planning/")))
    row = forger.row()
    assert (row["additional"], row["beside"]) == (["src/planning/evil.py"], ["planning/notes.md"])


def test_a_plan_is_found_by_content_with_what_its_approval_lets_stand_beside(
    forger: Forger,
) -> None:
    forger.store(None, forger.signed(tree=None, beside=("src/planning/",)))
    forger.repository.write(
        "planning/plans/run.json", forger.git("show", f"{forger.ref}:plan.json")
    )
    ours = {"src/planning/notes.md": "x\n", "planning/plans/run.md": "x\n"}
    forger.amend(ours, "Squashed")
    row = forger.row()
    assert (row["verdict"], row["plans"]) == ("same bytes, other history", [forger.digest])
    assert row["beside"] == ["planning/plans/run.json", *reversed(ours)]
    forger.git("revert", "--no-edit", "HEAD")
    assert forger.row()["verdict"] == "taken back"
    forger.git("reset", "-q", "--hard", "HEAD~1")
    # What nobody approves, and what a signature would have to let stand.
    forger.amend({"src/evil.py": BACKDOOR})
    assert forger.row()["verdict"] == "no plan"
    forger.amend({"src/evil.py": None})
    forger.store(None, forger.given(tree=None, beside=("src/planning/",)))
    assert forger.row()["verdict"] == "no plan"


def test_the_signed_tree_counts_on_the_signed_base(forger: Forger) -> None:
    plain = forger.git("rev-parse", "HEAD^{tree}")
    forger.store(None, forger.signed(tree=plain))
    assert forger.row()["verdict"] == "exact"
    forger.store(None, forger.signed(tree=forger.git("rev-parse", f"{forger.base}^{{tree}}")))
    row = forger.row()
    assert (row["verdict"], row["why"]) == (
        "edited afterwards", "its tree is not the one that was signed"
    )  # fmt: skip
    forger.git("switch", "-q", "main")
    forger.repository.commit({"other.txt": "theirs\n"}, "Theirs")
    forger.git("cherry-pick", forger.commit)
    assert (forger.row()["verdict"], forger.met()) == ("same bytes, other history", "same")


def test_a_record_of_a_commit_makes_no_commit_the_plans_own(forger: Forger) -> None:
    forger.git("switch", "-q", "main")
    forger.repository.commit({"other.txt": "theirs\n"}, "Theirs")
    forger.git("cherry-pick", forger.commit)
    forger.store(None, forger.given(commit=forger.git("rev-parse", "HEAD")))
    assert (forger.row()["verdict"], forger.met()) == ("same bytes, other history", "same")
    forger.git("switch", "-q", "work")
    forger.git("commit", "-q", "--amend", "--no-edit", "--author", "Eve <e@x>")
    forger.store(None, forger.given(commit=forger.git("rev-parse", "HEAD")))
    assert "it names Eve <e@x> as author" in forger.row()["why"]


def test_a_commit_by_others_or_signed_otherwise_than_approved_is_not_exact(
    forger: Forger,
) -> None:
    """Whatever commit the approval names, since nothing signs that."""
    key = "ssh /home/ann/.ssh/id.pub"
    own, signature = forger.commit, "gpgsig -----BEGIN SSH SIGNATURE-----\n x\n"
    stored = forger.git("cat-file", "commit", own)
    with_one = stored.replace("\n\n", f"\n{signature}\n", 1) + "\n"
    signed = forger.object("commit", with_one.encode())
    forger.git("commit", "-q", "--amend", "--no-edit", "--author", "Eve <e@x>")
    by_eve = forger.git("rev-parse", "HEAD")
    blob = b"SSHSIG\0\0\0\1" + len(forger.key.blob).to_bytes(4) + forger.key.blob
    body = f" {base64.b64encode(blob).decode()}\n -----END-----\n"
    by_key = stored.replace("\n\n", f"\n{signature.replace(' x', body)}", 1)
    by_ann = forger.object("commit", f"{by_key}\n".encode())
    written, other = (f"ssh key::{k.line('')[1:].strip()}" for k in (forger.key, Key()))
    of_pgp = forger.object("commit", with_one.replace("SSH", "PGP").encode())
    cases = [
        (own, None, ""), (by_eve, None, "it names Eve <e@x> as author"), (signed, key, ""),
        (own, key, f"it has no signature, and the approval names the key {key}"),
        (signed, None, "it has a signature of ssh, and the approval names none"),
        (by_ann, written, ""), (by_ann, other, f"names the key {other}"),
        (signed, written, f"of ssh by another key, and the approval names the key {written}"),
        (of_pgp, key, f"it has a signature of openpgp, and the approval names the key {key}"),
    ]  # fmt: skip
    for commit, signing, why in cases:
        forger.git("reset", "-q", "--hard", commit)
        named = commit if why else None
        forger.store(None, forger.signed(signing=signing)._replace(commit=named))
        row = forger.row()
        word = "same bytes, other history" if why else "exact"
        assert (row["verdict"], row["approved"]) == (word, "signed"), (commit, row)
        assert why in row["why"], row
    assert forger.met() == "same"


def test_an_approval_finds_a_commit_by_others_or_signed_otherwise(
    forger: Forger, tmp_path: Path
) -> None:
    """Form 2 signs author, committer and key; form 1 does not, and another parent is no finding."""

    def found(commit: str, given: Approval) -> list[str]:
        approval.save(str(tmp_path), given)
        path = approval.path_in(str(tmp_path))
        words = ("--approval", path, "--commit", commit, "--format", "json")
        answer = forger.validate(*words)
        problems = json.loads(answer.text)["files"][0]["problems"]
        assert answer.code == bool(problems), answer.text
        return [f"{p['at']}: {p['problem']}".removeprefix(f"{path} ") for p in problems]

    own, signed = forger.commit, forger.signed()
    person, eve, tree = signed.author, "Eve <e@x>", forger.git("rev-parse", "HEAD^{tree}")
    message, key = f"Add two\n\nPlan-Digest: {forger.digest}", "ssh /home/ann/.ssh/id.pub"

    def made(author: str, committer: str, *more: str, parent: str = forger.base) -> str:
        head = (f"tree {tree}", f"parent {parent}", f"author {author} 1 +0000")
        lines = (*head, f"committer {committer} 1 +0000", *more, "", message, "")
        return forger.object("commit", "\n".join(lines).encode())

    of_ssh = ("gpgsig -----BEGIN SSH SIGNATURE-----", " x")
    by_eve, applied = made(eve, person), made(person, eve)
    with_key = made(person, person, *of_ssh)
    assert found(own, signed) == found(with_key, forger.signed(signing=key)) == []
    said = f"names {eve} as author, and the approval {person}"
    for given in (signed, forger.given()):
        assert found(by_eve, given) == [f"author: {by_eve} {said}"]
    assert found(applied, signed) == [f"committer: {applied} {said.replace('author', 'committer')}"]
    assert len(found(made(eve, eve, *of_ssh), signed)) == 3
    no_key = f"{with_key} has a signature of ssh, and the approval names none"
    assert found(with_key, signed) == [f"signing: {no_key}"]
    asked = f"{own} has no signature, and the approval names the key {key}"
    assert found(own, forger.signed(signing=key)) == [f"signing: {asked}"]
    # Git may have had no names, and elsewhere the commit was made anew.
    assert found(by_eve, forger.signed(author="", committer="")) == []
    assert found(made(eve, eve, parent=own), signed) == []
    assert found(by_eve, forger.given(form=1)) == []


def test_old_bytes_that_were_approved_once_are_no_same_bytes_over_a_later_fix(
    forger: Forger,
) -> None:
    forger.store(None, forger.signed())
    forger.repository.commit({"src/a.py": f"{TWO}# fixed\n"}, "A fix")
    forger.repository.commit({"src/a.py": TWO}, f"Add two\n\nPlan-Digest: {forger.digest}")
    row = forger.row()
    assert (row["verdict"], row["edited"]) == ("edited afterwards", ["src/a.py"])
    assert forger.met() == "any"


def test_a_parent_that_git_does_not_read_is_none(forger: Forger) -> None:
    """Else a commit would be the merge of two, and its backdoor come from one that is not here."""
    forger.amend({"src/a.py": f"{BACKDOOR}{TWO}"}, "Not a merge")
    hidden = forger.git("rev-parse", "HEAD")
    stored = forger.git("cat-file", "commit", "HEAD")
    head, _, message = stored.partition("\n\n")
    data = f"{head}\nparent {hidden}\n\n{message}\n".encode()
    made = forger.object("commit", data)
    forger.git("reset", "-q", "--hard", made)
    assert forger.row()["verdict"] == "no plan"
    broken = forger.object("commit", data.replace(b"author", b"writer", 1))
    answer = forger.validate("--commit", broken)
    assert answer.code == 1


# taking back


def test_taking_a_plan_back_is_a_verdict_of_its_own_and_needs_an_approval_where_all_do(
    forger: Forger,
) -> None:
    assert forger.journey.planner("undo").code == 0
    row = forger.row("--require", "exact")
    assert (row["verdict"], row["code"], row["counts"]) == ("taken back", 0, (0, 0))
    forger.store(None, None)
    assert forger.fails()

    forger.store(None, forger.signed())
    strict = ("--target", forger.strict)
    row = forger.row(*strict)
    assert (row["verdict"], row["code"]) == ("taken back", 1)
    assert "without an approval of its own" in row["problems"][0]["problem"]
    assert forger.validate("--commit", "HEAD", *strict).code == 1
    # A plan of its own whose change is the reverse.
    plan = turned(forger)
    data, digest = forger.refrozen(plan)
    tree = forger.git("rev-parse", "HEAD^{tree}")
    forger.store(data, forger.signed(digest, base=forger.commit, tree=tree), digest)
    forger.amend({}, f"Back\n\nThis reverts commit {forger.commit}.\n\nPlan-Digest: {digest}")
    row = forger.row(*strict, "--require", "exact")
    assert (row["verdict"], row["plans"], row["code"]) == ("exact", [digest], 0)


def turned(forger: Forger) -> Plan:
    """Return a plan whose changes are those that the last commit has made, a plan's reverse."""
    [milestone] = forger.plan.milestones
    changes = []
    for change in milestone.code_changes:
        patch = forger.git("diff", "--full-index", "HEAD~1", "HEAD", "--", change.file) + "\n"
        values = {"before": change.after, "after": change.before, "patch": patch}
        changes.append(change.model_copy(update=values))
    base = forger.plan.base
    assert base is not None
    update = {
        "milestones": (milestone.model_copy(update={"code_changes": tuple(changes)}),),
        "base": base.model_copy(update={"commit": forger.commit}),
    }
    return forger.plan.model_copy(update=update)


# merges


def test_a_merge_that_brings_an_old_file_back_is_named(forger: Forger) -> None:
    """Git shows nothing of a merge whose files are those of one of its parents."""
    forger.git("switch", "-q", "main")
    fixed = forger.repository.commit({"other.txt": "fixed\n"}, "A fix")
    between = ("--range", f"{fixed}..HEAD", "--require", "same")
    forger.git("switch", "-q", "work")
    forger.git("merge", "-q", "--no-ff", "-m", "Merge", "main")
    sound = forger.validate(*between)
    assert (sound.code, sound.block.get("merges")) == (0, "1")
    for way in ("ours", "by hand", "an old file"):
        forger.git("reset", "-q", "--hard", forger.commit)
        if way == "ours":
            forger.git("merge", "-q", "-s", "ours", "-m", "Merge", "main")
        else:
            forger.git("merge", "-q", "--no-ff", "-m", "Merge", "main")
            forger.amend({"other.txt": None} if way == "by hand" else {"src/a.py": ONE})
        answer = forger.validate(*between, "--format", "json")
        assert answer.code == 1, way
        name = "src/a.py" if way == "an old file" else "other.txt"
        found = json.loads(answer.text)
        [row] = [r for r in found["commits"] if r["verdict"] == "no plan"]
        assert row["additional"] == [name], way
        assert "a merge with other files than git makes of its parents" in row["why"]
        assert name in row["problems"][0]["problem"], way
        assert found["whole"]["not_held"] == ([] if way == "an old file" else [name]), way


def test_a_settled_conflict_an_octopus_and_histories_apart_are_judged(forger: Forger) -> None:
    git, repository = forger.git, forger.repository
    git("switch", "-q", "-C", "side", forger.base)
    repository.commit({"src/a.py": TWO.replace("+ 2", "+ 7")}, "Seven")
    git("switch", "-q", "work")
    git("merge", "-q", "-s", "ours", "-m", "Merge", "side")
    [row] = [r for r in forger.rows("side..HEAD") if r["verdict"] == "no plan"]
    assert row["additional"] == ["src/a.py"]
    assert "conflicts were settled in src/a.py" in row["why"]
    git("reset", "-q", "--hard", forger.commit)
    for name in ("one", "other"):
        git("switch", "-q", "-C", name, forger.base)
        repository.commit({f"{name}.txt": "x\n"}, name)
    git("switch", "-q", "work")
    git("merge", "-q", "-m", "Octopus", "one", "other")
    found = forger.validate("--range", f"{forger.commit}..HEAD")
    assert (found.code, found.data("verdicts"), found.block.get("merges")) == (0, "2 no plan", "1")
    forger.amend({"one.txt": "slipped in\n"})
    assert forger.rows("HEAD^1..HEAD")[-1]["additional"] == ["one.txt"]
    git("reset", "-q", "--hard", forger.commit)
    git("switch", "-q", "--orphan", "apart")
    repository.commit({"apart.txt": "x\n"}, "Apart")
    git("switch", "-q", "work")
    git("merge", "-q", "--allow-unrelated-histories", "-m", "Join", "apart")
    rows = forger.rows(f"{forger.base}..HEAD")
    assert sorted(row["verdict"] for row in rows) == ["exact", "no plan"]
    answer = forger.validate("--range", "apart..main", "--require", "any")
    assert (answer.code, "Begin" in answer.text) == (1, True)


def test_a_merge_that_cannot_be_made_again_is_said_and_no_pass(forger: Forger) -> None:
    """Compared with its first parent it changes nothing, as one that takes a fix back."""
    tree = forger.git("rev-parse", "HEAD^{tree}")
    made = ("commit-tree", tree, "-p", forger.base, "-m")
    others = [forger.git(*made, str(number)) for number in range(17)]
    words = [word for one in (forger.commit, *others) for word in ("-p", one)]
    forger.git("reset", "-q", "--hard", forger.git("commit-tree", tree, *words, "-m", "Many"))
    between = ("--range", f"{forger.base}..HEAD", "--require", "any", "--format", "json")
    answer = forger.validate(*between)
    row = json.loads(answer.text)["commits"][-1]
    assert (row["verdict"], row["subject"], answer.code) == ("no plan", "Many", 1)
    assert "a merge that cannot be judged: it has 18 parents" in row["why"]


def test_a_range_is_one_difference_from_where_it_began(forger: Forger) -> None:
    forger.git("switch", "-q", "main")
    forger.repository.commit({"other.txt": "theirs\n"}, "Theirs")
    forger.git("switch", "-q", "work")

    def whole(*words: str) -> dict[str, object]:
        answer = forger.validate("--range", "main..work", "--format", "json", *words)
        found: dict[str, object] = json.loads(answer.text)["whole"]
        return found

    assert (whole()["files"], whole()["not_held"]) == (2, [])
    assert whole("--require", "same")["problems"] == []
    forger.repository.commit({"extra.txt": "x\n"}, "Nobody planned this")
    assert whole()["not_held"] == ["extra.txt"]
    # A commit of its own is the finding already.
    assert whole("--require", "same")["problems"] == []
    said = forger.validate("--range", "main..work", "--require", "same", "--format", "junit")
    assert said.text.count("<testcase") == 2
