"""The levels of the place: tried, named with their reason; what is odd is right or falls back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.place import level
from shared.resources import ROOT
from tests.place import need_place
from tests.shared.place.arena import without_namespaces
from tests.shared.place.test_enter import enter, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Repository

LEVEL = """
import json, sys
sys.path.insert(0, sys.argv[1])
from shared.place.level import level
found = level(sys.argv[2])
print(json.dumps([found.name, found.reason, found.way, found.sentence()]))
"""
FORBID = "from shared.place import filter; filter.forbid(local_sockets=True)\n"
NOBODY = 23456
LAUNCHER = os.path.join(ROOT, "bin", "planner")


@pytest.fixture(autouse=True)
def _with_a_place() -> None:
    need_place()


def ask(folder: Path, *before: str) -> list[str]:
    """Return name, reason, way out and text of the level, asked behind the words `before`."""
    python = [sys.executable, "-I", "-S", "-c", LEVEL, ROOT, str(folder)]
    done = subprocess.run([*before, *python], capture_output=True, text=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.requirement("PP-3")
def test_a_kernel_that_gives_no_namespaces_leaves_landlock_and_says_how_to_switch_them_on(
    repo: Repository,
) -> None:
    name, reason, way, told = ask(repo.path, *without_namespaces())
    assert name in {"landlock", "none"}
    assert reason == "user namespaces are switched off"
    assert way == "sysctl -w user.max_user_namespaces=10000"
    assert way in told
    # The memory does not outlive what it was made from.
    assert ask(repo.path)[0] == "namespaces"


@pytest.mark.requirement("PP-3")
def test_what_was_admitted_for_the_place_does_not_run_where_it_cannot_be_entered(
    repo: Repository,
) -> None:
    assert level.level(str(repo.path)).holds
    text = "for i in 1; do echo ran; done"
    done = subprocess.run(
        without_namespaces(LAUNCHER, "ro", "-c", text),
        cwd=repo.path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "ran\n" not in done.stdout
    assert "user namespaces are switched off" in done.stdout


@pytest.mark.requirement("PP-3")
def test_doctor_and_status_name_the_level_and_how_to_have_a_better_one(repo: Repository) -> None:
    def said(*command: str) -> str:
        done = subprocess.run(
            command, cwd=repo.path, capture_output=True, text=True, check=False
        )  # fmt: skip
        return done.stdout

    said(LAUNCHER, "mode", "enter", "--reason", "to look")
    for command in (["doctor"], ["mode", "status"], ["mode", "status", "--json"]):
        assert "namespaces hold it" in said(LAUNCHER, *command)
        lower = said(*without_namespaces(LAUNCHER, *command))
        assert "sysctl -w user.max_user_namespaces=10000" in lower


@pytest.mark.requirement("PP-3")
def test_the_level_is_tried_once_and_remembered_for_the_hook(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert level.level(str(repo.path)).holds

    def tried_again(_: str) -> None:
        pytest.fail("the place was tried again")

    monkeypatch.setattr(level, "try_again", tried_again)
    assert level.level(str(repo.path)).holds


@pytest.mark.requirement("PP-3")
@pytest.mark.parametrize(("way", "seconds"), [("", 12), ("sysctl -w a=1", 620)])
def test_a_failure_is_tried_again_after_a_while(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, way: str, seconds: int
) -> None:
    monkeypatch.setattr(level, "_cause", lambda _: ("too little memory", way))
    from shared.place.planning import planning_place

    level.forget(planning_place(str(repo.path), str(repo.path)), "x")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + seconds * 0.8)
    assert level.level(str(repo.path)).reason == "too little memory"
    monkeypatch.setattr(time, "time", lambda: now + seconds)
    assert level.level(str(repo.path)).holds


@pytest.mark.requirement("PP-3")
@pytest.mark.parametrize(("failures", "holds"), [(1, True), (2, False)])
def test_one_failure_alone_lowers_no_level_and_a_command_runs_once(
    repo: Repository, failures: int, holds: bool
) -> None:
    script = f"""
import os, sys
sys.path.insert(0, {ROOT!r})
from shared.place import enter, level
from shared.guard.runner import Wanted, run_in_place
level.try_again({str(repo.path)!r})
left, real = [0] * {failures}, enter._map_users
def map_users(process):
    if left:
        left.pop()
        raise OSError(12, "out of memory")
    real(process)
enter._map_users = map_users
print(run_in_place(Wanted("echo ran"), {str(repo.path)!r}, None), flush=True)
print(level.level({str(repo.path)!r}).holds)
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script],
        cwd=repo.path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = ["ran", "0", "True"] if holds else ["None", "False"]
    assert done.stdout.split() == said, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
@pytest.mark.requirement("PP-3")
def test_a_mount_below_the_repository_falls_back_by_name_and_one_below_the_home_does_not(
    repo: Repository,
) -> None:
    home = Path(os.environ["HOME"])
    for folder in (repo.path / "data", home / "mnt", home / ".npm", home / ".cargo" / "bin"):
        folder.mkdir(parents=True, exist_ok=True)
    (home / ".npm" / "a").write_text("kept\n", encoding="utf-8")
    (home / ".netrc").write_text("hunter2\n", encoding="utf-8")

    def mounted(where: Path, *command: str) -> str:
        script = f'mount -t tmpfs none "{where}" && exec "$@"'
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", *command],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr

    asked = [sys.executable, "-I", "-S", "-c", LEVEL, ROOT, str(repo.path)]
    name, reason, *_ = json.loads(mounted(repo.path / "data", *asked))
    assert name != "namespaces"
    assert reason == f"a file system is mounted below the repository, at {repo.path}/data"
    tries = "cat ~/.npm/a; cat ~/.netrc"
    tries += "; for at in ~ ~/.npm ~/.cargo/bin; do echo >$at/x && ls $at; done"
    for mount in (home / "mnt", home / ".cargo" / "bin"):
        said = mounted(mount, *words(repo.path, tries)).split()
        assert said[0] == "kept"
        assert said.count("x") == 3
        assert "hunter2" not in said
    assert os.listdir(home / ".npm") == ["a"]


CONTAINERS = {
    # What begins the reason: docker's option, what runs before as root, and in the same process.
    "namespaces": ("seccomp=unconfined", "true", FORBID),
    "/proc": ("systempaths=unconfined", "mount -t tmpfs none /proc/fs", ""),
}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
@pytest.mark.requirement("PP-3")
@pytest.mark.parametrize("forbidden", CONTAINERS)
def test_what_a_container_forbids_is_named_with_the_option_that_allows_it(
    repo: Repository, forbidden: str
) -> None:
    option, covers, forbids = CONTAINERS[forbidden]
    asks = LEVEL.replace("found =", f"{forbids}found =")
    command = [sys.executable, "-I", "-S", "-c", asks, ROOT, str(repo.path)]
    inside = ["unshare", "--mount", "sh", "-c", f'{covers} && exec "$@"', "sh", *command]
    done = subprocess.run(inside, capture_output=True, text=True, check=True)
    name, reason, way, _ = json.loads(done.stdout)
    assert name in {"landlock", "none"}
    assert reason.startswith(forbidden)
    assert way == f"run the container with --security-opt {option}"


FILE_SYSTEMS = {
    "overlay": "mount -t overlay none -o lowerdir={repo},upperdir={top}/up,workdir={top}/w {at}",
    "memory": "mount -t tmpfs none {at} && cp -R {repo}/. {at}",
}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("kind", FILE_SYSTEMS)
def test_a_repository_on_another_file_system_is_seen_as_it_is(
    repo: Repository, tmp_path: Path, kind: str
) -> None:
    for name in ("up", "w", "at"):
        (tmp_path / name).mkdir()
    at = tmp_path / "at"
    mount = FILE_SYSTEMS[kind].format(repo=repo.path, top=tmp_path, at=at)
    script = f'{mount} && "$@" && ls {at}'
    command = words(at, "rm README.md; echo x >new; git status --porcelain")
    inside = ["unshare", "--mount", "sh", "-c", script, "sh", *command]
    done = subprocess.run(inside, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [" D README.md", "?? new", "README.md"], done.stderr


@pytest.mark.requirement("PP-1")
def test_a_linked_worktree_a_submodule_and_a_linked_path_are_seen_as_they_are(
    repo: Repository, tmp_path: Path
) -> None:
    library, linked, link = tmp_path / "library", tmp_path / "linked", tmp_path / "link"
    shutil.copytree(repo.path, library)
    repo.git("submodule", "add", "-q", str(library), "sub")
    repo.git("commit", "-qm", "With a submodule")
    repo.git("worktree", "add", "-q", "-b", "other", str(linked))
    link.symlink_to(repo.path)
    refs = repo.git("for-each-ref")
    commit = "echo x >x && git add x && git commit -qm x && git log -1 --format=%s"
    command = f"git status --porcelain && {commit}"
    for folder in (linked, repo.path / "sub", link):
        answer = enter(folder, command)
        assert answer.stdout == "x\n", (folder, answer.stderr)
    assert repo.git("for-each-ref") == refs
    assert repo.git("status", "--porcelain") == ""
    assert not (repo.path / ".git" / "worktrees" / "linked" / "index.lock").exists()


@pytest.mark.requirement("PP-1")
def test_objects_that_a_repository_borrows_are_seen(repo: Repository, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "-s", str(repo.path), str(clone)], check=True)
    assert enter(clone, "git show HEAD:README.md").stdout == "# Sample\n"


@pytest.fixture
def plain() -> Iterator[Path]:
    """A home with a repository, both of a user without rights."""
    if os.geteuid() != 0:
        pytest.skip("only root may become another user")
    with tempfile.TemporaryDirectory() as top:
        home, repository = Path(top), Path(top, "repo")
        for command in (
            ["git", "init", "-q", str(repository)],
            ["git", "-C", str(repository), "commit", "-q", "--allow-empty", "-m", "Begin"],
        ):
            subprocess.run(command, check=True)
        (repository / "a").write_text("a\n", encoding="utf-8")
        (home / ".netrc").write_text("hunter2\n", encoding="utf-8")
        for folder, names, files in os.walk(home):
            for name in (".", *names, *files):
                os.chown(Path(folder, name), NOBODY, NOBODY)
        yield repository


def as_nobody(folder: Path, command: str, *before: str) -> subprocess.CompletedProcess[str]:
    home, python = str(folder.parent), shutil.which("python3", path="/usr/local/bin:/usr/bin")
    if python is None:
        pytest.skip("no Python that another user may start")
    return subprocess.run(
        [*before, python, *words(folder, command)[1:]],
        env={"PATH": os.environ["PATH"], "HOME": home}, cwd=folder,
        user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.requirement("PP-1", "PP-2")
def test_a_user_without_rights_has_the_same_place(plain: Path) -> None:
    command = (
        "id -u; rm a; echo b >b; ls; cat ~/.netrc; git add b; git status --porcelain; touch ~/x"
    )
    answer = as_nobody(plain, command)
    assert answer.stdout.split() == [str(NOBODY), "b", "A", "b"], answer.stderr
    assert "hunter2" not in answer.stdout
    assert sorted(os.listdir(plain)) == [".git", "a"]
    # Who waits where no more are allowed is as many, and leaves the processor to others.
    bomb = (
        'python3 -c "import os, time\nwhile True:\n try: os.fork()\n except OSError: time.sleep(1)"'
    )
    assert "more than 512 processes" in as_nobody(plain, bomb).stderr


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("limit", ["--nproc=500", "--nofile=500", "--fsize=100000000"])
def test_a_hard_limit_of_the_user_holds_in_the_place_too(plain: Path, limit: str) -> None:
    name = {"nproc": "-u", "nofile": "-n", "fsize": "-f"}[limit[2:].partition("=")[0]]
    limits = as_nobody(plain, f"ulimit -H {name}", "prlimit", limit)
    assert limits.stdout in {"500\n", "97656\n"}, limits.stderr


@pytest.mark.requirement("PP-3")
def test_a_repository_of_another_owner_falls_back_by_name(plain: Path) -> None:
    os.chown(plain, 0, 0)
    answer = as_nobody(plain, "echo ran")
    assert f"CannotEnter: {plain} belongs to another user" in answer.stderr
    assert answer.stdout == ""
