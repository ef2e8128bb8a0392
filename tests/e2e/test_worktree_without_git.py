"""The `.git` file of the scratch worktree is gone or another: nothing outside the run changes.

The worktree lies inside the user's repository, so git that looks for one there finds theirs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.e2e.conftest import set_hook
from tests.journey import FILES, Answer, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

PLANNED = {"src/a.py", "tests/test_a.py"}
WRITES = {("exec", "apply"), ("exec", "commit"), ("undo", "--state-dir")}
OWN_FILES = ("staged.txt", "loose.txt", "half.txt")
IN_A_FOLDER_OF_ITS_OWN = (
    'cd "$(mktemp -d)" && git init -q && echo x >x && git add x && '
    "git -c user.name=x -c user.email=x@x commit -qm x && test -d .git"
)


class Picture(NamedTuple):
    """All that is the user's: where HEAD is, refs, index, settings, hooks, files."""

    head: str
    refs: str
    staged: str
    status: str
    index_bytes: bytes
    own: dict[str, bytes]
    files: dict[str, bytes]

    def without(self, planned: set[str]) -> tuple[object, ...]:
        """Return what no apply and no commit may change."""
        lines = [
            [row for row in text.split("\n") if not row.endswith(tuple(planned))]
            for text in (self.staged, self.status)
        ]
        files = {name: data for name, data in self.files.items() if name not in planned}
        return self.head, lines, self.own, files


def picture(repository: Repository) -> Picture:
    root, git = repository.path, repository.path / ".git"
    archive = ":!planning"
    names = [*git.glob("hooks/*"), git / "config", git / "HEAD", git / "info/attributes"]
    files = {
        str(place.relative_to(root)): place.read_bytes()
        for place in root.rglob("*")
        if place.is_file() and place.relative_to(root).parts[0] not in {".git", ".planner"}
    }
    return Picture(
        head=(git / "HEAD").read_text(),
        refs=repository.git("for-each-ref"),
        staged=repository.git("ls-files", "--stage", "--", archive),
        status=repository.git("--no-optional-locks", "status", "--porcelain=v1", "--", archive),
        index_bytes=(git / "index").read_bytes(),
        own={str(name): name.read_bytes() for name in names if name.is_file()},
        files={n: data for n, data in files.items() if not n.startswith("planning/")},
    )


# what becomes of the worktree's `.git`


def vanish(place: Path, _user: Path) -> None:
    remove(place)


def move(place: Path, _user: Path) -> None:
    if place.exists():
        place.replace(place.parent.parent / "git-before")


def empty_folder(place: Path, _user: Path) -> None:
    remove(place)
    place.mkdir()


def file_to_the_user(place: Path, user: Path) -> None:
    remove(place)
    place.write_text(f"gitdir: {user}\n")


def link_to_the_user(place: Path, user: Path) -> None:
    remove(place)
    place.symlink_to(user)


def nonsense(place: Path, _user: Path) -> None:
    remove(place)
    place.write_bytes(b"\0\xff")


def own_repository(place: Path, _user: Path) -> None:
    remove(place)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a repository in its place"]):
        subprocess.run(["git", *words], cwd=place.parent, check=True)


def remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


SHAPES = [
    vanish, move, empty_folder, file_to_the_user, link_to_the_user, nonsense, own_repository
]  # fmt: skip


class Disturbed(Journey):
    """A run before each of whose calls the worktree's `.git` becomes what `shape` makes of it."""

    shape: Callable[[Path, Path], None] | None = None
    refused = 0

    def run(self, *argv: str) -> Answer:
        before = self.disturb()
        answer = super().run(*argv)
        self.look(before, argv)
        if answer.code and "mv -- " in answer.text:
            self.refused += 1
            retry = answer.problems[0][1].rpartition("retry: ")[2]
            subprocess.run(["sh", "-c", retry], cwd="/", check=True)
            answer = super().run(*argv)
            self.look(before, argv)
        return answer

    def disturb(self) -> Picture:
        tree = Path(self.state_dir or "nowhere") / "worktree"
        if self.shape and tree.is_dir():
            self.shape(tree / ".git", self.repository.path / ".git")
        return picture(self.repository)

    def look(self, before: Picture, argv: tuple[str, ...]) -> None:
        """Compare all that is the user's with what it was before the call."""
        after = picture(self.repository)
        if argv[:2] in WRITES:
            assert after.without(PLANNED) == before.without(PLANNED), argv
        else:
            assert after == before, argv


@pytest.fixture
def wip(make_repo: Callable[..., Repository]) -> Repository:
    """Return a repository with staged, unstaged, half-staged and untracked work."""
    return with_work(make_repo("project", {**FILES, **dict.fromkeys(OWN_FILES, "1\n2\n3\n")}))


def with_work(project: Repository) -> Repository:
    project.write("staged.txt", "1\n2\n3 staged\n")
    project.write("half.txt", "1 staged\n2\n3\n")
    project.write("added.txt", "new\n")
    project.git("add", "staged.txt", "half.txt", "added.txt")
    project.write("half.txt", "1 staged\n2\n3 loose\n")
    project.write("loose.txt", "1 loose\n2\n3\n")
    project.write("untracked.txt", "u\n")
    return project


def begun(project: Repository) -> Disturbed:
    journey = Disturbed(project)
    journey.start("--base", "head")
    return journey


def assert_committed(journey: Disturbed) -> None:
    project = journey.repository
    assert journey.last.block.get("commit") == project.git("rev-parse", "HEAD"), journey.last.text
    changed = project.git("diff-tree", "-r", "--name-only", "HEAD^", "HEAD").split("\n")
    assert {name for name in changed if not name.startswith("planning/")} == PLANNED


@pytest.mark.requirement("PL-32", "PL-29")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_whole_run_changes_nothing_outside_itself(
    wip: Repository, shape: Callable[[Path, Path], None]
) -> None:
    journey = begun(wip)
    journey.shape = shape
    journey.to("committed")
    assert_committed(journey)
    assert bool(journey.refused) == (shape is own_repository)
    assert not list(wip.path.glob(".git/*.lock"))


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("point", ["design", "submitted", "applied"])
def test_a_run_is_cancelled(
    wip: Repository, point: str, shape: Callable[[Path, Path], None]
) -> None:
    journey = begun(wip).to(point)
    journey.shape = shape
    assert journey.run("cancel", "--state-dir", journey.state_dir).code == 0
    assert not Path(journey.state_dir, "worktree").exists()


@pytest.mark.requirement("PL-31")
@pytest.mark.parametrize("shape", SHAPES)
def test_an_apply_is_taken_back_and_made_again(
    wip: Repository, shape: Callable[[Path, Path], None]
) -> None:
    before = picture(wip)
    journey = begun(wip).to("applied")
    journey.shape = shape
    undone = journey.run("undo", "--state-dir", journey.state_dir)
    assert undone.code == 0, undone.text
    assert picture(wip) == before
    journey.follow(undone.next("again"))
    journey.to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-28")
@pytest.mark.parametrize("shape", SHAPES)
def test_a_revision_moves_to_another_base(
    wip: Repository, shape: Callable[[Path, Path], None]
) -> None:
    journey = begun(wip).to("submitted")
    wip.write("src/a.py", "# theirs\ndef f(x):\n    return x + 1\n")
    wip.git("commit", "-qm", "Theirs", "--only", "src/a.py")
    journey.shape = shape
    journey.answers["design.json"] = []
    journey.edits["src/a.py"] = "# theirs\ndef f(x):\n    return x + 2\n"
    accepted = journey.run("mode", "rebase", "--state-dir", journey.state_dir)
    assert accepted.code == 0, accepted.text
    revised = journey.last = journey.run("plan", "revise", "--state-dir", journey.state_dir)
    assert revised.code == 0, revised.text
    journey.to("committed")
    assert_committed(journey)
    assert wip.git("show", "HEAD:src/a.py").startswith("# theirs")


@pytest.mark.requirement("PL-32")
def test_a_link_in_the_worktrees_place_is_refused(wip: Repository) -> None:
    journey = begun(wip).to("submitted")
    tree = Path(journey.state_dir, "worktree")
    shutil.rmtree(tree)
    tree.symlink_to(wip.path)
    approved = journey.advance()
    journey.advance()
    journey.advance()
    assert approved.code == 0
    assert "is a symbolic link" in journey.last.text


# the commands of a project


def configured(make_repo: Callable[..., Repository], toml: str) -> Repository:
    files = {**FILES, **dict.fromkeys(OWN_FILES, "1\n2\n3\n"), "planner.toml": toml}
    return with_work(make_repo("project", files))


@pytest.mark.requirement("PL-33")
@pytest.mark.parametrize("kind", ["verify", "setup", "format"])
@pytest.mark.parametrize("line", ["rm -rf .git", IN_A_FOLDER_OF_ITS_OWN])
def test_a_command_of_the_project_reaches_no_repository_but_its_own(
    make_repo: Callable[..., Repository], kind: str, line: str
) -> None:
    table = "[verify]\ncommands" if kind == "verify" else f"[worktree]\n{kind}"
    project = configured(make_repo, f"{table} = ['''{line}''']\n")
    journey = begun(project).to("committed")
    assert_committed(journey)


@pytest.mark.requirement("PL-33")
def test_a_command_that_commits_where_its_git_file_was_removed_finds_no_repository(
    make_repo: Callable[..., Repository],
) -> None:
    line = "rm -f .git; ! git rev-parse --git-dir && ! git add -A && ! git commit -qam x"
    project = configured(make_repo, f"[worktree]\nsetup = ['''{line}''']\n")
    assert_committed(begun(project).to("committed"))


@pytest.mark.requirement("PL-29", "PL-33")
@pytest.mark.parametrize(
    "name",
    ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction"],
)
def test_a_hook_gets_the_index_alone_of_what_leads_git(
    wip: Repository, tmp_path: Path, name: str
) -> None:
    seen = tmp_path / "seen"
    listed = f"for name in $(git rev-parse --local-env-vars); do env | grep ^$name= >>{seen}; done"
    set_hook(wip, name, f"{listed}\necho ran >>{seen}\n{IN_A_FOLDER_OF_ITS_OWN_UNINDEXED}\n")
    journey = begun(wip).to("committed")
    assert_committed(journey)
    lines = set(seen.read_text().splitlines())
    names = {line.partition("=")[0] for line in lines}
    assert names <= {"GIT_INDEX_FILE", "ran"}
    assert "ran" in names


# As `git commit` itself sets it, a hook that works in another repository leaves the index behind.
IN_A_FOLDER_OF_ITS_OWN_UNINDEXED = f"(unset GIT_INDEX_FILE; {IN_A_FOLDER_OF_ITS_OWN})"


def test_a_local_variable_of_the_callers_reaches_no_command(
    make_repo: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = "for n in $(git rev-parse --local-env-vars); do ! env | grep ^$n= || exit 1; done"
    for kind in ("verify", "setup", "format"):
        table = "[verify]\ncommands" if kind == "verify" else f"[worktree]\n{kind}"
        project = make_repo(kind, {**FILES, "planner.toml": f"{table} = ['''{shown}''']\n"})
        elsewhere = make_repo(f"elsewhere-{kind}")
        with monkeypatch.context() as patch:
            for name in ("GIT_DIR", "GIT_COMMON_DIR"):
                patch.setenv(name, str(elsewhere.path / ".git"))
            patch.setenv("GIT_CONFIG_COUNT", "0")
            patch.setenv("GIT_PREFIX", "src/")
            journey = Journey(project)
            journey.to("committed")
        assert journey.last.block.get("commit") == project.git("rev-parse", "HEAD")
        assert os.listdir(elsewhere.path / ".git")
