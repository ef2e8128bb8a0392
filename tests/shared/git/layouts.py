"""Repositories whose git folder lies elsewhere than in the working tree, or is shared."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.shared.git.conftest import Project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def plain(root: Path) -> Project:
    return filled(Project(root))


def linked(root: Path) -> Project:
    made = filled(Project(root.with_name("first")))
    made.git("worktree", "add", "-q", "-b", "side", str(root))
    return Project(root)


def beside_bare(root: Path) -> Project:
    made = filled(Project(root.with_name("first")))
    made.git("clone", "-q", "--bare", ".", str(root.with_name("bare.git")))
    bare = root.with_name("bare.git")
    made.git("worktree", "add", "-q", "-b", "side", str(root), cwd=bare)
    return Project(root)


def separate(root: Path) -> Project:
    root.mkdir()
    apart = str(root.with_name("apart.git"))
    subprocess.run(["git", "init", "-q", "--separate-git-dir", apart, str(root)], check=True)
    return filled(Project(root))


def behind_link(root: Path) -> Project:
    made = filled(Project(root))
    (root / ".git").rename(root.with_name("moved.git"))
    (root / ".git").symlink_to(root.with_name("moved.git"))
    return made


def submodule(root: Path) -> Project:
    inner = filled(Project(root.with_name("inner")))
    outer = Project(root.parent / "outer")
    outer.git("submodule", "--quiet", "add", str(inner.root), "part")
    outer.commit()
    return Project(outer.root / "part")


def borrowing(root: Path) -> Project:
    made = filled(Project(root.with_name("first")))
    made.git("clone", "-q", "--shared", ".", str(root))
    return Project(root)


def sparse(root: Path) -> Project:
    made = filled(Project(root))
    made.commit({"docs/x": b"x\n"})
    made.git("sparse-checkout", "set", "src")
    return made


def filled(project: Project) -> Project:
    """Commit a few files."""
    project.commit({"src/app.py": b"a = 1\n", "gone": b"x\n", "run.sh": b"#!/bin/sh\n"})
    return project


LAYOUTS: list[Callable[[Path], Project]] = [
    plain, linked, beside_bare, separate, behind_link, submodule, borrowing, sparse,
]  # fmt: skip
