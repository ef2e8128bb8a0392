"""What changes in the user's tree while a plan is made stops it until a person accepts it (70)."""

from __future__ import annotations

import json
import os
from itertools import product
from typing import TYPE_CHECKING

import pytest

from shared import drift
from shared.run import open_state
from tests.forms import part
from tests.journey import FILES, VERIFIED, Answer, Journey, all_pass, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.plan_table import Base
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.fixture
def repository(make_repo: Repositories) -> Repository:
    """Return the sample project."""
    return make_repo(files={**FILES, "notes.txt": "a note\n"})


def way_out(refused: Answer) -> list[str]:
    """Return the words of the command that the refusal leaves to a person."""
    ((kind, text),) = refused.problems
    assert kind == "refused"
    return words_of(text.rpartition(" · person: ")[2])


def base_of(journey: Journey) -> Base:
    base = open_state(journey.state_dir, "/").plan.base
    assert base is not None
    return base


def rebase(journey: Journey) -> Answer:
    return journey.planner("mode", "rebase")


def changed_paths(journey: Journey) -> list[str]:
    """Return what differs in the user's tree from when the run's planning started."""
    place = drift.tree_of(open_state(journey.state_dir, "/"))
    return [found.path for found in drift.differences(place) or ()]


def stages(journey: Journey) -> tuple[str, int, str | None]:
    run = open_state(journey.state_dir, "/").run
    return run.stage, run.step, run.digest


@pytest.mark.parametrize("point", part(["design", "code", "docs", "freeze", "submitted"], 2))
def test_an_edit_is_refused_at_the_next_gate_and_passes_once_it_is_accepted(
    repository: Repository, point: str
) -> None:
    journey = Journey(repository)
    journey.promises_document = True
    journey.to(point)
    repository.write("notes.txt", "mine\n")
    before = stages(journey)
    asked = journey.last.person() or journey.last.next()
    journey.do_the_work()
    refused = journey.run(*words_of(asked))
    assert refused.code == 1
    assert "notes.txt (changed)" in refused.text
    assert stages(journey) == before
    accepted = journey.run(*way_out(refused))
    assert accepted.code == 0, accepted.text
    assert accepted.data("accepted") == "notes.txt: changed"
    assert accepted.data("HEAD moved") == ""
    assert accepted.data("planned") == ""
    assert journey.run(*words_of(asked)).code == 0
    assert stages(journey) != before


def test_a_gate_that_a_host_decides_is_refused_too(repository: Repository) -> None:
    journey = Journey(repository)
    journey.review = "full"
    journey.to("design")
    for command in journey.last.runs():
        journey.be_agent(command)
    journey.follow(journey.last.next())
    assert journey.point == "planner 4"
    for command in journey.last.runs():
        journey.be_agent(command)
    repository.write("new.txt", "1\n")
    gate = ("qr", "gate", "--phase", "plan-design", "--verdict", "pass")
    refused = journey.planner(*gate)
    assert "new.txt (new)" in refused.text
    assert rebase(journey).code == 0
    assert journey.planner(*gate).code == 0


def test_remarks_do_not_carry_an_edit_past_the_person(repository: Repository) -> None:
    journey = Journey(repository).to("submitted")
    repository.write("notes.txt", "sneaked in\n")
    refused = journey.planner("plan", "revise")
    assert "notes.txt (changed)" in refused.text
    assert stages(journey)[0] == "submitted"
    assert rebase(journey).code == 0
    assert journey.planner("plan", "revise").code == 0


def test_what_happens_after_the_approval_is_the_tree_that_a_revision_is_made_on(
    repository: Repository,
) -> None:
    journey = Journey(repository).to("approved")
    repository.write("notes.txt", "mine\n")
    journey.last = journey.planner("plan", "revise")
    assert journey.last.code == 0
    journey.answers["design.json"] = []
    journey.to("submitted")


@pytest.mark.parametrize("how", ["lost", "begun by an older planner"])
def test_a_run_without_a_fingerprint_waits_for_a_person(repository: Repository, how: str) -> None:
    journey = Journey(repository).to("design")
    folder = drift.tree_of(open_state(journey.state_dir, "/")).folder
    if how == "lost":
        os.unlink(f"{folder}/rows")
    else:
        os.rename(folder, f"{folder}.gone")
    journey.do_the_work()
    refused = journey.planner(*words_of(journey.last.next())[:-2])
    assert "no record of your tree" in refused.text
    assert journey.planner(*way_out(refused)[:-2]).code == 0
    assert journey.follow(journey.last.next()).code == 0


def test_a_rebase_is_a_persons_word_in_the_audit(repository: Repository) -> None:
    journey = Journey(repository).to("code")
    repository.write("notes.txt", "mine\n")
    rebase(journey)
    state = open_state(journey.state_dir, "/")
    row = state.database.audit_rows(state.run)[-1]
    assert (row["action"], row["detail"]) == ("rebase", "notes.txt (changed)")
    assert "person" in row["who"]


def test_a_rebase_with_nothing_to_accept_says_so_and_records_nothing(
    repository: Repository,
) -> None:
    journey = Journey(repository).to("code")
    state = open_state(journey.state_dir, "/")
    before = len(state.database.audit_rows(state.run))
    assert "Nothing changed" in rebase(journey).text
    assert len(state.database.audit_rows(state.run)) == before


def test_no_role_may_rebase(repository: Repository) -> None:
    journey = Journey(repository).to("code")
    repository.write("notes.txt", "mine\n")
    refused = journey.planner("mode", "rebase", "--role", "developer")
    assert refused.code == 1
    assert "only a person may" in refused.text


def test_a_rebase_is_refused_while_the_tree_is_nobodys_business(repository: Repository) -> None:
    journey = Journey(repository).to("approved")
    refused = rebase(journey)
    assert [kind for kind, _ in refused.problems] == ["conflict"]
    assert "executing" in refused.text


def test_many_changed_files_are_counted_after_the_first(repository: Repository) -> None:
    journey = Journey(repository).to("design")
    for number in range(30):
        repository.write(f"many/{number:02d}.txt", "1\n")
    with open(os.fsencode(repository.path) + b"/zz\xe9", "wb") as file:
        file.write(b"1")
    journey.do_the_work()
    text = journey.planner(*words_of(journey.last.next())[:-2]).text
    assert "many/19.txt (new), 11 more" in text
    assert rebase(journey).data("accepted").splitlines()[-1] == "zz\\xe9: new"


# planned files


def test_while_nothing_is_planned_the_plan_moves_to_where_head_is(repository: Repository) -> None:
    journey = Journey(repository).to("context")
    moved = repository.commit({"src/a.py": "def f(x):\n    return x + 1  # theirs\n"})
    assert rebase(journey).code == 0
    assert base_of(journey).commit == moved
    with open(f"{journey.state_dir}/worktree/src/a.py", encoding="utf-8") as file:
        assert "theirs" in file.read()
    journey.last = journey.planner("step", "planner")
    journey.edits["src/a.py"] = "def f(x):\n    return x + 2  # theirs\n"
    journey.to("committed")


@pytest.mark.parametrize(
    ("point", "committed"), part([*product(["code", "docs", "freeze"], [True, False])], 3)
)
def test_a_planned_file_that_changed_is_captured_anew_on_the_tree_as_it_is(
    repository: Repository, point: str, *, committed: bool
) -> None:
    journey = Journey(repository)
    journey.promises_document = True
    journey.to(point)
    if point == "code":
        journey.edit_worktree(journey.edits)
    files: dict[str, str | bytes] = {"src/a.py": "# theirs\n\n\n\ndef f(x):\n    return x + 1\n"}
    if committed:
        repository.commit(files)
    else:
        repository.write("src/a.py", files["src/a.py"])
    accepted = rebase(journey)
    assert accepted.data("planned") == "src/a.py"
    assert "captured" in (accepted.block.findtext("task") or "")
    assert stages(journey)[:2] == ("gathering", 6)
    with open(f"{journey.state_dir}/worktree/src/a.py", encoding="utf-8") as file:
        theirs_and_ours = file.read()
    assert theirs_and_ours == "# theirs\n\n\n\ndef f(x):\n    return x + 2\n"
    base = base_of(journey)
    assert (base.snapshot is None) == committed
    journey.edits["src/a.py"] = theirs_and_ours
    journey.last = journey.planner("step", "planner")
    if not committed:
        journey.to("freeze")
        refused = journey.run(*words_of(journey.last.next()))
        assert "commit your own work on this file first" in refused.text
        repository.commit(message="My own work")
        assert rebase(journey).code == 0
        journey.last = journey.planner("step", "planner")
    journey.to("submitted")
    with open(f"{journey.state_dir}/plan.json", encoding="utf-8") as file:
        changes = json.load(file)["milestones"][0]["code_changes"]
    assert "+    return x + 2" in changes[0]["patch"]
    assert "+# theirs" not in changes[0]["patch"]


def test_a_conflict_with_a_planned_file_is_left_to_settle_in_the_worktree(
    repository: Repository,
) -> None:
    journey = Journey(repository).to("freeze")
    repository.commit({"src/a.py": "def f(x):\n    return x + 9\n"})
    accepted = rebase(journey)
    assert "src/a.py" in accepted.data("moved")
    with open(f"{journey.state_dir}/worktree/src/a.py", encoding="utf-8") as file:
        assert "<<<<<<<" in file.read()
    refused = journey.planner("plan", "done", "--phase", "plan-code")
    assert refused.code == 1
    journey.last = journey.planner("step", "planner")
    journey.to("submitted")


def test_another_file_that_changed_leaves_the_worktree_as_it_is(repository: Repository) -> None:
    journey = Journey(repository).to("freeze")
    base = base_of(journey)
    repository.commit({"notes.txt": "mine\n"})
    accepted = rebase(journey)
    assert "goes on as it is" in accepted.text
    assert accepted.data("HEAD moved").startswith(base.commit[:12])
    assert base_of(journey).commit == base.commit
    assert stages(journey)[1] == 11


def test_work_of_the_users_in_the_base_that_is_put_aside_is_a_change(
    repository: Repository,
) -> None:
    repository.write("src/a.py", "# mine\n\n\n\ndef f(x):\n    return x + 1\n")
    journey = Journey(repository)
    journey.start("--base", "snapshot")
    journey.to("freeze")
    repository.git("stash", "push")
    drift.take(drift.tree_of(open_state(journey.state_dir, "/")))  # as a rebase before did
    accepted = rebase(journey)
    assert accepted.data("planned") == "src/a.py"


def test_a_submitted_plan_whose_file_changed_leads_to_a_revision(repository: Repository) -> None:
    journey = Journey(repository).to("submitted")
    digest = stages(journey)[2]
    repository.commit({"src/a.py": "# theirs\n\n\n\ndef f(x):\n    return x + 1\n"})
    accepted = rebase(journey)
    assert accepted.data("planned") == "src/a.py"
    assert stages(journey) == ("submitted", 1, digest)
    assert "revise" in words_of(accepted.next())
    journey.answers["design.json"] = []
    both = "# theirs\n\n\n\ndef f(x):\n    return x + 2"
    journey.edits["src/a.py"] = f"{both}\n"
    journey.follow(accepted.next())
    journey.to("committed")
    assert repository.git("show", "HEAD:src/a.py") == both


def test_a_rebase_that_was_killed_is_repeated(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = Journey(repository).to("freeze")
    repository.commit({"src/a.py": "# theirs\n\n\n\ndef f(x):\n    return x + 1\n"})

    def killed(_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(drift, "take", killed)
        assert rebase(journey).code == 130
    assert rebase(journey).data("planned") == "src/a.py"
    assert stages(journey)[1] == 6
    journey.edits["src/a.py"] = "# theirs\n\n\n\ndef f(x):\n    return x + 2\n"
    journey.last = journey.planner("step", "planner")
    journey.to("submitted")


# our own writes


def test_what_one_run_writes_is_no_change_to_another(repository: Repository) -> None:
    waiting = Journey(repository, "The first").to("submitted")
    repository.write("mine.txt", "1\n")
    other = Journey(repository, "The second")
    other.answers["design.json"] = json.loads(
        json.dumps(other.answers["design.json"]).replace("src/a.py", "notes.txt")
    )
    other.edits = {"notes.txt": "two\n", "tests/test_a.py": "assert True\n"}
    other.start("--base", "head")
    other.to("applied")
    assert changed_paths(waiting) == ["mine.txt"]
    other.last = other.planner("undo")
    assert changed_paths(waiting) == ["mine.txt"]
    other.follow(other.last.next("again"))
    other.to("committed")
    assert changed_paths(waiting) == ["mine.txt"]
    assert other.planner("undo").code == 0
    assert changed_paths(waiting) == ["mine.txt"]


def test_a_state_directory_inside_the_tree_does_not_count(repository: Repository) -> None:
    journey = Journey(repository)
    journey.start("--base", "head", "--state-dir", str(repository.path / "my state"))
    assert changed_paths(journey) == []
    journey.to("committed")


def test_setup_does_not_carry_an_edit_past_the_person(make_repo: Repositories) -> None:
    setup = "[worktree]\nsetup = ['true']\n"
    repository = make_repo(files={**FILES, "planner.toml": setup})
    journey = Journey(repository).to("design")
    place = drift.tree_of(open_state(journey.state_dir, "/"))
    repository.write("sneaked.txt", "1\n")
    with drift.own_writes(place):
        repository.write("ours.txt", "1\n")
    assert [one.path for one in drift.differences(place) or ()] == ["ours.txt", "sneaked.txt"]


def test_a_run_that_has_ended_keeps_no_fingerprint(repository: Repository) -> None:
    journey = Journey(repository).to("committed")
    assert not os.path.exists(drift.tree_in(journey.state_dir, "/").folder)


@pytest.mark.parametrize("point", ["context", "design", "code", "freeze"])
def test_verify_commands_that_the_user_commits_meanwhile_count_after_a_rebase(
    repository: Repository, point: str
) -> None:
    journey = Journey(repository)
    journey.start()
    assert "NOT VERIFIED" in journey.last.text  # said before anything is planned
    journey.to(point)
    repository.commit({"planner.toml": VERIFIED})
    accepted = rebase(journey)
    assert accepted.code == 0, accepted.text
    assert accepted.data("accepted") == "planner.toml: new"
    assert accepted.block.find("next") is None, "a person has typed it, in a terminal"
    journey.last = journey.planner("step", "planner")
    journey.to("submitted")
    assert "NOT VERIFIED" not in journey.last.text
    assert "tests/test_a.py: pass" in journey.last.data("summary")


def test_a_gate_and_plan_verify_name_the_command_that_takes_verify_commands_over(
    repository: Repository,
) -> None:
    journey = Journey(repository)
    journey.review = "small"
    journey.verdicts = lambda block: [
        {**answer, "status": "FAIL", "finding": "src/a.py:2 adds a constant that nothing explains"}
        for answer in all_pass(block)
    ]
    journey.to("code")
    command = open_state(journey.state_dir, "/").command("mode", "rebase")
    assert f"type `{command}`" in journey.planner("plan", "verify").text
    assert f"type `{command}`" in journey.to("gate").last.data("items")


def test_nothing_is_said_of_verifying_where_commands_are_there(repository: Repository) -> None:
    repository.commit({"planner.toml": VERIFIED})
    assert "NOT VERIFIED" not in Journey(repository).start().text
