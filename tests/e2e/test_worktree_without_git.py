"""The scratch worktree's `.git` is gone or replaced: nothing outside the run changes.

The worktree lies inside the user's repository, so git that looks for one there finds theirs.
"""

from __future__ import annotations

import shutil
import subprocess
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.forms import part
from tests.journey import FILES, Answer, Journey, way_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

PLANNED = {"src/a.py", "tests/test_a.py"}
WRITES = {("exec", "run"), ("exec", "apply"), ("exec", "commit"), ("undo", "--state-dir")}
OWN_FILES = ("staged.txt", "loose.txt", "half.txt")
IN_A_FOLDER_OF_ITS_OWN = (
    'cd "$(mktemp -d)" && git init -q && echo x >x && git add x && '
    "git -c user.name=x -c user.email=x@x commit -qm x && test -d .git"
)

OWN_REFS = ("refs/heads", "refs/tags", "refs/remotes", "refs/stash", "refs/notes")


class Picture(NamedTuple):
    """Everything of the user's: HEAD, refs but those of plans, index, settings, hooks and files."""

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
        refs=repository.git("for-each-ref", *OWN_REFS),
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
    """A run that lets `shape` change the worktree's `.git` before each of its calls."""

    shape: Callable[[Path, Path], None] | None = None
    refused = 0

    def run(self, *argv: str) -> Answer:
        before = self.disturb()
        answer = super().run(*argv)
        self.look(before, argv)
        if answer.code and "mv -- " in answer.text:
            self.refused += 1
            retry = way_out(answer.problems[0][1])
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
        """Compare everything of the user's with what it was before the call."""
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


@pytest.mark.requirement("PL-28", "PL-29", "PL-31", "PL-32")
@pytest.mark.parametrize("shape", part(SHAPES, 3))
def test_a_whole_run_changes_nothing_outside_itself(
    wip: Repository, shape: Callable[[Path, Path], None]
) -> None:
    """One run with every stage: planned, moved to another base, applied, taken back, committed."""
    journey = begun(wip)
    journey.shape = shape
    journey.to("submitted")
    revise_on_another_base(journey)
    journey.to("approved")
    before = picture(wip)
    journey.to("applied")
    undone = journey.run("undo", "--state-dir", journey.state_dir)
    assert undone.code == 0, undone.text
    assert picture(wip) == before
    journey.follow(undone.next("again"))
    journey.to("committed")
    assert_committed(journey)
    assert wip.git("show", "HEAD:src/a.py").startswith("# theirs")
    assert bool(journey.refused) == (shape is own_repository)
    assert not list(wip.path.glob(".git/*.lock"))


def revise_on_another_base(journey: Disturbed) -> None:
    """Let the user commit to a planned file, and revise the plan on that commit."""
    journey.repository.write("src/a.py", "# theirs\ndef f(x):\n    return x + 1\n")
    journey.repository.git("commit", "-qm", "Theirs", "--only", "src/a.py")
    journey.answers["design.json"] = []
    journey.edits["src/a.py"] = "# theirs\ndef f(x):\n    return x + 2\n"
    accepted = journey.run("mode", "rebase", "--state-dir", journey.state_dir)
    assert accepted.code == 0, accepted.text
    journey.last = journey.run("plan", "revise", "--state-dir", journey.state_dir)
    assert journey.last.code == 0, journey.last.text


@pytest.mark.requirement("PL-32")
def test_a_run_is_cancelled_at_every_stage(wip: Repository, tmp_path: Path) -> None:
    """One run is cancelled again and again: the whole folder is put back after each time."""
    journey = begun(wip)
    saved = tmp_path / "saved"
    for point in ("design", "submitted", "applied"):
        journey.shape = None
        journey.to(point)
        shutil.copytree(wip.path, saved, symlinks=True)
        for shape in SHAPES:
            journey.shape = shape
            cancelled = journey.run("cancel", "--state-dir", journey.state_dir)
            assert cancelled.code == 0, (point, shape, cancelled.text)
            assert not Path(journey.state_dir, "worktree").exists(), (point, shape)
            shutil.rmtree(wip.path)
            shutil.copytree(saved, wip.path, symlinks=True)
        shutil.rmtree(saved)


@pytest.mark.requirement("PL-32")
def test_a_link_instead_of_the_worktree_is_refused(wip: Repository) -> None:
    journey = begun(wip).to("submitted")
    tree = Path(journey.state_dir, "worktree")
    tree.symlink_to(wip.path)
    assert "is a symbolic link" in journey.advance().text


# the commands of a project


def configured(make_repo: Callable[..., Repository], toml: str) -> Repository:
    files = {**FILES, **dict.fromkeys(OWN_FILES, "1\n2\n3\n"), "planner.toml": toml}
    return with_work(make_repo("project", files))


@pytest.mark.requirement("PL-33")
@pytest.mark.parametrize(
    ("kind", "line"),
    part([*product(["verify", "setup", "format"], ["rm -rf .git", IN_A_FOLDER_OF_ITS_OWN])], 3),
)
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


def test_a_local_variable_of_the_callers_reaches_no_command(
    make_repo: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = "for n in $(git rev-parse --local-env-vars); do ! env | grep ^$n= || exit 1; done"
    toml = (
        f"[verify]\ncommands = ['{shown}']\n[worktree]\nsetup = ['{shown}']\nformat = ['{shown}']\n"
    )
    project = make_repo("project", {**FILES, "planner.toml": toml})
    elsewhere = make_repo("elsewhere")
    with monkeypatch.context() as patch:
        for name in ("GIT_DIR", "GIT_COMMON_DIR"):
            patch.setenv(name, str(elsewhere.path / ".git"))
        patch.setenv("GIT_CONFIG_COUNT", "0")
        patch.setenv("GIT_PREFIX", "src/")
        journey = Journey(project).to("committed")
    assert journey.last.block.get("commit") == project.git("rev-parse", "HEAD")
    assert elsewhere.git("rev-list", "--count", "--all") == "1"
