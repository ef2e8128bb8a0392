"""What capture runs of the project writes in the worktree and nowhere else, and does not stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from developer.verify.confined import Confined
from shared.git.worktree import make_worktree, open_worktree
from shared.place.enter import CannotEnter
from shared.resources import ROOT, quote
from shared.sandbox import _SCOPE_ABI, _abi, is_available
from state.errors import Refused
from tests.developer.verify.conftest import running, until
from tests.forms import part
from tests.place import need_place
from tests.shared.git.conftest import Project, add_hook

if TYPE_CHECKING:
    from collections.abc import Sequence

confined = pytest.mark.skipif(not is_available(), reason="this kernel has no Landlock")

# Each line is one try; none of them may end the script.
_TRIES = """
echo evil > "$ROOT/README.md"; echo evil > "$ROOT/evil"; rm -f "$ROOT/run.sh"
mv "$ROOT/src" "$ROOT/gone"; mkdir "$ROOT/evil-folder"; truncate -s 0 "$ROOT/README.md"
echo evil > "$ROOT/.git/hooks/pre-push"; echo '# evil' >> "$ROOT/.git/hooks/pre-commit"
printf '[alias]\\nevil = !true\\n' >> "$ROOT/.git/config"; git config alias.evil '!true'
git -C "$ROOT" config alias.evil '!true'; git -C "$ROOT" update-ref refs/heads/evil HEAD
git update-ref refs/heads/evil HEAD; git branch evil-branch; git tag evil-tag
git -C "$ROOT" add -A; git -C "$ROOT" stash; git commit -qm evil --no-verify
echo evil > "$(git rev-parse --git-path hooks)/post-commit"
echo evil > "$(git rev-parse --git-path modules)/evil"
echo evil > "$(head -n 1 "$(git rev-parse --git-path objects/info/alternates)")/evil"
echo evil > "$HOME/evil"; echo evil >> "$HOME/gitconfig"; git config --global alias.evil '!true'
echo evil > "$OUTSIDE/evil"; echo evil > "$OUTSIDE/there"
for f in plan.json answers/context.json lock evil; do echo evil > "$ROOT/.planner/runs/r1/$f"; done
echo evil > "$ROOT/.planner/planner.db"; rm -rf "$ROOT/.planner/runs/r1/answers"
ln "$ROOT/README.md" hard && echo evil > hard; rm -f hard
ln -s "$ROOT/README.md" soft && echo evil > soft; rm -f soft
ln -s "$ROOT" folder && echo evil > folder/evil; rm -f folder
echo evil > "/proc/self/cwd/../evil"; echo evil > ../evil; mv ../answers .; mv ../vault.git .
cp .git/config there && mv there "$ROOT/.git/config"; rm -f there
mv "$PWD" "$PWD-moved"; rm -rf ../worktree-moved
"""
LEVELS = ["own path", "place", "Landlock"]
ROUTES = ["husky", "lint script", "pre-commit", "formatter"]


@pytest.fixture(params=LEVELS)
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run hooks and formatters at the repository's own path, in the worktree, by Landlock alone."""
    monkeypatch.setattr(Project, "at_home", request.param == "own path")
    if request.param == "Landlock":
        _without_a_place(monkeypatch)
        if not is_available():
            pytest.skip("this kernel has no Landlock")
    else:
        need_place()
    return str(request.param)


def _without_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise CannotEnter("a test wants no place")

    monkeypatch.setattr("developer.verify.confined.run", refuse)


def _everything(folder: Path, *aside: Path) -> dict[str, tuple[int, bytes]]:
    found = {}
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if Path(at, name) not in aside]
        for name in [*files, *folders]:
            place = Path(at, name)
            if place not in aside:
                data = os.fsencode(os.readlink(place)) if place.is_symlink() else b""
                if place.is_file() and not place.is_symlink():
                    data = place.read_bytes()
                found[str(place.relative_to(folder))] = (place.lstat().st_mode, data)
    return found


def _git_file(project: Project) -> tuple[bytes, bool]:
    """Return what git knows the worktree by: a plain file that names its git folder."""
    file = project.worktree / ".git"
    return file.read_bytes(), file.is_symlink()


def _script(project: Project, tries: str) -> str:
    where = {"ROOT": project.root, "OUTSIDE": project.root.parent / "outside"}
    names = "".join(f"{name}={quote(str(path))}\n" for name, path in where.items())
    return f"#!/bin/sh\n{names}exec 2>/dev/null\n{tries}\nexit 0\n"


def _arm(project: Project, route: str, tries: str) -> Sequence[str]:
    """Have `tries` run by a capture in one of four ways, and return its formatters."""
    places = {"husky": ".husky/pre-commit", "lint script": "lint.sh", "formatter": "tools/fmt"}
    place = places.get(route)
    if place:
        project.commit({place: b"#!/bin/sh\n"})
    if route == "husky":
        project.git("config", "core.hooksPath", ".husky")
    if route == "lint script":
        add_hook(project, "pre-commit", "sh lint.sh\n")
    script = _script(project, tries)
    worktree = project.begin()
    project.write({"new.py": b"x\n"}, worktree)
    if place is None:
        add_hook(project, "pre-commit", script.removeprefix("#!/bin/sh\n"))
        return []
    project.write({place: script.encode()}, worktree)
    (worktree / place).chmod(0o755)
    return ["tools/fmt"] if route == "formatter" else []


def _furnish(project: Project) -> None:
    outside = project.root.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "there").write_text("mine\n")
    (project.state / "answers").mkdir()
    for name in ("plan.json", "answers/context.json", "lock", "../../planner.db"):
        (project.state / name).write_text("{}\n")


@pytest.mark.requirement("PL-32", "PL-33", "PP-1")
@pytest.mark.parametrize("route", part(ROUTES, 4))
@pytest.mark.usefixtures("level")
def test_nothing_outside_the_worktree_is_changed(project: Project, route: str) -> None:
    # At the repository's own path a stash would take the change itself out of the tool's sight.
    tries = _TRIES.replace('git -C "$ROOT" stash; ', "") if project.at_home else _TRIES
    formatters = _arm(project, route, f"{tries}\necho ran > ran")
    _furnish(project)
    git = project.root / ".git"
    (project.state / "verify" / "runs").mkdir(parents=True)
    project.vault  # noqa: B018 – made before the first look
    ours = Path(os.environ["HOME"], ".local")  # what the place remembers
    aside = (project.worktree, git / "objects", git / "worktrees" / "worktree" / "index", ours)
    vault = project.state / "vault.git"
    before = _everything(project.root.parent, *aside, vault)
    capture = project.capture(formatters=formatters)
    assert "ran" in [change.file for change in capture.changes]
    assert _everything(project.root.parent, *aside, vault) == before
    assert not list(git.rglob("evil*"))
    project.git("fsck", "--strict")
    assert project.git("rev-parse", "--git-dir", cwd=project.worktree) == str(
        git / "worktrees" / "worktree"
    )


@confined
@pytest.mark.requirement("PL-33")
@pytest.mark.parametrize("route", ROUTES)
def test_what_is_refused_a_write_is_told_where_writes_are_allowed(
    project: Project, route: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _without_a_place(monkeypatch)
    formatters = _arm(project, route, 'echo x > "$HOME/cache" || { echo broken; exit 4; }')
    with pytest.raises(Refused) as caught:
        project.capture(formatters=formatters)
    (problem,) = caught.value.problems
    assert "exit code 4" in problem.problem
    assert "`[verify] write` of planner.toml" in problem.allowed
    cache = Path(os.environ["HOME"], "cache")
    cache.touch()
    project.capture(formatters=formatters, runner=Confined((str(cache),)))
    assert cache.read_text() == "x\n"


@pytest.mark.requirement("PL-33", "PP-1")
@pytest.mark.parametrize("route", ROUTES)
def test_in_the_place_what_is_written_elsewhere_is_lost_and_a_failure_says_what_lasts(
    project: Project, route: str
) -> None:
    need_place()
    cache = Path(os.environ["HOME"], "cache")
    Path(os.environ["HOME"], ".netrc").write_text("hunter2")
    tries = 'echo x > "$HOME/cache" && cat "$HOME/cache" "$HOME/.netrc" > seen; test -e go'
    formatters = _arm(project, route, f"{tries} || exit 4")
    with pytest.raises(Refused) as caught:
        project.capture(formatters=formatters)
    assert "is lost but in the worktree" in caught.value.problems[0].allowed
    assert (project.worktree / "seen").read_text() == "x\n"
    assert not cache.exists()
    cache.touch()
    (project.worktree / "go").touch()
    project.capture(formatters=formatters, runner=Confined((str(cache),)))
    assert cache.read_text() == "x\n"


@pytest.mark.requirement("PL-33")
@pytest.mark.parametrize("route", ROUTES)
def test_a_private_temporary_folder_is_there_and_goes(project: Project, route: str) -> None:
    tries = 'test -e seen || { mktemp -d && echo x > "$TMPDIR/x" && echo "$TMPDIR" > seen; }'
    capture = project.capture(formatters=_arm(project, route, tries))
    assert "seen" in [change.file for change in capture.changes]
    temporary = Path((project.worktree / "seen").read_text().strip())
    assert temporary.is_relative_to(project.state)
    assert not temporary.exists()
    assert not list(project.state.glob("scratch-*"))


@pytest.mark.requirement("PL-33")
@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("route", part(ROUTES, 4))
def test_what_is_left_in_the_background_is_ended(project: Project, route: str) -> None:
    tries = 'test -e left || { touch left; tail -f /dev/null "$PWD/left" & }'
    project.capture(formatters=_arm(project, route, tries))
    assert (project.worktree / "left").exists()
    until(lambda: not running(project.worktree / "left"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to a chosen process")
@pytest.mark.requirement("PL-33")
@pytest.mark.usefixtures("level")
def test_a_daemon_in_a_session_of_its_own_is_ended(project: Project) -> None:
    mark = project.worktree / "left"
    daemon = f"setsid sh -c 'setsid tail -f /dev/null \"{mark}\" & echo x > left; wait'"
    body = f"test -e left || {{ ({daemon} &); until test -s left; do :; done; }}\n"
    add_hook(project, "pre-commit", body)
    project.write({"new.py": b"x\n"}, project.begin())
    project.capture()
    assert mark.exists()
    assert not running(mark)


@confined
@pytest.mark.skipif(_abi() < _SCOPE_ABI, reason="this kernel's Landlock does not limit signals")
@pytest.mark.requirement("PL-33")
@pytest.mark.usefixtures("level")
def test_a_hook_cannot_end_a_process_that_it_has_not_started(project: Project) -> None:
    victim = subprocess.Popen(["tail", "-f", "/dev/null"])
    try:
        add_hook(project, "pre-commit", f"kill -9 {victim.pid} 2>/dev/null\n")
        project.write({"new.py": b"x\n"}, project.begin())
        with pytest.raises(Refused):
            project.capture()
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.requirement("PL-33")
@pytest.mark.usefixtures("level")
def test_a_command_that_does_not_end_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    words = ["sh", "-c", f"touch {mark}; echo on; tail -f {mark} & tail -f {mark}"]
    ran = Confined(time_limit_s=1.0)(words, str(tmp_path), os.environ, str(tmp_path / "private"))
    assert (ran.code, ran.output) == (124, "on\n\n[ended by the time limit after 1 s]")
    assert mark.exists()
    assert not running(mark)


@pytest.mark.requirement("PL-33")
@pytest.mark.parametrize(
    "deed",
    [
        "rm .git; mkdir -p .git/objects .git/refs; cp ../../../../.git/HEAD .git",
        "rm .git; git init -q; git config core.fsmonitor 'touch ran;'",
        'rm .git; echo "gitdir: $PWD/elsewhere" > .git',
        "rm .git; ln -s ../../../../.git .git",
        "rm .git; mkfifo .git || :",  # the place refuses the pipe, Landlock alone does not
        "rm .git",
    ],
)
def test_the_worktree_has_its_git_folder_again_whatever_the_hook_did(
    project: Project, deed: str
) -> None:
    add_hook(project, "pre-commit", deed)
    project.write({"new.py": b"x\n"}, project.begin())
    before = _git_file(project)
    assert [change.file for change in project.capture().changes] == ["new.py"]
    assert _git_file(project) == before
    assert not (project.worktree / "ran").exists()


@pytest.mark.requirement("PL-33")
def test_the_hook_sees_the_projects_history_settings_and_refs(project: Project) -> None:
    project.git("config", "a.setting", "found")
    project.git("tag", "v1")
    add_hook(
        project,
        "pre-commit",
        "git diff --cached --name-only\ngit config a.setting\ngit log --format=%s v1 main\n"
        "git cat-file blob HEAD:README.md\ngit rev-parse --show-toplevel\n"
        'echo "$GIT_DIR"\nexit 1\n',
    )
    project.write({"new.py": b"x\n"}, project.begin())
    with pytest.raises(Refused) as caught:
        project.capture()
    said = caught.value.problems[0].output.splitlines()
    assert said == ["new.py", "found", "work", "Hello", str(project.worktree)]


@pytest.mark.requirement("PL-33")
@pytest.mark.parametrize("setting", ["core.splitIndex", "core.untrackedCache", "none"])
def test_what_the_hook_stages_is_captured_and_its_objects_stay_private(
    project: Project, setting: str
) -> None:
    if setting != "none":
        project.git("config", setting, "true")
    add_hook(
        project, "pre-commit",
        "echo staged > made && git add made && git stash create >/dev/null || exit 9\n"
        "git commit-tree -m secret HEAD^{tree} > hash\n",
    )  # fmt: skip
    project.write({"new.py": b"x\n"}, project.begin())
    capture = project.capture(owned=lambda path: path == "new.py")
    assert [change.file for change in capture.changes] == ["made", "new.py"]
    assert capture.put_back == ["hash"]
    project.git("fsck", "--strict")


@pytest.mark.requirement("PL-32")
def test_objects_of_sha256_and_of_a_borrowed_store_are_found(tmp_path: Path) -> None:
    made = Project(tmp_path / "long", "sha256")
    made.commit({"a": b"a\n"})
    clone = Project(tmp_path / "clone", "sha256")
    clone.git("fetch", "-q", str(made.root), "HEAD")
    clone.git("reset", "-q", "--hard", "FETCH_HEAD")
    add_hook(clone, "pre-commit", "git cat-file blob HEAD:a && echo b > b && git add b || exit 9\n")
    clone.write({"a": b"new\n"}, clone.begin())
    assert [change.file for change in clone.capture().changes] == ["a", "b"]


_CAPTURE = """
import sys
sys.path.insert(0, sys.argv[1])
from shared.git.capture import capture
from shared.git.repository import find_repository, head
from shared.git.vault import open_vault
from developer.verify.confined import Confined
repo = find_repository(sys.argv[2])
vault = open_vault(repo, sys.argv[3] + "/vault.git")
capture(repo, sys.argv[3] + "/worktree", vault, head(repo).tree, runner=Confined())
"""


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("again", ["capture", "make_worktree"])
def test_after_a_kill_the_hook_ends_and_the_next_command_has_the_worktree_whole(
    project: Project, again: str
) -> None:
    add_hook(project, "pre-commit", 'test -e left || { echo x > left; tail -f "$PWD/left"; }\n')
    project.write({"new.py": b"x\n"}, project.begin())
    before = _git_file(project)
    words = [sys.executable, "-c", textwrap.dedent(_CAPTURE), ROOT]
    child = subprocess.Popen([*words, str(project.root), str(project.state)])
    mark = project.worktree / "left"
    try:
        until(lambda: running(mark))
        assert (project.worktree / ".git").is_symlink()
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    until(lambda: not running(mark))
    if again == "capture":
        assert "new.py" in [change.file for change in project.capture().changes]
    else:
        make_worktree(project.repo, str(project.worktree), "HEAD")
    assert _git_file(project) == before
    admin = open_worktree(project.repo, str(project.worktree)).admin
    assert project.git("rev-parse", "--git-dir", cwd=project.worktree) == admin
    project.capture()
    assert not list(project.state.glob("scratch-*"))
