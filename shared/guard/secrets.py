"""Denies commands that read files with secrets: keys, passwords, tokens, environment files."""

from __future__ import annotations

import errno
import os
import stat

from shared.guard.denial import Denied
from shared.known_secrets import (
    BEGINNINGS,
    ENDINGS,
    HARMLESS,
    HOMES,
    NAMES,
    is_secret_name,
    without_credentials,
)
from shared.paths import folded

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.guard.scene import Scene
    from shared.guard.words import Word

OPEN_IN_PROC = frozenset((
    "cpuinfo", "meminfo", "version", "loadavg", "uptime", "filesystems", "mounts", "partitions",
    "swaps", "stat",
))  # fmt: skip
# Reading these recursively would read other people's files, devices and secrets.
WIDE = frozenset((
    "/", "/etc", "/proc", "/sys", "/dev", "/run", "/var", "/var/run", "/home", "/users", "/root",
    "/private", "/private/etc", "/private/var", "/mnt", "/media", "/opt", "/volumes", "/library",
))  # fmt: skip
# Names that a pattern written for secrets would match.
_EXAMPLES = (
    ".env", "prod.env", "id_rsa", "id_ed25519", ".netrc", ".npmrc", ".git-credentials", "shadow",
)  # fmt: skip
# Files of git's settings, which may hold passwords: what they hold decides.
_GIT_SETTINGS = frozenset(("config", "config.worktree", ".gitconfig", "gitconfig", ".gitmodules"))
_MAX_SETTINGS = 65_536
_MAX_PATH = 4_096
# A pattern of file names that is longer, or stands for more, counts as one that matches any.
_MAX_NARROW, _MAX_ALTERNATIVES = 100, 50

_INSTEAD = "ask the user for what you need to know, but never for the secret itself"
_NARROWER = "name the folder of the project that you mean"


def check_read(path: str, scene: Scene) -> None:
    """Deny reading `path` if it, or the file it links to, may hold secrets or be endless."""
    for full in _both(path, scene):
        if is_secret_name(os.path.basename(full)) or full in scene.secret_places:
            raise Denied(f"{path} may hold a key, a password or a token", _INSTEAD)
        _check_system(path, folded(full))
        if folded(os.path.basename(full)) in _GIT_SETTINGS and holds_password(full):
            raise Denied(f"{path} holds a password or a token", "use `git config --get NAME`")
    mode = _mode(os.path.join(scene.folder, path))
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISCHR(mode)):
        raise Denied(f"{path} is a pipe or a socket: reading one may never end")


def check_file(path: str, scene: Scene) -> None:
    """Deny reading what `check_read` denies, and a folder."""
    if stat.S_ISDIR(_mode(os.path.join(scene.folder, path))):
        raise Denied(f"{path} is a folder", "name a file, or use `diff -r`")
    check_read(path, scene)


def check_look(path: str, scene: Scene) -> None:
    """Deny listing a folder of keys or a file in it; asking whether a .env file exists passes."""
    for full in _both(path, scene):
        if full in scene.secret_places:
            raise Denied(f"{path} is where keys, passwords or tokens are kept", _INSTEAD)
        _check_processes(path, folded(full))


def check_tree(path: str, scene: Scene) -> None:
    """Deny reading all files below `path` if they include a home folder or system folders."""
    check_read(path, scene)
    for full in _both(path, scene):
        lowered = folded(full).rstrip("/") or "/"
        # A folder there may be a project instead of a home.
        home_of_one = os.path.dirname(lowered) in HOMES and not os.path.lexists(f"{full}/.git")
        if lowered in WIDE or home_of_one or scene.secret_places.below(full):
            raise Denied(f"reading all below {path} would read secrets", _NARROWER)
        if os.path.basename(lowered) == ".git" and holds_password(f"{full}/config"):
            raise Denied(f"reading all below {path} would read a password", _NARROWER)


def holds_password(path: str) -> bool:
    """Return whether a file of git settings holds a password or is too large for one."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(_MAX_SETTINGS)
    except OSError:
        return False
    return len(text) == _MAX_SETTINGS or without_credentials(text) != text


def check_pattern(pattern: str) -> None:
    """Deny a file name pattern that looks for files with secrets; an excluding `!…` passes."""
    if len(pattern) > _MAX_PATH:
        raise Denied(f"the pattern {pattern[:80]}… is too long", "use a shorter pattern")
    pieces = [] if pattern.startswith("!") else folded(pattern).split("/")
    for piece in pieces:
        written = piece.startswith(".") or sum(map(str.isalnum, piece)) > 1
        shape = Pattern(piece, range(len(piece)))
        found = written and any(
            shape.matches(example) and example.startswith(".") <= piece.startswith(".")
            for example in _EXAMPLES
        )
        if found or is_secret_name(piece):
            raise Denied(f"the pattern {pattern} matches files that hold secrets", _INSTEAD)


def check_narrow(pattern: str) -> None:
    """Deny a pattern of file names that can match a secret's, where no other can leave that out."""
    for one in _alternatives(pattern) or ["*"]:
        check_pattern(one)
        last = folded(one).rpartition("/")[2] or "*"
        shape = Pattern(last, range(len(last)))
        short = shape.shortest()
        ended = (f"{one}{end}" for end in ENDINGS for one in ("a", short, short[: -len(end)]))
        if any(map(shape.matches, (*NAMES, *BEGINNINGS, *ended))):
            how = "search without such a pattern, or by grep or rg in the shell"
            raise Denied(f"the pattern {pattern[:80]} matches files that hold secrets, too", how)


def _alternatives(pattern: str) -> list[str]:
    """Return the patterns that one with braces stands for; none if they are too many or unclear."""
    if len(pattern) > _MAX_NARROW or set(pattern) & {"\\", "!"}:
        return []
    found = [pattern]
    while any("{" in one for one in found):
        before = next(one for one in found if "{" in one)
        begin, _, rest = before.rpartition("{")
        inside, closed, end = rest.partition("}")
        found.remove(before)
        found += [f"{begin}{one}{end}" for one in inside.split(",")]
        if not closed or len(found) > _MAX_ALTERNATIVES:
            return []
    return found


def expand(word: Word, scene: Scene) -> Iterator[str]:
    """Yield every path to which a shell could expand the pattern `word`, maybe also others."""
    begin, found = 0, [""]
    *folders, last = word.value.split("/")
    for piece, slash in (*((folder, "/") for folder in folders), (last, "")):
        active = [at - begin for at in word.globs if begin <= at < begin + len(piece)]
        begin += len(piece) + 1
        scene.budget.spend(len(found))
        if active:
            shape, hidden = Pattern(piece, active), active[0] > 0
            found = [
                f"{path}{name}{slash}"
                for path in found
                for name in _entries(os.path.join(scene.folder, path), scene)
                if name.startswith(".") <= hidden and shape.matches(name)
            ]
        else:
            found = [f"{path}{piece}{slash}" for path in found]
    yield from found


class Pattern:
    """A shell pattern for file names, whose `*`, `?` and `[` at the places `active` are special.

    A bracket such as `[a-z]` matches any one character here, one of another form any text.
    """

    __slots__ = ("_least", "_pieces")

    def __init__(self, pattern: str, active: range | list[int]) -> None:
        pieces, at = list[str](), 0
        while at < len(pattern):
            piece, end = pattern[at], at + 1
            if at not in active or piece not in "*?[":
                piece = f"={piece}"
            elif piece == "[":
                inside, closed, _ = pattern[at + 1 :].partition("]")
                simple = closed and inside.strip("^!") and "[" not in inside and "\\" not in inside
                piece, end = ("?", end + len(inside) + 1) if simple else ("*", len(pattern))
            if piece != "*" or pieces[-1:] != ["*"]:
                pieces.append(piece)
            at = end
        self._pieces = pieces
        self._least = len(pieces) - pieces.count("*")

    def shortest(self) -> str:
        """Return one of the shortest names that the pattern could match."""
        return "".join("a" if p == "?" else p[1:] for p in self._pieces)

    def matches(self, name: str) -> bool:
        """Return whether the file name pattern could match `name`."""
        if len(name) < self._least:
            return False
        ways = {0}
        for piece in self._pieces:
            if piece == "*":
                ways = set(range(min(ways), len(name) + 1))
            else:
                ways = {at + 1 for at in ways if at < len(name) and piece in ("?", f"={name[at]}")}
            if not ways:
                return False
        return len(name) in ways


def excluded() -> Iterator[str]:
    """Yield name patterns of files with secrets, to exclude when a whole folder is read."""
    for name in (*NAMES, *(f"*{ending}" for ending in ENDINGS)):
        yield name
        # As COPIES has it; a dot before it is that of an editor's.
        yield from (f"{name}~", f"{name}.[bos][alrw][kcdigvpo]*", f".{name}.sw[po]")
        yield from (f"#{name}#", f".#{name}")
    yield from (".env", "[#.]*.env*#", ".#*.env*")
    # Patterns can only say one character at a time that a name does not end as an example's does.
    for tail in sorted({ending[at:] for ending in HARMLESS for at in range(1, len(ending) + 1)}):
        before = sorted({e[-len(tail) - 1] for e in HARMLESS if e[1:].endswith(tail)})
        yield f".env*[!{''.join(before)}]{tail}"
    yield from (f"{beginning}*" for beginning in BEGINNINGS if beginning != ".env")


def _entries(folder: str, scene: Scene) -> Iterator[str]:
    """Yield the names in a folder, for each of which the budget has to suffice."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                scene.budget.spend()
                yield entry.name
    except OSError:
        return


def _both(path: str, scene: Scene) -> Iterator[str]:
    """Yield a path as absolute path, then with all symbolic links resolved, before `..` and after.

    The kernel follows a link before it applies the `..` behind it; many clients apply `..` first.
    """
    scene.budget.spend()
    if len(path) > _MAX_PATH:
        raise Denied(f"{path[:80]}… is longer than a path can be", _NARROWER)
    joined = os.path.join(scene.folder, path)
    normal = os.path.normpath(joined)
    yield normal
    if "/../" in joined:
        yield _real(normal)
    folder, _, name = joined.rpartition("/")
    if name in ("", ".", "..") or os.path.islink(joined):
        yield _real(joined)
        return
    if folder not in scene.real_folders:
        scene.real_folders[folder] = _real(folder or "/").rstrip("/")
    yield f"{scene.real_folders[folder]}/{name}"


def _real(path: str) -> str:
    """Return a path with all symbolic links resolved; Denied if it leads through too many."""
    try:
        os.stat(path)
    except OSError as error:  # the system follows few links, realpath any number
        if error.errno == errno.ELOOP:
            raise Denied(f"{path} leads through too many symbolic links", _NARROWER) from None
    except ValueError:
        raise Denied(f"{path} has a character that no path has", _NARROWER) from None
    return os.path.realpath(path)


def _mode(full: str) -> int:
    """Return the type of the file to which a path leads; a plain file's if there is none."""
    try:
        return os.stat(full).st_mode
    except (OSError, ValueError):
        return stat.S_IFREG


def _check_processes(path: str, lowered: str) -> None:
    if lowered.startswith("/proc/") and lowered[6:] not in OPEN_IN_PROC:
        raise Denied(f"{path} shows the environment or memory of programs", _INSTEAD)


def _check_system(path: str, lowered: str) -> None:
    _check_processes(path, lowered)
    if lowered.startswith(("/dev/", "/sys/kernel/", "/inet")) and lowered != "/dev/null":
        raise Denied(f"{path} is a device: reading a device may never end or may change something")
