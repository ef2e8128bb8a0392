"""pytest plugin: what many tests begin with is done once per worker, and copied for the others.

Every test of a worker has its folders at the same paths, its `tmp_path` and its home. So the files
that a walk has left there, absolute paths in them included, are what the same walk would leave in
a later test. Whether it is the same walk is decided by all that it could depend on: every file of
both folders, the environment, the working directory, and all that the player of the host holds.
Kept is a walk at once where all files come from kept walks; from any others, which seldom recur,
once it has recurred.

A walk is really done where a test has replaced a part of the product, and in the rooms of
`WITHOUT`, whose tests leave processes behind: those have new folders for each test.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import os
import pickle
import shutil
import stat
import tempfile
import time
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

import pytest

from tests.apart import make_apart, set_apart

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WITHOUT = ("tests/clients/", "tests/faults/", "tests/shared/place/")
_MOST_BYTES = 5_000_000
# What is planned or waits for an approval has time limits, the shortest of half an hour.
_MOST_AGE_S = 600
# Differs in every test and says nothing to the product.
_NO_MATTER = ("PYTEST_CURRENT_TEST",)
# What pickle raises for values that it cannot copy.
_NO_PICKLE = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)


P = TypeVar("P")
T = TypeVar("T")
Arguments = ParamSpec("Arguments")


class Entry(NamedTuple):
    """A file, a link (its content is its target) or a folder (None)."""

    mode: int
    content: bytes | None
    changed_ns: int

    def is_folder_as(self, other: Entry) -> bool:
        """Return whether both are folders, whatever their modes."""
        return self.content is None and other.content is None


Tree = dict[str, Entry]


class Kept(NamedTuple):
    """What a walk has left: the files, and by pickle the player's fields and what it returned."""

    tree: Tree
    pickled: bytes
    returns_player: bool
    made_s: float  # by the monotonic clock


class Grounds:
    """The two folders of the tests of this worker, and the walks that are kept."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files, self.home = root / "files", root / "home"
        self.in_use = self.patched = False
        self._made: list[tuple[int, ...]] = []
        self.kept: dict[bytes, Kept] = {}
        self.known: set[bytes] = set()  # digests of trees that come from kept walks alone
        self.walked: set[bytes] = set()  # keys of walks that were done once from other trees

    def clear(self) -> None:
        """Make both folders new and empty, or leave them where the last test used neither."""
        self.patched = False
        if self._are_unused():
            return
        if os.path.lexists(self.root):
            # A process that an earlier test has left behind may write into what is removed, and
            # a folder that is read-only keeps what is in it: then some stays, out of the way.
            gone = tempfile.mkdtemp(prefix="gone-", dir=self.root.parent)
            os.rename(self.root, gone)
            shutil.rmtree(gone, ignore_errors=True)
        make_apart(str(self.root))
        self.files.mkdir()
        self.home.mkdir()
        self._made = self._folders()

    def _folders(self) -> list[tuple[int, ...]]:
        """Return what tells both folders from others: number, mode and owner."""
        found = (os.lstat(path) for path in (self.root, self.files, self.home))
        return [(one.st_ino, one.st_mode, one.st_uid, one.st_gid) for one in found]

    def _are_unused(self) -> bool:
        """Return whether both folders are as they were made, and empty.

        What every test is given at home is removed.
        """
        with contextlib.suppress(OSError):
            if self._made and self._made == self._folders():
                (self.home / ".gitconfig").unlink(missing_ok=True)
                left = [os.listdir(path) for path in (self.files, self.home)]
                return left == [[], []] and len(os.listdir(self.root)) == len(left)
        return False

    def begin(self) -> None:
        """Note that what lies here now is the same in every test, and what is replaced by now."""
        self.in_use, self.patched = True, False
        tree = self.read()
        assert tree is not None
        self.known.add(digest_of(tree))

    def hold(self, player: object) -> bool:
        """Return whether what the player works on lies here."""
        path: Path = getattr(player, "repository", player).path  # type: ignore[attr-defined]
        return path.is_relative_to(self.files)

    def read(self) -> Tree | None:
        """Return all that lies in the folders; None where not all of it can be read and kept."""
        with contextlib.suppress(ValueError, OSError):
            return read_tree(str(self.root))
        return None

    def write(self, wanted: Tree, present: Tree) -> None:
        """Turn what lies in the folders, `present`, into what is wanted."""
        root = str(self.root)
        same = {n: old for n, old in present.items() if n in wanted and old[:2] == wanted[n][:2]}
        folders = [n for n, old in present.items() if n in wanted and old.is_folder_as(wanted[n])]
        for name in sorted(present.keys() - same.keys() - set(folders), reverse=True):
            (os.rmdir if present[name].content is None else os.unlink)(f"{root}/{name}")
        changed = {name: entry for name, entry in wanted.items() if name not in same}
        for name, entry in changed.items():  # folders come before what is in them
            if entry.content is not None:
                _write(f"{root}/{name}", entry.mode, entry.content, entry.changed_ns)
            elif name not in folders:
                os.mkdir(f"{root}/{name}")
        for name, entry in changed.items():  # no folder becomes read-only before it is filled
            if entry.content is None:
                os.chmod(f"{root}/{name}", entry.mode & 0o7777)


def _write(path: str, mode: int, content: bytes, changed_ns: int) -> None:
    if stat.S_ISLNK(mode):
        os.symlink(content, path)
        return
    with open(path, "xb") as file:
        file.write(content)
    os.chmod(path, mode & 0o7777)
    os.utime(path, ns=(changed_ns, changed_ns))


def read_tree(root: str) -> Tree:
    """Return every entry below `root` by its path, folders before what is in them.

    ValueError where that is large, or holds other things than files, links and folders of ours.
    """
    found: Tree = {}
    size = 0
    folders = [""]
    while folders:
        folder = folders.pop()
        for entry in sorted(os.scandir(f"{root}/{folder}"), key=lambda entry: entry.name):
            name = f"{folder}/{entry.name}" if folder else entry.name
            status = entry.stat(follow_symlinks=False)
            content: bytes | None = None
            if status.st_uid != os.geteuid():
                raise ValueError(f"{name} belongs to another user")
            if stat.S_ISDIR(status.st_mode):
                folders.append(name)
            elif stat.S_ISLNK(status.st_mode):
                content = os.fsencode(os.readlink(entry.path))
            elif stat.S_ISREG(status.st_mode):
                size += status.st_size
                if size > _MOST_BYTES:
                    raise ValueError(f"more than {_MOST_BYTES} bytes")
                with open(entry.path, "rb") as file:
                    content = file.read()
            else:
                raise ValueError(f"{name} is neither file, link nor folder")
            found[name] = Entry(status.st_mode, content, status.st_mtime_ns)
    return found


def digest_of(tree: Tree) -> bytes:
    """Return a digest of names, modes and contents; times do not count."""
    found = hashlib.blake2b(digest_size=16)
    for name, (mode, content, _) in tree.items():
        length = -1 if content is None else len(content)
        found.update(f"{name}\0{mode}\0{length}\0".encode("utf-8", "surrogateescape"))
        found.update(content or b"")
    return found.digest()


_grounds: Grounds | None = None


def prepared(player: object, step: tuple[object, ...], walk: Callable[[], T]) -> T:
    """Return what `walk` returns, having done to the files and to `player` what it does.

    It is not called where the same walk is kept. `step` names it, with its arguments.
    """
    grounds = _grounds
    if grounds is None or not grounds.in_use or grounds.patched or not grounds.hold(player):
        return walk()
    before = grounds.read()
    key = before and _key(player, step, before)
    if before is None or not key:
        return walk()
    same = grounds.kept.get(key)
    if same is not None and time.monotonic() - same.made_s < _MOST_AGE_S:
        grounds.write(same.tree, before)
        fields, answer = pickle.loads(same.pickled)  # noqa: S301 – our own, of this process
        vars(player).update(fields)
        return cast("T", player if same.returns_player else answer)
    if digest_of(before) not in grounds.known and key not in grounds.walked:
        grounds.walked.add(key)
        return walk()
    grounds.in_use = False  # the walks in it are its own parts
    try:
        found = walk()
    finally:
        grounds.in_use = True
    _keep(grounds, key, player, found)
    return found


def kept(walk: Callable[Concatenate[P, Arguments], T]) -> Callable[Concatenate[P, Arguments], T]:
    """Make a method of a player one that is prepared: a walk, named by its name and arguments."""

    @functools.wraps(walk)
    def kept_walk(player: P, *args: Arguments.args, **values: Arguments.kwargs) -> T:
        step = (walk.__name__, args, values)
        return prepared(player, step, lambda: walk(player, *args, **values))

    return cast("Callable[Concatenate[P, Arguments], T]", kept_walk)


def _key(player: object, step: tuple[object, ...], before: Tree) -> bytes:
    """Return what names a walk; empty where the player holds what cannot be told apart."""
    environment = {name: value for name, value in os.environ.items() if name not in _NO_MATTER}
    where = (sorted(environment.items()), os.getcwd(), digest_of(before))
    try:
        text = _plain((step, type(player), vars(player), where))
    except _NO_PICKLE:
        return b""
    return hashlib.blake2b(text, digest_size=16).digest()


def _plain(value: object) -> bytes:
    """Return the same bytes for equal values, whether they share parts or not.

    One of _NO_PICKLE where it cannot; ValueError is for what leads back to itself, such as a player
    that holds a method of its own: a copy would hold that of the copy.
    """
    text = io.BytesIO()
    pickler = pickle.Pickler(text)
    pickler.fast = True
    pickler.dump(value)
    return text.getvalue()


def _keep(grounds: Grounds, key: bytes, player: object, answer: object) -> None:
    after = grounds.read()
    if after is None:
        return
    result = (vars(player), None if answer is player else answer)
    try:
        _plain(result)
        pickled = pickle.dumps(result)
    except _NO_PICKLE:
        return
    grounds.kept[key] = Kept(after, pickled, answer is player, time.monotonic())
    grounds.known.add(digest_of(after))


@pytest.fixture(scope="session")
def _worker_grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grounds]:
    global _grounds  # noqa: PLW0603 – one per process, for players that no fixture makes
    folder = tmp_path_factory.getbasetemp()
    set_apart(str(folder))
    _grounds = Grounds(folder / "grounds")
    yield _grounds
    _grounds = None


@pytest.fixture
def grounds(request: pytest.FixtureRequest, _worker_grounds: Grounds) -> Iterator[Grounds | None]:
    """Return the folders that this test finds empty; None in the rooms of WITHOUT.

    What fixtures of a module do lies elsewhere and comes between two tests: it is really done.
    """
    if request.node.nodeid.startswith(WITHOUT):
        yield None
        return
    _worker_grounds.clear()
    yield _worker_grounds
    _worker_grounds.in_use = False


@pytest.fixture
def unprepared(grounds: Grounds | None) -> None:
    """Have this test walk itself: how long ago something was done is what it is about."""
    if grounds is not None:
        grounds.in_use = False


@pytest.fixture
def tmp_path(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    grounds: Grounds | None,
) -> Path:
    """Return an empty folder, in place of pytest's own: at the same path in every test."""
    if grounds is None:
        return tmp_path_factory.mktemp(request.node.originalname[:30], numbered=True)
    return grounds.files


def pytest_configure(config: pytest.Config) -> None:
    """Note from here on where a test replaces a part of the product."""
    for name in ("setattr", "delattr", "setitem", "delitem"):
        original = getattr(pytest.MonkeyPatch, name)
        setattr(pytest.MonkeyPatch, name, _noted(original))
        config.add_cleanup(functools.partial(setattr, pytest.MonkeyPatch, name, original))


def _noted(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def patch(*arguments: Any, **values: Any) -> None:  # noqa: ANN401 – as the original
        is_environment = any(target is os.environ for target in arguments[1:2])
        if _grounds is not None and not is_environment:  # which counts by its values
            _grounds.patched = True
        original(*arguments, **values)

    return patch
