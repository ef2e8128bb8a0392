"""Where git itself opens or writes files of a working tree by their paths, each with its reason.

Git follows a folder that has become a link. What it stores of a worktree and writes there goes
through shared/git/copies.py; a call that is not listed here fails (PP-9).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from benchmarks.imports import own_modules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Git's commands that touch a working tree → options with which they do not, and without which not.
OPENS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "add": (frozenset(), frozenset()),
    "checkout-index": (frozenset(("--prefix=",)), frozenset()),
    "cherry-pick": (frozenset(), frozenset()),
    "diff-files": (frozenset(), frozenset()),
    "hash-object": (frozenset(("--stdin",)), frozenset()),
    "ls-files": (frozenset(), frozenset(("-o", "--others"))),
    "read-tree": (frozenset(), frozenset(("-u",))),
    "status": (frozenset(), frozenset()),
    "update-index": (frozenset(("--index-info", "--cacheinfo", "--force-remove")), frozenset()),
    "apply": (frozenset(("--cached",)), frozenset()),
    **dict.fromkeys(("checkout", "clean", "mv", "reset", "restore", "rm", "stash", "switch"),
                    (frozenset(), frozenset())),
}  # fmt: skip
RUNS = frozenset(("attempt", "lasting", "names", "names_beside", "ok", "run", "text", "words"))
# `compares`: only names come out, and nothing is stored.
EXCEPTIONS = {
    "cli/demo/command.py:make_sample": "a sample that the demo has just made",
    "developer/verify/at_home.py:_ADD": "runs inside the place",
    "developer/verify/trees.py:users_tree": "compares the user's tree",
    "orchestrator/requirements_lane/staging.py:changed_files": "compares the user's tree",
    "orchestrator/requirements_lane/staging.py:ignored_files": "compares the user's tree",
    "shared/git/capture.py:_IGNORED": "compares: what git ignores is named",
    "shared/git/carry.py:_pick": "a git before 2.38 merges in a worktree alone",
    "shared/git/commit.py:_copy_index": "compares: sizes and times, in a copy of the index",
    "shared/git/copies.py:restore": "compares; sizes and times of the files laid",
    "shared/git/fingerprint.py:_distrust": "changes marks in an index of ours",
    "shared/git/carry.py:clean": "names what is removed by descriptors",
    "shared/git/nested.py:_work_in": "compares a submodule, by a process that cannot write",
    "shared/git/private.py:record": "compares: the times of files whose copies are stored",
    "shared/git/private.py:renew": "compares: the times of files that are kept already",
    "shared/git/repository.py:uncommitted": "compares the user's tree",
    "shared/git/stage.py:refresh_names": "compares: sizes and times of files",
    "shared/git/stage.py:scan": "compares",
    "shared/git/stage.py:stage_names": "stages copies; or compares, and stores nothing",
    "shared/git/worktree.py:_create": "makes the worktree, which nobody knows yet",
}


def words_of(node: ast.AST) -> list[str]:
    """Return the words of a git command that a call or a tuple holds; of an f-string its start."""
    if isinstance(node, ast.Call):
        called = node.func
        if not (isinstance(called, ast.Attribute) and called.attr in RUNS):
            return []
        parts = node.args
    elif isinstance(node, ast.Tuple) and len(node.elts) > 1:
        parts = node.elts
    else:
        return []
    firsts = [part.values[0] if isinstance(part, ast.JoinedStr) else part for part in parts]
    return [str(p.value) if isinstance(p, ast.Constant) else "" for p in firsts]


def opens_by_path(node: ast.AST) -> bool:
    """Return whether a call or a tuple is a git command that opens files of a working tree."""
    words = words_of(node)
    if not words or words[0] not in OPENS:
        return False
    if isinstance(node, ast.Tuple) and not any(word.startswith("-") for word in words):
        return False  # other words of ours
    without, needed = OPENS[words[0]]
    return without.isdisjoint(words) and (not needed or not needed.isdisjoint(words))


def places_of(
    meant: Callable[[ast.AST], bool], node: ast.AST, around: tuple[str, ...] = ()
) -> Iterator[str]:
    """Yield the functions, or the constant, in which a node stands that is meant."""
    if meant(node):
        yield from around
    if isinstance(node, ast.FunctionDef):
        around = (*around, node.name)
    elif isinstance(node, ast.Assign) and not around:
        around = (ast.unparse(node.targets[0]),)
    for child in ast.iter_child_nodes(node):
        yield from places_of(meant, child, around)


def found() -> Iterator[str]:
    for module in own_modules().values():
        names = places_of(opens_by_path, module.tree)
        yield from (f"{module.path}:{name}" for name in names)


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("git.run('update-index', *words, stdin=names)", True),
        ("words = ('ls-files', '-z', '--others')", True),
        ("git.run('checkout-index', '-f', '-z', '--stdin')", True),
        ("git.run('checkout-index', '-z', f'--prefix={folder}/')", False),
        ("git.run('update-index', '-z', '--index-info', stdin=lines)", False),
        ("git.names('ls-files', '-s', '-z')", False),
        ("fields = ('status', 'reason')", False),
    ],
)
def test_the_search_finds_commands_of_git_that_open_files(text: str, opens: bool) -> None:
    assert any(map(opens_by_path, ast.walk(ast.parse(text)))) is opens


@pytest.mark.requirement("PP-9")
def test_git_opens_no_file_by_path_but_where_the_reason_is_listed() -> None:
    assert sorted({*found()}) == sorted(EXCEPTIONS)
