"""Commands run on the planned files at the repository's own path, over the user's ignored ones."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from developer.verify.background import cancel_verify, verify
from developer.verify.job import Done, Running
from shared.resources import quote
from shared.verified import facts_of
from state.errors import AGAIN, Refused
from tests.developer.verify.conftest import DEADLINE_S, FILES, PYTHON, Site, running, until, yes
from tests.forms import part
from tests.place import need_place

if TYPE_CHECKING:
    from developer.verify.job import Job, Result

pytestmark = pytest.mark.requirement("VR-2")


@pytest.fixture(autouse=True)
def _with_a_place() -> None:
    need_place()


def place_job(site: Site, *commands: str, **config: Any) -> Job:  # noqa: ANN401 – of any key
    """Return a job whose commands run in the place, and that no person has confirmed."""
    return replace(site.job(*commands, **config), in_place=True)


def outcome(site: Site, command: str, **config: Any) -> Result:  # noqa: ANN401 – of any key
    """Verify with one command; return its result."""
    done = site.done(place_job(site, command, **config), again=True)
    (result,) = done.results
    assert result.where == "place", done.notes
    return result


def said(site: Site, command: str) -> str:
    """Return what a command says that runs on the planned files."""
    return outcome(site, f"{command}; exit 1").tail


def commit(site: Site, files: dict[str, str | bytes]) -> Site:
    """Return the site at a new base commit with these files."""
    shutil.rmtree(site.state)
    site.repo.git("worktree", "prune")
    return Site(site.repo, Path(site.state), files)


@pytest.mark.quick
def test_the_commands_see_the_plan_and_what_git_ignores_but_no_uncommitted_work(site: Site) -> None:
    site.repo.write("app.py", "ANSWER = 'mine'\n")
    site.repo.write("loose.txt", "mine\n")
    site.repo.write("made.seen", "generated\n")
    site.write("app.py", "ANSWER = 2\n")
    site.write("new/added.py", "NEW = 1\n")
    shown = said(site, "pwd; cat app.py new/added.py made.seen; ls -A")
    assert shown.splitlines()[:4] == [
        str(site.repo.path), "ANSWER = 2", "NEW = 1", "generated",
    ]  # fmt: skip
    assert shown.splitlines()[4:] == [
        ".git", ".gitignore", "README.md", "app.py", "made.seen", "new", "test_app.py",
    ]  # fmt: skip


def test_git_shows_the_change_of_the_plan_as_a_commit_on_the_base(site: Site) -> None:
    site.repo.write("loose.txt", "mine\n")
    site.repo.write("app.py", "ANSWER = 'staged'\n")
    site.repo.git("add", "--all")
    site.write("app.py", "ANSWER = 2\n")
    site.write("added.py", "")
    (site.worktree / "test_app.py").unlink()
    command = "git status --porcelain; git rev-parse HEAD~1; git show --format= --name-status"
    assert said(site, command).splitlines() == [
        site.base, "A\tadded.py", "M\tapp.py", "D\ttest_app.py",
    ]  # fmt: skip
    assert site.repo.git("status", "--porcelain").splitlines() == ["M  app.py", "A  loose.txt"]


@pytest.mark.parametrize(
    "check",
    [
        "git diff --exit-code HEAD",
        "git diff --exit-code --cached",
        'test -z "$(git status --porcelain)"',
        "git stash && test -e schema.txt",
        "git diff --exit-code HEAD -- schema.txt && git ls-files --error-unmatch schema.txt",
        "git ls-tree --name-only HEAD | grep schema.txt",
        "git archive HEAD | tar -t | grep schema.txt",
    ],
)
def test_a_check_that_compares_with_head_accepts_what_is_generated_alike(
    site: Site, check: str
) -> None:
    make = "sed s/ANSWER/answer/ app.py >schema.txt"
    generated: dict[str, str | bytes] = {"make.sh": make, "schema.txt": "answer = 1\n"}
    there = commit(site, generated)
    there.write("app.py", "ANSWER = 2\n")
    there.write("schema.txt", "answer = 2\n")
    result = outcome(there, f"sh make.sh && {check}")
    assert (result.baseline, result.outcome) == ("pass", "pass"), result.tail


def test_a_check_that_compares_with_head_refuses_what_is_not_generated(site: Site) -> None:
    make = "sed s/ANSWER/answer/ app.py >schema.txt"
    there = commit(site, {"make.sh": make, "schema.txt": "answer = 1\n"})
    there.write("app.py", "ANSWER = 2\n")
    result = outcome(there, "sh make.sh && git diff --exit-code HEAD")
    assert (result.baseline, result.outcome) == ("pass", "fail")


def test_head_is_on_the_base_where_the_user_has_committed_since(site: Site) -> None:
    site.repo.commit({"later.txt": "later\n", "app.py": "ANSWER = 3\n"})
    site.write("app.py", "ANSWER = 2\n")
    shown = said(site, "git rev-parse HEAD~1; git status --porcelain; cat app.py; ls later.txt")
    assert shown.splitlines()[:2] == [site.base, "ANSWER = 2"]
    assert "later.txt" in shown.splitlines()[-1]
    assert "No such file" in shown


def test_what_a_command_writes_is_seen_by_the_next_and_then_gone(site: Site) -> None:
    before = site.repo.git("rev-parse", "HEAD")
    first = "echo x > made.txt; rm test_app.py; git commit -qam other; echo t > /tmp/t"
    done = site.done(place_job(site, first, "cat made.txt /tmp/t; ls; git log -1 --format=%s"))
    assert [r.outcome for r in done.results] == ["pass", "pass"], done.results
    assert site.repo.git("rev-parse", "HEAD") == before
    assert site.repo.git("status", "--porcelain") == ""
    assert done.wrote == ""
    assert done.touched == ""


@pytest.mark.requirement("VR-4")
def test_only_what_passes_at_the_base_counts_as_a_failure_of_the_change(site: Site) -> None:
    site.write("app.py", "ANSWER = 2\n")
    done = site.done(place_job(site, "echo broken before; exit 3", "grep -q 'ANSWER = 1' app.py"))
    known, new = done.results
    assert (known.baseline, known.outcome, known.where) == ("fail", "known-failure", "place")
    assert (new.baseline, new.outcome, new.where) == ("pass", "fail", "place")
    assert done.failures == (new,)


def test_the_base_runs_in_the_same_place_without_the_change(site: Site) -> None:
    site.repo.write("made.seen", "generated\n")
    site.repo.write("app.py", "ANSWER = 'mine'\n")
    site.write("app.py", "ANSWER = 2\n")
    result = outcome(site, "grep -q 'ANSWER = 1' app.py && test -e made.seen")
    assert (result.baseline, result.outcome) == ("pass", "fail")


@pytest.mark.parametrize("ignored", [".venv/\n", "", "bin\nlib\nlib64\n"])
def test_an_editable_install_leads_to_the_change(site: Site, ignored: str) -> None:
    """Whatever of the environment git ignores."""
    site = commit(site, {
        "src/pack/__init__.py": "def answer():\n    return 1\n",
        "test_it.py": "import pack\nassert pack.answer() == 1\n", ".gitignore": ignored,
    })  # fmt: skip
    venv = site.repo.path / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "editable.pth").write_text(f"{site.repo.path}/src\n", encoding="utf-8")
    command = ".venv/bin/python -I test_it.py"
    site.write("src/pack/__init__.py", "def answer():\n    return 1 + 0\n")
    good = outcome(site, command)
    assert (good.outcome, good.exercised) == ("pass", True)
    site.write("src/pack/__init__.py", "def answer():\n    return 2\n")
    assert outcome(site, command).outcome == "fail", "the planted failure was not seen"


def test_what_was_compiled_from_the_users_file_is_not_taken_for_the_plans(site: Site) -> None:
    now = int(time.time())
    mine = site.repo.write("app.py", "ANSWER = 1\n")
    os.utime(mine, (now, now))
    subprocess.run([sys.executable, "-c", "import app"], cwd=site.repo.path, check=True)
    site.write("app.py", "ANSWER = 0\n")
    assert outcome(site, f"{PYTHON} test_app.py").outcome == "fail"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not here")
def test_make_builds_again_what_the_change_makes_stale(site: Site) -> None:
    site = commit(site, {
        "Makefile": "out.txt: in.txt\n\tcp in.txt $@\ncheck: out.txt\n\tgrep -q good $<\n",
        "in.txt": "good\n", ".gitignore": "out.txt\n",
    })  # fmt: skip
    subprocess.run(["make", "-s", "out.txt"], cwd=site.repo.path, check=True)
    later = time.time() - 5
    os.utime(site.repo.path / "out.txt", (later, later))
    os.utime(site.repo.path / "in.txt", (later - 100, later - 100))
    site.write("in.txt", "bad\n")
    assert outcome(site, "make check").outcome == "fail"
    assert (site.repo.path / "out.txt").read_text(encoding="utf-8") == "good\n"


def test_a_link_of_a_workspace_leads_to_the_change(site: Site) -> None:
    site = commit(site, {
        "packages/lib/index.js": "exports.answer = 1\n", ".gitignore": "node_modules/\n",
        "packages/app/check.sh": "grep -q 'answer = 1' ../../node_modules/lib/index.js\n",
    })  # fmt: skip
    modules = site.repo.path / "node_modules"
    modules.mkdir()
    (modules / "lib").symlink_to(site.repo.path / "packages" / "lib")
    site.write("packages/lib/index.js", "exports.answer = 2\n")
    result = outcome(site, "cd packages/app && sh check.sh")
    assert (result.baseline, result.outcome) == ("pass", "fail")


def test_a_folder_takes_the_place_of_a_file_and_the_other_way_round(site: Site) -> None:
    site = commit(site, {"one": "file\n", "two/a": "a\n", "two/b": "b\n", "l/x": "x\n"})
    shutil.move(site.repo.path / "l", site.repo.path / "moved")
    (site.repo.path / "l").symlink_to("moved")
    (site.worktree / "one").unlink()
    site.write("one/in", "in\n")
    shutil.rmtree(site.worktree / "two")
    site.write("two", "file\n")
    (site.worktree / "link").symlink_to("two")
    shown = said(site, "cat one/in two link l/x; ls -A; stat -c %F l; git status -s --no-renames")
    assert shown.split("?")[0].splitlines() == [
        "in", "file", "file", "x", ".git", ".gitignore", "README.md", "app.py", "l", "link",
        "moved", "one", "test_app.py", "two", "directory",
    ]  # fmt: skip


def test_files_that_git_does_not_look_at_come_from_the_plan_too(site: Site) -> None:
    site.repo.write("app.py", "ANSWER = 'mine'\n")
    site.repo.git("update-index", "--assume-unchanged", "app.py")
    site.repo.git("update-index", "--skip-worktree", "test_app.py")
    (site.repo.path / "test_app.py").unlink()
    assert said(site, "cat app.py; ls") == "ANSWER = 1\nREADME.md\napp.py\ntest_app.py"


def test_in_a_linked_worktree_the_git_folder_elsewhere_is_covered_too(
    site: Site, tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    site.repo.git("worktree", "add", "-q", "-b", "other", str(linked))
    (linked / "app.py").write_text("ANSWER = 'mine'\n", encoding="utf-8")
    site.write("app.py", "ANSWER = 2\n")
    commit_too = "git commit -qm x --allow-empty; exit 1"
    job = place_job(site, f"cat app.py; git status --porcelain; {commit_too}")
    done = site.done(replace(job, repository=str(linked)))
    assert done.results[0].tail == "ANSWER = 2"
    assert site.repo.git("log", "-1", "--format=%H", "other") == site.base


@pytest.mark.parametrize(
    "command",
    [
        "mkdir d && chmod g+s d && test -g d",
        "touch f && chmod 4755 f && test -u f",
        "install -m 2755 app.py f && test -g f",
        "touch f && chmod 2755 f && tar -cf t f && rm f && tar -xpf t && test -g f",
        f"{PYTHON} -c 'import os; os.close(os.open(\"f\", os.O_CREAT, 0o2755))' && test -g f",
        f'{PYTHON} -c \'import os; os.mkdir("d"); os.chmod("d", 0o3770)\' && test -g d',
        "chmod g+s . && mkdir sub && test -g sub",
    ],
)
def test_a_command_whose_writes_vanish_may_set_the_bits_that_change_ids(
    site: Site, command: str
) -> None:
    assert outcome(site, command).outcome == "pass"
    assert not (site.repo.path / "f").exists()


def test_where_something_lasts_it_may_not_set_them(site: Site, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    set_bit = f"touch {quote(str(kept))}/f; chmod g+s {quote(str(kept))}/f || exit 7"
    job = replace(place_job(site, set_bit, write=[str(kept)]), confirmed=True)
    assert "Operation not permitted" in site.done(job).results[0].tail


def test_the_network_is_the_machines_own_only_where_a_person_has_confirmed_it(site: Site) -> None:
    spaces = os.readlink("/proc/self/ns/net")
    shown = "readlink /proc/self/ns/net; cat /sys/class/net/lo/operstate; ls /sys/class/net; exit 1"
    job = place_job(site, shown, network=True)
    assert site.done(job).results[0].tail.splitlines()[0] == spaces
    assert said(site, "readlink /proc/self/ns/net") != spaces
    server = (
        "import socket; s = socket.create_server(('127.0.0.1', 0));"
        "socket.create_connection(s.getsockname()); print('loopback')"
    )
    assert said(site, f"{PYTHON} -c {quote(server)}") == "loopback"


def test_the_planners_own_files_and_secrets_are_absent(site: Site) -> None:
    site.repo.write(".gitignore", f"{FILES['.gitignore']!s}.env\n")
    site.repo.write(".env", "TOKEN=x\n")
    site.repo.write(".planner/x", "")
    site.write("more.txt", "x\n")
    assert said(site, f"ls -A; test -e {quote(site.state)} || echo no run") == (
        ".git\n.gitignore\nREADME.md\napp.py\nmore.txt\ntest_app.py\nno run"
    )


@pytest.mark.parametrize(
    ("command", "code", "shown"),
    part([
        ("sleep 300", 124, "[ended by the time limit after "),
        ("yes 0123456789012345678901234567890123456789 | head -c 100000000", 137,
         "[ended: more than 64 MiB of output]"),
        ("f() { f | f & }; f; sleep 300", None, ("[ended", "Cannot fork")),
        ("read x </dev/tty", 2, "No such device or address"),
        ("no-such-program-here", 127, "not found"),
    ], 2),
)  # fmt: skip
def test_what_goes_wrong_is_bounded_and_said_and_the_next_command_runs(
    site: Site, command: str, code: int | None, shown: str | tuple[str, ...]
) -> None:
    job = place_job(site, command, "echo next; exit 3", time_limit_s=4)
    first, second = site.done(job).results
    assert any(one in first.tail for one in ([shown] if isinstance(shown, str) else shown))
    assert code is None or first.outcome == "known-failure"
    assert second.tail == "next"
    log = Path(first.log)
    assert log.stat().st_size <= (64 << 20) + 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "shown", "note"),
    part([
        ("echo x >/etc/planner-test; echo x >OUTSIDE/x", "Read-only file system", "write only in"),
        ("rm -rf ~/.config ../*; echo x >~/new; exit 1", "", ""),
        ("cat ~/.netrc .env || exit 5", "No such file or directory", ""),
        ("python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 80))'",
         "Network is unreachable", "no network"),
        ("getent hosts example.org || { echo Could not resolve host; exit 6; }", "", "no network"),
        ("setsid sh -c 'sleep 273 & sleep 273' & (sleep 273 &) ; exit 4", "", ""),
        ("head -c 3000000000 /dev/zero >/tmp/big; exit 3", "No space left on device|File size", ""),
        ("mkfifo p; cat p", "ended by the time limit|not permitted", ""),
    ], 3),
)  # fmt: skip
def test_what_a_command_must_not_do_is_named_and_leaves_nothing_behind(
    site: Site, tmp_path: Path, command: str, shown: str, note: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (Path.home() / ".netrc").write_text("machine x password hunter2\n", encoding="utf-8")
    (Path.home() / ".config").mkdir(exist_ok=True)
    site.repo.write(".git/info/exclude", ".env\n")
    site.repo.write(".env", "TOKEN=hunter2\n")
    watched = (tmp_path, Path.home())
    # What waits for nobody needs no more; all else ends by itself, however busy the machine is.
    limit_s = 4 if "mkfifo" in command else 20
    job = place_job(site, command.replace("OUTSIDE", str(outside)), time_limit_s=limit_s)
    site.done(place_job(site, "true"))  # git has written by now what it writes of the worktree

    def there() -> list[str]:
        every = (str(p) for top in watched for p in top.rglob("*"))
        return sorted(p for p in every if "/verify/" not in p and "/.git/" not in p)

    before, mounts = there(), Path("/proc/self/mountinfo").read_bytes()
    done = site.done(job, again=True)
    (result,) = done.results
    assert result.outcome == "known-failure"
    assert re.search(shown, result.tail), result.tail
    assert note in " ".join(done.notes)
    assert "hunter2" not in Path(result.log).read_text(encoding="utf-8")
    assert there() == before
    assert not running("sleep 273")
    assert Path("/proc/self/mountinfo").read_bytes() == mounts


@pytest.mark.quick
@pytest.mark.requirement("VR-5", "CM-1")
def test_what_is_verified_holds_stand_ins_of_the_files_that_the_commit_will_add(
    site: Site,
) -> None:
    site.write("app.py", "ANSWER = 2\n")
    files = ("planning/plans/r1.json", "planning/plans/r1.md")
    job = replace(place_job(site, "git ls-files planning; cat planning/plans/*; exit 1"),
                  beside=files)  # fmt: skip
    done = site.done(job)
    assert done.results[0].tail.splitlines() == [*files, "{}", "# Plan"]
    assert done.results[0].baseline == "fail", "the base has none"
    assert done.tree == site.done(replace(job, beside=()), again=True).tree
    assert done.wrote == ""


def test_what_a_command_leaves_running_does_not_meet_the_next(site: Site) -> None:
    after = "! grep -q . /proc/$(cat pid)/cmdline"
    done = site.done(place_job(site, "sleep 250 & echo $! > pid", after))
    assert [r.outcome for r in done.results] == ["pass", "pass"]
    assert running("sleep 250") == []


def test_a_file_broken_on_purpose_is_broken_in_the_place_alone(site: Site) -> None:
    site.write("app.py", "ANSWER = 2\n")
    assert outcome(site, f"{PYTHON} test_app.py").exercised is True
    assert outcome(site, "true").exercised is False
    assert site.repo.git("status", "--porcelain") == ""


def test_a_verification_in_the_place_can_be_cancelled(site: Site) -> None:
    site.verify(place_job(site, "sleep 272"), wait_s=0)
    until(lambda: running("sleep 272"))
    assert cancel_verify(site.state) is True
    assert running("sleep 272") == []


def test_without_a_place_commands_run_in_the_worktree_only_if_a_person_has_confirmed_them(
    site: Site,
) -> None:
    # No overlay can be laid over a repository in which another file system is mounted.
    mounted = site.repo.path / "mounted.seen"
    mounted.mkdir()
    script = 'mount -t tmpfs none "$0" && exec "$@"'
    worker = ["unshare", "-rm", "sh", "-c", script, str(mounted), *site.worker]
    job = place_job(site, "pwd; exit 1")
    with pytest.raises(Refused, match="no person has confirmed"):
        verify(job, lambda _digest: False, worker=worker)
    done = verify(job, yes, worker=worker)
    assert isinstance(done, Done), done
    (result,) = done.results
    assert (result.where, result.tail) == ("worktree", str(site.worktree))
    assert "the commands ran in the worktree, since a file system is mounted" in done.notes[0]


def verify_while_it_changes(site: Site, job: Job, mine: Path) -> None:
    """Wait for a verification, changing a file of the user all the time."""
    stop = time.monotonic() + DEADLINE_S
    while time.monotonic() < stop:
        mine.write_text(f"ANSWER = {time.time_ns()}\n", encoding="utf-8")
        site.verify(job, wait_s=0.2)


@pytest.mark.requirement("VR-5")
def test_a_result_is_void_if_the_users_tracked_files_changed_meanwhile(site: Site) -> None:
    mine = site.repo.path / "app.py"
    site.write("app.py", "ANSWER = 2\n")
    job = place_job(site, "sleep 1")
    assert isinstance(site.verify(job, wait_s=0), Running)
    with pytest.raises(Refused, match="your tree changed while verify ran") as refusal:
        verify_while_it_changes(site, job, mine)
    (problem,) = refusal.value.problems
    assert "app.py" in problem.problem
    assert problem.retry == AGAIN
    assert [r.outcome for r in site.done(job).results] == ["pass"], "and then it is verified"


@pytest.mark.requirement("VR-5")
def test_a_file_that_changes_once_only_has_all_run_again(site: Site) -> None:
    job = place_job(site, "sleep 1")
    site.verify(job, wait_s=0)
    until(lambda: running("sleep 1"))
    site.repo.write("app.py", "ANSWER = 'mine'\n")
    assert [r.outcome for r in site.done(job).results] == ["pass"]


@pytest.mark.requirement("VR-4")
def test_an_own_command_that_broken_code_does_not_disturb_verifies_nothing(site: Site) -> None:
    site.write("app.py", "ANSWER = 2\n")
    job = replace(place_job(site), chosen=("true", f"{PYTHON} test_app.py"))
    first, _ = site.done(job).results
    assert (first.chosen_by, first.exercised) == ("assistant", True)
    alone = replace(job, chosen=("true",))
    (result,) = site.done(alone).results
    assert result.exercised is False
    assert facts_of(result.for_plan()).startswith("NOT VERIFIED by it")
