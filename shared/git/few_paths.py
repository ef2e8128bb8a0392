"""Look at, and replace, a few paths of a git tree or index, however many files the rest has."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from shared.git.change import GITLINK, Entry, apply_patches, ends, index_lines
from shared.paths import folded
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from shared.git.change import Change
    from shared.git.command import Git, Object
    from shared.git.vault import Vault

# Above this many bytes of paths, git is asked for everything: a command line has its limit.
_MOST_BYTES = 100_000
_FOLDER = "040000"
# What an id of a git object is, by its length.
_DIGESTS = {40: "sha1", 64: "sha256"}

# The entries of a folder of a git tree by name: mode and id of each.
_Rows = dict[bytes, tuple[str, str]]


def folders_of(paths: Iterable[str]) -> set[str]:
    """Return every folder that lies above one of the paths, without the root."""
    return {path[:at] for path in paths for at, char in enumerate(path) if char == "/"}


def tree_at(git: Git, tree: str, paths: Collection[str]) -> dict[str, Entry]:
    """Return the files that a git tree has at these paths, below them, and in a folder's place.

    In a folder's place is a file or submodule where a path asks for a folder above it.
    """
    wanted, above = {*paths}, folders_of(paths)
    if not wanted:
        return {}
    if sum(len(path) + 1 for path in wanted | above) > _MOST_BYTES:
        every = all_of(git, tree)
        return {p: e for p, e in every.items() if p in wanted | above or _is_below(p, wanted)}
    rows = _listed(git, tree, paths=sorted(wanted | above))
    asked = wanted | above  # git also lists what lies beside them
    found = {p: entry for p, entry in rows.items() if p in asked and entry.mode != _FOLDER}
    inside = sorted(path for path in wanted if path in rows and path not in found)
    return found | (_listed(git, tree, "-r", paths=inside) if inside else {})


def _is_below(path: str, wanted: Collection[str]) -> bool:
    return any(path[:at] in wanted for at, char in enumerate(path) if char == "/")


def _listed(git: Git, tree: str, *options: str, paths: Sequence[str] = ()) -> dict[str, Entry]:
    git = git.having(GIT_LITERAL_PATHSPECS="1")
    named = ["--", *paths] if paths else []
    out = git.lasting("ls-tree", "-z", "--full-tree", *options, tree, *named, of=[tree])
    found: dict[str, Entry] = {}
    for row in out.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        meta, _, path = row.partition("\t")
        found[path] = Entry(meta[:6], meta.rpartition(" ")[2])
    return found


def all_of(git: Git, tree: str) -> dict[str, Entry]:
    """Return mode and blob of every file in a git tree; odd bytes of a path become surrogates."""
    return _listed(git, tree, "-r")


def alike(git: Git, tree: str, paths: Collection[str]) -> set[str]:
    """Return the files and folders of a git tree that have these paths, or lie above them.

    Upper and lower case count as the same, and so do forms of Unicode.
    """
    wanted = {folded(path) for path in {*paths} | folders_of(paths)}
    found: set[str] = set()
    level = {"": tree}
    while level:
        below: dict[str, str] = {}
        for folder, rows in zip(level, _read_trees(git, [*level.values()]), strict=True):
            for name, (mode, blob) in rows.items():
                path = os.fsdecode(name) if not folder else f"{folder}/{os.fsdecode(name)}"
                if folded(path) in wanted:
                    found.add(path)
                    below |= {path: blob} if mode == _FOLDER else {}
        level = below
    return found


def index_at(git: Git, paths: Collection[str]) -> dict[str, Entry]:
    """Return what git's index has at these paths, below them, and in a folder's place."""
    wanted, above = {*paths}, folders_of(paths)
    named = ["--", *sorted(wanted)]
    if sum(len(path) + 1 for path in wanted) > _MOST_BYTES:
        named = []
    found: dict[str, Entry] = {}
    for row in git.having(GIT_LITERAL_PATHSPECS="1").names("ls-files", "-s", "-z", *named):
        meta, name = row.split(b"\t", 1)
        mode, blob, _stage = meta.decode().split(" ")
        path = os.fsdecode(name)
        if named or path in wanted or _is_below(path, wanted):
            found[path] = Entry(mode, blob)
    lines = {os.fsencode(f":0:{folder}"): folder for folder in above if "\n" not in folder}
    asked = b"".join(line + b"\n" for line in lines)
    answers = git.run("cat-file", "--batch-check", stdin=asked).split(b"\n") if lines else []
    for folder, answer in zip(lines.values(), answers, strict=False):
        if folder not in found and not answer.endswith(b" missing"):
            found[folder] = Entry("100644", answer.split(b" ")[0].decode())
    return found


def tree_and_rules(git: Git, tree: str, paths: Collection[str]) -> dict[str, Entry]:
    """Return the same as `tree_at`, with the files of git attributes that rule these paths."""
    rules = {f"{folder}/.gitattributes" for folder in folders_of(paths)} | {".gitattributes"}
    return tree_at(git, tree, {*paths} | rules)


def fill_index(
    git: Git, there: Mapping[str, Entry], over: Mapping[str, Entry | None], zero: str
) -> None:
    """Put entries into an empty index, without submodules, and over these what `over` has.

    There is none in the end where `over` has None.
    """
    seed = {path: entry for path, entry in there.items() if entry.mode != GITLINK}
    lines = index_lines(seed, zero) + index_lines(over, zero)
    git.run("update-index", "--add", "--replace", "-z", "--index-info", stdin=lines)


def rebuild(
    vault: Vault, base_tree: str, changes: Sequence[Change], into: str | None = None
) -> str:
    """Apply the changes' patches to the git tree `base_tree` and return the new tree's id.

    Its new objects stay in the vault, or go into the object folder `into`. The same is made once.
    """
    planned = ends(changes)
    whole = (
        (c.file, c.old_file, c.old_mode, c.mode, c.before, c.after, c.patch, c.encoding)
        for c in changes
    )
    made_from = (into, base_tree, frozenset(whole))  # no two name the same path
    if made_from not in vault.rebuilt:
        with vault.fresh_index(GIT_OBJECT_DIRECTORY=into or vault.objects) as git:
            fill_index(git, tree_and_rules(git, base_tree, planned), {}, "")
            apply_patches(git, changes)
            after = {path: end.after for path, end in planned.items()}
            vault.rebuilt[made_from] = replace_at(git, base_tree, after)
    return vault.rebuilt[made_from]


def replace_at(git: Git, tree: str, entries: Mapping[str, Entry | None]) -> str:
    """Return the id of a git tree with these entries replaced, or removed where None.

    Only the folders above them are read and written. The same is made once for each object folder,
    and not again where the repository's own has it.
    """
    made, what = git.known.facts, (tree, frozenset(entries.items()))
    into = git.env.get("GIT_OBJECT_DIRECTORY", "")
    for folder in (into, ""):
        if (folder, *what) in made:
            return made[folder, *what].decode()
    found = _replaced(git, tree, entries)
    made[into, *what] = found.encode()
    return found


def _replaced(git: Git, tree: str, entries: Mapping[str, Entry | None]) -> str:
    wanted = {os.fsencode(path): entry for path, entry in entries.items()}
    folders = {os.fsencode(folder) for folder in folders_of(entries)} | {b""}
    rows, digest = _read_folders(git, tree, sorted(folders, key=_depth))
    for path, entry in wanted.items():
        folder, _, name = path.rpartition(b"/")
        if entry is not None:
            rows[folder][name] = entry
        elif rows[folder].get(name, ("", ""))[0] != _FOLDER:
            rows[folder].pop(name, None)
    made: dict[str, _Rows] = {}  # by id, each folder after those in it
    for folder in sorted(folders - {b""}, key=_depth, reverse=True):
        parent, _, name = folder.rpartition(b"/")
        if rows[folder]:
            own = _id_of(rows[folder], digest)
            made[own] = rows[folder]
            rows[parent][name] = (_FOLDER, own)
        elif rows[parent].get(name, ("", ""))[0] == _FOLDER:
            del rows[parent][name]
    root = _id_of(rows[b""], digest)
    _write_trees(git, made | {root: rows[b""]})
    return root


def _read_folders(git: Git, tree: str, folders: Sequence[bytes]) -> tuple[dict[bytes, _Rows], str]:
    """Return the entries of folders of a git tree, and the name of the digest that ids are.

    `folders` has each after the one above it, the root first. No entries are where there is no such
    folder. All are asked for at once, by their paths; only a path of several lines is by its id.
    """
    asked = [folder for folder in folders if b"\n" not in folder]
    names = [f"{tree}:{os.fsdecode(folder)}/" if folder else f"{tree}^{{tree}}" for folder in asked]
    objects = dict(zip(asked, zip(names, git.objects(names), strict=True), strict=True))
    found: dict[bytes, _Rows] = {}
    for folder in folders:
        parent, _, name = folder.rpartition(b"/")
        mode, blob = found[parent].get(name, ("", "")) if folder else (_FOLDER, tree)
        if mode != _FOLDER:
            found[folder] = {}
        elif folder in objects:
            found[folder] = _rows_of(*objects[folder])
        else:
            found[folder] = _read_trees(git, [blob])[0]
    return found, _DIGESTS[len(objects[b""][1].id)]


def _depth(folder: bytes) -> int:
    return folder.count(b"/") + 1 if folder else 0


def _read_trees(git: Git, ids: Sequence[str]) -> list[_Rows]:
    """Return the entries of git trees, in order, from one process."""
    names = [f"{one}^{{tree}}" for one in ids]
    return [_rows_of(*one) for one in zip(names, git.objects(names), strict=True)]


def _rows_of(name: str, tree: Object) -> _Rows:
    """Return the entries of a git tree that was asked for by this name; Refused if it is gone."""
    if tree.kind != "tree":
        text = f"a folder of the plan's base is gone: {name} missing"
        raise Refused("not_found", "git", text, "fetch the plan's base commit")
    return _parse_tree(tree.content, len(tree.id) // 2)


def _parse_tree(data: bytes, width: int) -> _Rows:
    rows: _Rows = {}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, name = data[at:end].split(b" ", 1)
        rows[name] = (mode.decode().zfill(6), data[end + 1 : end + 1 + width].hex())
        at = end + 1 + width
    return rows


def _id_of(rows: _Rows, digest: str) -> str:
    """Return the id of a git tree with these entries; git sorts a folder as if it ended in `/`."""
    order = sorted(rows, key=lambda name: name + b"/" * (rows[name][0] == _FOLDER))
    text = b"".join(
        f"{rows[name][0].lstrip('0')} ".encode() + name + b"\0" + bytes.fromhex(rows[name][1])
        for name in order
    )
    return hashlib.new(
        digest, f"tree {len(text)}\0".encode() + text, usedforsecurity=False
    ).hexdigest()


def _write_trees(git: Git, trees: Mapping[str, _Rows]) -> None:
    """Store git trees with these entries, by their ids, all by one process."""
    kinds = {_FOLDER: b"tree", GITLINK: b"commit"}
    texts = [
        b"".join(
            f"{mode} ".encode() + kinds.get(mode, b"blob") + f" {blob}\t".encode() + name + b"\0"
            for name, (mode, blob) in rows.items()
        )
        for rows in trees.values()
    ]
    words = ("mktree", "-z", "--batch", "--missing")
    stored = git.text(*words, stdin=b"\0".join(texts) + b"\0").split()
    if stored != [*trees]:  # git does not say that it could not write its answer
        text = f"git was to store {len(trees)} trees and named {len(stored)}, or others"
        raise Refused("refused", "git mktree", text, "run the same command again")
