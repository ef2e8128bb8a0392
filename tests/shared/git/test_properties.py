"""Any tree turned into any other: captured, applied elsewhere, committed, taken back."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.git.apply import undo
from shared.git.change import revert_changes
from shared.git.commit import commit
from shared.git.few_paths import rebuild
from shared.git.repository import head
from tests.forms import LONG
from tests.shared.git.conftest import Project, look, wipe

NAMES = ["a", "b", "c d", "é", "-x", "A", 'q"', "new\nline", "b b", "a.txt"]
LINES = st.sampled_from(
    [b"one", b"two  ", b"\tthree", b"", b"\xff\xfe", b"x\r", b"\0", b"diff --git a/a b/a"]
)
FILE = st.one_of(
    st.builds(b"\n".join, st.lists(LINES, max_size=12)),
    st.builds(lambda n: b"".join(b"line %d\n" % i for i in range(n)), st.integers(0, 30)),
    st.binary(max_size=300),
)
PATH = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join)
LINK = st.sampled_from(["a", "b/c d", "nowhere"])
ENTRY = st.one_of(
    FILE.map(lambda data: ("file", data)),
    FILE.map(lambda data: ("tool", data)),
    LINK.map(lambda target: ("link", target.encode())),
)
Tree = dict[str, tuple[str, bytes]]


def _grown(wanted: Tree) -> Tree:
    """Leave out what has a file where it needs a folder."""
    tree: Tree = {}
    for path, entry in wanted.items():
        folders = {path[:i] for i, char in enumerate(path) if char == "/"}
        if not folders & set(tree) and not any(have.startswith(path + "/") for have in tree):
            tree[path] = entry
    return tree


TREE = st.dictionaries(PATH, ENTRY, max_size=8).map(_grown)


def _lay(root: Path, tree: Tree) -> None:
    wipe(root)
    for path, (kind, data) in tree.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if kind == "link":
            place.symlink_to(data.decode())
        else:
            place.write_bytes(data)
            place.chmod(0o755 if kind == "tool" else 0o644)


@pytest.mark.slow
@pytest.mark.requirement("PL-19", "PL-29", "PL-31")
@settings(max_examples=60 if LONG else 8, suppress_health_check=list(HealthCheck))
@given(before=TREE, after=TREE, kept=TREE)
def test_any_tree_becomes_any_other_and_comes_back(before: Tree, after: Tree, kept: Tree) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder) / "p")
        _lay(project.root, _grown({**before, **kept}))
        project.commit()
        base = head(project.repo).tree
        clone = project.clone(Path(folder) / "clone")
        _lay(project.begin(), _grown({**kept, **after}))
        held = project.capture(hook=False)
        _check_apart(project, clone, base, held.tree, held.changes)
        done = commit(clone.repo, clone.vault, held.changes, "Plan\n", {"extra": b"x"})
        assert clone.git("rev-parse", "HEAD") == done.commit
        clone.git("rm", "-q", "--cached", "extra")
        assert clone.git("write-tree") == held.tree


def _check_apart(project: Project, clone: Project, base: str, tree: str, changes: list) -> None:  # type: ignore[type-arg]
    assert rebuild(clone.vault, base, changes) == tree
    back = revert_changes(clone.vault, changes, clone.repo.zero)
    assert rebuild(clone.vault, tree, back) == base
    start = look(clone.root)
    clone.apply(changes)
    assert look(clone.root) == look(project.worktree)
    undo(clone.repo, clone.journal)
    assert look(clone.root) == start
