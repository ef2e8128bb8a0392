"""Find the changed files that are too large to stand in a plan as patches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from shared.git.command import Git

# How a change says that its content is beside plan.json, under the plan's ref.
BLOB = "blob"
MEBIBYTE = 1 << 20
# Of all patches of a plan; `[plan] max_patch_mb`.
MOST_MB = 20
# Of both contents of a text: comparing more, line by line, would take more memory than we have.
MOST_COMPARED = 40 * MEBIBYTE
# A binary patch has both contents, and five letters for four bytes.
_LETTERS_PER_BYTE = 1.25
_RAW = ("diff-tree", "-r", "-z", "--raw", "--full-index", "--no-renames")


class Row(NamedTuple):
    """One changed path as `git diff-tree --raw` has it, and the bytes of its two contents."""

    meta: bytes
    name: bytes
    size: int


def raw(git: Git, named: Sequence[str], *trees: str) -> list[bytes]:
    """Return how two git trees differ, without renames: `git diff-tree --raw`, and each path."""
    return git.lasting(*_RAW, *trees, *named, of=trees).split(b"\0")[:-1]


def too_large(git: Git, limit: int, fields: Sequence[bytes], *trees: str) -> list[Row]:
    """Return the files changed between two git trees that no patch is to be made of.

    Of the binaries the largest, until the patches of the others may fit into `limit` bytes, and
    texts that are too large to be compared. Of other texts only the patch says whether it fits.
    `fields` are what `raw` says of the trees.
    """
    found = _rows(git, fields)
    most = max(limit, MOST_COMPARED)
    large = [row for row in found if row.size > most]
    rest = sorted((row for row in found if row.size <= most), key=lambda row: -row.size)
    if sum(row.size for row in rest) > limit:
        some = [row for row in rest if row.size > MEBIBYTE]
        names = _binaries(git, [row.name for row in some], *trees)
        binaries = [row for row in some if row.name in names]
        room = limit / _LETTERS_PER_BYTE - sum(row.size for row in binaries)
        while room < 0:
            large.append(binaries.pop(0))
            room += large[-1].size
    return large


def sizes_of(git: Git, blobs: Iterable[str]) -> dict[str, int]:
    """Return the size in bytes of each of these blobs that is here."""
    wanted = "".join(f"{blob}\n" for blob in sorted({*blobs}))
    check = "--batch-check=%(objectname) %(objectsize)"
    rows = git.text("cat-file", check, stdin=wanted.encode()).splitlines() if wanted else []
    return {name: int(size) for name, _, size in (r.partition(" ") for r in rows) if size.isdigit()}


def _rows(git: Git, fields: Sequence[bytes]) -> list[Row]:
    rows = list(zip(fields[0::2], fields[1::2], strict=True))
    ids = [meta.decode().split(" ")[2:4] for meta, _ in rows]
    sizes = sizes_of(git, (blob for both in ids for blob in both if blob.strip("0")))
    return [
        Row(meta, name, sum(sizes.get(blob, 0) for blob in both))
        for (meta, name), both in zip(rows, ids, strict=True)
    ]


def _binaries(git: Git, names: Sequence[bytes], *trees: str) -> set[bytes]:
    """Return those of the files that git does not compare line by line."""
    if not names:
        return set()
    paths = [f":(literal){name.decode()}" for name in names]
    rows = git.names("diff-tree", "-r", "-z", "--numstat", "--no-renames", *trees, "--", *paths)
    return {row.split(b"\t", 2)[2] for row in rows if row.startswith(b"-\t-\t")}
