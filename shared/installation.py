"""Install a lock file's packages with uv or pip into a folder of the planner's own, all or none."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from typing import TYPE_CHECKING

from shared.resources import ROOT, command
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

WHEELS_VARIABLE = "PLANNER_WHEELS"
SYSTEM_PIP = "/usr/share/python-wheels/pip-*.whl"

# Settings of the user that decide where pip installs or what it builds. Which index it asks, with
# which certificates, proxies and cache, stays theirs.
DROPPED = (
    "PIP_ABI",
    "PIP_EDITABLE",
    "PIP_IMPLEMENTATION",
    "PIP_NO_BINARY",
    "PIP_ONLY_BINARY",
    "PIP_PLATFORM",
    "PIP_PREFIX",
    "PIP_PYTHON",
    "PIP_PYTHON_VERSION",
    "PIP_REPORT",
    "PIP_REQUIREMENT",
    "PIP_ROOT",
    "PIP_TARGET",
)
# With one of these pip has settings of its own that uv would not read.
PIPS_OWN = (
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_CONFIG_FILE",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "PIP_NO_INDEX",
    "PIP_PROXY",
    "PIP_TRUSTED_HOST",
)
PIPS_FILES = (
    "/etc/pip.conf",
    "$XDG_CONFIG_HOME/pip/pip.conf",
    "~/.config/pip/pip.conf",
    "~/.pip/pip.conf",
    "~/Library/Application Support/pip/pip.conf",
)
# Set, not dropped, because pip's configuration files could say the opposite.
FIXED = {"PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0", "PIP_DRY_RUN": "0", "PIP_NO_INPUT": "1"}


def install(lock_file: str, target: str, *, fresh: bool = False) -> None:
    """Install the packages of `lock_file` into the folder `target`; `fresh` replaces an old one.

    One process installs at a time; the others wait and find the work done. Raises `Refused`.
    """
    home = os.path.dirname(target)
    try:
        with _only_installer(home):
            if os.path.isdir(target) and not fresh:
                return
            _clear_leftovers(home)
            made = tempfile.mkdtemp(prefix="tmp-", dir=home)
            try:
                _note(f"installing the packages of {_relative(lock_file)} into {home} (once)")
                _download(lock_file, made)
                _put_in_place(made, target)
            finally:
                shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise _refusal(
            f"{home} cannot be written: {error.strerror or error}",
            "a cache that can be written: the variable XDG_CACHE_HOME names another",
        ) from error


@contextlib.contextmanager
def _only_installer(home: str) -> Iterator[None]:
    """Hold a lock so that only one process installs into `home`; create `home` if missing."""
    os.makedirs(home, exist_ok=True)
    # Opened for reading: flock needs no more, and a lock file of another user then suffices.
    handle = os.open(os.path.join(home, "lock"), os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _note("waiting for another planner that is installing")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _clear_leftovers(home: str) -> None:
    """Remove the folders that a killed installation left; the caller holds the install lock."""
    for name in os.listdir(home):
        if name.startswith("tmp-"):
            shutil.rmtree(os.path.join(home, name), ignore_errors=True)


def _put_in_place(made: str, target: str) -> None:
    """Rename the finished package folder to its final name, after moving an older one away."""
    # mkdtemp's folder is private; a checkout may be shared between users.
    finished = os.path.join(made, "packages")
    if os.path.isdir(target):
        os.rename(target, os.path.join(made, "replaced"))
    os.rename(finished, target)


def _download(lock_file: str, made: str) -> None:
    """Install the packages into `made`/packages; raise Refused with pip's reason.

    uv takes a twentieth of pip's time. Where it fails for any reason, pip does it and says why.
    """
    options = [
        "install",
        "--quiet",
        "--require-hashes",
        "--no-deps",
        "--only-binary=:all:",
        "--target",
        os.path.join(made, "packages"),
        "--requirement",
        lock_file,
        *_wheel_options(lock_file),
    ]
    uv = _uv()
    if uv is not None:
        compiled = ["--compile-bytecode", "--link-mode=copy", f"--python={sys.executable}"]
        if _run([uv, "pip", *options, *compiled], made).returncode == 0:
            return
        shutil.rmtree(os.path.join(made, "packages"), ignore_errors=True)
    for pip in _pips():
        # Without PYTHON* variables: no one else's module is imported.
        command = [sys.executable, "-E", "-P", *pip, *options, "--disable-pip-version-check"]
        answer = _run(command, made)
        if answer.returncode == 0:
            return
        if "No module named pip" not in answer.stderr:
            raise _pip_refusal(lock_file, answer.stderr)
    raise _refusal(
        f"{sys.executable} has no pip",
        "install pip (Debian's package python3-pip), or name a Python with pip in PLANNER_PYTHON",
    )


def _run(command: list[str], folder: str) -> subprocess.CompletedProcess[str]:
    """Run an installer in a folder of ours, where it finds no modules or settings of others."""
    return subprocess.run(
        command,
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _uv() -> str | None:
    """Return the path of uv; None without it, or if an index is set up for pip, which uv ignores.

    A folder of wheels needs no index.
    """
    files = (os.path.expanduser(os.path.expandvars(path)) for path in PIPS_FILES)
    pips_own = any(map(os.environ.get, PIPS_OWN)) or any(map(os.path.isfile, files))
    return None if pips_own and not os.environ.get(WHEELS_VARIABLE) else shutil.which("uv")


def _pips() -> list[list[str]]:
    """Return the ways to start pip: the interpreter's own pip, then wheels shipped with Python."""
    spec = find_spec("ensurepip")
    bundled: list[str] = []
    if spec is not None and spec.origin:
        bundled = glob.glob(os.path.join(os.path.dirname(spec.origin), "_bundled", "pip-*.whl"))
    wheels = [*bundled, *glob.glob(SYSTEM_PIP)]
    return [["-m", "pip"], *([os.path.join(wheel, "pip")] for wheel in wheels)]


def _wheel_options(lock_file: str) -> list[str]:
    """Return pip's options for an offline installation, if the user names a folder of wheels."""
    wheels = os.environ.get(WHEELS_VARIABLE)
    if not wheels:
        return []
    if not os.path.isdir(wheels):
        raise Refused(
            "not_found",
            WHEELS_VARIABLE,
            f"{wheels} is not a folder",
            "a folder filled by: pip download --no-deps --require-hashes --only-binary :all:"
            f" -r {shlex.quote(lock_file)} -d FOLDER",
        )
    return ["--no-index", "--find-links", os.path.abspath(wheels)]


def _environment() -> dict[str, str]:
    """Return the user's environment without variables that make pip install elsewhere."""
    kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
    return kept | FIXED


def _pip_refusal(lock_file: str, stderr: str) -> Refused:
    """Return the Refused for a failed pip, with the lines of pip's output that say why."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith("ERROR:")] or lines[-3:]
    if "connection broken" in stderr:
        reasons = ["the package index cannot be reached"]
    return _refusal(
        f"pip could not install {_relative(lock_file)}: " + " ".join(reasons[-3:]),
        "a reachable package index (pip's own settings name it), or the wheels in a folder that"
        f" the variable {WHEELS_VARIABLE} names (docs/dependencies.md)",
    )


def _relative(lock_file: str) -> str:
    """Return the lock file's path relative to the planner's root folder."""
    return os.path.relpath(lock_file, ROOT)


def _refusal(problem: str, allowed: str) -> Refused:
    return Refused("refused", "packages", problem, allowed, command("help"))


def _note(text: str) -> None:
    sys.stderr.write(f"planner: {text}\n")
    sys.stderr.flush()
