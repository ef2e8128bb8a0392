"""Apply writes into the user's tree all or nothing, and only what was planned."""

from __future__ import annotations

import contextlib
import os
import shutil
from itertools import product
from typing import TYPE_CHECKING

import pytest

from shared.git import apply as apply_module
from shared.git.apply import apply, undo
from shared.git.change import FileChange
from shared.git.journal import journal_state
from shared.git.repository import find_repository
from shared.git.snapshot import snapshot
from shared.git.users_files import check_before, check_tree
from shared.git.vault import open_vault
from state.errors import Refused
from tests.forms import part, some
from tests.kills import killed_after
from tests.shared.git.conftest import Project, look

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

PLAN: dict[str, bytes | None] = {
    "src/app.py": b"a = 1\nb = 3\n",
    "src/new.py": b"c = 1\n",
    "README.md": None,
}


def _refusal(project: Project, changes: list[FileChange]) -> Refused:
    before = look(project.root)
    with pytest.raises(Refused) as caught:
        project.apply(changes)
    assert look(project.root) == before
    return caught.value


def _places(refusal: Refused) -> list[str]:
    return [problem.at for problem in refusal.problems]


@pytest.mark.requirement("PL-26")
def test_every_file_that_is_not_as_planned_is_named_and_nothing_is_written(
    project: Project,
) -> None:
    changes = project.plan(PLAN)
    project.write({"src/app.py": b"mine\n", "src/new.py": b"mine too\n", "README.md": None})
    assert _places(_refusal(project, changes)) == ["README.md", "src/app.py", "src/new.py"]
    assert journal_state(project.journal) is None


@pytest.mark.requirement("PL-26")
def test_head_may_have_moved_elsewhere(project: Project) -> None:
    changes = project.plan(PLAN)
    project.commit({"other.txt": b"meanwhile\n"})
    assert project.apply(changes).how == "applied"
    assert check_tree(project.repo, project.vault, changes) == []


@pytest.mark.requirement("PL-26")
@pytest.mark.parametrize("obstacle", ["folder", "link", "file above", "link above", "fifo"])
def test_what_stands_in_the_way_of_a_new_file_is_named(project: Project, obstacle: str) -> None:
    changes = project.plan({"x/y/new.txt": b"n\n"})
    root = project.root
    outside = root.parent / "outside"
    outside.mkdir()
    if obstacle == "folder":
        project.write({"x/y/new.txt/theirs": b"t"})
    elif obstacle == "file above":
        project.write({"x": b"t"})
    elif obstacle == "link above":
        (root / "x").symlink_to(outside)
        (outside / "y").mkdir()
    else:
        (root / "x/y").mkdir(parents=True)
        place = root / "x/y/new.txt"
        place.symlink_to(outside) if obstacle == "link" else os.mkfifo(place)
    with pytest.raises(Refused) as caught:
        project.apply(changes)
    assert _places(caught.value) == ["x/y/new.txt"]
    assert list(outside.rglob("*.txt")) == []


@pytest.mark.requirement("PL-31")
def test_permission_bits_of_the_user_stay_and_only_the_x_bit_follows_the_plan(
    project: Project,
) -> None:
    project.begin()
    project.write({"src/app.py": b"new\n"}, project.worktree)
    (project.worktree / "run.sh").chmod(0o755)
    changes = project.capture(hook=False).changes
    (project.root / "src/app.py").chmod(0o640)
    (project.root / "run.sh").chmod(0o640)
    before = look(project.root)
    project.apply(changes)
    now = look(project.root)
    assert (now["src/app.py"][1], now["run.sh"][1]) == (0o640, 0o750)
    undo(project.repo, project.journal)
    assert look(project.root) == before


@pytest.mark.requirement("PL-31")
def test_undo_is_refused_for_files_that_differ_since(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    project.write({"src/app.py": b"edited after\n"})
    now = look(project.root)
    with pytest.raises(Refused) as caught:
        undo(project.repo, project.journal)
    assert _places(caught.value) == ["src/app.py"]
    assert look(project.root) == now
    assert journal_state(project.journal) == "applied"


@pytest.mark.requirement("PL-31")
def test_repeating_changes_nothing(project: Project) -> None:
    before = look(project.root)
    changes = project.plan(PLAN)
    project.apply(changes)
    now = look(project.root)
    assert project.apply(changes).how == "already"
    assert look(project.root) == now
    undo(project.repo, project.journal)
    undo(project.repo, project.journal)
    assert look(project.root) == before
    assert journal_state(project.journal) == "undone"
    assert project.apply(changes).how == "applied"
    assert look(project.root) == now


@pytest.mark.requirement("PL-31")
def test_a_journal_of_another_revision_is_not_mixed_with_this_one(project: Project) -> None:
    changes = project.plan(PLAN)
    project.apply(changes)
    with pytest.raises(Refused, match="the last apply was of revision"):
        apply_module.apply(project.repo, project.vault, changes, project.journal, "e" * 64)


@pytest.mark.requirement("PL-32")
def test_the_users_index_stash_refs_and_objects_are_not_touched(project: Project) -> None:
    project.write({"run.sh": b"staged\n"})
    project.git("add", "run.sh")
    project.write({"run.sh": b"unstaged\n", "loose.txt": b"u\n"})
    changes = project.plan(PLAN)
    index = (project.root / ".git/index").read_bytes()
    objects = project.git("count-objects", "-v")
    refs = project.git("for-each-ref")
    project.apply(changes)
    undo(project.repo, project.journal)
    assert (project.root / ".git/index").read_bytes() == index
    assert project.git("count-objects", "-v") == objects
    assert project.git("for-each-ref") == refs


@pytest.mark.requirement("PL-19")
def test_bytes_come_from_the_plan_alone(project: Project, tmp_path: Path) -> None:
    other = project.clone(tmp_path / "clone")
    changes = project.plan(PLAN)
    shutil.rmtree(project.root)
    other.apply(changes)
    assert (other.root / "src/new.py").read_bytes() == b"c = 1\n"


@pytest.mark.requirement("PL-26")
def test_a_patch_that_does_not_make_the_planned_blob_is_refused(project: Project) -> None:
    changes = project.plan(PLAN)
    forged = [
        FileChange(**{**vars(c), "patch": (c.patch or "").replace("+b = 3", "+b = 4")})
        for c in changes
    ]
    assert _places(_refusal(project, forged)) == ["src/app.py"]


@pytest.mark.requirement("PL-26")
@pytest.mark.parametrize(
    "path", ["../evil", "/evil", ".git/hooks/x", "a/.GIT/x", "a//b", "a\0b", ""]
)
def test_a_plan_from_elsewhere_can_name_no_path_outside_the_tree(
    project: Project, path: str
) -> None:
    (change,) = project.plan({"x": b"x\n"})
    assert _refusal(project, [FileChange(**{**vars(change), "file": path})]).problems[0].at == path


# line ends, filters and their kin


RULES = (b"", b"* text=auto\n", b"*.txt eol=crlf\n", b"*.txt eol=lf\n")


@pytest.mark.parametrize(
    ("attributes", "autocrlf"), part([*product(RULES, ["true", "input", "false"])], 4)
)
def test_line_ends_are_what_git_would_check_out(
    project: Project, tmp_path: Path, autocrlf: str, attributes: bytes
) -> None:
    project.commit({"lf.txt": b"a\nb\n", "crlf.txt": b"a\r\nb\r\n", ".gitattributes": attributes})
    other = project.clone(tmp_path / "clone")
    other.git("config", "core.autocrlf", autocrlf)
    other.git("rm", "-rq", "--cached", ".")
    other.git("reset", "-q", "--hard")
    before = look(other.root)
    edits: dict[str, bytes | None] = {
        "lf.txt": b"a\nB\n",
        "crlf.txt": b"a\r\nB\r\n",
        "new.txt": b"n\n",
    }
    changes = project.plan(edits)
    other.apply(changes)
    now = look(other.root)
    fresh = tmp_path / "fresh"
    (other.root / ".git/objects/info/alternates").write_text(f"{project.root}/.git/objects\n")
    other.git("worktree", "add", "-q", "--detach", str(fresh))
    for change in changes:
        blob = f"{change.mode},{change.after},{change.file}"
        other.git("update-index", "--add", "--cacheinfo", blob, cwd=fresh)
    other.git("checkout-index", "-qfa", cwd=fresh)
    assert now == look(fresh)
    undo(other.repo, other.journal)
    assert look(other.root) == before


def test_crlf_files_under_autocrlf_are_captured_and_applied_as_git_commits_them(
    project: Project,
) -> None:
    project.git("config", "core.autocrlf", "true")
    project.commit({"w.txt": b"a\r\nb\r\n"})
    changes = project.plan({"w.txt": b"a\r\nB\r\n", "n.txt": b"n\r\n"})
    assert all("\r" not in (change.patch or "") for change in changes)
    project.apply(changes)
    assert (project.root / "w.txt").read_bytes() == b"a\r\nB\r\n"
    assert (project.root / "n.txt").read_bytes() == b"n\r\n"


def test_clean_and_smudge_filters_work_both_ways(project: Project) -> None:
    project.git("config", "filter.rot.clean", "tr a-z n-za-m")
    project.git("config", "filter.rot.smudge", "tr a-z n-za-m")
    project.git("config", "filter.rot.required", "true")
    project.commit({".gitattributes": b"*.rot filter=rot\n", "a.rot": b"hello\n"})
    assert project.git("show", "HEAD:a.rot") == "uryyb"
    before = look(project.root)
    changes = project.plan({"a.rot": b"goodbye\n", "b.rot": b"new\n"})
    assert "+tbbqolr" in (changes[0].patch or "")
    project.apply(changes)
    assert (project.root / "a.rot").read_bytes() == b"goodbye\n"
    assert (project.root / "b.rot").read_bytes() == b"new\n"
    undo(project.repo, project.journal)
    assert look(project.root) == before


def test_a_filter_whose_program_lies_in_the_repository_is_found_wherever_git_works(
    project: Project,
) -> None:
    project.git("config", "filter.own.clean", "sh tools/rot.sh")
    project.git("config", "filter.own.smudge", "tr a-z n-za-m")
    project.git("config", "filter.own.required", "true")
    files: dict[str, bytes | None] = {"tools/rot.sh": b"tr a-z n-za-m\n", "a.rot": b"hello\n"}
    project.commit({".gitattributes": b"*.rot filter=own\n", **files})
    changes = project.plan({"a.rot": b"goodbye\n"})
    project.apply(changes)
    assert (project.root / "a.rot").read_bytes() == b"goodbye\n"
    assert project.git("show", f"{snapshot(project.repo)}:a.rot") == "tbbqolr"


def test_a_filter_that_does_not_come_back_refuses_before_anything_is_written(
    project: Project,
) -> None:
    project.commit({".gitattributes": b"*.odd filter=odd\n", "a.txt": b"a\n"})
    changes = project.plan({"x.odd": b"x\n", "a.txt": b"b\n"})
    project.git("config", "filter.odd.clean", "sed s/^/y/")
    project.git("config", "filter.odd.smudge", "cat")
    assert _places(_refusal(project, changes)) == ["x.odd"]


def test_working_tree_encoding_is_kept(project: Project) -> None:
    attributes = b"*.utf16 text working-tree-encoding=UTF-16LE\n"
    project.commit({".gitattributes": attributes, "a.utf16": "hé\n".encode("utf-16-le")})
    changes = project.plan({"a.utf16": "hà\n".encode("utf-16-le")})
    assert "+hà" in (changes[0].patch or "")
    project.apply(changes)
    assert (project.root / "a.utf16").read_bytes() == "hà\n".encode("utf-16-le")


def test_without_file_modes_the_x_bit_of_the_disk_says_nothing(project: Project) -> None:
    project.git("config", "core.fileMode", "false")
    project.git("update-index", "--chmod=+x", "run.sh")
    project.git("commit", "-qm", "executable")
    changes = project.plan({"run.sh": b"#!/bin/sh\nexit\n", "new.sh": b"n\n"})
    assert [change.mode for change in changes] == ["100644", "100755"]
    (project.root / "run.sh").chmod(0o600)
    project.apply(changes)
    assert check_tree(project.repo, project.vault, changes) == []
    (project.root / "new.sh").chmod(0o755)
    undo(project.repo, project.journal)
    assert check_before(project.repo, project.vault, changes) == []


def test_a_plan_may_touch_the_attributes_that_rule_its_own_files(project: Project) -> None:
    project.commit({"w.txt": b"a\n"})
    changes = project.plan({".gitattributes": b"*.txt eol=crlf\n", "w.txt": b"b\r\n"})
    project.apply(changes)
    assert (project.root / "w.txt").read_bytes() == b"b\r\n"
    assert check_tree(project.repo, project.vault, changes) == []


def test_files_in_a_submodule_are_never_written(project: Project, tmp_path: Path) -> None:
    changes = project.plan({"lib/new.txt": b"n\n"})
    Project(tmp_path / "lib").commit({"l.txt": b"l\n"})
    project.git("submodule", "add", "-q", str(tmp_path / "lib"), "lib")
    project.git("commit", "-qm", "submodule")
    assert "submodule lib" in str(_refusal(project, changes))


# failures and crashes

COUNTED = ("replace", "unlink", "rmdir", "mkdir", "symlink", "fsync", "rename", "open")


class Boom(BaseException):
    """The process ends here."""


def _break_at(monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException) -> list[int]:
    """Fail the `number`th call, of any kind, that changes the disk from Python."""
    count = [0]

    def wrap(name: str) -> None:
        real = getattr(os, name)

        def call(*args: object, **options: object) -> object:
            # What the vault holds is made again each time; a crash there leaves nothing behind.
            count[0] += not any("vault.git" in str(arg) for arg in args)
            if count[0] == number:
                raise error
            return real(*args, **options)

        monkeypatch.setattr(os, name, call)

    for name in COUNTED:
        wrap(name)
    return count


RICH: dict[str, bytes | None] = {
    "src/app.py": b"a = 9\n",
    "deep/er/new.py": b"n\n",
    "run.sh": None,
    "dir/one": None,
    "dir": b"file now\n",
    "file/inside": b"i\n",
}


def _rich(project: Project) -> list[FileChange]:
    project.commit({"dir/one": b"1\n", "file": b"f\n"})
    worktree = project.begin()
    shutil.rmtree(worktree / "dir")
    (worktree / "file").unlink()
    (worktree / "ln").symlink_to("README.md")
    project.write({k: v for k, v in RICH.items() if k != "dir/one"}, worktree)
    return project.capture(hook=False).changes


@pytest.mark.slow
@pytest.mark.requirement("PL-31")
def test_a_crash_at_any_point_of_an_apply_can_be_finished_or_taken_back(
    project: Project,
) -> None:
    changes = _rich(project)
    before = look(project.root)
    points = _points(lambda: project.apply(changes))
    after = look(project.root)
    undo(project.repo, project.journal)
    for turn, number in enumerate(points):
        after_it = after if turn % 2 else None
        _crash_and_recover(project, changes, number, before, after_it)


def _points(act: Callable[[], object]) -> Sequence[int]:
    """Do something; return the numbers of its changes of the disk, in the short form of some."""
    with pytest.MonkeyPatch.context() as patch:
        count = _break_at(patch, 0, Boom())
        act()
    assert count[0] > 30
    return some(range(1, count[0] + 1), 5)


def _crash_and_recover(
    project: Project,
    changes: list[FileChange],
    number: int,
    before: dict[str, tuple[str, int, bytes]],
    after: dict[str, tuple[str, int, bytes]] | None,
) -> None:
    """Crash at one point; finish the apply where `after` says how it ends, then take it back."""
    with pytest.MonkeyPatch.context() as patch:
        _break_at(patch, number, Boom())
        with contextlib.suppress(Boom):
            project.apply(changes)
    if after:
        project.apply(changes)
        assert look(project.root) == after
    if journal_state(project.journal) in {"applying", "applied"}:
        undo(project.repo, project.journal)
    assert look(project.root) == before


@pytest.mark.slow
@pytest.mark.requirement("PL-31")
def test_a_crash_at_any_point_of_an_undo_can_be_finished(project: Project) -> None:
    changes = _rich(project)
    before = look(project.root)
    project.apply(changes)
    for number in _points(lambda: undo(project.repo, project.journal)):
        project.apply(changes)
        with pytest.MonkeyPatch.context() as patch:
            _break_at(patch, number, Boom())
            with contextlib.suppress(Boom):
                undo(project.repo, project.journal)
        if journal_state(project.journal) == "undoing":
            with pytest.raises(Refused, match="interrupted"):
                project.apply(changes)
        undo(project.repo, project.journal)
        assert look(project.root) == before


@pytest.mark.slow
@pytest.mark.requirement("PL-31")
def test_a_failing_disk_leaves_everything_or_nothing(project: Project) -> None:
    changes = _rich(project)
    before = look(project.root)
    points = _points(lambda: project.apply(changes))
    undo(project.repo, project.journal)
    for number in points:
        said = ""
        with pytest.MonkeyPatch.context() as patch:
            error = OSError(28, "No space left on device", "somewhere")
            _break_at(patch, number, error)
            try:
                project.apply(changes)
            except Refused as refusal:
                said = str(refusal)
        if not said:
            undo(project.repo, project.journal)
        if journal_state(project.journal) in {"applying", "applied"}:
            assert "nothing was applied" not in said
            assert project.apply(changes).how in {"finished", "already"}
            undo(project.repo, project.journal)
        assert look(project.root) == before


@pytest.mark.requirement("PL-31")
def test_after_a_crash_a_file_that_is_neither_is_named_and_nothing_more_is_changed(
    project: Project,
) -> None:
    changes = _rich(project)
    with pytest.MonkeyPatch.context() as patch:
        real = os.unlink

        def die(path: str, **options: int) -> None:
            if path == "run.sh" and journal_state(project.journal):
                raise Boom
            real(path, **options)

        patch.setattr(os, "unlink", die)
        with pytest.raises(Boom):
            project.apply(changes)
    assert journal_state(project.journal) == "applying"
    project.write({"src/app.py": b"edited in between\n"})
    now = look(project.root)
    for again in (lambda: project.apply(changes), lambda: undo(project.repo, project.journal)):
        with pytest.raises(Refused) as caught:
            again()
        assert _places(caught.value) == ["src/app.py"]
        assert look(project.root) == now


@pytest.mark.requirement("PL-31")
def test_a_file_saved_by_the_user_during_the_apply_is_kept_and_the_rest_taken_back(
    project: Project,
) -> None:
    changes = project.plan({"a": b"a\n", "src/app.py": b"planned\n", "z": b"z\n"})
    before = look(project.root)
    with pytest.MonkeyPatch.context() as patch:
        real = os.replace

        def race(source: str, target: str, **folders: int) -> None:
            real(source, target, **folders)
            if target == "a" and folders:
                project.write({"src/app.py": b"saved meanwhile\n"})

        patch.setattr(os, "replace", race)
        with pytest.raises(Refused) as caught:
            project.apply(changes)
    assert _places(caught.value) == ["src/app.py"]
    project.write({"src/app.py": before["src/app.py"][2]})
    assert look(project.root) == before
    assert journal_state(project.journal) == "undone"


@pytest.mark.slow
@pytest.mark.requirement("PL-31")
def test_a_killed_apply_is_finished_by_the_next_one(project: Project) -> None:
    changes = _rich(project)
    before = look(project.root)

    def anew() -> None:
        repo = find_repository(str(project.root))
        apply(repo, open_vault(repo, project.vault.path), changes, project.journal, "d" * 64)

    for number in part(range(1, 9), 3):
        killed_after(number, os, "replace", anew)
        project.apply(changes)
        assert check_tree(project.repo, project.vault, changes) == []
        undo(project.repo, project.journal)
        assert look(project.root) == before
