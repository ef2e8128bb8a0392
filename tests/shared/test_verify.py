from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.config import Config, commands_hash
from shared.git.repository import find_repository
from shared.git.worktree import make_worktree
from shared.resources import ROOT, quote
from shared.verify import (
    Done,
    Job,
    Running,
    cancel_verify,
    prepare,
    restore_canary,
    undisturbed,
    verify,
    wait_until_idle,
)
from shared.verify.canary import BROKEN, break_files, is_code, mend_files
from shared.verify.process import Runner
from shared.verify.sandbox import is_available
from state.errors import Refused
from state.store import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PL-34")

DEADLINE_S = 60.0
WORKER = (
    "import sys; sys.path.insert(0, sys.argv[1])\n"
    "from shared.verify import worker_main\n"
    "sys.exit(worker_main(sys.argv[2]))\n"
)
PYTHON = quote(sys.executable)
PARSES = f"{PYTHON} -c \"compile(open('app.py').read(), 'app.py', 'exec')\""
FILES: dict[str, str | bytes] = {
    "app.py": "ANSWER = 1\n",
    "test_app.py": "from app import ANSWER\nassert ANSWER\n",
    ".gitignore": "__pycache__/\n*.seen\n*.fifo\n",
}


def yes(_digest: str) -> bool:
    return True


class Site:
    """A repository, a scratch worktree at its commit and a state directory."""

    def __init__(self, repo: Repository, state: Path) -> None:
        self.repo = repo
        self.base = repo.commit(FILES)
        self.state = str(state)
        self.worktree = state / "worktree"
        state.mkdir()
        make_worktree(find_repository(str(repo.path)), str(self.worktree), self.base)

    def job(self, *commands: str, tests: tuple[str, ...] = (), **config: object) -> Job:
        """Return a job for these verify commands."""
        tree = self.repo.git("rev-parse", f"{self.base}^{{tree}}")
        settings = Config.from_json({"verify": list(commands), **config})
        root = str(self.repo.path)
        return Job(self.state, root, str(self.worktree), self.base, tree, settings, tests)

    def verify(
        self, job: Job, wait_s: float = DEADLINE_S, *, again: bool = False
    ) -> Done | Running:
        """Verify with a worker that needs no command line of ours."""
        worker = [sys.executable, "-c", WORKER, ROOT, self.state]
        return verify(job, yes, wait_s=wait_s, again=again, worker=worker)

    def done(self, job: Job, *, again: bool = False) -> Done:
        """Verify to the end."""
        answer = self.verify(job, again=again)
        assert isinstance(answer, Done), answer
        return answer

    def write(self, name: str, text: str) -> Path:
        """Write a file of the worktree."""
        path = self.worktree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def worker_pid(self) -> int:
        """Return the process id of the worker, once it has one."""
        path = Path(self.state, "verify", "worker.json")
        until(lambda: path.exists() and read_json(str(path))["pid"])
        return int(read_json(str(path))["pid"])


@pytest.fixture
def site(repo: Repository, tmp_path: Path) -> Iterator[Site]:
    """Return a site whose worker, if one is left, is ended."""
    made = Site(repo, tmp_path / "state")
    yield made
    cancel_verify(made.state)


def until(condition: Callable[[], object]) -> None:
    """Wait for a condition; fails after a minute."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        threading.Event().wait(0.01)


def gone(pid: int) -> bool:
    """Say whether a process has ended; a zombie has."""
    found = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()[:1] in {"", "Z"}


def test_without_commands_nothing_is_verified(site: Site) -> None:
    assert site.verify(site.job()) == Done()


def test_commands_that_nobody_confirmed_do_not_run(site: Site) -> None:
    job = site.job("touch ran.seen", setup=["touch set-up.seen"])
    for attempt in (verify, prepare):
        with pytest.raises(Refused) as refusal:
            attempt(job, lambda _digest: False)
        (problem,) = refusal.value.problems
        assert problem.kind == "refused"
        assert "touch ran.seen" in problem.problem
        assert "touch set-up.seen" in problem.problem
        assert f"config confirm {commands_hash(job.config)} --state-dir" in problem.allowed
    assert not list(site.worktree.glob("*.seen"))


def test_what_fails_at_the_base_too_is_a_known_failure(site: Site) -> None:
    site.write("app.py", "ANSWER = 2\n")
    job = site.job("echo broken before; exit 3", "grep -q 'ANSWER = 1' app.py")
    answer = site.done(job)
    known, new = answer.results
    assert (known.baseline, known.outcome) == ("fail", "known-failure")
    assert (new.baseline, new.outcome) == ("pass", "fail")
    assert answer.failures == (new,)
    assert known.tail == "broken before"
    assert new.tree == answer.tree
    assert new.exercised is None


def test_the_base_is_measured_once(site: Site) -> None:
    count = Path(site.state, "count")
    job = site.job(f'echo "$PWD" >> {quote(str(count))}', write=[str(site.state)])
    site.done(job)
    site.write("app.py", "ANSWER = 2\n")
    site.done(job)
    lines = count.read_text().splitlines()
    assert [line for line in lines if line.endswith("/verify/base")] == lines[:1]
    assert not Path(site.state, "verify", "base").exists()


def test_a_result_for_the_same_tree_is_returned_without_running(site: Site) -> None:
    count = Path(site.state, "count")
    job = site.job(f"echo run >> {quote(str(count))}", write=[str(site.state)])
    first = site.done(job)
    before = count.read_text()
    assert site.done(job) == first
    assert count.read_text() == before
    site.done(job, again=True)
    assert count.read_text() == before + "run\n"


def test_a_command_that_reads_the_changed_file_exercises_it(site: Site) -> None:
    path = site.write("app.py", "ANSWER = 2\n")
    path.chmod(0o755)
    answer = site.done(site.job("true", PARSES))
    assert [result.exercised for result in answer.results] == [True, True]
    assert path.read_text() == "ANSWER = 2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_run_against_the_users_own_tree_exercises_nothing(site: Site) -> None:
    """As an editable install does: the package comes from another folder than the worktree."""
    site.write("app.py", "ANSWER = 2\n")
    installed = f"cd / && PYTHONPATH={quote(str(site.repo.path))} {PYTHON} -c 'import app'"
    answer = site.done(site.job(installed))
    assert [(r.outcome, r.exercised) for r in answer.results] == [("pass", False)]


def test_python_sees_the_broken_file_in_spite_of_its_bytecode_cache(site: Site) -> None:
    site.write("app.py", "ANSWER = 2\n")
    imports = f"{PYTHON} -c \"import sys; sys.path.insert(0, '.'); import app\""
    assert site.done(site.job(imports)).results[0].exercised is True


def test_tests_that_milestones_name_are_never_broken(site: Site) -> None:
    site.write("test_app.py", "from app import ANSWER\nassert ANSWER == 1\n")
    site.write("tests/test_more.py", "assert True\n")
    site.write("notes.md", "text\n")
    job = site.job("true", tests=("test_app.py", "tests/"))
    assert site.done(job).results[0].exercised is None


def test_a_deleted_file_and_a_link_are_not_broken(site: Site) -> None:
    (site.worktree / "app.py").unlink()
    (site.worktree / "alias.py").symlink_to("test_app.py")
    assert site.done(site.job("true")).results[0].exercised is None
    assert (site.worktree / "test_app.py").read_text() == FILES["test_app.py"]


def test_a_killed_worker_leaves_broken_files_that_the_next_command_mends(site: Site) -> None:
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
    with pytest.raises(Refused):
        restore_canary(site.state)
    os.kill(site.worker_pid(), signal.SIGKILL)
    until(lambda: gone(int(seen.read_text())))
    until(lambda: _restored(site))
    assert path.read_bytes() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert restore_canary(site.state) == []


def _restored(site: Site) -> bool:
    # The kernel frees the lock when the process is gone, which is a moment after the kill.
    try:
        restore_canary(site.state)
    except Refused:
        return False
    return True


def test_a_worker_that_died_is_started_anew(site: Site) -> None:
    os.mkfifo(site.worktree / "hold.fifo")
    job = site.job("test -e go.seen || { echo $$ > pid.seen; cat hold.fifo; }")
    # No fifo at the base: there the command fails at once.
    assert isinstance(site.verify(job, wait_s=0), Running)
    until((site.worktree / "pid.seen").exists)
    os.kill(site.worker_pid(), signal.SIGKILL)
    (site.worktree / "go.seen").touch()
    until(lambda: wait_until_idle(site.state) is None)
    assert site.done(job).results[0].outcome == "pass"


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


def test_a_cancelled_verification_ends_its_commands_and_mends_the_files(site: Site) -> None:
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


def test_output_that_is_no_text_is_shown_as_far_as_it_is(site: Site) -> None:
    job = site.job(r"printf 'caf\351 \033[31mred\033[0m\n'; exit 1")
    assert site.done(job).results[0].tail == "caf\ufffd red"


def test_only_the_end_of_a_long_output_is_shown(site: Site) -> None:
    job = site.job("yes line | head -n 100000; echo the end; exit 1")
    tail = site.done(job).results[0].tail
    assert len(tail) <= 3000
    assert tail.endswith("the end")


def test_the_time_limit_ends_the_whole_group(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    runner = Runner(str(tmp_path), str(tmp_path / "tmp"), 0.5)
    log = str(tmp_path / "log")
    ended = runner.run("(trap '' TERM; echo $$ > child; cat fifo) & cat fifo", log)
    assert ended.out_of_time
    assert ended.code == 124
    assert "time limit" in ended.tail()
    assert gone(int((tmp_path / "child").read_text()))


def test_what_a_command_leaves_in_the_background_is_ended(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    runner = Runner(str(tmp_path), str(tmp_path / "tmp"), DEADLINE_S)
    ended = runner.run("cat fifo & echo $! > child", str(tmp_path / "log"))
    assert ended.passed
    until(lambda: gone(int((tmp_path / "child").read_text())))


def test_commands_see_no_git_or_planner_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "PLANNER_PYTHON", "PLAN_AGENT_ROLE"):
        monkeypatch.setenv(name, "x")
    runner = Runner(str(tmp_path), str(tmp_path / "tmp"), DEADLINE_S)
    log = tmp_path / "log"
    assert runner.run("env; test ! -t 0; cat; echo in $TMPDIR > $TMPDIR/x", str(log)).passed
    text = log.read_text()
    assert not [line for line in text.splitlines() if line.startswith(("GIT_", "PLAN"))]
    assert f"TMPDIR={tmp_path / 'tmp'}" in text
    assert not (tmp_path / "tmp").exists()


@pytest.mark.skipif(not is_available(), reason="this kernel has no Landlock")
def test_commands_write_in_the_worktree_and_where_the_configuration_says(site: Site) -> None:
    mine = site.repo.path / "mine"
    cache = site.repo.path / "cache"
    cache.mkdir()
    job = site.job(f"echo x > {quote(str(mine))}", "echo x > ../../repo/cache/x", write=["cache"])
    answer = site.done(job)
    denied, allowed = answer.results
    assert "[verify] write" in answer.notes[0]
    assert not mine.exists()
    assert "ermission denied" in denied.tail
    assert (denied.baseline, denied.outcome) == ("fail", "known-failure")
    assert (cache / "x").exists()
    assert allowed.outcome == "pass"


def test_a_change_of_the_users_own_tree_is_told(site: Site) -> None:
    mine = site.repo.path / "app.py"
    job = site.job(f"echo >> {quote(str(mine))}", write=["app.py"])
    assert site.done(job).touched.endswith(": app.py")
    assert "app.py" in site.done(job, again=True).touched, "a second change of a changed file"


def test_what_commands_leave_in_the_worktree_is_told_and_does_not_start_them_again(
    site: Site,
) -> None:
    site.write("app.py", "ANSWER = 2\n")
    job = site.job("date +%s%N > report.txt")
    first = site.done(job)
    assert first.wrote.endswith(": report.txt")
    assert site.done(job) == first
    (site.worktree / "report.txt").unlink()
    assert site.done(job) == first


def test_a_setup_that_fails_is_refused_with_its_output_and_tried_again(site: Site) -> None:
    job = site.job("true", setup=["echo no network; test -e fixed.seen"])
    with pytest.raises(Refused, match="no network") as refusal:
        site.verify(job)
    assert "[worktree].setup" in refusal.value.problems[0].at
    (site.worktree / "fixed.seen").touch()
    answer = site.done(job)
    assert answer.results[0].outcome == "pass"
    assert answer.results[0].baseline == "not-run"
    assert "the base could not be set up" in answer.notes[0]


@pytest.mark.requirement("PL-33")
def test_a_worktree_is_linked_and_set_up_once(site: Site) -> None:
    (site.repo.path / "modules").mkdir()
    (site.repo.path / "modules" / "m.txt").write_text("theirs")
    job = site.job("cat modules/m.txt", setup=["echo x >> set-up.seen"], link=["modules", "none"])
    notes = prepare(job, yes)
    assert notes == ("none is not in your tree, so it could not be linked",)
    assert prepare(job, yes) == notes
    assert (site.worktree / "set-up.seen").read_text() == "x\n"
    answer = site.done(job)
    assert [(r.baseline, r.outcome) for r in answer.results] == [("pass", "pass")]
    assert answer.wrote == ""
    assert (site.worktree / "set-up.seen").read_text() == "x\n"


def test_breaking_and_mending_leaves_every_byte_and_mode(tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    folder = str(tmp_path / "canary")
    files = {"a.py": (b"\x00\xff\r\n", 0o600), "b.sh": (BROKEN[:-1], 0o555), "c.php": (b"", 0o644)}
    for name, (data, mode) in files.items():
        (worktree / name).write_bytes(data)
        (worktree / name).chmod(mode)
    names = [*files, "gone.py"]
    assert break_files(folder, str(worktree), names) == [*files]
    for name, (data, mode) in files.items():
        assert (worktree / name).read_bytes() != data
        assert stat.S_IMODE((worktree / name).stat().st_mode) == mode
    assert mend_files(folder) == []
    for name, (data, mode) in files.items():
        assert (worktree / name).read_bytes() == data
        assert stat.S_IMODE((worktree / name).stat().st_mode) == mode
    assert [path.name for path in tmp_path.iterdir()] == ["worktree"]


def test_what_was_written_over_a_broken_file_is_put_aside(tmp_path: Path) -> None:
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    (worktree / "a.py").write_text("ours\n")
    folder = str(tmp_path / "canary")
    break_files(folder, str(worktree), ["a.py"])
    (worktree / "a.py").write_text("theirs\n")
    assert mend_files(folder) == ["a.py"]
    assert (worktree / "a.py").read_text() == "ours\n"
    (aside,) = tmp_path.glob("canary-*")
    assert aside.read_text() == "theirs\n"


@pytest.mark.parametrize("ending", ["py", "sh", "pl", "php", "rb", "js", "lua"])
def test_no_interpreter_takes_a_broken_file(ending: str, tmp_path: Path) -> None:
    check = {
        "py": "python3 -m py_compile",
        "sh": "sh -n",
        "pl": "perl -c",
        "php": "php -l",
        "rb": "ruby -c",
        "js": "node --check",
        "lua": "luac -p",
    }[ending].split()
    name = f"x.{ending}"
    (tmp_path / name).write_text("")
    assert is_code(name)
    break_files(str(tmp_path / "canary"), str(tmp_path), [name])
    try:
        found = subprocess.run([*check, name], cwd=tmp_path, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"{check[0]} is not here")
    assert found.returncode
