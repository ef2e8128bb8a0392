"""Git's output is split into patches as it comes, and only what fits is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.git.command import MOST_OF_A_PIECE
from shared.git.patches import split_patches
from shared.git.repository import repository_at
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PL-19")

# The second has, in its content, what begins a patch.
PATCHES = [
    b"diff --git a/a b/a\nnew file mode 100644\n",
    b"diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-diff --git a/x b/x\n+diff --gi\n",
    b"diff --git a/c b/c\nGIT binary patch\nliteral 3\nKcmZQz\n\nliteral 0\nHcmV?d00001\n\n",
    b"diff --git a/d b/d\n" + b"+long line\n" * 9,
]
ALL = b"".join(PATCHES)


def in_pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(st.integers(1, len(ALL)))
def test_wherever_the_output_is_cut_the_patches_are_the_same(size: int) -> None:
    assert split_patches(in_pieces(ALL, size), len(ALL)) == PATCHES


@given(st.integers(1, len(ALL)), st.integers(0, len(ALL)), st.permutations(PATCHES))
def test_the_largest_are_left_out_until_the_others_fit(
    size: int, limit: int, patches: list[bytes]
) -> None:
    expected: list[bytes | None] = [*patches]
    while sum(len(patch or b"") for patch in expected) > limit:
        expected[expected.index(max(expected, key=lambda patch: len(patch or b"")))] = None
    assert split_patches(in_pieces(b"".join(patches), size), limit) == expected


def test_no_output_has_no_patches() -> None:
    assert split_patches([], 10) == []


@pytest.mark.parametrize("output", [b"warning: x\n" + ALL, b"dif", b"\n" + ALL])
@pytest.mark.parametrize("size", [1, 1_000])
def test_output_that_does_not_start_with_a_patch_is_refused(output: bytes, size: int) -> None:
    with pytest.raises(Refused, match="not a patch"):
        split_patches(in_pieces(output, size), 10)


def test_output_comes_in_pieces_and_a_failure_of_git_is_refused(
    make_repo: Callable[..., Repository],
) -> None:
    repository = make_repo(files={"a.txt": "line\n" * 500_000})
    git = repository_at(str(repository.path)).git
    pieces = list(git.pieces("cat-file", "blob", "HEAD:a.txt"))
    assert b"".join(pieces) == b"line\n" * 500_000
    assert max(map(len, pieces)) <= MOST_OF_A_PIECE < 500_000 * 5
    next(git.pieces("cat-file", "blob", "HEAD:a.txt"))  # who reads no further hangs nobody
    with pytest.raises(Refused, match="does not exist in"):
        list(git.pieces("cat-file", "blob", "HEAD:none"))
