"""Each commit of a range gets one of eight verdicts, whatever became of its history (CM-2)."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.git.change import Ends, Entry
from shared.git.verdict import compose
from shared.plan_refs import REFSPEC
from shared.ssh_signature import message_of_form_1
from tests.conftest import Repository
from tests.journey import FILES, Journey, call
from tests.planned import ONE, TALL, TWO, Planned
from tests.shared.software_key import Key

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("CM-2")


@pytest.fixture
def planned(make_repo: Repositories) -> Planned:
    return Planned(make_repo)


def test_the_runs_own_commit_is_exact_and_what_nobody_planned_has_no_plan(
    planned: Planned,
) -> None:
    planned.repository.commit({"notes.txt": "mine\n"}, "Mine")
    assert planned.verdicts(f"{planned.base}..HEAD") == ["exact", "no plan"]
    [own, other] = planned.rows(f"{planned.base}..HEAD")
    assert (own["plans"], own["edited"], own["additional"]) == ([planned.digest], [], [])
    assert "only a signature can prove that" in own["approval"]
    assert (other["plans"], other["subject"]) == ([], "Mine")
    shown = planned.validate("--range", f"{planned.base}..HEAD")
    assert shown.code == 0
    assert shown.data("verdicts").splitlines() == ["1 exact", "1 no plan"]
    lines = shown.data("commits").splitlines()
    assert lines[0].startswith(
        f"{planned.commit[:12]} exact · Add two · plan {planned.digest[:12]}"
    )


def test_a_squash_merge_has_the_same_bytes_with_its_line_or_without(planned: Planned) -> None:
    for text in (f"Squashed\n\n* Add two\n\nPlan-Digest: {planned.digest}\n\n* Fix", "Squashed"):
        planned.git("switch", "-q", "-C", "main", planned.base)
        planned.repository.commit({"other.txt": "theirs\n"}, "Theirs")
        planned.git("merge", "-q", "--squash", "work")
        planned.git("commit", "-q", "-m", text)
        assert planned.verdicts("HEAD~1..HEAD") == ["same bytes, other history"]
        [row] = planned.rows("HEAD~1..HEAD")
        assert row["plans"] == [planned.digest]
        assert planned.commit[:12] in row["why"]


def test_a_squash_of_two_plans_is_both_of_them(planned: Planned) -> None:
    second = Journey(planned.repository, request="Make f add three")
    second.edits = {
        "src/a.py": TWO.replace("+ 2", "+ 3"),
        "tests/test_a.py": "from a import f\n\nassert f(1) == 4\n",
    }
    second.to("committed")
    digests = planned.git("log", "--format=%(trailers:key=Plan-Digest,valueonly)", "-2").split()
    lines = "\n\n".join(f"Plan-Digest: {digest}" for digest in digests)
    planned.git("switch", "-q", "-C", "main", planned.base)
    planned.git("merge", "-q", "--squash", "work")
    planned.git("commit", "-q", "-m", f"Both\n\n{lines}")
    [row] = planned.rows("HEAD~1..HEAD")
    assert row["verdict"] == "same bytes, other history"
    assert sorted(row["plans"]) == sorted(digests)


def test_a_rebased_and_a_cherry_picked_commit_have_the_same_bytes(planned: Planned) -> None:
    planned.git("switch", "-q", "main")
    planned.repository.commit({"other.txt": "theirs\n"}, "Theirs")
    planned.git("cherry-pick", planned.commit)
    assert planned.verdicts("HEAD~1..HEAD") == ["same bytes, other history"]
    planned.git("reset", "-q", "--hard", "HEAD~1")
    planned.git("switch", "-q", "work")
    planned.git("rebase", "-q", "main")
    assert planned.verdicts("main..work") == ["same bytes, other history"]
    planned.git("commit", "-q", "--amend", "-m", "Other words")
    assert planned.verdicts("main..work") == ["same bytes, other history"]


def test_the_same_change_on_other_surroundings_is_known_by_its_patch(planned: Planned) -> None:
    planned.git("switch", "-q", "main")
    theirs = ONE.replace("# line 30\n", "# line thirty\n")
    planned.repository.commit({"src/a.py": theirs}, "Theirs")
    planned.git("cherry-pick", planned.commit)
    [row] = planned.rows("HEAD~1..HEAD")
    assert row["verdict"] == "same change, other surroundings"
    assert "src/a.py" in row["why"]


def test_the_same_lines_at_another_place_of_the_file_are_an_edit(make_repo: Repositories) -> None:
    pad = "    # pad\n" * 6
    body = f"{pad}    return x + 1\n{pad}"
    twins = f"def f(x):\n{body}# middle\ndef g(x):\n{body}"
    first = "x + 2".join(twins.split("x + 1", 1))
    last = "x + 2".join(twins.rsplit("x + 1", 1))
    repository = make_repo(files={**FILES, "src/a.py": twins})
    journey = Journey(repository)
    journey.edits["src/a.py"] = first
    journey.to("committed")
    work = repository.git("rev-parse", "HEAD")
    repository.git("switch", "-q", "--detach", "HEAD~1")
    theirs = repository.commit({"src/a.py": twins.replace("middle", "centre")}, "Theirs")
    for text, word in ((first, "same change, other surroundings"), (last, "edited afterwards")):
        repository.git("reset", "-q", "--hard", theirs)
        repository.git("cherry-pick", work)
        repository.write("src/a.py", text.replace("middle", "centre"))
        repository.git("commit", "-q", "--all", "--allow-empty", "--amend", "--no-edit")
        answer = call(repository.path, "validate", "--range", "HEAD~1..HEAD", "--format", "json")
        [row] = json.loads(answer.text)["commits"]
        assert row["verdict"] == word
        assert row["edited"] == (["src/a.py"] if text is last else [])


def test_a_change_of_spaces_alone_is_an_edit(planned: Planned) -> None:
    """Git's own id of a patch ignores spaces, which mean something in many languages."""
    planned.repository.write("src/a.py", TWO.replace("    return", "        return"))
    planned.git("commit", "-q", "--all", "--amend", "--no-edit")
    [row] = planned.rows("HEAD~1..HEAD")
    assert (row["verdict"], row["edited"]) == ("edited afterwards", ["src/a.py"])


def test_an_edited_commit_names_the_files_and_those_that_nobody_planned(planned: Planned) -> None:
    planned.repository.write("src/a.py", TWO.replace("x + 2", "x + 3"))
    planned.repository.write("more.txt", "more\n")
    planned.git("add", "--all")
    planned.git("commit", "-q", "--amend", "--no-edit")
    [row] = planned.rows("HEAD~1..HEAD")
    assert row["verdict"] == "edited afterwards"
    assert (row["edited"], row["additional"]) == (["src/a.py"], ["more.txt"])
    planned.git("reset", "-q", "--hard", planned.commit)
    planned.git("rm", "-q", "README.md")
    planned.git("commit", "-q", "--amend", "--no-edit")
    [row] = planned.rows("HEAD~1..HEAD")
    assert (row["edited"], row["additional"]) == ([], ["README.md"])


@pytest.mark.quick
def test_a_revert_is_judged_against_what_takes_the_plan_back(planned: Planned) -> None:
    assert planned.journey.planner("undo").code == 0
    [row] = planned.rows("HEAD~1..HEAD")
    assert (row["verdict"], row["plans"]) == ("taken back", [planned.digest])
    assert f"takes back {planned.commit[:12]}" in row["why"]
    planned.git("revert", "--no-edit", "HEAD")
    assert planned.verdicts("HEAD~1..HEAD") == ["same bytes, other history"]
    planned.git("revert", "--no-edit", "HEAD")
    planned.repository.write("src/a.py", f"{ONE}# more\n")
    planned.git("commit", "-q", "--all", "--amend", "--no-edit")
    [row] = planned.rows("HEAD~1..HEAD")
    assert (row["verdict"], row["edited"]) == ("edited afterwards", ["src/a.py"])
    planned.repository.commit({"x.txt": "x\n"}, "X")
    planned.git("revert", "--no-edit", "HEAD")
    assert planned.verdicts("HEAD~1..HEAD") == ["no plan"]


def test_a_revert_of_a_commit_that_names_no_plan_is_known_by_that_commits_content(
    planned: Planned,
) -> None:
    """What a squash merge without the line, and the button that takes it back, leave."""
    planned.git("switch", "-q", "-C", "main", planned.base)
    planned.git("merge", "-q", "--squash", "work")
    planned.git("commit", "-q", "-m", "Squashed")
    squashed = planned.git("rev-parse", "HEAD")
    planned.git("revert", "--no-edit", "HEAD")
    [row] = planned.rows("HEAD~1..HEAD")
    assert (row["verdict"], row["plans"]) == ("taken back", [planned.digest])
    assert f"takes back {squashed[:12]}" in row["why"]
    planned.repository.write("src/a.py", f"{ONE}# more\n")
    planned.git("commit", "-q", "--all", "--amend", "--no-edit")
    [row] = planned.rows("HEAD~1..HEAD")
    assert (row["verdict"], row["edited"]) == ("edited afterwards", ["src/a.py"])


def test_a_plan_that_is_not_here_never_passes_and_names_how_to_fetch_it(
    planned: Planned, tmp_path: Path
) -> None:
    planned.git(
        "clone", "-q", "--branch", "work", str(planned.repository.path), str(tmp_path / "c")
    )
    clone = Repository(tmp_path / "c")
    for require in ("exact", "same", "any"):
        words = ("validate", "--range", f"{planned.base}..HEAD", "--require", require)
        answer = call(clone.path, *words)
        assert answer.code == 1
        assert answer.data("verdicts") == "1 plan not here"
    fetch = answer.data("commits").partition("fetch it: ")[2]
    assert fetch.startswith(f"git fetch origin '{REFSPEC}'")
    subprocess.run(["sh", "-c", fetch], cwd=clone.path, check=True, capture_output=True)
    found = call(clone.path, "validate", "--range", f"{planned.base}..HEAD", "--require", "exact")
    assert (found.code, found.data("verdicts")) == (0, "1 exact")


def test_a_ref_that_was_rewritten_or_is_of_another_commit_is_said(planned: Planned) -> None:
    between = f"{planned.base}..HEAD"
    kept = planned.git("rev-parse", planned.ref)

    def stored(name: str, data: str) -> None:
        """Put other bytes into the plan's ref."""
        blob = planned.repository.write("../blob", data)
        made = planned.git("hash-object", "-w", str(blob))
        rows = planned.git("ls-tree", kept).splitlines()
        lines = [f"100644 blob {made}\t{name}" if r.endswith(f"\t{name}") else r for r in rows]
        words = ["git", "mktree"]
        done = subprocess.run(
            words, cwd=planned.repository.path, input="\n".join(lines) + "\n", text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        commit = planned.git("commit-tree", done.stdout.strip(), "-m", "other")
        planned.git("update-ref", planned.ref, commit)

    plan = planned.git("show", f"{kept}:plan.json")
    stored("plan.json", plan.replace("Change the constant.", "Change another one"))
    answer = planned.validate("--range", between)
    assert (answer.code, answer.data("verdicts")) == (1, "1 plan not here")
    assert f"{planned.ref} was rewritten: its plan.json" in answer.text

    approval = json.loads(planned.git("show", f"{kept}:approval.json"))
    stored("approval.json", json.dumps({**approval, "commit": "1" * 40}))
    [row] = planned.rows(between)
    assert row["verdict"] == "same bytes, other history"
    assert "the plan's own commit is 111111111111" in row["why"]
    stored("approval.json", json.dumps({**approval, "digest": "2" * 64}))
    assert "its approval.json is of another plan" in planned.validate("--range", between).text
    stored("approval.json", "{")
    assert planned.verdicts(between) == ["plan not here"]


@pytest.mark.parametrize(
    ("require", "codes"), [("exact", (0, 1, 1, 1)), ("same", (0, 0, 1, 1)), ("any", (0, 0, 0, 1))]
)
def test_what_is_required_says_which_verdicts_are_enough(
    planned: Planned, require: str, codes: tuple[int, ...]
) -> None:
    found = [planned.validate("--range", "HEAD~1..HEAD", "--require", require).code]
    planned.git("commit", "-q", "--amend", "-m", "Other words")
    found.append(planned.validate("--range", "HEAD~1..HEAD", "--require", require).code)
    planned.git("reset", "-q", "--hard", planned.commit)
    planned.repository.write("more.txt", "more\n")
    planned.git("add", "--all")
    planned.git("commit", "-q", "--amend", "--no-edit")
    found.append(planned.validate("--range", "HEAD~1..HEAD", "--require", require).code)
    planned.git("commit", "-q", "--amend", "-m", "Other words")
    answer = planned.validate("--range", "HEAD~1..HEAD", "--require", require)
    assert (*found, answer.code) == codes
    assert f"`--require {require}`" in answer.text


def test_merges_count_by_what_they_add_themselves(planned: Planned) -> None:
    planned.git("switch", "-q", "main")
    planned.repository.commit({"other.txt": "theirs\n"}, "Theirs")
    planned.git("merge", "-q", "--no-ff", "-m", "Merge", "work")
    shown = planned.validate("--range", f"{planned.base}..HEAD")
    assert shown.block.get("merges") == "1"
    assert sorted(planned.verdicts(f"{planned.base}..HEAD")) == ["exact", "no plan"]
    planned.repository.write("other.txt", "slipped in\n")
    planned.git("commit", "-q", "--all", "--amend", "--no-edit")
    [row] = planned.rows("HEAD~1..HEAD^{commit}")[-1:]
    assert (row["verdict"], row["additional"]) == ("no plan", ["other.txt"])


def test_one_commit_is_judged_without_a_file_and_must_be_the_plans(planned: Planned) -> None:
    assert planned.validate("--commit", "HEAD").code == 0
    planned.repository.write("more.txt", "more\n")
    planned.git("add", "--all")
    planned.git("commit", "-q", "--amend", "--no-edit")
    refused = planned.validate("--commit", "HEAD")
    assert refused.code == 1
    assert "more.txt" in refused.text


def test_a_bare_clone_is_judged_as_any_other(planned: Planned, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    planned.git("clone", "-q", "--mirror", str(planned.repository.path), str(bare))
    between = ("--range", f"{planned.base}..work", "--target", "main", "--require", "exact")
    answer = call(bare, "validate", *between)
    assert (answer.code, answer.data("verdicts")) == (0, "1 exact"), answer.text
    named = planned.validate("--repo", str(bare), "--commit", planned.commit)
    assert named.code == 0, named.text
    # Where files are planned, they are needed.
    assert "has no files to plan for" in call(bare, "start", "Add two").text


def test_a_range_that_is_none_is_wrong_usage_and_one_that_is_not_here_is_refused(
    planned: Planned,
) -> None:
    misused = [
        ("--range", "HEAD"), ("--range", "a...b"), ("--require", "any", "plan.json"),
        ("--range", "a..b", "--commit", "HEAD"), ("--range", "a..b", "plan.json"),
    ]  # fmt: skip
    for words in misused:
        assert planned.validate(*words).code == 2, words
    for between in ("nowhere..HEAD", "HEAD..nowhere", "..HEAD", "--all..HEAD"):
        answer = planned.validate("--range", between)
        assert (answer.code, answer.problems[0][0]) == (1, "not_found"), between


def test_copies_of_plans_stand_beside_them_and_are_no_approval_where_no_ref_is(
    make_repo: Repositories,
) -> None:
    files = {**TALL, "planner.toml": '[commit]\nplan = "file"\n'}
    planned = Planned(make_repo, files)
    [row] = planned.rows("HEAD~1..HEAD")
    assert row["verdict"] == "exact"
    assert [name.rpartition(".")[2] for name in row["beside"]] == ["json", "md"]
    planned.git("update-ref", "-d", planned.ref)
    assert planned.verdicts("HEAD~1..HEAD") == ["not approved"]
    planned.git("commit", "-q", "--amend", "-m", f"Moved\n\nPlan-Digest: {'0' * 64}")
    assert planned.verdicts("HEAD~1..HEAD") == ["plan not here"]


@pytest.mark.requirement("PP-7")
def test_a_signature_is_read_from_the_ref_and_the_range_says_who_may_sign(
    make_repo: Repositories, tmp_path: Path
) -> None:
    key, config = Key(b"Ann's"), '[approval]\nrequire = "proven"\n'
    listed = {"planning/allowed_signers": key.line("ann@example.com"), "planner.toml": config}
    repository = make_repo(files={**FILES, **listed})
    journey = Journey(repository).to("submitted")
    status = json.loads(journey.planner("status", "--json").text)
    base = repository.git("rev-parse", "HEAD")
    sent = {
        "digest": status["digest"], "base": base, "word": "signed", "who": "ann@example.com",
        "signature": key.sign(message_of_form_1(status["digest"], base)), "commit": None,
    }  # fmt: skip
    (tmp_path / "sent.json").write_text(json.dumps(sent))
    named = ("--approval", str(tmp_path / "sent.json"))
    approved = call(repository.path, "approve", status["digest"], *named)
    assert approved.code == 0, approved.text
    for words in (("exec", "apply"), ("exec", "commit")):
        assert journey.planner(*words).code == 0
    judging = ("--range", f"{base}..HEAD", "--require", "exact", "--format", "json")
    answer = call(repository.path, "validate", *judging)
    assert answer.code == 0, answer.text
    [row] = json.loads(answer.text)["commits"]
    assert row["approval"].startswith("signed (proven), by ann@example.com")
    # A key that the range itself brings in counts for nothing.
    other = repository.commit({"planning/allowed_signers": Key().line("eve@example.com")}, "Mine")
    refused = call(repository.path, "validate", "--commit", "HEAD~1", "--target", other)
    assert refused.code == 1
    assert "not among the allowed signers" in refused.text


def test_plans_are_put_together_in_whatever_order_they_are_named() -> None:
    a, b, c = (Entry("100644", letter * 40) for letter in "abc")
    first, then = {"x": Ends(a, b), "y": Ends(None, a)}, {"x": Ends(b, c)}
    whole = {"x": Ends(a, c), "y": Ends(None, a)}
    assert compose([first, then]) == compose([then, first]) == whole
