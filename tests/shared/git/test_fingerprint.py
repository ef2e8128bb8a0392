"""The fingerprint names what changed in the user's tree, and taking it changes nothing there."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.git import fingerprint
from shared.git.repository import exclude_planner, find_repository
from tests.forms import part
from tests.opened import opened_in
from tests.shared.git.conftest import Project, add_hook, look

if TYPE_CHECKING:
    from collections.abc import Callable


OLD = (1_000_000_000, 1_000_000_000)


@pytest.fixture(params=["sha1", "sha256"])
def kept(tmp_path: Path, request: pytest.FixtureRequest) -> Project:
    """Return a repository with tracked, staged, loose, untracked and ignored files."""
    made = Project(tmp_path / "a project", request.param)
    made.commit(
        {
            "README.md": b"Hello\n",
            "src/app.py": b"a = 1\n",
            "src/deep/down.py": b"b = 2\n",
            "run.sh": b"#!/bin/sh\n",
            ".gitignore": b"*.log\nbuild/\n",
        }
    )
    made.write({"loose.txt": b"mine\n", "noise.log": b"1\n", "src/app.py": b"a = 10\n"})
    made.write({"staged.txt": b"staged\n"})
    made.git("add", "staged.txt")
    return made


class Look:
    """A fingerprint of one project, kept outside of it."""

    def __init__(self, project: Project, *aside: str) -> None:
        self.project, self.aside = project, aside
        self.folder = str(project.root.parent / "fingerprint")
        fingerprint.take(find_repository(str(project.root)), self.folder, aside)

    def found(self) -> dict[str, str]:
        """Return what became of each path that differs, asked twice: looking alters nothing."""
        repo = find_repository(str(self.project.root))
        first = fingerprint.compare(repo, self.folder, self.aside)
        assert fingerprint.compare(repo, self.folder, self.aside) == first
        return {one.path: one.how for one in first or ()}


def change(project: Project) -> None:
    project.write({"README.md": b"Hallo\n"})


def same_size_and_time(project: Project) -> None:
    place = project.root / "README.md"
    before = place.stat()
    place.write_bytes(b"Hallo\n")
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))


def change_work_in_progress(project: Project) -> None:
    project.write({"src/app.py": b"a = 11\n"})


def remove(project: Project) -> None:
    (project.root / "README.md").unlink()


def remove_folder(project: Project) -> None:
    shutil.rmtree(project.root / "src" / "deep")


def rename_case(project: Project) -> None:
    (project.root / "README.md").rename(project.root / "readme.md")


def add_untracked(project: Project) -> None:
    project.write({"new.txt": b"", "far/away/new.txt": b"1"})


def change_untracked(project: Project) -> None:
    project.write({"loose.txt": b"yours\n"})


def remove_untracked(project: Project) -> None:
    (project.root / "loose.txt").unlink()


def make_executable(project: Project) -> None:
    (project.root / "run.sh").chmod(0o755)


def become_a_link(project: Project) -> None:
    place = project.root / "README.md"
    place.unlink()
    place.symlink_to("run.sh")


def become_a_folder(project: Project) -> None:
    (project.root / "README.md").unlink()
    project.write({"README.md/inside": b"1\n"})


def folder_becomes_a_file(project: Project) -> None:
    shutil.rmtree(project.root / "src" / "deep")
    project.write({"src/deep": b"flat\n"})


def folder_becomes_a_link(project: Project) -> None:
    shutil.move(project.root / "src" / "deep", project.root.parent / "elsewhere")
    (project.root / "src" / "deep").symlink_to(project.root.parent / "elsewhere")


def become_a_pipe(project: Project) -> None:
    (project.root / "README.md").unlink()
    os.mkfifo(project.root / "README.md")


def name_no_text(project: Project) -> None:
    with open(os.fsencode(project.root) + b"/caf\xe9.txt", "wb") as file:
        file.write(b"1")


def name_with_a_line_break(project: Project) -> None:
    project.write({"two\nlines\tand a tab": b"1"})


def stage(project: Project) -> None:
    project.git("add", "src/app.py")


def unstage(project: Project) -> None:
    project.git("rm", "-q", "--cached", "staged.txt")


def intend_to_add(project: Project) -> None:
    project.git("add", "-N", "loose.txt")


def assume_unchanged(project: Project) -> None:
    project.git("update-index", "--assume-unchanged", "README.md")


def hide_by_assume_unchanged(project: Project) -> None:
    project.git("update-index", "--assume-unchanged", "README.md")
    project.write({"README.md": b"Hallo\n"})


def hide_by_skip_worktree(project: Project) -> None:
    project.git("update-index", "--skip-worktree", "README.md")
    project.write({"README.md": b"Hallo\n"})


def hide_by_ignoring(project: Project) -> None:
    project.write({".git/info/exclude": b"*.txt\n", "new.txt": b"1"})


def hide_by_configuration(project: Project) -> None:
    project.git("config", "core.fileMode", "false")
    (project.root / "run.sh").chmod(0o755)


def give_a_hook(project: Project) -> None:
    add_hook(project, "pre-commit", "exit 0\n")


def put_attributes(project: Project) -> None:
    project.write({".git/info/attributes": b"*.py filter=evil\n"})


CHANGES: list[tuple[Callable[[Project], None], dict[str, str]]] = [
    (change, {"README.md": "changed"}),
    (same_size_and_time, {"README.md": "changed"}),
    (change_work_in_progress, {"src/app.py": "changed"}),
    (remove, {"README.md": "gone"}),
    (remove_folder, {"src/deep/down.py": "gone"}),
    (rename_case, {"README.md": "gone", "readme.md": "new"}),
    (add_untracked, {"new.txt": "new", "far/away/new.txt": "new"}),
    (change_untracked, {"loose.txt": "changed"}),
    (remove_untracked, {"loose.txt": "gone"}),
    (make_executable, {"run.sh": "changed"}),
    (become_a_link, {"README.md": "changed"}),
    (become_a_folder, {"README.md": "gone", "README.md/inside": "new"}),
    (folder_becomes_a_file, {"src/deep/down.py": "gone", "src/deep": "new"}),
    (folder_becomes_a_link, {"src/deep/down.py": "gone", "src/deep": "new"}),
    (become_a_pipe, {"README.md": "changed"}),
    (name_no_text, {"caf\udce9.txt": "new"}),
    (name_with_a_line_break, {"two\nlines\tand a tab": "new"}),
    (stage, {"src/app.py": "staged"}),
    (unstage, {"staged.txt": "staged"}),
    (intend_to_add, {"loose.txt": "staged"}),
    (assume_unchanged, {"README.md": "staged"}),
    (hide_by_assume_unchanged, {"README.md": "changed, staged"}),
    (hide_by_skip_worktree, {"README.md": "changed, staged"}),
    (hide_by_ignoring, {".git/info/exclude": "changed"}),
    (hide_by_configuration, {".git/config": "changed"}),
    (give_a_hook, {".git/hooks/pre-commit": "new"}),
    (put_attributes, {".git/info/attributes": "new"}),
]


IN_BOTH_FORMATS = [
    *(("sha1", *case) for case in CHANGES), *part([("sha256", *case) for case in CHANGES], 4),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kept", "act", "found"), IN_BOTH_FORMATS, indirect=["kept"],
    ids=[f"{form}-{act.__name__}" for form, act, _ in IN_BOTH_FORMATS],
)  # fmt: skip
def test_what_changed_is_named(
    kept: Project, act: Callable[[Project], None], found: dict[str, str]
) -> None:
    then = Look(kept)
    assert then.found() == {}
    act(kept)
    assert then.found() == found


def touch(project: Project) -> None:
    for name in ("README.md", "src/app.py", "loose.txt"):
        os.utime(project.root / name, OLD)


def rewrite(project: Project) -> None:
    for name in ("README.md", "src/app.py", "loose.txt"):
        place = project.root / name
        data = place.read_bytes()
        place.unlink()
        place.write_bytes(data)


def change_and_put_back(project: Project) -> None:
    project.write({"README.md": b"Hallo\n"})
    project.write({"README.md": b"Hello\n"})


def commit_what_is_staged(project: Project) -> None:
    project.git("commit", "-q", "-m", "mine")


def refresh_the_index(project: Project) -> None:
    touch(project)
    project.git("status")


def make_noise_that_is_ignored(project: Project) -> None:
    project.write({"noise.log": b"2\n", "build/out": b"1"})


def use_what_is_ours(project: Project) -> None:
    project.write({".planner/planner.db": b"1", "planning/plans/r.json": b"{}"})
    project.write({".claude/scheduled_tasks.lock": b"1"})


def make_branches_and_stashes(project: Project) -> None:
    project.git("branch", "topic")
    project.git("stash", "create")
    project.git("gc", "-q")


@pytest.mark.parametrize(
    "act",
    [
        touch, rewrite, change_and_put_back, commit_what_is_staged, refresh_the_index,
        make_noise_that_is_ignored, use_what_is_ours, make_branches_and_stashes,
    ],
)  # fmt: skip
def test_what_does_not_count_passes(kept: Project, act: Callable[[Project], None]) -> None:
    then = Look(kept)
    act(kept)
    assert then.found() == {}


def test_the_line_by_which_our_folder_is_ignored_does_not_count(project: Project) -> None:
    exclude = project.root / ".git" / "info" / "exclude"
    exclude.write_text("no line end")
    then = Look(project)
    exclude_planner(find_repository(str(project.root)))
    assert then.found() == {}
    exclude.unlink()
    then = Look(project)
    exclude_planner(find_repository(str(project.root)))
    assert then.found() == {}


def objects(project: Project) -> set[str]:
    folder = project.root / ".git" / "objects"
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}


def test_looking_writes_nothing_of_the_users(kept: Project) -> None:
    index, files, held = kept.root / ".git" / "index", look(kept.root), objects(kept)
    before = (index.read_bytes(), index.stat().st_mtime_ns)
    then = Look(kept)
    kept.write({"loose.txt": b"a new blob\n", "src/app.py": b"another\n"})
    assert then.found() == {"loose.txt": "changed", "src/app.py": "changed"}
    kept.write({"loose.txt": b"mine\n", "src/app.py": b"a = 10\n"})
    assert then.found() == {}
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before
    assert objects(kept) == held
    assert look(kept.root) == files


def test_a_folder_that_is_left_aside_never_counts(kept: Project) -> None:
    kept.write({"state/plan.json": b"{}"})
    then = Look(kept, "state")
    kept.write({"state/plan.json": b"{ }", "state/lock": b"", "state.txt": b"1"})
    assert then.found() == {"state.txt": "new"}


@pytest.mark.parametrize("kind", ["clean", "process"])
def test_no_filter_runs_and_its_files_count_by_their_bytes(project: Project, kind: str) -> None:
    ran = project.root.parent / "ran"
    project.git("config", "filter.lfs.clean", f"echo >> '{ran}'; sha256sum")
    project.git("config", "filter.lfs.smudge", "cat")
    project.git("config", "filter.lfs.required", "true")
    project.write({".gitattributes": b"*.bin filter=lfs\n", "big.bin": b"1" * 99, "b.bin": b"2"})
    project.commit()
    assert ran.exists(), "the filter is set up"
    os.utime(project.root / "b.bin", OLD)
    project.git("update-index", "--refresh")
    if kind == "process":
        project.git("config", "filter.lfs.process", f"echo >> '{ran}'; false")
    ran.unlink()
    then = Look(project)
    os.utime(project.root / "b.bin", (2_000_000_000, 2_000_000_000))
    assert then.found() == {}
    project.write({"big.bin": b"3" * 99, "new.bin": b"4"})
    assert then.found() == {"big.bin": "changed", "new.bin": "new"}
    assert not ran.exists()


def test_line_ends_that_git_converts_are_no_change_when_a_file_is_touched(project: Project) -> None:
    project.commit({".gitattributes": b"*.txt text\n", "dos.txt": b"1\n2\n"})
    (project.root / "dos.txt").write_bytes(b"1\r\n2\r\n")
    project.git("add", "dos.txt")
    then = Look(project)
    os.utime(project.root / "dos.txt", OLD)
    assert then.found() == {}
    (project.root / "dos.txt").write_bytes(b"1\r\n3\r\n")
    assert then.found() == {"dos.txt": "changed"}


def test_what_lies_in_a_submodule_counts(project: Project, tmp_path: Path) -> None:
    library = Project(tmp_path / "library")
    library.commit({"lib.py": b"1\n"})
    project.git("submodule", "add", "-q", str(library.root), "vendor/library")
    project.commit()
    then = Look(project)
    assert then.found() == {}
    inner = project.root / "vendor" / "library"
    (inner / "lib.py").write_bytes(b"2\n")
    (inner / "new.py").write_bytes(b"3\n")
    assert then.found() == {"vendor/library/lib.py": "changed", "vendor/library/new.py": "new"}
    (inner / "lib.py").write_bytes(b"1\n")
    (inner / "new.py").unlink()
    assert then.found() == {}
    shutil.rmtree(inner)
    gone = {"vendor/library/.git/config", "vendor/library/.git/info/exclude"}
    found = {**dict.fromkeys(gone, "gone"), "vendor/library/lib.py": "gone, staged"}
    assert then.found() == found


def test_a_submodule_that_is_not_there_and_one_that_is_broken_are_passed_by(
    project: Project, tmp_path: Path
) -> None:
    library = Project(tmp_path / "library")
    library.commit({"lib.py": b"1\n"})
    project.git("submodule", "add", "-q", str(library.root), "vendor")
    project.commit()
    shutil.rmtree(project.root / "vendor")
    (project.root / "vendor" / ".git").mkdir(parents=True)
    then = Look(project)
    assert then.found() == {}
    shutil.rmtree(project.root / "vendor")
    assert then.found() == {}


def test_untracked_repositories_are_left_out(project: Project) -> None:
    other = Project(project.root / "worktrees" / "other")
    other.commit({"a.txt": b"1\n"})
    then = Look(project)
    other.write({"a.txt": b"2\n"})
    assert then.found() == {}


def test_a_sparse_checkout_is_compared_as_it_is(project: Project) -> None:
    project.commit({"in/a.txt": b"1\n", "out/b.txt": b"2\n"})
    project.git("sparse-checkout", "set", "in")
    assert not (project.root / "out").exists()
    then = Look(project)
    assert then.found() == {}
    project.write({"out/b.txt": b"sneaked in\n"})
    assert then.found() == {"out/b.txt": "new"}


def test_a_split_index_is_read(project: Project) -> None:
    project.git("update-index", "--split-index")
    then = Look(project)
    assert then.found() == {}
    project.write({"README.md": b"Hallo\n"})
    assert then.found() == {"README.md": "changed"}


@pytest.mark.parametrize("staged", [False, True])
def test_a_repository_without_a_commit_has_a_fingerprint(tmp_path: Path, *, staged: bool) -> None:
    unborn = Project(tmp_path / "unborn")
    unborn.write({"a.txt": b"1\n"})
    if staged:
        unborn.git("add", "a.txt")
    then = Look(unborn)
    assert then.found() == {}
    unborn.write({"a.txt": b"2\n", "b.txt": b"3\n"})
    assert then.found() == {"a.txt": "changed", "b.txt": "new"}


def test_an_empty_repository_has_a_fingerprint(tmp_path: Path) -> None:
    empty = Project(tmp_path / "empty")
    then = Look(empty)
    assert then.found() == {}
    empty.write({"a.txt": b"1\n"})
    assert then.found() == {"a.txt": "new"}


def test_a_conflict_counts_as_it_lies_there(project: Project) -> None:
    project.git("switch", "-q", "-c", "theirs")
    project.commit({"README.md": b"theirs\n"})
    project.git("switch", "-q", "main")
    project.commit({"README.md": b"ours\n"})
    with pytest.raises(AssertionError):
        project.git("merge", "theirs")
    then = Look(project)
    assert then.found() == {}
    project.write({"README.md": b"settled\n"})
    assert then.found() == {"README.md": "changed"}
    project.git("add", "README.md")
    assert then.found() == {"README.md": "changed, staged"}


def test_a_linked_worktree_is_compared_by_itself(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
    linked = Project(tmp_path / "linked")
    then = Look(linked)
    project.write({"README.md": b"in the main tree\n"})
    assert then.found() == {}
    add_hook(project, "pre-commit", "exit 0\n")
    linked.write({"README.md": b"here\n"})
    assert then.found() == {".git/hooks/pre-commit": "new", "README.md": "changed"}


def test_hooks_in_a_folder_of_the_users_choice_count(project: Project) -> None:
    project.commit({".gitignore": b"_hooks/\n"})
    project.write({"_hooks/pre-commit": b"#!/bin/sh\n"})
    project.git("config", "core.hooksPath", "_hooks")
    then = Look(project)
    assert then.found() == {}
    (project.root / "_hooks" / "pre-commit").chmod(0o755)
    assert then.found() == {"_hooks/pre-commit": "changed"}


def test_what_cannot_be_read_counts_by_size_and_time(project: Project) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(project.root)
        try:
            (project.root / "README.md").unlink()
            server.bind("README.md")
        finally:
            os.chdir(here)
        then = Look(project)
        assert then.found() == {}
        os.utime(project.root / "README.md", OLD)
        assert then.found() == {"README.md": "changed"}


def test_large_untracked_files_are_not_read_and_count_by_size_and_times(project: Project) -> None:
    large = b"\0" * (fingerprint.MOST_READ_BYTES + 1)
    project.write({"data/a.bin": large, "data/b.bin": large, "data/small.txt": b"x"})
    project.git("add", "data/b.bin")
    with opened_in(project.root / "data") as opened:
        look = Look(project)
        assert look.found() == {}
    assert "a.bin" not in opened
    (project.root / "data/small.txt").write_bytes(b"x")  # read: it is the same
    assert look.found() == {}
    path = project.root / "data/a.bin"
    path.write_bytes(large.replace(b"\0", b"\1"))
    os.utime(path, OLD)
    assert look.found() == {"data/a.bin": "changed"}
    path.unlink()
    assert look.found() == {"data/a.bin": "gone"}


def test_another_file_of_the_same_size_and_time_is_noticed_whatever_the_settings(
    project: Project,
) -> None:
    place, other = project.root / "README.md", project.root.parent / "other"
    project.git("config", "core.checkStat", "minimal")
    other.write_bytes(b"Hallo\n")
    os.utime(place, OLD)
    then = Look(project)
    os.utime(other, OLD)
    other.replace(place)
    assert then.found() == {"README.md": "changed"}


def test_a_file_whose_time_was_put_back_is_noticed_whatever_the_settings(project: Project) -> None:
    place = project.root / "README.md"
    project.git("config", "core.trustctime", "false")
    os.utime(place, OLD)
    then = Look(project)
    written = int(place.stat().st_ctime)
    while int(place.stat().st_ctime) == written:  # git keeps whole seconds
        place.write_bytes(b"Hallo\n")
        os.utime(place, OLD)
    assert then.found() == {"README.md": "changed"}


def test_what_the_users_index_may_not_trust_is_read(project: Project) -> None:
    place = project.root / "README.md"
    project.git("config", "core.trustctime", "false")
    os.utime(place, OLD)
    project.git("update-index", "--refresh", "-q")
    os.utime(project.root / ".git" / "index", OLD)
    place.write_bytes(b"Hallo\n")
    os.utime(place, OLD)
    then = Look(project)
    os.utime(place, (2_000_000_000, 2_000_000_000))
    assert then.found() == {}


def test_what_a_killed_look_left_is_swept_away(project: Project) -> None:
    then = Look(project)
    left = os.path.join(then.folder, f"scratch-{2**22 + 1}-gone")
    os.mkdir(left)
    fingerprint.take(find_repository(str(project.root)), then.folder)
    assert sorted(os.listdir(then.folder)) == ["index", "rows"]


def test_a_damaged_copy_of_the_index_is_made_again_when_the_fingerprint_is_taken(
    project: Project,
) -> None:
    then = Look(project)
    with open(os.path.join(then.folder, "index"), "wb") as file:
        file.write(b"no index")
    assert then.found() == {}
    assert Look(project).found() == {}


def test_the_list_of_files_is_read_only_where_something_has_changed(project: Project) -> None:
    then = Look(project)
    path = Path(then.folder, "rows")
    path.write_bytes(path.read_bytes()[:100])
    assert then.found() == {}
    project.write({"README.md": b"changed\n"})
    repo = find_repository(str(project.root))
    assert fingerprint.compare(repo, then.folder) is None


def test_our_own_writes_are_absorbed_and_nothing_else(kept: Project) -> None:
    then = Look(kept)
    kept.write({"README.md": b"ours\n", "made.txt": b"ours\n", "src/app.py": b"somebody's\n"})
    (kept.root / "run.sh").unlink()
    repo = find_repository(str(kept.root))
    fingerprint.absorb(repo, then.folder, ["README.md", "made.txt", "run.sh"])
    assert then.found() == {"src/app.py": "changed"}


def test_the_commit_that_was_is_remembered_for_information(project: Project) -> None:
    was = project.git("rev-parse", "HEAD")
    then = Look(project)
    project.git("commit", "-q", "--allow-empty", "-m", "on")
    assert then.found() == {}
    assert fingerprint.head_then(then.folder) == was


@pytest.mark.long
@pytest.mark.slow
def test_two_of_twenty_thousand_files_are_named(project: Project) -> None:
    for number in range(20_000):
        place = project.root / f"d{number % 100}" / f"f{number}.txt"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"%d\n" % number)
    project.commit()
    then = Look(project)
    project.write({"d1/f1.txt": b"changed\n", "d2/new.txt": b"1"})
    assert then.found() == {"d1/f1.txt": "changed", "d2/new.txt": "new"}
