"""A merge is made again from its parents, by git's command or, where git is old, in an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.git.merged import MOST_PARENTS, Merged, by_git, by_index, merge_of

if TYPE_CHECKING:
    from shared.git.merged import Merge
    from tests.shared.git.conftest import Project

pytestmark = pytest.mark.requirement("CM-3")

LINES = b"".join(b"line %d\n" % n for n in range(30))
WAYS = pytest.mark.parametrize("merge", [by_git, by_index])


def branch(project: Project, name: str, files: dict[str, bytes | None], at: str = "main") -> str:
    project.git("switch", "-q", "-C", name, at)
    return project.commit(files)


@pytest.fixture
def forked(project: Project) -> tuple[Project, str, str]:
    """Return two branches that change one file in two places, and files of their own."""
    project.git("branch", "-M", "main")
    project.commit({"both.txt": LINES, "old.txt": b"old\n"})
    ours: dict[str, bytes | None] = {
        "both.txt": LINES.replace(b"line 2\n", b"2\n"), "one.txt": b"1\n",
    }  # fmt: skip
    one = branch(project, "one", ours)
    edits = {"both.txt": LINES.replace(b"line 20\n", b"20\n"), "old.txt": None}
    return project, one, branch(project, "other", edits)


@WAYS
def test_a_merge_without_conflict_is_the_tree_that_git_makes(
    forked: tuple[Project, str, str], merge: Merge
) -> None:
    project, one, other = forked
    project.git("switch", "-q", "one")
    project.git("merge", "-q", "--no-edit", "other")
    made = merge(project.vault, one, other)
    assert (made.tree, made.conflicts) == (project.git("rev-parse", "HEAD^{tree}"), ())


@WAYS
def test_what_a_person_has_to_settle_is_named(
    forked: tuple[Project, str, str], merge: Merge
) -> None:
    project, one, _ = forked
    theirs = LINES.replace(b"line 2\n", b"two\n")
    clash = branch(project, "clash", {"both.txt": theirs, "one.txt": b"uno\n"})
    made = merge(project.vault, one, clash)
    assert made.tree
    assert {*made.conflicts} == {"both.txt", "one.txt"}
    gone = branch(project, "gone", {"both.txt": None})
    assert merge(project.vault, one, gone).conflicts == ("both.txt",)


@WAYS
def test_histories_with_nothing_in_common_are_merged_as_well(
    project: Project, merge: Merge
) -> None:
    project.git("branch", "-M", "main")
    start = project.git("rev-parse", "HEAD")
    project.git("switch", "-q", "--orphan", "apart")
    apart = project.commit({"apart.txt": b"x\n"})
    made = merge(project.vault, start, apart)
    names = project.vault.git.text("ls-tree", "-r", "--name-only", made.tree).split("\n")
    assert names == ["README.md", "apart.txt", "run.sh", "src/app.py"]


def test_drivers_and_attributes_of_the_project_settle_nothing(project: Project) -> None:
    project.git("branch", "-M", "main")
    project.git("config", "merge.ours.driver", "true")
    project.commit({".gitattributes": b"*.txt merge=ours\n*.md merge=union\n", "a.txt": b"0\n"})
    one = branch(project, "one", {"a.txt": b"1\n", "README.md": b"1\n"})
    other = branch(project, "other", {"a.txt": b"2\n", "README.md": b"2\n"})
    for merge in (by_git, by_index):
        assert {*merge(project.vault, one, other).conflicts} == {"a.txt", "README.md"}


def test_an_old_git_says_what_it_cannot_join_and_names_what_was_renamed(
    forked: tuple[Project, str, str],
) -> None:
    project, one, other = forked
    project.git("switch", "-q", "one")
    project.git("merge", "-q", "--no-edit", "other")
    first = project.git("rev-parse", "HEAD")
    project.git("switch", "-q", "other")
    project.git("merge", "-q", "--no-edit", one)
    second = project.git("rev-parse", "HEAD")
    across = by_index(project.vault, first, second)
    assert not across.tree
    assert "2 common ancestors" in across.why
    assert by_git(project.vault, first, second).tree == project.git("rev-parse", "HEAD^{tree}")
    assert "does not follow renames" in by_index(project.vault, one, other).why


def test_several_parents_are_merged_one_after_the_other(forked: tuple[Project, str, str]) -> None:
    project, one, other = forked
    third = branch(project, "third", {"third.txt": b"3\n"})
    project.git("switch", "-q", "one")
    project.git("merge", "-q", "--no-edit", "other", "third")
    assert merge_of(project.vault, (one, other, third)).tree == project.git(
        "rev-parse", "HEAD^{tree}"
    )
    many = merge_of(project.vault, (one,) * (MOST_PARENTS + 1))
    assert many == Merged("", why=f"it has {MOST_PARENTS + 1} parents, more than the 16 judged")
    gone = merge_of(project.vault, (one, "1" * 40))
    assert not gone.tree
    assert "could not make the merge again" in gone.why
