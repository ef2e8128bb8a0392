"""The place: a command sees the user's files, nothing that it does lasts, limits end it."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.place.marker import MARKER
from shared.resources import ROOT
from tests.developer.verify.conftest import running
from tests.forms import part
from tests.place import need_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

ENTER = """
import sys
sys.path.insert(0, sys.argv[1])
from shared.place.enter import run
from shared.place.planning import planning_place
from shared.place.values import Limits
place = planning_place(sys.argv[2], sys.argv[2], sys.argv[3] or None)
place.limits = Limits(**eval(sys.argv[4]))
report = run(place, ["bash", "-c", sys.argv[5]])
print(*report.notes("edit elsewhere"), sep="\\n", end="", file=sys.stderr)
sys.exit(report.code)
"""
Text = subprocess.CompletedProcess[str]


@pytest.fixture(autouse=True)
def _with_a_place() -> None:
    need_place()


def words(folder: Path, command: str, state_dir: object = "", **limits: float) -> list[str]:
    """Return the command line that runs `command` by bash in the place, as `planner ro` does."""
    given = (ROOT, str(folder), str(state_dir), repr(limits), command)
    return [sys.executable, "-I", "-S", "-c", ENTER, *given]


def enter(folder: Path, command: str, state_dir: object = "", **limits: float) -> Text:
    """Run `command` by bash in the place."""
    return subprocess.run(
        words(folder, command, state_dir, **limits),
        capture_output=True, text=True, errors="replace", check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.requirement("PP-1")
def test_what_a_command_writes_in_the_repository_is_seen_by_it_and_then_lost(
    repo: Repository,
) -> None:
    before = sorted(os.listdir(repo.path))
    answer = enter(repo.path, "echo x > new.txt && rm -rf .git && ls -A && cat new.txt; exit 3")
    assert "new.txt" in answer.stdout
    assert answer.returncode == 3
    assert "not kept: new.txt; edit elsewhere" in answer.stderr
    assert sorted(os.listdir(repo.path)) == before


@pytest.mark.requirement("PP-1")
def test_entering_imports_nothing_slow() -> None:
    """With these it takes a third longer; the benchmark of the place measures it."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import shared.guard.runner,"
        "shared.place.enter, shared.place.inside, shared.place.planning; print(*sys.modules)"
    )
    command = [sys.executable, "-I", "-S", "-c", program, ROOT]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    slow = {"re", "json", "enum", "shutil", "tempfile", "subprocess", "signal", "typing", "sqlite3"}
    assert not slow & {*loaded}


@pytest.mark.requirement("PP-1")
def test_the_repository_has_its_own_time_in_the_place(repo: Repository) -> None:
    os.utime(repo.path, (1_000_000, 2_000_000))
    assert enter(repo.path, "stat -c %Y .").stdout == "2000000\n"


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize(
    "command",
    part([
        "touch /usr/x", "touch /etc/x", "echo 1 >/proc/sys/kernel/panic", "mkdir /sys/fs/cgroup/x",
        "mount -t tmpfs none /mnt", "unshare -Ur true", "unshare -m true", "chroot / true",
        "keyctl show", "rm /run/planner-place", "mknod x b 7 0",
        "python3 -c 'import socket; socket.socket(40, 1)'", "kill -9 1; test ! -e /proc/1",
        "cat /proc/1/environ", "readlink /proc/1/fd/1", "cat /proc/1/mem", "ls /proc/1/root/",
        "true </dev/tty", "prlimit --pid 1 --nofile=3", "renice -n 19 -p 1", "taskset -p 1 1",
        "ionice -c 3 -p 1", "chrt --idle -p 0 1", "renice -n 19 -u $(id -u)",
        "python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")'",
    ], 2),
)  # fmt: skip
def test_what_leads_out_of_the_place_fails(repo: Repository, command: str) -> None:
    assert enter(repo.path, command).returncode != 0


@pytest.mark.requirement("PP-1")
def test_bits_that_change_ids_are_set_only_where_they_vanish(repo: Repository) -> None:
    answer = enter(repo.path, "chmod ug+s README.md && stat -c %a README.md")
    assert answer.stdout.startswith("6"), answer.stderr
    assert (repo.path / "README.md").stat().st_mode & 0o6000 == 0


@pytest.mark.requirement("PP-1")
def test_tools_write_to_the_home_to_tmp_and_to_shared_memory_and_nothing_of_it_stays(
    repo: Repository,
) -> None:
    home = Path(os.environ["HOME"])
    (home / ".cache" / "pip").mkdir(parents=True)
    (home / ".cache" / "pip" / "old").write_text("old\n", encoding="utf-8")
    name = f"planner-test-{os.getpid()}"
    command = (
        "set -e; cd ~/.cache/pip; cat old; echo new >old; rm old; mkdir -p ~/.npm/x;"
        f"echo t >/tmp/{name}; echo s >/dev/shm/{name}; cat /tmp/{name} /dev/shm/{name}; ls -A /tmp"
    )
    answer = enter(repo.path, command)
    assert answer.stdout.split()[:3] == ["old", "t", "s"], answer.stderr
    assert (home / ".cache" / "pip" / "old").read_text(encoding="utf-8") == "old\n"
    assert not (home / ".npm").exists()
    assert not (Path("/tmp") / name).exists()  # noqa: S108
    assert answer.stderr == ""


@pytest.mark.requirement("PP-1")
def test_answers_and_worktree_are_kept_and_the_planners_own_files_are_not_writable(
    repo: Repository,
) -> None:
    run = repo.path / ".planner" / "run"
    for name in ("answers", "worktree"):
        (run / name).mkdir(parents=True)
    (run / "worktree" / ".git").write_text("gitdir: x\n", encoding="utf-8")
    (run / "plan.json").write_text("{}\n", encoding="utf-8")
    command = (
        "cd .planner/run; echo a >answers/a; echo w >worktree/w; echo bad >plan.json;"
        "echo bad >worktree/.git; rm -f worktree/.git; mv worktree other; mv ../../.planner x;"
        "rm -f plan.json; ln -sfn /etc answers"
    )
    enter(repo.path, command, run)
    assert (run / "answers" / "a").read_text(encoding="utf-8") == "a\n"
    assert (run / "worktree" / "w").read_text(encoding="utf-8") == "w\n"
    assert (run / "worktree" / ".git").read_text(encoding="utf-8") == "gitdir: x\n"
    assert (run / "plan.json").read_text(encoding="utf-8") == "{}\n"
    assert sorted(os.listdir(run)) == ["answers", "plan.json", "worktree"]


@pytest.mark.requirement("PP-1")
def test_no_pipe_or_socket_stays_in_a_repository_below_tmp_either(repo: Repository) -> None:
    if not str(repo.path).startswith("/tmp/"):  # noqa: S108 – where the place has its own
        pytest.skip("the tests' folders do not lie in /tmp")
    kept = repo.path / ".planner" / "run" / "answers"
    kept.mkdir(parents=True)
    bind = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
    tries = f"mkfifo pipe; python3 -c '{bind}' socket; mknod device c 0 0; touch file"
    answer = enter(repo.path, f"cd {kept}; {tries}", kept.parent)
    assert os.listdir(kept) == ["file"], answer.stderr
    made = "cd /var/tmp && mkfifo pipe && cd /dev/shm && mkfifo pipe && echo made"
    assert enter(repo.path, made, kept.parent).stdout == "made\n"


@pytest.mark.requirement("PP-1")
def test_a_link_in_place_of_the_answers_lets_nothing_last(repo: Repository, tmp_path: Path) -> None:
    run, elsewhere = repo.path / ".planner" / "run", tmp_path / "elsewhere"
    run.mkdir(parents=True)
    elsewhere.mkdir()
    (run / "answers").symlink_to(elsewhere)
    enter(repo.path, "echo x >.planner/run/answers/x", run)
    assert os.listdir(elsewhere) == []


@pytest.mark.requirement("PP-1")
def test_neither_sockets_nor_pipes_nor_processes_of_others_are_reached(repo: Repository) -> None:
    shown = Path(os.environ["HOME"], ".npm")
    shown.mkdir()
    local, internet = socket.socket(socket.AF_UNIX), socket.socket()
    with local, internet, subprocess.Popen(["sleep", "60"]) as victim:
        local.bind(str(shown / "socket"))
        internet.bind(("127.0.0.1", 0))
        os.mkfifo(shown / "pipe")
        reader = os.open(shown / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        for listener in (local, internet):
            listener.listen()
            listener.settimeout(0.1)
        program = (
            "import os, socket\n"
            "for kind, to in ((socket.AF_UNIX, os.path.expanduser('~/.npm/socket')),"
            f" (socket.AF_INET, {internet.getsockname()})):\n"
            "    try: socket.socket(kind).connect(to); print('connected')\n"
            "    except OSError as error: print(type(error).__name__)\n"
            "flags = os.O_WRONLY | os.O_NONBLOCK\n"
            "try: os.write(os.open(os.path.expanduser('~/.npm/pipe'), flags), b'x')\n"
            "except OSError as error: print(type(error).__name__)\n"
            f"try: os.kill({victim.pid}, 9)\n"
            "except OSError as error: print(type(error).__name__)\n"
        )
        answer = enter(repo.path, f"python3 - <<'EOF'\n{program}EOF")
        assert answer.stdout.split() == [
            "ConnectionRefusedError", "ConnectionRefusedError", "OSError", "ProcessLookupError",
        ], answer  # fmt: skip
        for listener in (local, internet):
            with pytest.raises(TimeoutError):
                listener.accept()
        assert os.read(reader, 1) == b""
        os.close(reader)
        assert victim.poll() is None
        victim.kill()


@pytest.mark.requirement("PP-1")
def test_a_command_has_a_loopback_of_its_own(repo: Repository) -> None:
    program = (
        "import socket; s = socket.create_server(('127.0.0.1', 0));"
        "c = socket.create_connection(s.getsockname()); print('connected')"
    )
    assert enter(repo.path, f'python3 -c "{program}"').stdout == "connected\n"


BOMB = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
SHARES = """python3 -c '
import mmap, time
memory = mmap.mmap(-1, 1 << 28)
for at in range(0, 1 << 28, 4096):
    memory[at] = 1
time.sleep(60)'"""
KEEPS = """python3 -c '
import os, time
os.posix_fallocate(os.memfd_create("a"), 0, 1 << 28)
time.sleep(60)'"""
THREADS = """python3 -c '
import threading, time
for _ in range(2000):
    threading.Thread(target=time.sleep, args=(60,)).start()'"""
LEAVES = """python3 -c '
import ctypes, time
library = ctypes.CDLL(None)
library.shmat.restype = ctypes.c_void_p
place = library.shmat(library.shmget(0, 1 << 28, 0o1600), None, 0)
ctypes.memset(place, 1, 1 << 28)
library.shmdt(ctypes.c_void_p(place))
time.sleep(60)'"""
SOCKETS = """python3 -c '
import socket, time
pairs = [socket.socketpair() for _ in range(900)]
for one, _ in pairs:
    one.setblocking(False)
    try:
        while True: one.send(bytes(4096))
    except BlockingIOError: pass
time.sleep(60)'"""
PAGE_TABLES = """python3 -c '
import mmap, time
memory = mmap.mmap(-1, 1 << 36, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ)
memory.madvise(15)
for at in range(0, 1 << 36, 1 << 21):
    memory[at]
time.sleep(60)'"""
QUEUES = """python3 -c '
import ctypes, time
library = ctypes.CDLL(None)
for _ in range(2100):
    library.semget(0, 1000, 0o1600)
time.sleep(60)'"""
OPENS = """python3 -c '
import os, time
for _ in range(700): os.dup(0)
for _ in range(15): os.fork() or time.sleep(60)
time.sleep(60)'"""
ENDED: dict[str, tuple[str, dict[str, float], str]] = {
    "sleeps": ("sleep 3600", {"seconds": 1}, "time limit of 1 s"),
    "ignores TERM": ("trap '' TERM INT HUP; sleep 3600", {"seconds": 1}, "time limit of 1 s"),
    "forks": (f'python3 -c "{BOMB}"', {"processes": 64}, "more than 64 processes"),
    "starts threads": (THREADS, {"processes": 64}, "more than 256 threads"),
    "eats memory": (
        "python3 -c 'import time; x = bytearray(10**9); time.sleep(60)'", {"memory": 1 << 28},
        "more than 256 MiB of memory",
    ),
    "shares memory": (SHARES, {"memory": 1 << 27}, "more than 128 MiB of memory"),
    "keeps files in memory": (KEEPS, {"memory": 1 << 27}, "more than 128 MiB of memory"),
    "leaves memory with the kernel": (LEAVES, {"memory": 1 << 27}, "more than 128 MiB of memory"),
    "writes": (
        "dd if=/dev/zero of=big bs=1M count=10000 2>/dev/null; sleep 60", {"written": 1 << 26},
        "more than 64 MiB written",
    ),
    "writes to /tmp": (
        "dd if=/dev/zero of=/tmp/big bs=1M count=10000 2>/dev/null; sleep 60",
        {"written": 1 << 26}, "more than 64 MiB written",
    ),
    "fills sockets": (SOCKETS, {"memory": 1 << 27}, "more than 128 MiB of memory"),
    "fills page tables": (PAGE_TABLES, {"memory": 1 << 26}, "more than 64 MiB of memory"),
    "fills queues": (QUEUES, {"memory": 1 << 27}, "more than 128 MiB of memory"),
    "opens files": (OPENS, {"processes": 64}, "more than 8192 open files"),
    "makes files": (
        "mkdir a; cd a; for i in $(seq 5000); do : >$i || break; done; sleep 60",
        {"written": 1 << 24}, "more than 4096 files and folders written",
    ),
    "prints": ("cat /dev/zero", {"output": 1 << 22}, "more than 4 MiB of output"),
}  # fmt: skip


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("what", ENDED)
def test_a_limit_ends_all_of_it_and_says_so_in_one_line(repo: Repository, what: str) -> None:
    command, limits, said = ENDED[what]
    mark = f"planner-mark-{os.getpid()}-{what.replace(' ', '-')}"
    began = time.monotonic()
    answer = enter(repo.path, f": {mark}; {command}", **limits)
    assert time.monotonic() - began < 20
    assert said in answer.stderr
    assert answer.stderr.count("planner: ended") == 1
    assert answer.returncode in {124, 137}
    assert running(mark) == []


@pytest.mark.requirement("PP-1")
def test_the_kernel_holds_few_watches_and_files_for_a_command(repo: Repository) -> None:
    answer = enter(repo.path, "cat /proc/sys/user/max_inotify_watches; ulimit -Hn")
    watches, files = map(int, answer.stdout.split())
    assert watches <= 1 << 16
    assert files <= 8192


@pytest.mark.requirement("PP-1")
def test_memory_counts_also_while_others_give_theirs_back(repo: Repository) -> None:
    answers = repo.path / ".planner" / "run" / "answers"
    answers.mkdir(parents=True)
    (answers / "wait").touch()
    command = f"echo ready; while [ -e {answers}/wait ]; do :; done; {KEEPS}"
    held = os.memfd_create("a")
    os.posix_fallocate(held, 0, 1 << 29)
    process = subprocess.Popen(
        words(repo.path, command, answers.parent, memory=1 << 27, seconds=20),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.close(held)
    (answers / "wait").unlink()
    assert process.communicate()[1] == "planner: ended: more than 128 MiB of memory"


@pytest.mark.requirement("PP-1")
def test_a_command_whose_watcher_is_killed_has_run_and_never_runs_again(repo: Repository) -> None:
    answers = repo.path / ".planner" / "run" / "answers"
    answers.mkdir(parents=True)
    command = f"echo begun >>{answers}/log; echo ready; sleep 300"
    process = subprocess.Popen(
        words(repo.path, command, answers.parent),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    (separated,) = children(process.pid)
    (first,) = children(separated)
    os.kill(first, signal.SIGKILL)
    said = process.communicate(timeout=20)[1]
    assert said == "planner: ended: what watches it was ended"
    assert process.returncode == 137
    assert (answers / "log").read_text(encoding="utf-8") == "begun\n"


def children(process: int) -> list[int]:
    """Return the processes that a process has started."""
    path = Path("/proc") / str(process) / "task" / str(process) / "children"
    return list(map(int, path.read_text(encoding="utf-8").split()))


@pytest.mark.requirement("PP-1")
def test_the_key_rings_of_the_kernel_are_not_listed(repo: Repository) -> None:
    assert enter(repo.path, "cat /proc/keys /proc/key-users").stdout == ""


@pytest.mark.requirement("PP-1")
def test_a_daemon_ends_with_the_command_that_left_it(repo: Repository) -> None:
    mark = f"planner-daemon-{os.getpid()}"
    command = f"setsid nohup bash -c 'sleep 300; : {mark}' >/dev/null 2>&1 & disown; echo started"
    began = time.monotonic()
    assert enter(repo.path, command).stdout == "started\n"
    assert time.monotonic() - began < 20
    assert running(mark) == []


@pytest.mark.requirement("PP-1")
def test_what_waits_for_input_gets_none_and_the_exit_code_is_the_commands(repo: Repository) -> None:
    answer = enter(repo.path, "cat; read -r line || echo nothing; kill -TERM $$")
    assert answer.stdout == "nothing\n"
    assert answer.returncode == 128 + signal.SIGTERM


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("after", [0.05, 0.1, 0.2, 0.5, 1.0])
def test_killing_ours_at_any_moment_leaves_nothing(repo: Repository, after: float) -> None:
    mark = f"planner-killed-{os.getpid()}-{after}"
    command = f"(trap '' TERM; sleep 300; : {mark}) & sleep 300"
    process = subprocess.Popen(words(repo.path, command), stdout=subprocess.DEVNULL)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(after)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 10
    while running(mark) and time.monotonic() < deadline:
        os.sched_yield()
    assert running(mark) == []


@pytest.mark.requirement("PP-1")
def test_output_keeps_its_order_where_both_kinds_go_to_one_file(repo: Repository) -> None:
    command = "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done"
    done = subprocess.run(
        words(repo.path, command),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True,
    )  # fmt: skip
    lines = [f"{kind} {i}" for i in range(1, 6) for kind in ("out", "err")]
    assert done.stdout.splitlines() == lines


@pytest.mark.requirement("PP-2")
def test_secrets_are_absent_and_git_settings_are_shown_without_credentials(
    make_repo: Callable[..., Repository],
) -> None:
    repo = make_repo(files={"README.md": "x\n", ".env.example": "KEY=\n", "test.pem": "public\n"})
    home = Path(os.environ["HOME"])
    names = (".ssh/id_rsa", ".config/gh/hosts.yml", ".netrc")
    for path in (*map(home.joinpath, names), repo.path / ".env", repo.path / "sub" / ".env.local"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("hunter2\n", encoding="utf-8")
    (home / ".cargo").mkdir()
    (home / ".cargo" / "config.toml").write_text("kept\n", encoding="utf-8")
    repo.git("remote", "add", "origin", "https://me:hunter2@example.invalid/x")
    command = (
        "cat ~/.cargo/config.toml .env.example test.pem;"
        "grep -rs hunter2 ~ . /proc/*/environ; cat ~/.n* .e*; git remote -v; git config -l; env;"
        "ls -a ~ . sub"
    )
    old, os.environ["MY_TOKEN"] = dict(os.environ), "hunter2"
    try:
        answer = enter(repo.path, command)
    finally:
        os.environ.clear()
        os.environ.update(old)
    assert answer.stdout.startswith("kept\nKEY=\npublic\n")
    assert "hunter2" not in answer.stdout + answer.stderr
    assert ".ssh" not in answer.stdout
    assert "example.invalid" in answer.stdout


@pytest.mark.requirement("PP-2")
def test_nothing_runs_where_the_secrets_cannot_be_found(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = ENTER.replace("report = run(", "place.look = lambda: 1 / 0\nreport = run(")
    monkeypatch.setattr(sys.modules[__name__], "ENTER", failing)
    mark = f"planner-look-{os.getpid()}"
    answer = enter(repo.path, f"echo ran; : {mark}")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "ZeroDivisionError" in answer.stderr
    assert running(mark) == []


@pytest.mark.requirement("PP-2")
def test_a_link_to_a_secret_that_is_not_there_does_not_close_the_place(repo: Repository) -> None:
    home = Path(os.environ["HOME"])
    (home / ".netrc").symlink_to("gone/netrc")
    (home / ".pgpass").symlink_to("/etc/gone/pgpass")
    answer = enter(repo.path, "ls -A ~")
    assert answer.returncode == 0, answer.stderr
    assert {".gitconfig"} <= {*answer.stdout.split()}
    assert ".netrc" not in answer.stdout.split()


@pytest.mark.requirement("PP-2")
def test_a_secret_that_is_replaced_while_a_command_runs_stays_hidden(repo: Repository) -> None:
    home = Path(os.environ["HOME"])
    (home / ".netrc").write_text("hunter1\n", encoding="utf-8")
    command = "echo ready; while [ ! -e go ]; do cat ~/.netrc 2>/dev/null && exit; done"
    process = subprocess.Popen(words(repo.path, command, seconds=3), stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    for number in range(100):
        new = home / ".new"
        new.write_text(f"hunter{number}\n", encoding="utf-8")
        new.replace(home / ".netrc")
    assert process.stdout.read() == b""
    process.stdout.close()
    assert process.wait() == 124


@pytest.mark.requirement("PP-1")
def test_our_own_program_started_inside_refuses_and_says_what_to_send(repo: Repository) -> None:
    launcher = shlex.quote(str(Path(ROOT, "bin", "planner")))
    answer = enter(repo.path, f"for i in 1; do {launcher} status --json; done")
    assert answer.returncode == 1
    assert '<problem kind="refused" at="planner">' in answer.stdout
    assert "bin/planner" in answer.stdout
    assert " status --json" in answer.stdout
    hidden = f"env -i PATH=$PATH {launcher} mode status; rm -f /run/planner-place; {launcher} audit"
    assert enter(repo.path, hidden).stdout.count("refused") == 2


def test_the_launcher_and_the_place_name_one_marker() -> None:
    assert f'"{MARKER}"' in Path(ROOT, "bin", "planner").read_text(encoding="utf-8")
