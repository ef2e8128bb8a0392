"""`planner ro`: the kernel prevents every change, whatever the guard decided."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared import sandbox
from shared.guard import runner, texts
from shared.guard.runner import Wanted, admitted
from shared.mode import sessions
from shared.place import bpf, level
from shared.place.planning import planning_place
from shared.resources import ROOT, quote
from state.errors import Refused
from tests.journey import call
from tests.light_plans import Lightly
from tests.orchestrator.test_imports import AVOIDED
from tests.place import need_place
from tests.shared.mode.test_sessions import planning

if TYPE_CHECKING:
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


# What takes a layer away in the program of `held`.
NO_SECCOMP = "from shared.place import bpf; bpf.is_available = bool"
NO_LANDLOCK = "from shared import sandbox; sandbox.is_available = bool"
LAYERS = {"Landlock": NO_SECCOMP, "seccomp": NO_LANDLOCK}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_protected_command_reaches_no_socket_and_no_other_process(
    tmp_path: Path, layer: str
) -> None:
    """Each layer does this alone, since not every kernel with Landlock can."""
    if not (bpf.is_available() if layer == "seccomp" else sandbox._abi() >= sandbox._SCOPE_ABI):
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
    lacking = f"{NO_SECCOMP}; {NO_LANDLOCK}"
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
    unheld = f"{NO_SECCOMP}; {NO_LANDLOCK}"
    answer = held("git show HEAD", repo.path, before=unheld)
    assert answer.returncode != 0
    assert "fetched" not in answer.stderr


@pytest.fixture
def parsed(repo: Repository) -> Path:
    """A repository in which the place is known not to hold."""
    place = planning_place(str(repo.path), str(repo.path))
    level.forget(place, "no place in this test")
    assert not level.level(str(repo.path)).holds
    return repo.path


@pytest.fixture
def placed(repo: Repository) -> Path:
    """A repository in which the place holds."""
    if not level.level(str(repo.path)).holds:
        pytest.skip("the place does not hold here")
    return repo.path


def ro(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [LAUNCHER, "ro", *words], cwd=cwd, capture_output=True, text=True, check=False
    )


@pytest.mark.quick
def test_ro_prints_what_the_command_prints_and_ends_as_it_ends(repo: Repository) -> None:
    answer = ro("--", "cat", "README.md", "nowhere", cwd=repo.path)
    assert (answer.stdout, answer.returncode) == ("# Sample\n", 1)
    assert answer.stderr == "cat: nowhere: No such file or directory\n"
    listed = ro("-c", "ls nowhere 2>/dev/null || cat README.md | wc -l", cwd=repo.path)
    assert (listed.stdout.strip(), listed.stderr, listed.returncode) == ("1", "", 0)


@pytest.mark.requirement("PP-3")
def test_where_the_place_does_not_hold_ro_asks_the_parser(parsed: Path) -> None:
    for words in (("--", "touch", "new"), ("-c", "ls && touch new"), (texts.keep("touch new"),)):
        answer = ro(*words, cwd=parsed)
        assert answer.returncode == 1
        assert answer.stdout.startswith('<error>\n<problem kind="refused" at="ro">`touch` ')
        assert "may run only in the place, and here" in answer.stdout
    assert sorted(os.listdir(parsed)) == [".git", "README.md"]
    read = ro(texts.keep("ls | wc -l; cat README.md"), cwd=parsed)
    assert (read.stdout, read.returncode) == ("1\n# Sample\n", 0)


@pytest.mark.requirement("PP-8")
def test_where_the_parser_decides_ro_says_which_files_it_leaves_out(parsed: Path) -> None:
    (parsed / "deep").mkdir()
    for name in (".env", "deep/server.key", "deep/plain.txt"):
        (parsed / name).write_text("VALUE\n", encoding="utf-8")
    said = "planner: not read, as their names say that they are secret: .env, deep/server.key\n"
    for words in (("--", "grep", "-r", "VALUE", "."), ("-c", "ls | head -1; grep -r VALUE .")):
        done = ro(*words, cwd=parsed)
        assert done.returncode == 0
        assert "deep/plain.txt:VALUE" in done.stdout
        assert "server.key:" not in done.stdout
        assert done.stderr == said
    assert ro("--", "grep", "VALUE", "deep/plain.txt", cwd=parsed).stderr == ""
    git = ro("--", "git", "remote", "-v", cwd=parsed)
    assert git.returncode == 0
    subprocess.run(
        ["git", "remote", "add", "x", "https://me:VALUE@example.invalid/"], cwd=parsed, check=True
    )
    refused = ro("--", "git", "remote", "-v", cwd=parsed)
    assert refused.returncode == 1
    assert "password" in refused.stdout
    assert "VALUE" not in refused.stdout


@pytest.mark.requirement("PP-4")
def test_in_the_place_any_text_runs_and_what_it_writes_is_gone(placed: Path) -> None:
    text = 'for i in 1 2; do echo "$i" >> new; done; cat new; rm README.md; echo loud >&2; exit 7'
    answer = ro(texts.keep(text), cwd=placed)
    assert (answer.stdout, answer.returncode) == ("1\n2\n", 7)
    assert answer.stderr.startswith("loud\nplanner: not kept: ")
    assert sorted(os.listdir(placed)) == [".git", "README.md"]
    words = ro(
        "--", "python3", "-c", "open('a', 'w').write('x'); print(open('a').read())", cwd=placed
    )
    assert (words.stdout, words.returncode) == ("x\n", 0)
    assert sorted(os.listdir(placed)) == [".git", "README.md"]


@pytest.mark.requirement("PP-4")
def test_what_git_ignores_is_not_missed(placed: Path) -> None:
    (placed / ".gitignore").write_text("out/\n*.log\n", encoding="utf-8")
    made = "mkdir -p out/deep && touch out/deep/a out/b x.log"
    assert ro("-c", made, cwd=placed).stderr == ""
    said = ro("-c", f"{made}; touch new 'a b.txt' $'n\\nl'", cwd=placed).stderr
    assert said.startswith("planner: not kept: a b.txt and 2 more; ")
    many = ro("-c", "for i in $(seq 3000); do echo >$i.log; done; touch zz", cwd=placed).stderr
    assert many.startswith("planner: not kept: zz; ")


@pytest.mark.requirement("PP-4")
def test_only_a_command_that_names_them_or_starts_there_finds_the_worktrees(placed: Path) -> None:
    """Else each search, and many a runner of tests, would find every file again."""
    assert call(placed, "start", "Say more", "--depth", "full").code == 0
    find = "find . -name README.md -not -path './.git/*' | sort"
    answer = ro(texts.keep(find), cwd=placed)
    assert (answer.stdout, answer.stderr) == ("./README.md\n", "")
    (run,) = (placed / ".planner" / "runs").iterdir()
    tree = run.relative_to(placed) / "worktree"
    assert ro("--", "cat", "README.md", cwd=placed / tree).stdout == "# Sample\n"
    assert (
        ro("-c", f"{find}; : .planner", cwd=placed).stdout == f"./{tree}/README.md\n./README.md\n"
    )
    assert ro("-c", f"cd {tree} && echo new >made", cwd=placed).returncode == 0
    assert (placed / tree / "made").read_text(encoding="utf-8") == "new\n"
    kept = ro("-c", "ls -A .planne?/runs/*/answers .planne?/runs/*/worktree", cwd=placed)
    assert "worktree': No such file" in kept.stderr


def test_a_command_in_the_place_gets_no_input_and_stays_in_its_folder(placed: Path) -> None:
    (placed / "sub").mkdir()
    answer = subprocess.run(
        [LAUNCHER, "ro", texts.keep("cat; pwd; tty")], cwd=placed / "sub", input="typed",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert answer.stdout == f"{placed}/sub\nnot a tty\n"


@pytest.mark.requirement("PP-4")
@pytest.mark.parametrize("change", ["", "touch new; ", "\n"])
def test_a_text_that_was_changed_or_is_not_kept_does_not_run(placed: Path, change: str) -> None:
    name = texts.keep("echo ran")
    file = Path(texts.folder()) / name
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    if change:
        file.write_text(f"{change}echo ran", encoding="utf-8")
    else:
        file.unlink()
    answer = ro(name, cwd=placed)
    assert answer.returncode == 1
    assert '<problem kind="not_found"' in answer.stdout
    assert "send the command itself again" in answer.stdout


def test_texts_older_than_a_day_are_removed_as_others_run(parsed: Path) -> None:
    old, new = texts.keep("ls old"), texts.keep("ls")
    os.utime(os.path.join(texts.folder(), old), (1, 1))
    assert ro(new, cwd=parsed).returncode == 0
    assert os.listdir(texts.folder()) == [new]


@pytest.mark.requirement("PP-4")
def test_the_text_in_a_file_is_judged_as_the_hook_would_judge_it(tmp_path: Path) -> None:
    session = sessions.find(planning(tmp_path, "s-1"), "/")
    assert session is not None
    (tmp_path / ".planner" / "config.json").write_text('{"config": {}}', encoding="utf-8")
    answers = tmp_path / ".planner" / "answers"
    answers.mkdir()
    for text, said in (("ls\n", ""), ("rm README.md\n", "`rm` changes files"), ("a\0", "UTF-8")):
        (answers / "command.sh").write_text(text, encoding="utf-8")
        if not said:
            assert runner._read_file("answers/command.sh", session) == text
            continue
        with pytest.raises(Refused) as found:
            runner._read_file("answers/command.sh", session)
        assert said in found.value.problems[0].problem


@pytest.mark.requirement("PP-4")
def test_a_file_among_the_answers_runs_and_no_other(placed: Path) -> None:
    assert call(placed, "mode", "enter").code == 0
    answers = placed / ".planner" / "answers"
    answers.mkdir(exist_ok=True)
    command = answers / "command.sh"
    command.write_text("for i in 1 2; do echo $i; done\ntest -w README.md", encoding="utf-8")
    for path in ("answers/command.sh", str(command)):
        answer = ro("--file", path, cwd=placed)
        assert (answer.stdout, answer.returncode) == ("1\n2\n", 0)
    command.write_text("rm README.md", encoding="utf-8")
    assert "`rm` changes files" in ro("--file", str(command), cwd=placed).stdout
    (answers / "link.sh").symlink_to(placed / "README.md")
    (answers / "binary.sh").write_bytes(b"\xff")
    (answers / "long.sh").write_text("x" * 100_001, encoding="utf-8")
    for path in ("README.md", "answers/absent.sh", "answers/link.sh", "answers/binary.sh",
                 "answers/long.sh", "answers"):  # fmt: skip
        answer = ro("--file", path, cwd=placed)
        assert answer.returncode == 1, path
        assert answer.stdout.startswith("<error>"), path


def test_no_git_command_of_a_list_starts_a_program_of_the_repository(parsed: Path) -> None:
    folder = str(parsed)
    assert "core.fsmonitor=false" in admitted(Wanted("git status", ["git", "status"]), folder, None)
    text = admitted(Wanted("ls && git status | head -1; git log"), folder, None)[-1]
    assert text.count("core.fsmonitor=false") == 2
    with pytest.raises(Refused):
        admitted(Wanted("git status && git gc"), folder, None)


def test_a_missing_program_ends_with_127(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    program = f"{HOLD} runner.hold(['nosuchprogram']); sys.exit(127)"
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, ROOT],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (answer.returncode, answer.stderr) == (127, "nosuchprogram: No such file or directory\n")


@pytest.mark.quick
def test_ro_without_a_command_or_with_two_prints_its_usage(tmp_path: Path) -> None:
    for words in ((), ("--",), ("-c",), ("-c", "ls", "ls"), ("--file",), ("ls",), ("0" * 63,)):
        answer = ro(*words, cwd=tmp_path)
        assert answer.returncode == 2
        assert '<problem kind="usage"' in answer.stdout


@pytest.mark.requirement("PP-3")
def test_the_lower_levels_say_which_layers_hold_why_and_how_to_have_the_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lower = level.Level(level.LANDLOCK, "the kernel forbids it", "ask it")
    for there, by in ((True, "kept read-only by Landlock and seccomp"), (False, "held by nothing")):
        monkeypatch.setattr(sandbox, "is_available", lambda there=there: there)
        monkeypatch.setattr(bpf, "is_available", lambda there=there: there)
        assert by in lower.sentence()
    assert "since the kernel forbids it; to have any command run: ask it" in lower.sentence()


def loaded(folder: Path, before: str) -> list[str]:
    """Return the modules that `planner ro` has loaded when it becomes or has run a command."""
    program = (
        f"{HOLD} import os; {before}; code = runner.run_ro(['-c', 'ls | head -1']);"
        "print(*sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, ROOT],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return answer.stdout.splitlines()[-1].split()


def test_ro_loads_nothing_costly_for_the_parser(parsed: Path) -> None:
    modules = loaded(parsed, "os.execvpe = lambda *_: None")
    assert "shared.guard.policy" in modules
    assert not [m for m in modules if m in AVOIDED or m.partition(".")[0] in AVOIDED]


def test_ro_loads_nothing_costly_for_the_place(placed: Path) -> None:
    modules = loaded(placed, "pass")
    assert "shared.place.enter" in modules
    assert "shared.guard.policy" not in modules
    assert not [m for m in modules if m in AVOIDED or m.partition(".")[0] in AVOIDED]


@pytest.mark.requirement("PP-3")
def test_a_command_in_a_file_is_read_from_the_answers_alone(
    repo: Repository, tmp_path: Path
) -> None:
    none = ro("--file", "answers/command.sh", cwd=repo.path)
    assert "no session is in planning mode here" in none.stdout
    assert "name the command after `--`" in none.stdout
    Lightly(repo).to("gathering")
    outside = tmp_path / "command.sh"
    outside.write_text("ls")
    answers = repo.path / ".planner" / "answers"
    answers.mkdir(exist_ok=True)
    for path, content, said in (
        (str(outside), b"", "not among the answers"),
        ("answers/command.sh", b"", "there is no such file"),
        ("answers/command.sh", b"\xff\xfe", "not text in UTF-8"),
    ):
        if content:
            (answers / "command.sh").write_bytes(content)
        answer = ro("--file", path, cwd=repo.path)
        assert answer.returncode in {1, 2}, answer.stdout
        assert said in answer.stdout
        assert "allowed: " in answer.stdout
    (answers / "command.sh").write_text("cat README.md")
    assert ro("--file", "answers/command.sh", cwd=repo.path).stdout == "# Sample\n"


def test_an_assistant_that_does_not_plan_is_told_to_leave_ro_out(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    answer = ro("--", "cat", "README.md", cwd=repo.path)
    assert answer.returncode == 1
    assert "send the command without `planner ro`" in answer.stdout


@with_landlock
@pytest.mark.requirement("PP-3", "PM-5")
def test_git_diff_names_no_file_that_differs_in_its_time_alone(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(level, "level", lambda _: level.Level(level.LANDLOCK, "for the test"))
    monkeypatch.chdir(repo.path)
    tracked = repo.git("ls-files").splitlines()[0]
    os.utime(repo.path / tracked, (1, 1))
    index = repo.path / ".git" / "index"
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    words = admitted(
        Wanted("git diff --name-only", ["git", "diff", "--name-only"]), os.getcwd(), None
    )
    done = held(" ".join(map(quote, words)), repo.path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


CLIENT = """
import subprocess, sys, time
words, log = sys.argv[1:-1], sys.argv[-1]
with open(log, "wb") as output:
    ours = subprocess.Popen(["sh", "-c", '"$@"; true', "sh", *words], stdin=subprocess.DEVNULL,
                            stdout=output, stderr=output)
    print("started", flush=True)
    time.sleep(60)
"""


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("reads", [True, False], ids=["by a pipe", "by a file"])
def test_a_command_ends_at_once_when_its_client_is_killed(
    repo: Repository, tmp_path: Path, *, reads: bool
) -> None:
    need_place()
    mark = f"6{os.getpid()}{int(reads)}.5"
    words = [LAUNCHER, "ro", "-c", f"echo begun; sleep {mark}"]
    environment = {**os.environ, "PLANNER_PYTHON": sys.executable}
    log = tmp_path / "log"
    if reads:
        client = subprocess.Popen(words, cwd=repo.path, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)  # fmt: skip
        assert client.stdout is not None
        assert client.stdout.readline() == b"begun\n"
        client.stdout.close()
        assert client.wait(10) != 0
    else:
        program = tmp_path / "claude"
        program.symlink_to(os.path.realpath("/proc/self/exe"))  # sys.executable may be a script
        client = subprocess.Popen([program, "-I", "-c", CLIENT, *words, str(log)], cwd=repo.path,
                                  env=environment, stdout=subprocess.PIPE)  # fmt: skip
        while not log.exists() or b"begun" not in log.read_bytes():
            time.sleep(0.02)
        client.kill()
        client.wait()
        client.communicate()
    until = time.monotonic() + 10
    while (left := _running(mark)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left


def _running(mark: str) -> list[str]:
    """Return the ids of the processes whose command line has a word."""
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(mark.encode() in word for word in words):
            found.append(pid)
    return found
