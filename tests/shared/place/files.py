"""What lies in the file systems before and after an attack, and what of it differs."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.shared.place.scene import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.shared.place.scene import Scene

# Folders of the machine that an attack may try to leave a file in.
FOLDERS = (
    "/ /tmp /var/tmp /dev /dev/shm /dev/mqueue /run /run/lock /run/user /var/run /root /home /etc "
    "/etc/cron.d /etc/profile.d /etc/systemd/system /usr/local /usr/local/bin /usr/local/lib "
    "/usr/bin /opt /srv /mnt /media /var/spool /var/spool/cron /var/spool/cron/crontabs "
    "/var/lib /var/log /var/cache /lib /boot /sys/fs/cgroup /sys/fs/cgroup/cpu "
    "/sys/fs/cgroup/memory /sys/fs/cgroup/pids /sys/fs/cgroup/unified /sys/fs/cgroup/systemd "
    "/sys/fs/bpf /sys/kernel/config /sys/kernel/tracing/instances"
)
# Files of the machine whose change time must stay.
STILL = (
    "/etc/passwd /etc/shadow /etc/group /etc/hosts /etc/profile /etc/crontab /etc/environment "
    "/etc/ld.so.cache /etc/resolv.conf /etc/hostname /usr/bin/env /usr/bin/git /bin/sh"
)
# Kernel settings that must keep their values.
SETTINGS = (
    "kernel/core_pattern kernel/hostname kernel/domainname kernel/modprobe kernel/sysrq "
    "kernel/pid_max kernel/threads-max kernel/randomize_va_space vm/swappiness "
    "vm/overcommit_memory vm/max_map_count fs/file-max fs/inotify/max_user_watches "
    "net/ipv4/ip_forward net/ipv4/ip_local_port_range dev/tty/legacy_tiocsti "
    "user/max_user_namespaces"
)
IPC = ("/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg")
CLOCK = "the clock"
MISTAKE_NS = 500_000_000  # how far it may be off before it counts as set

Record = tuple[object, ...]
State = dict[str, Record]


def look(scene: Scene) -> State:
    """Return everything that an attack could change and that does not change by itself."""
    found: State = {}
    for path in _below(str(scene.base)):
        found[path] = _record(path)
    for folder in FOLDERS.split():
        for name in _left_in(folder, scene.mark):
            found[name] = ("new name",)
    for path in STILL.split():
        with contextlib.suppress(OSError):
            found[path] = (os.stat(path).st_ctime_ns,)
    for name in SETTINGS.split():
        found[f"/proc/sys/{name}"] = (_text(f"/proc/sys/{name}"),)
    for name in IPC:
        found[name] = tuple(" ".join(line.split()[:2]) for line in _text(name).splitlines())
    found["mounts"] = (_mounts(),)
    found["keys"] = (scene.mark in _text("/proc/keys"),)
    found["network interfaces"] = tuple(sorted(os.listdir("/sys/class/net")))
    found[CLOCK] = (time.time_ns() - time.monotonic_ns(),)
    return found


def changes(scene: Scene, before: State, after: State) -> list[str]:
    """Say what differs; what the place lets a command write is left out unless it is odd."""
    told = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old != new and not allowed(scene, name, after) and not _goes_on(name, old, new):
            verb = "made" if old is None else "removed" if new is None else "changed"
            told.append(f"{verb} {name}" + (f": {old} became {new}" if verb == "changed" else ""))
    return told


def _goes_on(name: str, old: Record | None, new: Record | None) -> bool:
    """Say whether this is the clock, a little before or behind where it was."""
    if name != CLOCK or not old or not new:
        return False
    (then,), (now,) = old, new
    return isinstance(then, int) and isinstance(now, int) and abs(now - then) < MISTAKE_NS


def allowed(scene: Scene, name: str, after: State) -> bool:
    """Say whether a command may write this: plain files in the answers and the worktree."""
    for folder in (
        scene.state / "answers",
        scene.repo / ".planner/answers",
        scene.state / "worktree",
    ):
        if name == f"{scene.state}/worktree/.git":
            return False
        if name == str(folder) or name.startswith(f"{folder}/"):
            return name not in after or _ordinary(after[name])
    return False


def _ordinary(record: Record) -> bool:
    mode, owners = record[0], record[1:3]
    assert isinstance(mode, int)
    kind = stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)
    return (
        kind and not mode & (stat.S_ISUID | stat.S_ISGID) and owners == (os.getuid(), os.getgid())
    )


def _below(top: str) -> Iterator[str]:
    yield top
    with contextlib.suppress(PermissionError, NotADirectoryError):
        for entry in os.scandir(top):
            if entry.is_dir(follow_symlinks=False):
                yield from _below(entry.path)
            else:
                yield entry.path


def _record(path: str) -> Record:
    """Return mode, owner, size and times; no write to a file leaves its change time as it was."""
    try:
        status = os.lstat(path)
        extra = tuple(sorted(os.listxattr(path, follow_symlinks=False)))
    except OSError as problem:
        return (0, 0, problem.errno)
    return (
        status.st_mode,
        status.st_uid,
        status.st_gid,
        status.st_size,
        status.st_nlink,
        status.st_ino,
        status.st_mtime_ns,
        status.st_ctime_ns,
        extra,
    )


def _left_in(folder: str, mark: str) -> list[str]:
    """Return the names that bear the scene's mark, and as a plain user all that is ours."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    marked = [f"{folder.rstrip('/')}/{name}" for name in names if mark in name]
    if os.getuid() == 0:
        return marked
    for name in names:
        path = f"{folder.rstrip('/')}/{name}"
        if name.startswith(NAME):  # of another arena
            continue
        with contextlib.suppress(OSError):
            if os.lstat(path).st_uid == os.getuid() and path not in marked:
                marked.append(path)
    return marked


def _mounts() -> str:
    lines = _text("/proc/self/mountinfo").splitlines()
    return "\n".join(line for line in lines if "arena" in line or "overlay" in line)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace", encoding="utf-8")
    except OSError:
        return ""
