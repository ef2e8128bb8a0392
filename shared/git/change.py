"""Read the file changes between two git trees, and apply their patches to a tree."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Protocol

from shared.git.large import BLOB, MEBIBYTE, MOST_MB, raw, sizes_of, too_large
from shared.git.patches import ANOTHER_GIT, split_patches
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from shared.git.command import Git
    from shared.git.vault import Vault

LINK = "120000"
MODES = frozenset({"100644", "100755", LINK})
GITLINK = "160000"

# Every option that affects the list of changes and their patches: git's defaults may change
# with its version.
_PAIRS = (
    "-r", "--full-index", "--no-ext-diff", "--no-relative", "--ignore-submodules=none",
    "-O/dev/null",
)  # fmt: skip
_PATCHES = (
    *_PAIRS, "-p", "--binary", "--no-textconv", "--no-color", "--diff-algorithm=myers",
    "--indent-heuristic", "--unified=3", "--inter-hunk-context=0", "--src-prefix=a/",
    "--dst-prefix=b/", "--submodule=short",
)  # fmt: skip


class Change(Protocol):
    """Interface of one file's change, which both the plan's model and FileChange have."""

    @property
    def file(self) -> str: ...  # noqa: D102
    @property
    def old_file(self) -> str | None: ...  # noqa: D102
    @property
    def old_mode(self) -> str | None: ...  # noqa: D102
    @property
    def mode(self) -> str | None: ...  # noqa: D102
    @property
    def before(self) -> str | None: ...  # noqa: D102
    @property
    def after(self) -> str | None: ...  # noqa: D102
    @property
    def patch(self) -> str | None: ...  # noqa: D102
    @property
    def encoding(self) -> str | None: ...  # noqa: D102


@dataclass(frozen=True)
class FileChange:
    """One file's change between two git trees."""

    # The new path, or the removed one.
    file: str
    old_file: str | None
    old_mode: str | None
    mode: str | None
    before: str | None
    after: str | None
    patch: str | None
    encoding: str | None


class Entry(NamedTuple):
    """The file mode and blob id of one path in a git tree or index."""

    mode: str
    blob: str


class Ends(NamedTuple):
    """Git's mode and blob of one path before and after the changes; None means no file."""

    before: Entry | None
    after: Entry | None


def ends(changes: Iterable[Change]) -> dict[str, Ends]:
    """Return every path in the changes with its file before and after; a rename has two paths."""
    before: dict[str, Entry] = {}
    after: dict[str, Entry] = {}
    twice: list[str] = []
    for change in changes:
        if change.before is not None and change.old_mode is not None:
            path = change.old_file or change.file
            twice += [path] * (path in before)
            before[path] = Entry(change.old_mode, change.before)
        if change.after is not None and change.mode is not None:
            twice += [change.file] * (change.file in after)
            after[change.file] = Entry(change.mode, change.after)
    paths = sorted({*before, *after})
    problems = [
        Problem("invalid", path, "two changes of the plan name this file", "one change per file")
        for path in twice
    ]
    problems += [problem for path in paths for problem in _check_path(path, before, after)]
    if problems:
        raise Refused.of(problems)
    return {path: Ends(before.get(path), after.get(path)) for path in paths}


def _check_path(
    path: str, before: Mapping[str, Entry], after: Mapping[str, Entry]
) -> list[Problem]:
    """Return a problem if a path of the plan is unsafe or its file mode is unknown."""
    parts = path.split("/")
    if "\0" in path or any(part in {"", ".", ".."} or part.lower() == ".git" for part in parts):
        text = "is not a path of a file in the repository"
        return [Problem("invalid", path, text, "use a relative path without `..` and `.git`")]
    modes = {side[path].mode for side in (before, after) if path in side}
    if not modes <= MODES:
        return [
            Problem("invalid", path, f"has the file mode {max(modes)}", ", ".join(sorted(MODES)))
        ]
    return []


def patch_bytes(change: Change) -> bytes:
    """Return the patch of a file's change, byte for byte as git printed it."""
    if change.patch is None:
        text = "the change of this file has no patch"
        raise Refused(
            "invalid", change.file, text, "capture the worktree again", "planner plan capture"
        )
    if change.encoding == "base64":
        return base64.b64decode(change.patch, validate=True)
    return change.patch.encode("utf-8")


def read_changes(
    vault: Vault,
    base_tree: str,
    tree: str,
    paths: Sequence[str] = (),
    limit: int = MOST_MB * MEBIBYTE,
) -> list[FileChange]:
    """Return the file changes from git tree `base_tree` to `tree`, in git's order of paths.

    With `paths`, only those of these paths. Patches have `limit` bytes together: the largest
    changes beyond have none, and their encoding says that their content is a blob beside the plan.
    """
    named = ["--", *(f":(literal){path}" for path in paths)] if paths else []
    fields = raw(vault.git, named, base_tree, tree)
    large = too_large(vault.git, limit, fields, base_tree, tree)
    left_out = [f":(exclude,literal){row.name.decode()}" for row in large]
    named = [*(named or ["--"]), *left_out] if large else named
    # Only a file that is gone can have become a new one.
    moves = large or {b" A", b" D"} <= {meta[-2:] for meta in fields[0::2]}
    how = ("--find-renames=50%", "-l1000") if moves else ("--no-renames",)
    rows = _rows(vault, *how, base_tree, tree, *named) if moves else fields
    changes = _read(vault, limit, rows, *how, base_tree, tree, *named)
    if any(change.old_file and change.mode == LINK for change in changes):
        # The patch of a renamed link has no mode, and git then refuses what replaces the link.
        what = ("--no-renames", base_tree, tree, *named)
        changes = _read(vault, limit, _rows(vault, *what), *what)
    changes = [*_fitting(changes, limit), *(_change(row.meta, [row.name], None) for row in large)]
    return sorted(changes, key=lambda change: change.file.encode())


def _fitting(changes: Sequence[FileChange], limit: int) -> list[FileChange]:
    """Take the largest patches out of changes until the others fit into `limit` letters.

    In base64 they are larger than git printed them.
    """
    total = sum(len(change.patch or "") for change in changes)
    apart = set()
    for change in sorted(changes, key=lambda change: -len(change.patch or "")):
        if total <= limit:
            break
        total -= len(change.patch or "")
        apart.add(change.file)
    return [replace(c, patch=None, encoding=BLOB) if c.file in apart else c for c in changes]


def _rows(vault: Vault, *what: str) -> list[bytes]:
    return vault.git.run("diff-tree", "-z", "--raw", *_PAIRS, *what).split(b"\0")[:-1]


def _read(vault: Vault, limit: int, rows: Sequence[bytes], *what: str) -> list[FileChange]:
    patches = split_patches(vault.git.pieces("diff-tree", *_PATCHES, *what), limit)
    changes: list[FileChange] = []
    at = used = 0
    while at < len(rows):
        meta, moved = rows[at], rows[at].split(b" ")[4][:1] in b"RC"
        names = rows[at + 1 : at + (3 if moved else 2)]
        at += 1 + len(names)
        # A file that becomes a link, or a link a file, is printed as a deletion and a new file.
        count = 2 if meta.endswith(b" T") else 1
        found = [patch for patch in patches[used : used + count] if patch is not None]
        used += count
        changes.append(_change(meta, names, b"".join(found) if len(found) == count else None))
    if used != len(patches):
        text = "git's patches do not match git's list of changed files"
        raise Refused("internal", "git diff-tree", text, ANOTHER_GIT)
    return changes


def _change(meta: bytes, names: Sequence[bytes], patch: bytes | None) -> FileChange:
    old_mode, mode, before, after = meta.decode().lstrip(":").split(" ")[:4]
    text, encoding = (None, BLOB) if patch is None else _encoded(patch)
    return FileChange(
        file=names[-1].decode("utf-8"),
        old_file=names[0].decode("utf-8") if len(names) > 1 else None,
        old_mode=None if old_mode == "000000" else old_mode,
        mode=None if mode == "000000" else mode,
        before=None if old_mode == "000000" else before,
        after=None if mode == "000000" else after,
        patch=text,
        encoding=encoding,
    )


def _encoded(patch: bytes) -> tuple[str, str | None]:
    try:
        return patch.decode("utf-8"), None
    except UnicodeDecodeError:
        return base64.b64encode(patch).decode("ascii"), "base64"


def index_lines(entries: Mapping[str, Entry | None], zero: str) -> bytes:
    """Return input for `git update-index -z --index-info` that sets `entries`; None removes."""
    gone = [f"0 {zero}\t{path}\0" for path, entry in entries.items() if entry is None]
    set_ = [f"{e.mode} {e.blob}\t{path}\0" for path, e in entries.items() if e is not None]
    return "".join(gone + set_).encode("utf-8")


def listed(git: Git) -> dict[str, Entry]:
    """Return mode and blob of each path in git's index; non-UTF-8 bytes become surrogates."""
    found: dict[str, Entry] = {}
    for row in git.names("ls-files", "-s", "-z"):
        meta, name = row.split(b"\t", 1)
        mode, blob, _stage = meta.decode().split(" ")
        found[name.decode("utf-8", "surrogateescape")] = Entry(mode, blob)
    return found


def apply_patches(git: Git, changes: Sequence[Change]) -> None:
    """Apply the changes' patches to the index that `git` uses, and check each resulting file.

    The index must hold `before` wherever a change has one. Nothing is matched approximately:
    each file gets the planned blob, or all changes are refused.
    """
    patch = b"".join(patch_bytes(c) for c in changes if c.encoding != BLOB)
    if patch:
        git.run("apply", "--cached", "--binary", "--whitespace=nowarn", "-", stdin=patch)
    _set_blobs(git, [change for change in changes if change.encoding == BLOB])
    now = listed(git)
    wrong = [path for path, end in ends(changes).items() if now.get(path) != end.after]
    if wrong:
        raise Refused.of(
            Problem(
                "invalid",
                path,
                "the patch of this file does not give the content that the plan names",
            )
            for path in wrong
        )


def check_blobs(git: Git, changes: Sequence[Change]) -> list[Problem]:
    """Return a problem for each change whose content the plan keeps apart and that is not here."""
    wanted = {c.file: c.after for c in changes if c.encoding == BLOB and c.after}
    here = sizes_of(git, wanted.values())
    return [_not_here(path, blob) for path, blob in wanted.items() if blob not in here]


def _set_blobs(git: Git, changes: Sequence[Change]) -> None:
    """Put into git's index the files whose content is a blob that the plan names."""
    after = {path: end.after for path, end in ends(changes).items()}
    if missing := check_blobs(git, changes):
        raise Refused.of(missing)
    if after:
        zero = "0" * len(next(c.after or c.before or "" for c in changes))
        lines = index_lines(after, zero)
        git.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=lines)


def _not_here(path: str, blob: str) -> Problem:
    text = f"the plan is not self-contained: its content of this file, the blob {blob[:12]}, is "
    text += "not in this repository"
    # Until the commit only a draft has it, which is pushed nowhere.
    way = "fetch the plan's ref, which has it, from where it was frozen or pushed to: git fetch "
    way += "origin 'refs/planner/*:refs/planner-fetched/*' "
    way += "'refs/planner-drafts/*:refs/planner-drafts/*', then run the same command again"
    return Problem("not_found", path, text, way)


def rebuild_files(vault: Vault, changes: Sequence[Change], zero: str) -> tuple[str, str]:
    """Return two git trees with only the planned files: before and after the plan's patches.

    Only the `before` blobs are needed of the object store.
    """
    with vault.fresh_index() as git:
        planned = {path: end.before for path, end in ends(changes).items() if end.before}
        git.run("update-index", "-z", "--index-info", stdin=index_lines(planned, zero))
        before = git.text("write-tree")
        apply_patches(git, changes)
        return before, git.text("write-tree")


def revert_changes(vault: Vault, changes: Sequence[Change], zero: str) -> list[FileChange]:
    """Return the changes that revert `changes`, ready to be applied and committed."""
    before, after = rebuild_files(vault, changes, zero)
    return read_changes(vault, after, before)
