"""Where a path below a worktree or the user's tree is put together, each with its reason.

What is done by such a path may be done elsewhere, where a folder has become a link. So files there
are read and written by `WorkingFiles`, or in a folder that `folder_of` opens; a function that is
not listed here fails (PP-9).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from benchmarks.imports import own_modules
from tests.test_git_by_path import places_of

if TYPE_CHECKING:
    from collections.abc import Iterator

# Names of variables and fields that hold such a folder.
FOLDERS = frozenset(("root", "worktree"))
# Rooms that act in one: the place sees its own mounts, the guard decides and acts on nothing.
ROOMS = ("cli/", "developer/", "orchestrator/", "shared/git/", "shared/execution/")
# `compares`: nothing is stored or written, and only names, sizes and times come out.
EXCEPTIONS = {
    "cli/results.py:render_patches": "names a file for its reader",
    "developer/candidates/found.py:has_here": "asks whether a file of the project is there",
    "developer/candidates/settle.py:_write": "names the file that it opens beneath the root",
    "developer/capture.py:_check_ignored": "compares",
    "developer/verify/in_place.py:scene": "names what is shown in the place",
    "developer/verify/trees.py:users_tree": "compares",
    "developer/verify/trial_commit.py:_in_place": "names what is shown in the place",
    "developer/verify/worker.py:_moved": "compares names",
    "orchestrator/requirements_lane/completing.py:_copy_of": "is written beneath the root",
    "developer/verify/cover.py:_is_same": "compares, and removes what lies in a folder of ours",
    "developer/verify/cover.py:_reached": "compares",
    "shared/git/environments.py:without_environments": "compares",
    "shared/git/files.py:folder_of": "names a file in an error",
    "shared/git/filters_here.py:_is_since": "compares",
    "shared/git/fingerprint.py:_look_inside": "compares",
    "shared/git/fingerprint.py:_odd": "compares",
    "shared/git/git_file.py:read_git_file": "compares names of folders",
    "shared/git/hooks.py:hook_folder": "where git finds the user's hooks",
    "shared/git/intended.py:check_extra": "compares; the file is written beneath the root",
    "shared/git/carry.py:clean": "the target of a link",
    "shared/git/links.py:link": "the target of a link",
    "shared/git/lost_journal.py:_is_made": "compares",
    "shared/git/merge.py:_is_in_the_way": "compares; the files are laid by descriptors",
    "shared/git/nested.py:check_submodules": "compares",
    "shared/git/own_files.py:own_files": "compares, by a hash of the user's hooks",
    "shared/git/reach.py:_left_out": "compares",
    "shared/git/repository.py:_is_environment": "compares",
    "shared/git/signing.py:_ssh_key": "reads the public key that git's settings name",
    "shared/git/signing.py:_public_in": "reads the public key that git's settings name",
    "shared/git/stage.py:_is_there": "compares",
}


def is_folder(node: ast.AST) -> bool:
    """Return whether an expression is a working tree's folder."""
    if isinstance(node, ast.BoolOp):
        return is_folder(node.values[0])
    if isinstance(node, ast.Call):  # os.fsencode(root)
        return any(map(is_folder, node.args))
    if isinstance(node, ast.Attribute) and node.attr == "path":
        return ast.unparse(node.value).rpartition(".")[2] == "tree"
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in FOLDERS


def makes_a_path(node: ast.AST) -> bool:
    """Return whether a call joins such a folder and a path that is not a name of ours."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "os.path.join":
        return False
    folder, *parts = node.args
    return is_folder(folder) and not any(map(is_ours, parts))


def is_ours(node: ast.AST) -> bool:
    """Return whether an expression is a text or a constant, such as the planner's folder."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return isinstance(node, ast.Constant) or name.isupper()


def found() -> Iterator[str]:
    for module in own_modules().values():
        if module.path.startswith(ROOMS):
            names = places_of(makes_a_path, module.tree)
            yield from (f"{module.path}:{name}" for name in names)


@pytest.mark.parametrize(
    ("text", "makes"),
    [
        ("os.path.join(worktree, path)", True),
        ("os.path.join(repo.root, os.fsdecode(name))", True),
        ("os.path.join(git.root or '', path)", True),
        ("os.path.join(self.tree.path, *names)", True),
        ("os.path.join(repo.root, PLANNER)", False),
        ("os.path.join(tree.path, '.git')", False),
        ("os.path.join(folder, path)", False),
    ],
)
def test_the_search_finds_paths_in_working_trees(text: str, makes: bool) -> None:
    assert any(map(makes_a_path, ast.walk(ast.parse(text)))) is makes


@pytest.mark.requirement("PP-9")
def test_no_path_in_a_working_tree_is_made_but_where_the_reason_is_listed() -> None:
    assert sorted({*found()}) == sorted(EXCEPTIONS)
