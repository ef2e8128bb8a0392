"""Every kind of change: captured, applied elsewhere, taken back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shared.git.apply import undo
from shared.git.change import FileChange, revert_changes
from shared.git.few_paths import rebuild
from shared.git.repository import head
from tests.forms import part
from tests.shared.git.conftest import Project, look

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BASE: dict[str, bytes | None] = {
    "a.txt": b"one\ntwo\nthree\n",
    "b.txt": b"1\n2\n3\n4\n5\n6\n7\n8\n9\n",
    "sub/c.txt": b"c\n",
    "sub/deep/d.txt": b"d\n",
    "only/e.txt": b"e\n",
    "empty": b"",
    "bare": b"no newline",
    "crlf": b"x\r\ny\r\n",
    "latin": "Gr\xfc\xdfe\n".encode("latin-1"),
    "blob": bytes(range(256)) * 40,
    "tool": b"#!/bin/sh\necho\n",
    **{f"many/{number}": b"%d\n" % number * 50 for number in range(20)},
}


def _chmod(bits: int) -> Callable[[Path], None]:
    return lambda root: (root / "tool").chmod(bits)


def _write(path: str, data: bytes) -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)

    return edit


def _remove(*paths: str) -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        for path in paths:
            (root / path).unlink()

    return edit


def _rename(old: str, new: str, extra: bytes = b"") -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        (root / new).parent.mkdir(parents=True, exist_ok=True)
        (root / old).rename(root / new)
        if extra:
            (root / new).write_bytes((root / new).read_bytes() + extra)

    return edit


def _link(path: str, target: str, first: str = "") -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        if first:
            (root / first).unlink()
        (root / path).symlink_to(target)

    return edit


def _file_to_folder(root: Path) -> None:
    (root / "a.txt").unlink()
    _write("a.txt/inside", b"in\n")(root)


def _folder_to_file(root: Path) -> None:
    (root / "only/e.txt").unlink()
    (root / "only").rmdir()
    (root / "only").write_bytes(b"now a file\n")


def _folder_to_link(root: Path) -> None:
    (root / "only/e.txt").unlink()
    (root / "only").rmdir()
    (root / "only").symlink_to("sub")


def _rename_into_itself(root: Path) -> None:
    data = (root / "b.txt").read_bytes()
    (root / "b.txt").unlink()
    _write("b.txt/b.txt", data)(root)


def _swap(root: Path) -> None:
    (root / "a.txt").rename(root / "x")
    (root / "b.txt").rename(root / "a.txt")
    (root / "x").rename(root / "b.txt")


NAMES = [
    "with space", 'quo"te', "new\nline", "tab\there", "-dash", "ünï/çödé.txt", "back\\slash",
    "semi;$x", "a b/b a b", "diff --git a b", "trailing ", ".hidden", "*glob?", ":colon",
    ":(top)x", "\x01ctl",
]  # fmt: skip


def _write_all(data: bytes) -> Callable[[Path], None]:
    def edit(root: Path) -> None:
        for name in NAMES:
            _write(name, data)(root)

    return edit


def _rename_all(root: Path) -> None:
    for number, name in enumerate(NAMES):
        _rename(f"many/{number}", name)(root)


EDITS: dict[str, Callable[[Path], None]] = {
    "new": _write("new.txt", b"new\n"),
    "new in new folder": _write("x/y/z.txt", b"new\n"),
    "new empty": _write("void", b""),
    "new without newline": _write("n", b"x"),
    "edit": _write("a.txt", b"one\nTWO\nthree\n"),
    "edit loses newline": _write("a.txt", b"one\ntwo\nthree"),
    "edit gains newline": _write("bare", b"no newline\n"),
    "emptied": _write("a.txt", b""),
    "filled": _write("empty", b"x\n"),
    "to crlf": _write("a.txt", b"one\r\ntwo\r\nthree\r\n"),
    "from crlf": _write("crlf", b"x\ny\n"),
    "lone cr": _write("a.txt", b"one\rtwo\rthree\n"),
    "trailing blanks": _write("a.txt", b"one  \n\ttwo\t\nthree\n\n\n"),
    "latin-1": _write("latin", "Gr\xfc\xdfe\n\xc4\n".encode("latin-1")),
    "binary": _write("blob", bytes(range(255, -1, -1)) * 30),
    "new binary": _write("blob2", b"\0\1\2" * 100),
    "text to binary": _write("a.txt", b"\0\xff" * 50),
    "late nul": _write("a.txt", b"x\n" * 9000 + b"\0\n"),
    "looks like a patch": _write(
        "a.txt", b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    ),
    "x bit": _chmod(0o755),
    "delete": _remove("a.txt"),
    "delete empty": _remove("empty"),
    "delete binary": _remove("blob"),
    "delete folder's last": _remove("only/e.txt"),
    "delete several": _remove("sub/c.txt", "sub/deep/d.txt"),
    "rename": _rename("b.txt", "moved/b.txt"),
    "rename and edit": _rename("b.txt", "b2.txt", b"10\n"),
    "rename into itself": _rename_into_itself,
    "swap": _swap,
    "link": _link("l", "a.txt"),
    "link to nothing": _link("l", "nowhere/at all"),
    "file to link": _link("a.txt", "b.txt", first="a.txt"),
    "file to folder": _file_to_folder,
    "folder to file": _folder_to_file,
    "folder to link": _folder_to_link,
    "strange names": _write_all(b"x\n"),
    "strange names, binary": _write_all(b"\0"),
    "strange names, empty": _write_all(b""),
    "rename to strange names": _rename_all,
}


def _check_everywhere(
    project: Project, edit: Callable[[Path], None], tmp_path: Path
) -> list[FileChange]:
    """Capture an edit; it must rebuild, apply in a clone, and come back, byte for byte."""
    other = project.clone(tmp_path / "clone")
    edit(project.begin())
    held = project.capture(hook=False)
    assert rebuild(other.vault, head(other.repo).tree, held.changes) == held.tree
    before, empties = look(other.root), _folders(other.root)
    other.apply(held.changes)
    wanted = look(project.worktree)
    assert look(other.root) == wanted
    other.git("add", "-A")
    assert other.git("write-tree") == held.tree
    other.git("reset", "-q")
    undo(other.repo, other.journal)
    assert look(other.root) == before
    assert _folders(other.root) == empties
    _check_reverted(project, other, held.changes)
    return held.changes


def _check_reverted(project: Project, other: Project, changes: list[FileChange]) -> None:
    back = revert_changes(project.vault, changes, project.repo.zero)
    base = head(other.repo).tree
    after = rebuild(project.vault, base, changes)
    assert rebuild(project.vault, after, back) == base


def _folders(root: Path) -> set[str]:
    found: set[str] = set()
    for at, folders, _files in os.walk(root):
        folders[:] = [name for name in folders if name not in {".git", ".planner"}]
        found.add(os.path.relpath(at, root))
    return found


@pytest.mark.requirement("PL-19", "PL-31", "PL-32")
@pytest.mark.parametrize("name", part([*EDITS], 5))
def test_a_change_of_any_kind_applies_in_a_clone_and_can_be_taken_back(
    project: Project, tmp_path: Path, name: str
) -> None:
    project.commit(BASE)
    changes = _check_everywhere(project, EDITS[name], tmp_path)
    assert changes
    assert all(change.patch for change in changes)


def _link_to_folder(root: Path) -> None:
    for name in ("ln", "loop"):
        (root / name).unlink()
    _write("ln/c.txt", b"other\n")(root)
    _write("loop/loop", b"l\n")(root)


def _folder_to_renamed_link(root: Path) -> None:
    (root / "only/e.txt").unlink()
    (root / "only").rmdir()
    (root / "ln").rename(root / "only")


def _folder_to_link_with_the_same_names(root: Path) -> None:
    (root / "only/e.txt").unlink()
    (root / "only").rmdir()
    (root / "only").symlink_to("like")
    (root / "many/0").unlink()
    (root / "many/0").symlink_to("0")


@pytest.mark.requirement("PL-31")
@pytest.mark.parametrize(
    "edit", [_link_to_folder, _folder_to_renamed_link, _folder_to_link_with_the_same_names]
)
def test_a_file_seen_through_a_link_is_not_taken_for_the_planned_one(
    project: Project, tmp_path: Path, edit: Callable[[Path], None]
) -> None:
    (project.root / "ln").symlink_to("sub")
    (project.root / "loop").symlink_to("loop")
    project.commit({**BASE, "like/e.txt": b"e\n"})
    assert _check_everywhere(project, edit, tmp_path)


@pytest.mark.requirement("PL-19")
def test_many_changes_at_once_apply_in_a_clone(project: Project, tmp_path: Path) -> None:
    project.commit(BASE)

    def edit(root: Path) -> None:
        for name in (
            "new empty", "x bit", "rename", "file to folder", "folder to file", "binary", "latin-1",
            "strange names",
        ):  # fmt: skip
            EDITS[name](root)

    changes = _check_everywhere(project, edit, tmp_path)
    assert len(changes) == 9 + len(NAMES)


@pytest.mark.requirement("PL-19")
def test_sha256_repositories_work_the_same(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", "sha256")
    project.commit(BASE)
    changes = _check_everywhere(project, EDITS["rename and edit"], tmp_path)
    assert len(changes[0].after or "") == 64


SETTINGS = dict(
    line.split("=")
    for line in """\
diff.noprefix=true
diff.mnemonicPrefix=true
apply.whitespace=fix
apply.ignoreWhitespace=change
diff.algorithm=patience
diff.indentHeuristic=false
diff.context=0
diff.interHunkContext=9
diff.renames=copies
diff.renameLimit=1
diff.external=false
core.quotePath=true
color.ui=always
core.whitespace=cr-at-eol
diff.orderFile=order
diff.suppressBlankEmpty=true
diff.submodule=log
diff.wsErrorHighlight=all
core.pager=false
status.showUntrackedFiles=no
core.splitIndex=true
core.untrackedCache=true
core.abbrev=4
diff.srcPrefix=x/
diff.relative=true
core.fsmonitor=false
core.bigFileThreshold=1
i18n.logOutputEncoding=latin1
core.safecrlf=true
diff.noindex=1
""".splitlines()
)


@pytest.mark.requirement("PL-32")
def test_no_setting_of_the_user_alters_a_byte_of_a_patch(project: Project, tmp_path: Path) -> None:
    project.commit({**BASE, ".gitattributes": b"*.txt diff=up\n*.md -diff\n", "ü": b"x\n"})
    worktree = project.begin()
    for name in ("edit", "rename and edit", "binary", "delete empty"):
        EDITS[name](worktree)
    project.write({"ü": b"y\n", "README.md": b"Hello you\n"}, worktree)
    plain = project.capture(hook=False)
    (project.root / "order").write_text("z*\n")
    for key, value in SETTINGS.items():
        project.git("config", key, value)
    project.git("config", "diff.up.textconv", "tr a-z A-Z <")
    project.git("config", "diff.up.command", "false")
    project.git("config", "diff.up.xfuncname", "^t.*")
    bent = project.capture(hook=False)
    assert bent == plain
    (project.root / "order").unlink()
    other = project.clone(tmp_path / "clone")
    for key, value in SETTINGS.items():
        other.git("config", key, value)
    other.apply(bent.changes)
    assert look(other.root) == look(worktree)
