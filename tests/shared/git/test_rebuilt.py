"""A patch gives what the plan names, line by line as people read it, or is refused by file."""

from __future__ import annotations

import base64
import hashlib
import os
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from shared.git.change import apply_patches, read_changes
from shared.git.large import BLOB
from shared.git.reader import Reader
from shared.git.rebuilt import check_patches, refuse_other_patches
from state.errors import Refused
from tests.shared.git.conftest import Project

if TYPE_CHECKING:
    from pathlib import Path

    from shared.git.change import FileChange
    from state.errors import Problem

pytestmark = pytest.mark.requirement("CM-3")

TALL = b"".join(b"def f%d(x):\n    y = x\n    return y\n\n" % n for n in range(30))
NOISE = hashlib.shake_256(b"noise").digest(3_000)
ODD = (b"plain.py", b'q"uote.py', b"tab\there.py", b"two words.py", "größe.py".encode(), b"a\\b.py",
       b"line\nbreak.py", b"-dash.py", b"x\x01y.py")  # fmt: skip


def problems_of(project: Project, changes: list[FileChange]) -> list[Problem]:
    with Reader(project.repo.git, project.vault.git) as reader:
        return check_patches(reader, changes)


def changes_of(project: Project, old: str, new: str) -> list[FileChange]:
    trees = [project.git("rev-parse", f"{one}^{{tree}}") for one in (old, new)]
    return read_changes(project.vault, trees[0], trees[1])


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_whatever_git_prints_for_a_change_gives_its_content(tmp_path: Path, form: str) -> None:
    project = Project(tmp_path / "p", form)
    odd = {os.fsdecode(name): TALL for name in ODD}
    old = project.commit({
        **odd, "crlf.txt": b"one\r\ntwo\r\nthree\r\n", "open.txt": b"one\ntwo", "ended.txt": b"a\n",
        "gone.py": TALL, "gone.bin": NOISE, "gone-empty": b"", "moved.py": TALL,
        "exact.py": TALL[4:],
        "data.bin": NOISE, "text-or-not": b"a\0b\n", "latin.txt": b"gr\xf6\xdfe\n" * 9,
        "mode.sh": b"#!/bin/sh\n", "both.sh": TALL, "becomes-link": b"a\n",
        "blank.txt": b"\n\n\n\n",
        "form-feed.py": b"\x0cclass A:\n" + TALL, "spaces.py": b"def f():   \n" + b" x\n" * 30,
    })  # fmt: skip
    os.symlink("one", project.root / "link")
    os.symlink("one", project.root / "becomes-file")
    project.write({"same-blob": b"target"})
    old = project.commit()
    edited = TALL.replace(b"y = x\n", b"y = x + 1\n", 3)[:-1]
    project.git("mv", "exact.py", "exact-too.py")
    for name in ("mode.sh", "both.sh"):
        (project.root / name).chmod(0o755)
    for name, target in (("link", "two"), ("becomes-link", "x")):
        (project.root / name).unlink()
        os.symlink(target, project.root / name)
    (project.root / "becomes-file").unlink()
    (project.root / "same-blob").unlink()
    os.symlink("target", project.root / "same-blob")
    (project.root / "moved.py").rename(project.root / "moved too.py")
    new = project.commit({
        **{os.fsdecode(name): edited for name in ODD}, "becomes-file": b"text\n",
        "crlf.txt": b"one\r\n2\r\nthree\r\n", "open.txt": b"one\ntwo\n", "ended.txt": b"a",
        "gone.py": None, "gone.bin": None, "gone-empty": None, "new-empty": b"", "new.py": TALL,
        "moved too.py": edited, "data.bin": NOISE[:900] + b"!" + NOISE[900:] * 2,
        "text-or-not": b"a\0c\n", "latin.txt": b"gr\xf6\xdfe\n" * 4 + b"x\n",
        "new.bin": NOISE[::-1],
        "both.sh": edited, "blank.txt": b"\n\nx\n\n", "form-feed.py": b"\x0cclass A:\n" + edited,
        "spaces.py": b"def f():   \n" + b" x\n" * 29 + b" z\n",
    })  # fmt: skip
    for one, other in ((old, new), (new, old)):
        changes = changes_of(project, one, other)
        assert len(changes) >= len(ODD) + 20
        assert {bool(c.old_file) for c in changes} == {True, False}
        assert not problems_of(project, changes)


def one_change(project: Project) -> FileChange:
    """Return the change of two functions of a file that has many alike."""
    old = project.commit({"src/a.py": TALL})
    edited = TALL.replace(b"def f9(x):\n    y = x\n", b"def f9(x):\n    y = x  # checked\n")
    edited = edited.replace(b"def f20(x):\n    y = x\n", b"def f20(x):\n    y = 2 * x\n")
    [change] = changes_of(project, old, project.commit({"src/a.py": edited}))
    return change


def test_a_patch_that_says_something_else_than_it_gives_is_refused_by_file(
    project: Project,
) -> None:
    good = one_change(project)
    patch = good.patch or ""
    evil = project.git("hash-object", "-w", "--stdin", stdin=TALL.replace(b"y = x", b"y = evil()"))
    second = patch.index("@@", patch.index("@@ def") + 20)
    forged = {
        "another content": replace(good, after=evil),
        "no patch": replace(good, patch=None),
        "an empty patch": replace(good, patch=""),
        "a comment": replace(good, patch="# only a comment\n"),
        "a patch and a comment": replace(good, patch=f"{patch}+y = harmless()\n"),
        "a line before it": replace(good, patch=f"+y = harmless()\n{patch}"),
        "a line between hunks": replace(good, patch=f"{patch[:second]}+z\n{patch[second:]}"),
        "a second file": replace(good, patch=patch + patch.replace("src/a.py", "src/b.py")),
        "the same file twice": replace(good, patch=patch + patch),
        "another file": replace(good, patch=patch.replace("src/a.py", "src/b.py")),
        "another name below": replace(good, patch=patch.replace("+++ b/src/a", "+++ b/src/b")),
        "another id": replace(good, patch=patch.replace(good.after or "", evil)),
        "a mode that is not the plan's": replace(good, mode="100755"),
        "a mode that only the patch has": replace(
            good, patch=patch.replace("index ", "old mode 100644\nnew mode 100755\nindex ")
        ),
        "a hunk elsewhere": replace(good, patch=patch.replace("@@ -35,", "@@ -39,", 1)),
        "both starts elsewhere": replace(
            good, patch=patch.replace("@@ -35,7 +35,7", "@@ -39,7 +39,7", 1)
        ),
        "a heading that is not above": replace(good, patch=patch.replace("@@ def f", "@@ def g")),
        "fewer lines than it says": replace(good, patch=patch.replace(",7 ", ",6 ", 1)),
        "context that is not there": replace(good, patch=patch.replace(" return", " Return")),
        "a line of nothing": replace(good, patch=patch.replace("     return", "return", 1)),
        "no line": replace(good, patch=patch[: patch.index("@@")]),
        "an end that is not there": replace(
            good, patch=patch.replace("checked\n", "checked\n\\ No newline at end of file\n")
        ),
        "base64 that is none": replace(good, encoding="base64"),
        "a patch beside a blob": replace(good, encoding=BLOB),
        "a rename that is none": replace(
            good, patch=patch.replace("index ", "rename from src/a.py\nindex ", 1)
        ),
        "cut off": replace(good, patch=patch[:-30]),
        "neither before nor after": replace(good, before=None, after=None),
    }  # fmt: skip
    assert not problems_of(project, [good])
    for name, change in forged.items():
        [found] = problems_of(project, [change])
        assert (found.kind, found.at) == ("invalid", "src/a.py"), name
    with pytest.raises(Refused, match="is not the change that the plan names"):
        refuse_other_patches(project.repo.git, [forged["another content"]])


def test_what_git_itself_takes_for_a_patch_is_refused(project: Project) -> None:
    """Git finds the lines elsewhere and passes over what is none; people read what is there."""
    good = one_change(project)
    patch = (good.patch or "").replace("@@ -35,7 +35,7", "@@ -39,7 +39,7", 1)
    moved = replace(good, patch=f"not a line of a patch\n{patch}")
    with project.vault.fresh_index() as git:
        git.run("update-index", "--add", "--cacheinfo", f"100644,{good.before},src/a.py")
        apply_patches(git, [moved])
    assert problems_of(project, [moved])


def literal(data: bytes, size: int | None = None) -> str:
    """Return a binary patch of a new file with this content, as git writes it."""
    packed = zlib.compress(data)
    lines = []
    for at in range(0, len(packed), 52):
        part = packed[at : at + 52]
        mark = chr(ord("A") + len(part) - 1 if len(part) <= 26 else ord("a") + len(part) - 27)
        lines.append(mark + base64.b85encode(part, pad=True).decode())
    rows = "\n".join(lines)
    return f"GIT binary patch\nliteral {len(data) if size is None else size}\n{rows}\n\n"


def test_a_binary_patch_gives_what_it_says_and_no_more_memory_than_that(project: Project) -> None:
    data = bytes(range(256)) * 8
    blob = project.git("hash-object", "--stdin", stdin=data)

    def new_file(body: str) -> FileChange:
        zero = "0" * 40
        head = f"diff --git a/x.bin b/x.bin\nnew file mode 100644\nindex {zero}..{blob}\n"
        return_to = "literal 0\nHcmV?d00001\n\n"
        patch = head + body + return_to
        return project_change(patch, blob)

    assert not problems_of(project, [new_file(literal(data))])
    bomb = literal(b"\0" * 60_000_000, 60_000_000)
    wrong = (
        literal(data, len(data) - 1), literal(data, len(data) + 1), literal(data[:-1]), bomb,
        literal(b"\0" * 30_000_000, 2_048), literal(data).replace("\n", "\n!!\n", 3),
        literal(data).replace("literal", "delta"), "GIT binary patch\nliteral 5\n",
        "GIT binary patch\nnothing\n\n", "Binary files differ\n",
    )  # fmt: skip
    for body in wrong:
        [found] = problems_of(project, [new_file(body)])
        assert found.at == "x.bin", body[:60]


def project_change(patch: str, blob: str) -> FileChange:
    from shared.git.change import FileChange

    return FileChange("x.bin", None, None, "100644", None, blob, patch, None)


def test_a_content_before_that_is_not_here_is_said(project: Project) -> None:
    change = replace(one_change(project), before="1" * 40)
    [found] = problems_of(project, [change])
    assert (found.kind, found.at) == ("not_found", "src/a.py")
    assert "fetch the plan's base commit" in found.allowed
    folder = project.git("rev-parse", "HEAD^{tree}")
    assert problems_of(project, [replace(change, before=folder)])[0].kind == "not_found"
