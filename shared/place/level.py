"""What holds an assistant's commands here: namespaces, Landlock alone, or nothing; tried, not told.

`level(repository)` answers from memory in well under a millisecond, unless the machine, its mounts
or the user's rights have changed since it was tried. A run tries for real all the same.
"""

from __future__ import annotations

import binascii
import marshal
import os
import sys
import time

from shared.place.cache import recall, remember

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shared.place.report import Report
    from shared.place.values import Place

NAMESPACES, LANDLOCK, NOTHING = "namespaces", "landlock", "none"

_MOST = "/proc/sys/user/max_user_namespaces"
_DEBIAN = "/proc/sys/kernel/unprivileged_userns_clone"
_UBUNTU = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
# With the mounts and the ids, what decides whether the place can be entered.
_DECIDING = ("/proc/sys/kernel/random/boot_id", "/proc/self/mountinfo", _MOST, _DEBIAN, _UBUNTU)
# A failure is tried again after so many seconds: one whose cause is known, and any other, which may
# have been a lack of memory or processes for a moment.
_AGAIN_S, _SOON_S = 600.0, 10.0
# What containers forbid by default: how the failure begins and ends, the reason, docker's option.
_EPERM, _EACCES = os.strerror(1), os.strerror(13)
_FORBIDDEN = (
    ("unshare: ", _EPERM, "namespaces are forbidden, as in a container", "seccomp=unconfined"),
    ("mount ", _EACCES, "mounts are forbidden, as in a container", "apparmor=unconfined"),
    ("mount proc ", _EPERM, "/proc is covered in part, as in a container",
     "systempaths=unconfined"),
)  # fmt: skip


class Level:
    """The name of a level, why it is not a better one, and how to switch the better one on."""

    __slots__ = ("name", "reason", "way")

    def __init__(self, name: str, reason: str = "", way: str = "") -> None:
        self.name = name
        self.reason = reason
        self.way = way

    @property
    def holds(self) -> bool:
        """Return whether any shell text may run, since the place holds it."""
        return self.name == NAMESPACES

    def sentence(self) -> str:
        """Return in words what may run and what holds it, and how to have a better level."""
        way = f"; to have any command run: {self.way}" if self.way else ""
        return self.held() + way

    def held(self) -> str:
        """Return in words what may run and what holds it."""
        if self.holds:
            return "any command may run; namespaces hold it, and nothing that it writes lasts"
        from shared import sandbox
        from shared.place import bpf

        layers = {"Landlock": sandbox.is_available(), "seccomp": bpf.is_available()}
        held = [name for name, there in layers.items() if there]
        by = f"kept read-only by {' and '.join(held)}" if held else "held by nothing else"
        return f"only what the guard understands may run, {by}, since {self.reason}"


def level(repository: str) -> Level:
    """Return the level for commands in a repository: remembered, else tried and then remembered."""
    return _remembered(repository) or try_again(repository)


def try_again(repository: str) -> Level:
    """Enter the place with a command that does nothing; remember and return the level found."""
    if not sys.platform.startswith("linux"):
        return Level(NOTHING, "this system is not Linux")
    # Not at the top: the hook asks the memory alone.
    from shared.place.enter import CannotEnter
    from shared.place.planning import planning_place

    try:
        run_twice(planning_place(repository, repository), ["true"])
    except CannotEnter as error:
        found = lesser(str(error))
    else:
        found = Level(NAMESPACES)
    _remember(repository, found)
    return found


def try_beside(repository: str) -> Callable[[], Level]:
    """Try again in a process of its own, and return what waits for its end and gives the level."""
    reader, writer = os.pipe()
    sys.stdout.flush()  # else the copy would write the same once more
    child = os.fork()
    if not child:
        try:
            found = try_again(repository)
            os.write(writer, marshal.dumps([getattr(found, name) for name in Level.__slots__]))
        finally:
            os._exit(0)
    os.close(writer)

    def tried() -> Level:
        with os.fdopen(reader, "rb") as file:
            told = file.read()
        os.waitpid(child, 0)
        # Whatever has ended that process is raised here.
        return Level(*marshal.loads(told)) if told else try_again(repository)  # noqa: S302 – ours

    return tried


def run_twice(place: Place, argv: Sequence[str], waiting: int | None = None) -> Report:
    """Run a command in the place as `run` does, trying twice to enter it; raises CannotEnter."""
    from shared.place.enter import CannotEnter, run

    try:
        return run(place, argv, waiting=waiting)
    except CannotEnter:  # nothing has run; what was lacking may be there now
        return run(place, argv, waiting=waiting)


def lesser(failure: str) -> Level:
    """Return the level below the namespaces, which could not be entered because of `failure`."""
    from shared import sandbox

    reason, way = _cause(failure)
    return Level(LANDLOCK if sandbox.is_available() else NOTHING, reason, way)


def forget(place: Place, failure: str) -> None:
    """Correct the memory: the place could not be entered after all."""
    _remember(place.repository, lesser(failure))


def _remembered(repository: str) -> Level | None:
    kept = recall("level", repository)
    if kept.get("state") != _state():
        return None
    found = Level(kept["name"], kept["reason"], kept["way"])
    kept_s = _AGAIN_S if found.way else _SOON_S
    return found if found.holds or 0 <= time.time() - kept["tried"] < kept_s else None


def _remember(repository: str, found: Level) -> None:
    values = {name: getattr(found, name) for name in Level.__slots__}
    remember("level", repository, {"state": _state(), "tried": time.time(), **values})


def _state() -> int:
    parts = [str((os.geteuid(), os.getgroups())).encode(), *map(_content, _DECIDING)]
    return binascii.crc32(b"|".join(parts))


def _content(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _cause(failure: str) -> tuple[str, str]:
    """Return in words why there is no place here, and how it is switched on."""
    if _content(_MOST).strip() == b"0":
        return "user namespaces are switched off", "sysctl -w user.max_user_namespaces=10000"
    if os.geteuid() and _content(_DEBIAN).strip() == b"0":
        way = "sysctl -w kernel.unprivileged_userns_clone=1"
        return "user namespaces are for root alone", way
    if os.geteuid() and _content(_UBUNTU).strip() == b"1":
        way = "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        return "AppArmor restricts user namespaces of programs without a profile", way
    for begins, ends, reason, option in _FORBIDDEN:
        if failure.startswith(begins) and failure.endswith(ends):
            return reason, f"run the container with --security-opt {option}"
    return failure.replace("\n", " "), ""
