"""`planner ro`: the kernel prevents every change, whatever the guard decided."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from orchestrator.run import doctor
from shared import sandbox
from shared.guard import runner, seccomp
from shared.resources import ROOT
from state.errors import Refused
from tests.orchestrator.test_imports import AVOIDED, bare_python, cpu_s

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Repository

LAUNCHER = os.path.join(ROOT, "bin", "planner")
HOLD = "import sys; sys.path.insert(0, sys.argv[1]); from shared.guard import runner;"

with_landlock = pytest.mark.skipif(
    not sandbox.is_available(), reason="this kernel has no Landlock: the guard's reading is all"
)


def held(command: str, folder: Path, before: str = "pass") -> subprocess.CompletedProcess[str]:
    """Run `command` by the runner's shell in `folder`, after the Python statements `before`."""
    program = f"{HOLD} {before}; runner.hold([*runner.SHELL, sys.argv[2]])"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, ROOT, command],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip


@with_landlock
@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize(
    "command",
    [
        "echo x >f", "echo x >new", "touch f", "touch new", "rm f", "mkdir d", "ln -s f g",
        "mv f g", "truncate -s 0 f", "chmod 600 f", "chattr +d f", "cp -p f g",
        "python3 -c 'import os; os.setxattr(\"f\", \"user.x\", b\"y\")'",
    ],
)  # fmt: skip
def test_a_protected_command_changes_neither_files_nor_their_rights_times_or_attributes(
    tmp_path: Path, command: str
) -> None:
    for name in ("free", "held"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f").write_text("content\n", encoding="utf-8")
    if subprocess.run(["sh", "-c", command], cwd=tmp_path / "free", check=False).returncode:
        pytest.skip("this file system does not know the command's operation")
    file = tmp_path / "held" / "f"
    before = file.stat()
    assert held(command, file.parent).returncode != 0
    assert os.listdir(file.parent) == ["f"]
    after = file.stat()
    assert (after.st_mode, after.st_mtime_ns, after.st_ctime_ns, after.st_nlink) == (
        before.st_mode, before.st_mtime_ns, before.st_ctime_ns, before.st_nlink,
    )  # fmt: skip


@with_landlock
def test_a_protected_command_writes_to_dev_null_and_to_its_own_output(tmp_path: Path) -> None:
    answer = held("echo lost >/dev/null; echo kept; echo loud >&2; exit 7", tmp_path)
    assert (answer.stdout, answer.stderr, answer.returncode) == ("kept\n", "loud\n", 7)


LAYERS = {"Landlock": "runner.seccomp.is_available = bool", "seccomp": "runner.is_available = bool"}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_protected_command_reaches_no_socket_and_no_other_process(
    tmp_path: Path, layer: str
) -> None:
    """Each layer does this alone, since not every kernel with Landlock can."""
    if not (seccomp.is_available() if layer == "seccomp" else sandbox._abi() >= sandbox._SCOPE_ABI):
        pytest.skip(f"this system's {layer} does not do it")
    with socket.create_server(("127.0.0.1", 0)) as server:
        connect = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}"
        assert held(connect, tmp_path, before=LAYERS[layer]).returncode != 0
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert held(f"kill -0 {os.getpid()}", tmp_path, before=LAYERS[layer]).returncode != 0


def test_a_protected_command_ends_at_a_closed_pipe_as_it_does_elsewhere(tmp_path: Path) -> None:
    answer = held("yes | head -1; echo ${PIPESTATUS[0]}", tmp_path)
    assert answer.stdout == f"y\n{128 + signal.SIGPIPE}\n"


def test_a_protected_command_inherits_no_open_file(tmp_path: Path) -> None:
    opened = "import os; os.dup2(os.open('f', os.O_WRONLY | os.O_CREAT), 9, inheritable=True)"
    answer = held("echo x >&9", tmp_path, before=opened)
    assert answer.returncode != 0
    assert (tmp_path / "f").read_bytes() == b""


def test_if_the_kernel_has_no_layer_the_command_still_runs(tmp_path: Path) -> None:
    lacking = "runner.is_available = runner.seccomp.is_available = bool"
    answer = held("echo x >new", tmp_path, before=lacking)
    assert (answer.returncode, os.listdir(tmp_path)) == (0, ["new"])


def test_no_variable_that_could_name_a_program_is_kept() -> None:
    given = {
        "HOME": "/home/x", "LC_ALL": "C", "GIT_PAGER": "./s.sh", "RIPGREP_CONFIG_PATH": "s.rc",
        "BASH_ENV": "s.sh", "LD_PRELOAD": "./s.so", "PATH": "/bin:.:evil::/usr/bin",
    }  # fmt: skip
    assert runner.scrubbed(given) == {
        "HOME": "/home/x", "LC_ALL": "C", "PATH": "/bin:/usr/bin",
        "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1",
    }  # fmt: skip


def test_git_of_a_repository_that_lacks_objects_starts_no_program_to_fetch_them(
    repo: Repository,
) -> None:
    repo.write("fetch.sh", "#!/bin/sh\necho fetched >&2\n").chmod(0o755)
    blob = repo.git("rev-parse", "HEAD:README.md")
    (repo.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        "extensions.partialClone": "origin", "remote.origin.promisor": "true",
        "remote.origin.url": str(repo.path), "remote.origin.uploadpack": "./fetch.sh",
    }.items():  # fmt: skip
        repo.git("config", name, value)
    free = subprocess.run(
        ["git", "show", "HEAD"], cwd=repo.path, capture_output=True, text=True, check=False
    )
    assert "fetched" in free.stderr
    unheld = "runner.is_available = runner.seccomp.is_available = bool"
    answer = held("git show HEAD", repo.path, before=unheld)
    assert answer.returncode != 0
    assert "fetched" not in answer.stderr


def ro(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LAUNCHER, "ro", *words], cwd=cwd, capture_output=True, text=True, check=False
    )


def test_ro_prints_what_the_command_prints_and_ends_as_it_ends(repo: Repository) -> None:
    answer = ro("--", "cat", "README.md", "nowhere", cwd=repo.path)
    assert (answer.stdout, answer.returncode) == ("# Sample\n", 1)
    assert answer.stderr == "cat: nowhere: No such file or directory\n"
    listed = ro("-c", "ls nowhere 2>/dev/null || cat README.md | wc -l", cwd=repo.path)
    assert (listed.stdout.strip(), listed.stderr, listed.returncode) == ("1", "", 0)


def test_ro_asks_the_guard_again(repo: Repository) -> None:
    for words in (("--", "touch", "new"), ("-c", "ls && touch new")):
        answer = ro(*words, cwd=repo.path)
        assert answer.returncode == 1
        assert answer.stdout.startswith('<error>\n<problem kind="refused" at="ro">`touch` ')
    assert sorted(os.listdir(repo.path)) == [".git", "README.md"]


def test_no_git_command_of_a_list_starts_a_program_of_the_repository(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo.path)
    assert "core.fsmonitor=false" in runner.admitted(["--", "git", "status"])
    text = runner.admitted(["-c", "ls && git status | head -1; git log"])[-1]
    assert text.count("core.fsmonitor=false") == 2
    with pytest.raises(Refused):
        runner.admitted(["-c", "git status && git gc"])


def test_a_missing_program_ends_with_127(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    program = f"{HOLD} runner.hold(['nosuchprogram']); sys.exit(127)"
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, ROOT],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (answer.returncode, answer.stderr) == (127, "nosuchprogram: No such file or directory\n")


def test_ro_without_a_command_or_with_two_prints_its_usage(tmp_path: Path) -> None:
    for words in ((), ("--",), ("-c",), ("-c", "ls", "ls")):
        answer = ro(*words, cwd=tmp_path)
        assert answer.returncode == 2
        assert '<problem kind="usage"' in answer.stdout


def test_doctor_says_which_layers_protect_shell_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "is_available", lambda: True)
    monkeypatch.setattr(seccomp, "is_available", lambda: True)
    assert doctor._second_layer().state == "kept read-only by Landlock and seccomp"
    monkeypatch.setattr(sandbox, "is_available", lambda: False)
    monkeypatch.setattr(seccomp, "is_available", lambda: False)
    state = "kept read-only by the guard alone; this system has no Landlock and no seccomp"
    assert doctor._second_layer().state == state


def test_ro_loads_nothing_costly(tmp_path: Path) -> None:
    program = (
        f"{HOLD} import os; os.execvpe = lambda *_: print(*sys.modules);"
        "runner.run_ro(['-c', 'ls | head -1'])"
    )
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, ROOT],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    modules = answer.stdout.split()
    assert "shared.guard.policy" in modules
    assert not [m for m in modules if m in AVOIDED or m.partition(".")[0] in AVOIDED]


@pytest.mark.slow
def test_ro_starts_in_at_most_two_and_a_half_times_a_bare_python() -> None:
    python = bare_python()
    times: dict[str, list[float]] = {"bare": [], "ro": []}
    for _ in range(40):  # in turns, so that a busy machine slows both
        times["bare"].append(cpu_s([python, "-c", "pass"], python))
        times["ro"].append(cpu_s([LAUNCHER, "ro", "--", "true"], python))
    bare, started = (sorted(found)[len(found) // 4] for found in times.values())
    assert started <= 2.5 * bare, f"{started * 1000:.1f} ms against {bare * 1000:.1f} ms"
