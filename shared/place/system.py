"""Makes the parts of the tree that are the place's own: /tmp, /run, /dev, /proc and /sys."""

from __future__ import annotations

import os

from shared.place import kernel
from shared.place.layers import EMPTY, QUIET, ROOT, make_target
from shared.place.marker import MARKER

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from shared.place.layers import Layers

# Empty at the beginning, with the rights that programs expect.
PRIVATE = {"/tmp": 0o1777, "/run": 0o755, "/var/tmp": 0o1777, "/dev/shm": 0o1777}  # noqa: S108
OWN = {"proc", "sys", "dev", "tmp", "run"}
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2",
          "ptmx": "pts/ptmx"}  # fmt: skip
# Of /run: NixOS keeps the system's programs there.
_OF_RUN = ("current-system", "booted-system", "opengl-driver")
# Of /proc: the names of keys in the kernel's key rings.
_KEYS = ("keys", "key-users")
_MOST_WATCHES = 1 << 16
# Of /sys: what shows the kernel's inside to root.
_HIDDEN_OF_SYS = ("kernel/debug", "kernel/tracing", "kernel/security")


def make_private(layers: Layers, runtime: str) -> None:
    """Make the empty folders, the user's runtime folder and the file that says: this is the place.

    Where the system lacks a folder for temporary files, the place does too.
    """
    for path in ("/tmp", "/run"):  # noqa: S108 – the place's own
        os.mkdir(ROOT + path)
    for path, mode in PRIVATE.items():
        if not path.startswith("/dev/") and os.path.isdir(ROOT + path):
            layers.fresh(path, mode)
    for name in _OF_RUN:
        if os.path.islink(f"/run/{name}"):
            os.symlink(os.readlink(f"/run/{name}"), f"{ROOT}/run/{name}")
    if runtime.startswith("/run/"):
        os.makedirs(ROOT + os.path.normpath(runtime), mode=0o700)
    make_target(MARKER, folder=False)
    layers.bind(ROOT + MARKER, MARKER)


def make_devices(layers: Layers) -> None:
    """Make a /dev with devices that hold nothing, and terminals of the place's own."""
    for name in ("", "shm", "pts"):
        os.mkdir(f"{ROOT}/dev/{name}")
    for name in _DEVICES:
        make_target(f"/dev/{name}", folder=False)
        kernel.mount(f"/dev/{name}", f"{ROOT}/dev/{name}", "", kernel.BIND)
    for name, target in _LINKS.items():
        os.symlink(target, f"{ROOT}/dev/{name}")
    layers.fresh("/dev/shm", PRIVATE["/dev/shm"])  # noqa: S108
    options = "newinstance,ptmxmode=0666,mode=620"
    kernel.mount("devpts", f"{ROOT}/dev/pts", "devpts", kernel.NO_SETUID, options)


def make_kernel_files(layers: Layers, threads: int) -> None:
    """Make /proc with the place's processes and a read-only /sys; ask the kernel to count too."""
    for name in ("proc", "sys"):
        os.mkdir(f"{ROOT}/{name}")
    if os.path.isdir("/sys/kernel"):
        layers.bind("/sys", "/sys")
        for name in _HIDDEN_OF_SYS:
            if os.path.isdir(f"/sys/{name}"):
                layers.bind(EMPTY, f"/sys/{name}")
    quiet = QUIET | kernel.NO_PROGRAMS
    kernel.mount("proc", f"{ROOT}/proc", "proc", quiet)
    # If memory runs out, the kernel ends what runs here first.
    _write(f"{ROOT}/proc/self/oom_score_adj", "1000")
    # From Linux 6.14 on it counts for this namespace; threads count too.
    _write(f"{ROOT}/proc/sys/kernel/pid_max", str(max(2 * threads, 1024)))
    # Each watch holds memory of the kernel.
    _write(f"{ROOT}/proc/sys/user/max_inotify_watches", str(_MOST_WATCHES))
    for name in _KEYS:
        if os.path.exists(f"{ROOT}/proc/{name}"):
            kernel.mount(os.devnull, f"{ROOT}/proc/{name}", "", kernel.BIND)
    # As root these files may be written without any capability.
    kernel.restrict_mount(f"{ROOT}/proc", kernel.READ_ONLY | quiet)


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError:
        return  # this kernel counts for the whole machine
