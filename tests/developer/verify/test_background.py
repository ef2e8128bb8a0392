from __future__ import annotations

import json
import os
import signal
import stat
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from developer.verify.background import cancel_verify, verify, wait_until_idle
from developer.verify.job import Done, Running
from developer.verify.lock import undisturbed
from shared.resources import quote
from state.errors import AGAIN, Refused
from tests.developer.verify.conftest import DEADLINE_S, Site, gone, until, yes
from tests.place import need_place

pytestmark = pytest.mark.requirement("PL-34")


def test_a_killed_worker_leaves_broken_files_that_the_next_command_restores(site: Site) -> None:
    path = site.write("app.py", "ANSWER = 2  # with \u00fc\n")
    path.chmod(0o700)
    before = path.read_bytes()
    os.mkfifo(site.worktree / "hold.fifo")
    held = "if grep -q unparsable app.py; then echo $$ > pid.seen; cat hold.fifo; fi"
    assert isinstance(site.verify(site.job(held), wait_s=0), Running)
    seen = site.worktree / "pid.seen"
    until(lambda: seen.exists() and seen.read_text().strip())
    assert path.read_bytes() != before
    with pytest.raises(Refused) as refusal, undisturbed(site.state):
        pytest.fail("a living verification was disturbed")
    assert refusal.value.problems[0].kind == "locked"
    os.kill(site.worker_pid(), signal.SIGKILL)
    until(lambda: gone(int(seen.read_text())))
    until(lambda: _restored(site))
    assert path.read_bytes() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    with undisturbed(site.state) as displaced:
        assert displaced == []


def _restored(site: Site) -> bool:
    # The kernel frees the lock when the process is gone, which is a moment after the kill.
    try:
        with undisturbed(site.state):
            return True
    except Refused:
        return False


def test_a_worker_that_died_is_started_again(site: Site) -> None:
    os.mkfifo(site.worktree / "hold.fifo")
    job = site.job("test -e go.seen || { echo $$ > pid.seen; cat hold.fifo; }")
    # No fifo at the base: there the command fails at once.
    assert isinstance(site.verify(job, wait_s=0), Running)
    until((site.worktree / "pid.seen").exists)
    os.kill(site.worker_pid(), signal.SIGKILL)
    (site.worktree / "go.seen").touch()
    until(lambda: wait_until_idle(site.state) is None)
    assert site.done(job).results[0].outcome == "pass"


def test_a_worker_that_dies_while_a_call_waits_is_named_and_started_by_the_next(site: Site) -> None:
    os.mkfifo(site.worktree / "hold.fifo")  # none at the base: there the command fails at once
    job = site.job("test -e go.seen || { : < hold.fifo; }")

    def kill() -> None:
        with (site.worktree / "hold.fifo").open("w"):  # opens once the command reads it
            os.kill(site.worker_pid(), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(Refused, match="ended without a result") as refusal:
        site.verify(job)
    killer.join()
    (problem,) = refusal.value.problems
    assert (problem.kind, problem.at, problem.retry) == ("conflict", "plan verify", AGAIN)
    (site.worktree / "go.seen").touch()
    assert site.done(job).results[0].outcome == "pass"


CLOSING = "import os, sys; os.closerange(3, 1000); os.execv(sys.argv[1], sys.argv[1:])"


@pytest.mark.requirement("VR-4")
def test_a_worker_whose_lock_was_closed_on_the_way_takes_it_again(site: Site) -> None:
    worker = [sys.executable, "-c", CLOSING, *site.worker]
    done = verify(site.job("test -e app.py"), yes, wait_s=DEADLINE_S, worker=worker)
    assert isinstance(done, Done)
    assert done.results[0].outcome == "pass"


def test_a_worker_that_fails_of_itself_is_our_fault_and_its_words_are_shown(site: Site) -> None:
    note = quote(json.dumps({"pid": os.getpid(), "started_at": 0}))
    worker = ["sh", "-c", f"echo {note} > verify/worker.json; echo cannot start"]
    with pytest.raises(Refused, match="ended without a result") as refusal:
        verify(site.job("true"), yes, wait_s=DEADLINE_S, worker=worker)
    (problem,) = refusal.value.problems
    assert (problem.kind, problem.retry) == ("internal", "")
    assert problem.allowed == f"show the user {site.state}/verify/worker.log"
    assert "cannot start" in problem.output


@pytest.mark.requirement("VR-4")
def test_edits_while_the_commands_run_in_the_place_start_it_anew(site: Site) -> None:
    need_place()
    begun, go = Path(site.state, "begun"), Path(site.state, "go")
    wait = f"for i in $(seq 600); do test -e {quote(str(go))} && exit; sleep 0.1; done; exit 1"
    command = f"echo run >> {quote(str(begun))}; {wait}"
    job = replace(site.job(command, write=[site.state]), in_place=True)
    site.write("app.py", "ANSWER = 2\n")
    assert isinstance(site.verify(job, wait_s=0), Running)
    until(begun.exists)
    edited = site.write("app.py", "ANSWER = 3\n")
    go.touch()
    done = site.done(job)
    assert [r.where for r in done.results] == ["place"]
    assert site.repo.git("cat-file", "blob", f"{done.tree}:app.py") == edited.read_text().strip()


def test_what_commands_write_in_the_worktree_is_verified_once_it_is_captured(site: Site) -> None:
    job = site.job("echo made > made.py")
    first, second = site.done(job), site.done(job)
    assert "made.py" not in site.repo.git("ls-tree", "--name-only", first.tree)
    assert "made.py" in site.repo.git("ls-tree", "--name-only", second.tree)
    assert site.done(job) == second


def test_a_result_that_blocks_is_returned_once_since_it_may_fail_now_and_then(site: Site) -> None:
    count = Path(site.state, "count")
    runs = f"echo run >> {quote(str(count))}"
    job = site.job(f"test -e go.seen || ! test -e new.py; end=$?; {runs}; exit $end",
                   write=[site.state])  # fmt: skip
    site.write("new.py", "NEW = 1\n")
    assert site.done(job).results[0].outcome == "fail"
    (site.worktree / "go.seen").touch()
    assert site.done(job).results[0].outcome == "pass"
    ran = count.read_text()
    assert site.done(job).results[0].outcome == "pass"
    assert count.read_text() == ran


def test_two_callers_at_once_start_one_worker(site: Site) -> None:
    count = Path(site.state, "count")
    job = site.job(f"echo run >> {quote(str(count))}", write=[str(site.state)])
    answers: list[Done | Running] = []
    callers = [threading.Thread(target=lambda: answers.append(site.verify(job))) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert answers == [answers[0]] * 4
    assert count.read_text() == "run\n" * 2  # at the base and in the worktree


def test_a_long_command_runs_on_and_is_found_again(site: Site) -> None:
    os.mkfifo(site.worktree / "hold.fifo")
    job = site.job("test ! -e hold.fifo || { : > begun.seen; cat hold.fifo; }")
    assert isinstance(site.verify(job, wait_s=0), Running)
    until((site.worktree / "begun.seen").exists)
    running = site.verify(job, wait_s=0, again=True)
    assert isinstance(running, Running)
    assert "command 1 of 1 in the worktree: test ! -e hold.fifo" in running.text
    (site.worktree / "hold.fifo").write_text("on\n")
    answer = site.done(job, again=True)
    assert answer.results[0].outcome == "pass"


def test_a_cancelled_verification_ends_its_commands_and_restores_the_files(site: Site) -> None:
    path = site.write("app.py", "ANSWER = 2\n")
    os.mkfifo(site.worktree / "hold.fifo")
    held = "if grep -q unparsable app.py; then echo $$ > pid.seen; cat hold.fifo; fi"
    site.verify(site.job(held), wait_s=0)
    seen = site.worktree / "pid.seen"
    until(lambda: seen.exists() and seen.read_text().strip())
    assert cancel_verify(site.state) is True
    assert gone(int(seen.read_text()))
    assert path.read_text() == "ANSWER = 2\n"
    assert cancel_verify(site.state) is False
    assert not Path(site.state, "verify", "result.json").exists()


def test_a_worker_that_was_killed_leaves_no_second_worktree(site: Site) -> None:
    os.mkfifo(Path(site.state, "hold.fifo"))
    held = f"cat {quote(site.state)}/hold.fifo"
    site.verify(site.job(f": > begun.seen; {held}"), wait_s=0)
    base = Path(site.state, "verify", "base")
    until((base / "begun.seen").exists)
    os.kill(site.worker_pid(), signal.SIGKILL)
    until(lambda: wait_until_idle(site.state) is None)
    assert not base.exists()
    assert len(site.repo.git("worktree", "list").splitlines()) == 2
