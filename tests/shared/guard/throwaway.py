"""Runs commands for real where they can do no harm: namespaces, another root, no rights.

The root is a tmpfs with the system's programs bound read-only into it. No network, no process and
no file of this machine is in reach; only the home, /tmp and /dev/shm can be written. A command runs
without privileges under limits, and it is seen which paths it made, changed or removed.

Imported, it starts itself as a program in that place; as a program it takes a job on standard input
and answers on standard output, both JSON.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CHECKOUT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
TIME_LIMIT_S = 1.0
HOME, PROJECT = "/home/tester", "/home/tester/project"
_NOBODY = 65534
_OUTPUT_BYTES = 100_000
_WATCHED = ("/home", "/tmp", "/dev/shm")  # noqa: S108 – those of the throwaway root
_LIMITS = {
    resource.RLIMIT_FSIZE: 1 << 23, resource.RLIMIT_CPU: 2, resource.RLIMIT_CORE: 0,
    resource.RLIMIT_NPROC: 400, resource.RLIMIT_AS: 1 << 32,
}  # fmt: skip
_SET_SECUREBITS, _NO_RIGHTS_FOR_ROOT, _SET_NO_NEW_PRIVILEGES = 28, 0x2F, 38

# What the shell does before our program starts: $1 is the new root, $2 the template of the home,
# $3 Python's folder, $4 our checkout. Flags are only added: a user may not take any away.
_ENTER = r"""
set -eu
root=$1
bind() {
  mkdir -p "$2"
  mount --bind "$1" "$2"
  mount -o remount,bind,ro,nosuid,nodev "$2"
}
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$root"
for name in usr bin sbin lib lib32 lib64 libx32 etc opt; do
  if [ -L "/$name" ]; then cp -P "/$name" "$root/$name"
  elif [ -d "/$name" ]; then bind "/$name" "$root/$name"; fi
done
bind "$2" "$root/template"
bind "$3" "$root/python"
bind "$4" "$root/planner"
mkdir "$root/proc" "$root/dev" "$root/home" "$root/tmp" "$root/dev/shm"
mount -t proc proc "$root/proc"
for name in null zero full random urandom; do
  : >"$root/dev/$name"
  mount --bind "/dev/$name" "$root/dev/$name"
done
ln -s /proc/self/fd "$root/dev/fd"
for name in home tmp dev/shm; do mount -t tmpfs -o mode=1777,size=64m tmpfs "$root/$name"; done
mount -o remount,ro "$root"
exec chroot "$root" "/python/bin/$5" -I -S -X utf8 /planner/tests/shared/guard/throwaway.py
"""


class Outcome(NamedTuple):
    """What a command did: its exit code (None: stopped by the time limit) and changed paths."""

    text: str
    code: int | None
    stdout: str
    stderr: str
    changed: list[str]


def missing() -> str:
    """Return what this system lacks for a throwaway place; "" if nothing."""
    lacking = [name for name in ("unshare", "chroot") if not shutil.which(name, path=_path())]
    if lacking or not sys.platform.startswith("linux"):
        return ", ".join(lacking) or "Linux"
    with tempfile.TemporaryDirectory() as template:
        os.makedirs(os.path.join(template, "project"))
        try:
            run(["true"], template)
        except subprocess.CalledProcessError as error:
            return f"namespaces of one's own: {error.stderr.strip()[-200:]}"
    return ""


def run(
    commands: Sequence[str], template: str, *, held: bool = False, limit_s: float = TIME_LIMIT_S
) -> list[Outcome]:
    """Run each command by bash in a fresh copy of `template`; `held`: by the guard's runner."""
    job = {
        "commands": [*commands], "held": held, "root": os.geteuid() == 0, "limit_s": limit_s,
    }  # fmt: skip
    user = [] if job["root"] else ["--user", "--map-root-user"]
    spaces = ["--mount", "--net", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
    python = "python{}.{}".format(*sys.version_info)
    with tempfile.TemporaryDirectory() as root:
        places = [root, template, sys.base_prefix, CHECKOUT, python]
        done = subprocess.run(
            ["unshare", *user, *spaces, "sh", "-c", _ENTER, "sh", *places],
            env={"PATH": _path(), "LD_LIBRARY_PATH": "/python/lib"},
            input=json.dumps(job), capture_output=True, text=True, check=True,
        )  # fmt: skip
    return [Outcome(*answer) for answer in json.loads(done.stdout)]


def _path() -> str:
    return os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"


# inside


def main() -> None:
    """Run the job from standard input; answer when all of it is done."""
    job = json.load(sys.stdin)
    os.environ.clear()
    os.environ.update(
        HOME=HOME, USER="tester", LANG="C.UTF-8", PATH="/usr/local/bin:/usr/bin:/bin", TZ="UTC"
    )
    owner = _NOBODY if job["root"] else 0
    become = _held() if job["held"] else _free
    _lay_out(owner)
    before, answers = _snapshot(), []
    for text in job["commands"]:
        code, stdout, stderr = _run(functools.partial(become, text), owner, job["limit_s"])
        after = _snapshot()
        changed = sorted(p for p in before.keys() | after if before.get(p) != after.get(p))
        answers.append((text, code, stdout, stderr, changed))
        if changed:
            _lay_out(owner)
            before = _snapshot()
    json.dump(answers, sys.stdout)


def _free(text: str) -> None:
    os.execvp("bash", ["bash", "--noprofile", "--norc", "-c", text])  # noqa: S606


def _held() -> Callable[[str], None]:
    """Return a function that becomes a command as the runner does, without asking the guard."""
    sys.path.insert(0, CHECKOUT)
    from shared.guard.runner import SHELL, hold

    return lambda text: hold([*SHELL, text])


def _run(become: Callable[[], None], owner: int, limit_s: float) -> tuple[int | None, str, str]:
    """Run a command through `become`, end all its processes; return code, stdout, stderr."""
    stdout, stderr = (os.memfd_create(name) for name in ("stdout", "stderr"))
    pid = os.fork()
    if not pid:
        try:
            _prepare(owner, stdout, stderr)
            become()
        finally:
            os._exit(127)
    watch = os.pidfd_open(pid)
    ended, _, _ = select.select([watch], [], [], limit_s)
    os.close(watch)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if ended else None
    _end_all()
    return code, _content(stdout), _content(stderr)


def _prepare(owner: int, stdout: int, stderr: int) -> None:
    os.setsid()
    os.chdir(PROJECT)
    for number, target in enumerate((os.open(os.devnull, os.O_RDONLY), stdout, stderr)):
        os.dup2(target, number)
    for limit, value in _LIMITS.items():
        resource.setrlimit(limit, (value, value))
    library = ctypes.CDLL(None)
    if owner:
        os.setgroups([])
        os.setgid(owner)
        os.setuid(owner)
    else:
        library.prctl(_SET_SECUREBITS, _NO_RIGHTS_FOR_ROOT, 0, 0, 0)
    library.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def _end_all() -> None:
    """End every process of this place except this one, its first."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _content(file: int) -> str:
    text = os.pread(file, _OUTPUT_BYTES, 0).decode(errors="replace")
    os.close(file)
    return text


def _lay_out(owner: int) -> None:
    for folder in _WATCHED:
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)
    shutil.copytree("/template", HOME, symlinks=True)
    for folder, names, files in os.walk(HOME):
        for name in (".", *names, *files):
            os.chown(os.path.join(folder, name), owner, owner, follow_symlinks=False)


def _snapshot() -> dict[str, tuple[int, ...]]:
    """Return by path all that a change of a file would change, without its access time."""
    found: dict[str, tuple[int, ...]] = {}
    for top in _WATCHED:
        for folder, names, files in os.walk(top):
            for name in (".", *names, *files):
                path = os.path.normpath(os.path.join(folder, name))
                s = os.lstat(path)
                found[path] = (
                    s.st_ino, s.st_mode, s.st_uid, s.st_gid, s.st_nlink, s.st_size, s.st_mtime_ns,
                    s.st_ctime_ns,
                )  # fmt: skip
    return found


if __name__ == "__main__":
    if not sys.stdin.isatty():
        main()
