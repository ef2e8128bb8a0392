"""Locks, atomic writes and safe reads of our own files (PL-10)."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state import files
from state.errors import Refused
from state.files import Lock, read_json, write_atomic, write_json
from tests.forms import examples
from tests.state.plans import plain, refusal, sample_plan

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.requirement("PL-10")

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
DATA = plain(sample_plan())


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def run(
    code: str, *arguments: object, before: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run Python code with our modules in a process of its own."""
    start = f"import sys; sys.path[:0] = {[str(ROOT), *sys.path]!r}\n"
    command = [*before, sys.executable, "-S", "-c", start + code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run_bound(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run code so that permissions bind it, root too; skips where that cannot be."""
    if os.geteuid() != 0:
        return run(code, *arguments)
    if shutil.which("setpriv") is None:
        pytest.skip("permissions do not bind root, and there is no setpriv to make them")
    bound = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    return run(code, *arguments, before=bound)


# writing


class TestAWrite:
    def test_replaces_the_whole_file_and_leaves_nothing_else(self, tmp_path: Path) -> None:
        path = tmp_path / "plan.json"
        for data in (b"one", b"", b"three" * 100_000):
            write_atomic(str(path), data)
            assert path.read_bytes() == data
            assert names(tmp_path) == ["plan.json"]

    def test_keeps_the_mode_of_the_file_and_is_private_where_there_was_none(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "plan.json"
        write_atomic(str(path), b"1")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o644)
        write_atomic(str(path), b"2")
        assert stat.S_IMODE(path.stat().st_mode) == 0o644
        write_atomic(str(path), b"3", 0o755)
        assert stat.S_IMODE(path.stat().st_mode) == 0o755

    @pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777])
    def test_has_its_mode_whatever_the_umask_is(self, tmp_path: Path, umask: int) -> None:
        old = os.umask(umask)
        try:
            write_atomic(str(tmp_path / "plan.json"), b"1")
            with Lock(str(tmp_path / "lock"), "a test"):
                pass
        finally:
            os.umask(old)
        for name in ("plan.json", "lock"):
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600

    def test_works_twice_under_a_umask_that_takes_everything_away(self, tmp_path: Path) -> None:
        code = """
import os
from state.files import Lock, read_bytes, write_atomic
os.umask(0o777)
for text in (b"1", b"2"):
    with Lock(sys.argv[1] + "/lock", "a test"):
        write_atomic(sys.argv[1] + "/plan.json", text)
print(read_bytes(sys.argv[1] + "/plan.json"))
"""
        assert run_bound(code, tmp_path).stdout == "b'2'\n"

    def test_replaces_a_link_and_not_what_it_points_to(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").write_bytes(b"theirs")
        (tmp_path / "plan.json").symlink_to("elsewhere")
        write_atomic(str(tmp_path / "plan.json"), b"ours")
        assert (tmp_path / "elsewhere").read_bytes() == b"theirs"
        assert not (tmp_path / "plan.json").is_symlink()

    def test_does_not_follow_a_link_in_place_of_its_temporary_file(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").write_bytes(b"theirs")
        trap = tmp_path / f".plan.json.{os.getpid()}{files.TEMPORARY}"
        trap.symlink_to("elsewhere")
        write_atomic(str(tmp_path / "plan.json"), b"ours")
        assert (tmp_path / "elsewhere").read_bytes() == b"theirs"
        assert names(tmp_path) == ["elsewhere", "plan.json"]

    def test_that_fails_for_want_of_room_leaves_the_old_file(self, tmp_path: Path) -> None:
        path = tmp_path / "plan.json"
        write_atomic(str(path), b"old")
        code = """
import resource, signal
from state.errors import Refused
from state.files import write_atomic
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomic(sys.argv[1], b"x" * 5000)
except Refused as refused:
    print(refused.problems[0].kind, refused.problems[0].problem)
"""
        assert run(code, path).stdout.startswith("refused File too large")
        assert path.read_bytes() == b"old"
        assert names(tmp_path) == ["plan.json"]

    def test_into_a_folder_that_cannot_be_written_leaves_the_old_file(self, tmp_path: Path) -> None:
        path = tmp_path / "plan.json"
        path.write_bytes(b"old")
        tmp_path.chmod(0o555)
        code = """
from state.errors import Refused
from state.files import write_atomic
try:
    write_atomic(sys.argv[1], b"new")
except Refused as refused:
    print(refused.problems[0].kind, refused.problems[0].at)
"""
        assert run_bound(code, path).stdout == f"refused {path}\n"
        assert path.read_bytes() == b"old"
        assert names(tmp_path) == ["plan.json"]
        tmp_path.chmod(0o755)

    def test_into_no_folder_or_over_a_folder_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "plan.json").mkdir()
        for path in (tmp_path / "none" / "plan.json", tmp_path / "plan.json"):
            (problem,) = refusal(write_atomic, str(path), b"x")
            assert (problem.kind, problem.at) == ("refused", str(path))
        assert names(tmp_path) == ["plan.json"]

    def test_is_on_disk_before_it_is_renamed_and_the_name_after(self, tmp_path: Path) -> None:
        if shutil.which("strace") is None:
            pytest.skip("no strace to look at system calls with")
        log = tmp_path / "calls"
        code = "from state.files import write_atomic\nwrite_atomic(sys.argv[1], b'new')\n"
        calls = "trace=openat,write,fsync,rename,renameat,renameat2,fchmod"
        strace = ["strace", "-y", "-o", str(log), "-e", calls]
        done = run(code, tmp_path / "plan.json", before=strace)
        if "ptrace" in done.stderr:
            pytest.skip("strace may not trace here")
        lines = [line for line in log.read_text().splitlines() if str(tmp_path) in line]
        seen = [line.partition("(")[0] for line in lines]
        assert seen == ["openat", "openat", "fchmod", "write", "fsync", "renameat", "fsync"]
        assert "O_EXCL|O_NOFOLLOW" in lines[1]
        assert f"<{tmp_path}>" in lines[-1]

    def test_is_the_old_or_the_new_file_for_every_reader(self, tmp_path: Path) -> None:
        path = tmp_path / "plan.json"
        texts = [bytes([n]) * 300_000 for n in b"ab"]
        write_atomic(str(path), texts[0])
        ended = threading.Event()

        def write() -> None:
            for n in range(40):
                write_atomic(str(path), texts[n % 2])
            ended.set()

        writer = threading.Thread(target=write)
        writer.start()
        while not ended.is_set():
            assert path.read_bytes() in texts
        writer.join()


# the lock


HOLD = """
from state.files import Lock
with Lock(sys.argv[1], "plan batch --file x"):
    print("held", flush=True)
    sys.stdin.read()
"""


class TestTheLock:
    def hold(self, path: Path) -> subprocess.Popen[str]:
        start = f"import sys; sys.path[:0] = {[str(ROOT)]!r}\n"
        holder = subprocess.Popen(
            [sys.executable, "-S", "-c", start + HOLD, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        return holder

    def test_that_is_held_names_its_holder_when_time_is_up(self, tmp_path: Path) -> None:
        with self.hold(tmp_path / "lock") as holder:
            (problem,) = refusal(Lock(str(tmp_path / "lock"), "me", timeout_s=0.1).__enter__)
            assert problem.kind == "locked"
            assert f"pid {holder.pid} " in problem.problem
            assert "plan batch --file x" in problem.problem
            holder.communicate("")
        with Lock(str(tmp_path / "lock"), "me", timeout_s=0.1):
            pass

    @pytest.mark.requirement("PP-9")
    def test_is_not_taken_behind_a_link_in_its_folders_place(self, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / f"x{files.TEMPORARY}").touch()
        (tmp_path / ".planner").mkdir()
        (tmp_path / ".planner" / "run").symlink_to(tmp_path / "outside")
        run = tmp_path / ".planner" / "run"
        (problem,) = refusal(Lock(str(run / "lock"), "me").__enter__)
        assert problem.at == str(run / "lock")
        assert refusal(write_atomic, str(run / "plan.json"), b"{}")
        assert os.listdir(tmp_path / "outside") == [f"x{files.TEMPORARY}"]

    def test_of_a_killed_process_is_free(self, tmp_path: Path) -> None:
        with self.hold(tmp_path / "lock") as holder:
            holder.kill()
        with Lock(str(tmp_path / "lock"), "me", timeout_s=5):
            pass

    def test_says_what_it_waits_for(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with self.hold(tmp_path / "lock") as holder:
            refusal(Lock(str(tmp_path / "lock"), "me", timeout_s=1.2).__enter__)
            holder.communicate("")
        assert capsys.readouterr().err.startswith(f"waiting for pid {holder.pid} ")

    def test_excludes_threads_as_it_does_processes(self, tmp_path: Path) -> None:
        counter = tmp_path / "counter"
        counter.write_text("0")

        def add() -> None:
            for _ in range(20):
                with Lock(str(tmp_path / "lock"), "count"):
                    write_atomic(str(counter), str(int(counter.read_text()) + 1).encode())

        threads = [threading.Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counter.read_text() == "80"

    def test_stays_where_it_is_and_is_the_same_file(self, tmp_path: Path) -> None:
        path = tmp_path / "lock"
        with Lock(str(path), "a long command " * 50):
            before = path.stat().st_ino
        with Lock(str(path), "short"):
            note = json.loads(path.read_text())
        assert path.stat().st_ino == before
        assert (note["pid"], note["command"]) == (os.getpid(), "short")

    def test_that_is_a_link_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").write_bytes(b"theirs")
        (tmp_path / "lock").symlink_to("elsewhere")
        (problem,) = refusal(Lock(str(tmp_path / "lock"), "me").__enter__)
        assert problem.kind == "refused"
        assert (tmp_path / "elsewhere").read_bytes() == b"theirs"

    def test_in_a_folder_that_is_gone_or_in_place_of_a_folder_is_refused(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "lock").mkdir()
        for path in (tmp_path / "none" / "lock", tmp_path / "lock"):
            assert refusal(Lock(str(path), "me").__enter__)[0].kind == "refused"

    @pytest.mark.parametrize(
        "note", [b"", b"{", b"[]", b'{"pid": 1}', b"\xff\xfe", b"[" * 4000, b"null"]
    )
    def test_with_a_damaged_note_still_says_that_it_is_held(
        self, tmp_path: Path, note: bytes
    ) -> None:
        with self.hold(tmp_path / "lock") as holder:
            (tmp_path / "lock").write_bytes(note)
            (problem,) = refusal(Lock(str(tmp_path / "lock"), "me", timeout_s=0.05).__enter__)
            assert "just started" in problem.problem
            holder.communicate("")

    def test_sweeps_what_killed_writers_left_and_nothing_else(self, tmp_path: Path) -> None:
        for name in (".plan.json.1.planner-tmp", ".qr-plan-code.json.77.planner-tmp"):
            (tmp_path / name).write_bytes(b"half")
        (tmp_path / "milestones" / "M-001").mkdir(parents=True)
        for name in ("M-001.made-at", ".M-001.made-at.5.planner-tmp", "M-001/.a.1.planner-tmp"):
            (tmp_path / "milestones" / name).write_bytes(b"a note, half a note, an agent's file")
        (tmp_path / "plan.json").write_bytes(b"whole")
        (tmp_path / "notes.tmp").write_bytes(b"theirs")
        with Lock(str(tmp_path / "lock"), "me"):
            assert names(tmp_path) == ["lock", "milestones", "notes.tmp", "plan.json"]
        assert names(tmp_path / "milestones") == ["M-001", "M-001.made-at"]
        assert names(tmp_path / "milestones" / "M-001") == [".a.1.planner-tmp"]

    def test_is_released_when_its_block_raises(self, tmp_path: Path) -> None:
        def fail() -> None:
            with Lock(str(tmp_path / "lock"), "me"):
                raise Refused("refused", "x", "y")

        refusal(fail)
        with Lock(str(tmp_path / "lock"), "me", timeout_s=0.1):
            pass


# reading


def test_a_file_that_is_not_there_or_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (problem,) = refusal(read_json, str(tmp_path / "plan.json"))
    assert problem.kind == "not_found"
    (problem,) = refusal(read_json, str(tmp_path))
    assert problem.kind == "refused"


def test_a_file_without_read_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text("{}")
    path.chmod(0)
    code = """
from state.errors import Refused
from state.files import read_json
try:
    read_json(sys.argv[1])
except Refused as refused:
    print(refused.problems[0].kind, refused.problems[0].problem)
"""
    assert run_bound(code, path).stdout.startswith("refused Permission denied")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@settings(max_examples=examples(60))
def test_json_is_the_same_after_writing_and_reading(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    path = str(tmp_path_factory.getbasetemp() / "value.json")
    write_json(path, value)
    assert read_json(path) == value


@pytest.mark.requirement("SD-9")
@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '[{"b": {"a": 1, "c": 2, "a": 3}}]'])
def test_a_name_that_stands_twice_in_an_object_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "value.json").write_text(text)
    with pytest.raises(Refused, match="has the name 'a' twice"):
        read_json(str(tmp_path / "value.json"))


def test_bytes_that_are_no_text_show_as_marks_in_what_people_wrote(tmp_path: Path) -> None:
    (tmp_path / "reason.md").write_bytes(b"caf\xe9")
    assert files.read_text(str(tmp_path / "reason.md")) == "caf�"


def test_a_pipe_or_device_is_refused_instead_of_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (str(tmp_path / "pipe"), "/dev/zero"):
        with pytest.raises(Refused, match="is not read"):
            files.read_bytes(path)
