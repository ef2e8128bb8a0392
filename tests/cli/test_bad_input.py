"""Bad input gets an error block, exit 1 or 2, nothing changed, a retry command that runs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, SHOWN, Answer, Journey, call

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

REFUSED, USAGE = 1, 2
TIMES = ("fingerprint", "index")


def fingerprint(*folders: Path) -> dict[str, str]:
    """Return the content of every file and link of the folders, except what says nothing of a run.

    That is who holds the lock, and the times of files that git remembers to compare them faster.
    """
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink():
                found[str(path)] = os.readlink(path)
            elif path.is_file() and path.name != "lock" and path.parts[-2:] != TIMES:
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
            elif path.is_dir():
                found[str(path)] = "folder"
    return found


def check_refused(answer: Answer, kind: str, code: int, words: str) -> None:
    """Check the error contract: one block, its kind, its exit code, the cause in words."""
    assert answer.code == code, answer.text
    assert answer.block.tag == "error"
    assert kind in [k for k, _ in answer.problems], answer.text
    assert words in answer.text
    assert "Traceback" not in answer.stderr
    for _, text in answer.problems:
        assert not re.search(
            r"reset --hard|checkout -- |clean -|rm -r|push --force|stash drop", text
        )


def check_retry_runs(answer: Answer, cwd: Path) -> None:
    """Run each retry command of ours: it is understood and works, or is refused for a reason."""
    for _, text in answer.problems:
        for command in re.findall(rf"(?:retry|person): ({re.escape(SHOWN)} .*)$", text):
            again = call(cwd, *shlex.split(command)[1:])
            found = again.text.startswith("<result")  # what is wrong, for `doctor`
            assert again.code == 0 or found, f"{command}\n{again.text}"


def refused(
    repository: Repository, argv: tuple[str, ...], kind: str, words: str, code: int = REFUSED
) -> Answer:
    """Run a command that must be refused and leave everything as it is."""
    before = fingerprint(repository.path)
    answer = call(repository.path, *argv)
    check_refused(answer, kind, code, words)
    assert fingerprint(repository.path) == before
    check_retry_runs(answer, repository.path)
    return answer


@pytest.fixture
def journey(make_repo: Repositories) -> Journey:
    """Return a run that waits for its design."""
    return Journey(make_repo(files=FILES)).to("design")


# the words of a command


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("step", "planner", "12"), "planner has no step 12"),
        (("step", "planner", "0"), "planner has no step 0"),
        (("step", "planner", "-1"), "is not the number of a step"),
        (("step", "planner", "two"), "is not the number of a step"),
        (("step", "nobody"), "there is no workflow"),
        (("step", "../cli/main"), "there is no workflow"),
        (("step", "planner", "--colour", "red"), "there is no option --colour"),
        (("step", "planner", "--step"), "--step needs a value"),
        (("step", "planner", "3", "4"), "the command takes no such words: 4"),
        (("step",), "name a workflow"),
        (("frobnicate",), "No such command"),
        (("plan", "frobnicate"), "No such command"),
        (("plan", "done", "--phase", "plan-everything"), "plan-everything"),
        (("plan", "done"), "Missing option"),
        (("plan", "add", "milestone", "--nam", "x"), "Did you mean"),
        (("plan", "add", "nothing"), "No such command"),
        (("plan", "set", "XX-1", "--version", "1"), "No such command"),
        (("plan", "set", "M-001", "--version", "one"), "not a valid integer"),
        (("qr", "gate", "--phase", "plan-code", "--verdict", "maybe"), "maybe"),
        (("start", "one", "two"), "unexpected extra argument"),
    ],
)
def test_words_that_no_command_knows_are_a_usage_error(
    journey: Journey, words: tuple[str, ...], expected: str
) -> None:
    refused(journey.repository, words, "usage", expected, USAGE)


@pytest.mark.requirement("PL-2")
def test_a_step_beyond_the_current_one_is_refused_with_the_current_steps_command(
    journey: Journey,
) -> None:
    answer = refused(journey.repository, ("step", "planner", "6"), "conflict", "step 6 is not due")
    assert "retry: " in answer.text


def test_a_phase_that_is_not_due_cannot_be_ended(journey: Journey) -> None:
    words = ("plan", "done", "--phase", "plan-code")
    refused(journey.repository, words, "conflict", "plan-code is not due")


def test_a_gate_that_is_not_open_cannot_be_decided(journey: Journey) -> None:
    words = ("qr", "gate", "--phase", "plan-code", "--verdict", "pass")
    refused(journey.repository, words, "conflict", "cannot be decided now")


def test_a_plan_is_not_frozen_before_its_gates_are_passed(journey: Journey) -> None:
    refused(journey.repository, ("plan", "freeze"), "conflict", "once all phases have passed")


@pytest.mark.parametrize("words", [("exec", "apply"), ("exec", "commit"), ("plan", "revise")])
def test_what_needs_a_frozen_plan_is_refused_before(
    journey: Journey, words: tuple[str, ...]
) -> None:
    refused(
        journey.repository, words, "refused" if words[0] == "exec" else "conflict", "not frozen"
    )


def test_a_digest_of_another_revision_is_not_approved(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    refused(journey.repository, ("approve", "0" * 64), "refused", "nothing is approved")


def test_a_plan_that_nobody_approved_is_not_applied(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    refused(journey.repository, ("exec", "apply"), "refused", "no person has approved")


# state directories


def test_a_missing_state_directory_is_named(journey: Journey) -> None:
    gone = str(journey.repository.path / "gone")
    for words in (("step", "planner"), ("status",), ("plan", "show"), ("exec", "apply")):
        argv = (*words, "--state-dir", gone)
        refused(journey.repository, argv, "not_found", "there is no such state directory")


def test_a_folder_that_is_not_ours_is_refused_as_state_directory(
    journey: Journey, make_repo: Repositories
) -> None:
    foreign = make_repo("foreign", files={"plan.txt": "x\n"})
    before = fingerprint(foreign.path)
    for words in (("step", "planner"), ("plan", "show"), ("plan", "freeze")):
        argv = (*words, "--state-dir", str(foreign.path))
        refused(journey.repository, argv, "not_found", "is not a state directory of the planner")
    assert fingerprint(foreign.path) == before


def test_a_state_directory_that_the_database_does_not_know_is_refused(journey: Journey) -> None:
    runs = journey.repository.path / ".planner" / "runs"
    (runs / "copied").mkdir()
    (runs / "copied" / "plan.json").write_bytes(
        (runs / os.path.basename(journey.state_dir) / "plan.json").read_bytes()
    )
    argv = ("plan", "show", "--state-dir", str(runs / "copied"))
    refused(journey.repository, argv, "not_found", "no run has this state directory")


def test_a_folder_in_which_a_start_was_killed_is_refused_with_the_runs_that_there_are(
    journey: Journey,
) -> None:
    begun = journey.repository.path / ".planner" / "runs" / "begun"
    begun.mkdir()
    (begun / "lock").touch()
    argv = ("plan", "show", "--state-dir", str(begun))
    refused(journey.repository, argv, "not_found", "no run has this state directory")
    answer = call(journey.repository.path, *argv)
    assert f"allowed: {journey.state_dir}" in answer.text


def test_a_repository_without_a_run_says_how_to_start_one(repo: Repository) -> None:
    for words in (("step", "planner"), ("status",), ("plan", "done", "--phase", "plan-code")):
        refused(repo, words, "not_found", "no run of the planner was started")


def test_with_two_active_runs_one_must_be_named(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(journey.repository.path, "start", "Something else", "--depth", "full", "--agent", "s-2")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "s-3")
    refused(journey.repository, ("step", "planner"), "not_found", "2 plans are under way")


# files


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"{", "is not JSON"),
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"[]", "is not a plan"),
        (b'{"schema_version": 3}', "newer planner"),
        (b'{"schema_version": 2}', "plan_id"),
        (b'{"schema_version": 2, "plan_id": 7}', "plan_id"),
    ],
    ids=["cut", "empty", "bytes", "deep", "list", "newer", "bare", "wrong"],
)
def test_a_damaged_plan_is_refused_and_left_as_it_is(
    journey: Journey, content: bytes, cause: str
) -> None:
    with open(f"{journey.state_dir}/plan.json", "wb") as file:
        file.write(content)
    for argv in (
        ("plan", "done", "--phase", "plan-design"),
        ("plan", "add", "milestone", "--name", "One"),
        ("plan", "freeze"),
    ):
        check_refused(call(journey.repository.path, *argv), "invalid", REFUSED, cause)
    # The way out sets the plan aside, so it is tried only once.
    refused(journey.repository, ("plan", "verify"), "invalid", cause)


def test_a_database_of_a_newer_planner_is_left_as_it_is(journey: Journey) -> None:
    import sqlite3

    path = journey.repository.path / ".planner" / "planner.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    refused(journey.repository, ("step", "planner"), "invalid", "newer planner")


def test_a_damaged_database_is_left_as_it_is(journey: Journey) -> None:
    path = journey.repository.path / ".planner" / "planner.db"
    path.write_bytes(b"this is no database" * 500)
    for words in (("step", "planner"), ("plan", "freeze"), ("start", "again")):
        refused(journey.repository, words, "invalid", "the database is damaged")


@pytest.mark.requirement("PL-17")
@pytest.mark.parametrize(
    ("context", "words"),
    [
        ({"task_spec": ["x"], "todo": []}, "todo"),
        ({"constraints": ["x"]}, "task_spec"),
        ({"task_spec": []}, "task_spec"),
        ({"task_spec": "x"}, "task_spec"),
        ({"task_spec": [1]}, "task_spec[0]"),
        ({"task_spec": ["\ud800"]}, "task_spec[0]"),
        ([], "context"),
        ("x" * 50_000, "context"),
    ],
)
def test_a_context_of_the_wrong_form_is_refused(
    make_repo: Repositories, context: object, words: str
) -> None:
    journey = Journey(make_repo(files=FILES)).to("context")
    journey.write_answer("context.json", json.dumps(context))
    argv = ("context", "set", "--file", "answers/context.json")
    refused(journey.repository, argv, "invalid", words)


@pytest.mark.requirement("PL-17")
def test_the_context_is_read_only_after_its_step_and_takes_later_words(journey: Journey) -> None:
    argv = ("context", "set", "--file", "answers/context.json")
    assert journey.planner(*argv).text == journey.planner("step", "planner").text
    journey.write_answer("context.json", json.dumps({"task_spec": ["Something else"]}))
    refused(journey.repository, argv, "frozen", "read-only once step 2")
    journey.write_answer("context.json", json.dumps({"constraints": ["None"]}))
    refused(journey.repository, argv, "frozen", "[what holds no more]")
    for _ in range(2):
        assert journey.planner("context", "add-quote", "Keep f, please").code == 0
    for name in ("context.json", "plan.json"):
        with open(f"{journey.state_dir}/{name}", encoding="utf-8") as file:
            kept = json.load(file)
        assert kept.get("context", kept)["user_quotes"].count("Keep f, please") == 1


def test_an_answer_that_was_not_written_is_named(journey: Journey) -> None:
    argv = ("plan", "done", "--phase", "plan-design", "--batch", "answers/design.json")
    refused(journey.repository, argv, "not_found", "answers/design.json")


@pytest.mark.requirement("PL-11")
def test_an_edit_of_a_version_that_is_gone_is_refused_with_the_current_entity(
    journey: Journey,
) -> None:
    assert journey.planner("plan", "add", "milestone", "--name", "One").code == 0
    assert journey.planner("plan", "set", "M-001", "--version", "1", "--name", "Two").code == 0
    argv = ("plan", "set", "M-001", "--version", "1", "--name", "Three")
    answer = refused(journey.repository, argv, "conflict", "version 2")
    assert "Two" in answer.text


@pytest.mark.requirement("PL-13")
@pytest.mark.parametrize(
    ("role", "words"),
    [
        ("developer", ("plan", "add", "milestone", "--name", "One")),
        ("quality-reviewer", ("plan", "add", "decision", "--decision", "One")),
        ("technical-writer", ("plan", "add", "intent", "--behavior", "One")),
        ("architect", ("plan", "capture")),
        ("architect", ("plan", "freeze")),
        ("developer", ("approve", "0" * 64)),
        ("developer", ("config", "confirm", "0" * 64)),
        ("quality-reviewer", ("exec", "commit")),
        ("quality-reviewer", ("tree", "rm", "src/a.py")),
        ("technical-writer", ("qr", "gate", "--phase", "plan-code", "--verdict", "pass")),
        ("architect", ("context", "add-quote", "yes, delete it all")),
        ("quality-reviewer", ("plan", "done", "--phase", "plan-design")),
        ("developer", ("plan", "done", "--phase", "plan-design")),
    ],
)
def test_what_a_role_may_not_do_is_refused(
    journey: Journey, role: str, words: tuple[str, ...]
) -> None:
    refused(journey.repository, (*words, "--role", role), "refused", role)


def test_a_role_of_the_environment_counts_like_the_option(
    journey: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAN_AGENT_ROLE", "developer")
    refused(journey.repository, ("plan", "freeze"), "refused", "developer")


@pytest.mark.requirement("PL-14")
def test_milestones_that_wait_for_each_other_are_refused(journey: Journey) -> None:
    one, two = {"name": "One", "depends_on": ["$b"]}, {"name": "Two", "depends_on": ["$a"]}
    rows = [
        {"op": "add", "kind": "milestone", "as": "$a", "fields": one},
        {"op": "add", "kind": "milestone", "as": "$b", "fields": two},
    ]
    journey.write_answer("design.json", rows)
    argv = ("plan", "batch", "--file", "answers/design.json")
    refused(journey.repository, argv, "invalid", "M-00")


@pytest.mark.parametrize(
    "path", ["../outside.py", "/etc/passwd", "src/../../x", ".git/config", "a\\..\\b/../../..", ""]
)
def test_a_planned_path_that_leaves_the_repository_is_refused(journey: Journey, path: str) -> None:
    argv = ("plan", "add", "milestone", "--name", "One", "--file", path)
    refused(journey.repository, argv, "invalid", "files[0]")


def test_a_link_that_leads_out_of_the_repository_is_not_followed(
    make_repo: Repositories, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("theirs\n")
    journey = Journey(make_repo(files=FILES)).to("code")
    os.rename(f"{journey.state_dir}/worktree/src", f"{journey.state_dir}/worktree/old")
    os.symlink(outside, f"{journey.state_dir}/worktree/src")
    journey.edit_worktree({"tests/test_a.py": "pass\n"})
    answer = journey.planner("plan", "done", "--phase", "plan-code")
    assert answer.code == REFUSED
    assert answer.block.tag == "error"
    assert (outside / "a.py").read_text() == "theirs\n"
    for words in (("tree", "rm", "src/a.py"), ("tree", "mv", "src/a.py", "b.py")):
        refused(journey.repository, words, "refused", "src")
    assert (outside / "a.py").read_text() == "theirs\n"


# repositories in which no run can begin


def test_outside_a_repository_no_approval_of_bytes_starts(tmp_path: Path) -> None:
    answer = call(tmp_path, "start", "Do it", "--depth", "full")
    check_refused(answer, "refused", REFUSED, "in no git repository")
    assert list(tmp_path.iterdir()) == []


def test_a_repository_without_commits_says_what_to_do(tmp_path: Path) -> None:
    from tests.conftest import Repository

    empty = Repository(tmp_path)
    empty.git("init", "--quiet")
    answer = refused(empty, ("start", "Do it"), "refused", "no commit yet")
    assert "git commit --allow-empty" in answer.text


def test_a_bare_repository_has_no_files_to_plan_for(tmp_path: Path) -> None:
    from tests.conftest import Repository

    bare = Repository(tmp_path)
    bare.git("init", "--quiet", "--bare")
    refused(bare, ("start", "Do it"), "refused", "bare repository")


def test_a_detached_head_is_refused(repo: Repository) -> None:
    repo.git("checkout", "--quiet", "--detach")
    refused(repo, ("start", "Do it"), "refused", "HEAD is detached")


def test_a_merge_in_progress_is_refused(repo: Repository) -> None:
    repo.git("checkout", "--quiet", "-b", "other")
    repo.commit({"README.md": "other\n"})
    repo.git("checkout", "--quiet", "main")
    repo.commit({"README.md": "main\n"})
    with pytest.raises(Exception, match="merge"):
        repo.git("merge", "other")
    refused(repo, ("start", "Do it"), "refused", "a merge is in progress")


def test_a_rebase_in_progress_is_refused(repo: Repository) -> None:
    repo.git("checkout", "--quiet", "-b", "other")
    repo.commit({"README.md": "other\n"})
    repo.git("checkout", "--quiet", "main")
    repo.commit({"README.md": "main\n"})
    with pytest.raises(Exception, match="rebase"):
        repo.git("rebase", "other")
    refused(repo, ("start", "Do it"), "refused", "a rebase")


def test_without_an_identity_the_user_is_told_how_to_set_one(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n\tuseConfigOnly = true\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    answer = refused(repo, ("start", "Do it"), "refused", "has no name and address")
    assert "git config user.name" in answer.text


def test_an_empty_request_is_asked_for(repo: Repository) -> None:
    for words in (("start",), ("start", ""), ("start", " \n ")):
        before = fingerprint(repo.path)
        answer = call(repo.path, *words)
        assert answer.code == 0
        assert answer.block.find("ask") is not None
        assert fingerprint(repo.path) == before


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("base", ["head", "snapshot"])
def test_uncommitted_work_is_asked_about_and_both_answers_work(
    make_repo: Repositories, base: str
) -> None:
    repository = make_repo(files=FILES)
    repository.write("src/a.py", "def f(x):\n    return x + 10\n")
    repository.git("add", "src/a.py")
    journey = Journey(repository)
    asked = journey.start()
    assert asked.data("uncommitted") == "src/a.py"
    assert journey.start().text == asked.text
    assert journey.planner("step", "planner").text == asked.text
    assert call(repository.path, "step", "planner").text == asked.text
    journey.follow(asked.next(base))
    assert journey.point == "planner 2"
    seen = (repository.path / ".planner").glob("runs/*/worktree/src/a.py")
    wanted = "x + 10" if base == "snapshot" else "x + 1\n"
    assert wanted in next(seen).read_text()
    assert repository.git("diff", "--cached", "--name-only") == "src/a.py"


@pytest.mark.requirement("PL-32")
def test_a_submodule_is_named_and_left_alone(make_repo: Repositories) -> None:
    inner = make_repo("inner")
    repository = make_repo("outer", files=FILES)
    repository.git("submodule", "--quiet", "add", str(inner.path), "lib/inner")
    repository.commit(message="Add a submodule")
    link = repository.git("rev-parse", "HEAD:lib/inner")
    journey = Journey(repository)
    assert "lib/inner" in journey.start().text
    journey.to("committed")
    assert repository.git("rev-parse", "HEAD:lib/inner") == link
    assert repository.git("status", "--porcelain") == ""


def test_an_edit_of_the_wrong_shape_is_refused_in_our_own_words(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    fields = {"name": 3, "files": "a.py", "mode": "paint", "tests": []}
    edits = [{"op": "add", "kind": "milestone", "fields": fields},
             {"op": "add", "kind": "risk", "fields": {}}]  # fmt: skip
    journey.write_answer("edits.json", edits)
    refused = journey.planner("plan", "batch", "--file", "answers/edits.json")
    assert [text.partition(" · ")[0] for _, text in refused.problems] == [
        "this is a number, not a text", "this is a text, not a list",
        "this is a list, not an object", "this is none of the possible values", "it is missing",
    ]  # fmt: skip
