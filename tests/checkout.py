"""A small checkout for the tests of launcher and installer: our real files, stub commands.

Its lock names one wheel that is made here, so that pip's real work needs no network.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REAL_FILES = (
    "bin/planner",
    "cli/__init__.py",
    "cli/answers.py",
    "cli/launch.py",
    "shared/__init__.py",
    "shared/builders.py",
    "shared/commands.py",
    "shared/dependencies.py",
    "shared/installation.py",
    "shared/output.py",
    "shared/paths.py",
    "shared/resources.py",
    "shared/ways_out.py",
    "state/__init__.py",
    "state/actors.py",
    "state/errors.py",
    "state/files.py",
    "state/journals.py",
)
# The stubs say what they see: arguments, search path, and whether the locked package is there.
STUB_MAIN = """\
import json, os, sys
import click
def main(argv):
    seen = {"argv": argv, "path": sys.path, "python": sys.executable, "click": click.__file__}
    print(json.dumps(seen))
    return 7
"""
STUB_STEP = """\
import json, sys
def run_step(argv):
    print(json.dumps({"argv": argv, "path": sys.path, "python": sys.executable}))
    return 0
"""


def make_wheel(folder: Path, name: str = "click") -> str:
    """Write the wheel `name`-1.0 into `folder` and return its hash as a lock line has it."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}/__init__.py": "VERSION = '1.0'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text)}\n" for path, text in files.items())
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in (files | {f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}).items():
            archive.writestr(path, text)
    return hashlib.sha256(wheel.read_bytes()).hexdigest()


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


class Checkout:
    """A copy of the launcher's files under `path`, whose one dependency is in `wheels`."""

    def __init__(self, path: Path, wheels: Path) -> None:
        self.path = path
        self.wheels = wheels
        for name in REAL_FILES:
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, path / name)
        (path / "cli" / "main.py").write_text(STUB_MAIN)
        (path / "orchestrator").mkdir()
        (path / "orchestrator" / "step.py").write_text(STUB_STEP)
        (path / "requirements").mkdir()
        self.write_lock(make_wheel(wheels))

    @property
    def deps(self) -> Path:
        """Return the folder beside our own that may hold packages."""
        return self.path / ".deps"

    @property
    def packages(self) -> Path:
        """Return the folder of the user's cache where packages are installed."""
        return Path(os.environ["XDG_CACHE_HOME"]) / "planner" / "packages"

    def write_lock(self, digest: str, comment: str = "") -> None:
        """Make the lock file name the one wheel, by this hash."""
        text = f"{comment}click==1.0 --hash=sha256:{digest}\n"
        (self.path / "requirements" / "core.lock").write_text(text)

    def installed(self) -> list[str]:
        """Return what lies in the cache, the installers' lock aside."""
        return sorted(p.name for p in self.packages.iterdir() if p.name != "lock")

    def planner(
        self,
        *arguments: str,
        cwd: Path | None = None,
        program: Path | None = None,
        **environment: str | None,
    ) -> subprocess.CompletedProcess[str]:
        """Run bin/planner offline, with this interpreter unless PLANNER_PYTHON=None is given."""
        launcher = program or self.path / "bin" / "planner"
        return self._run([str(launcher)], arguments, cwd, environment)

    def _run(
        self,
        command: list[str],
        arguments: tuple[str, ...],
        cwd: Path | None,
        environment: dict[str, str | None],
    ) -> subprocess.CompletedProcess[str]:
        wanted = {"PLANNER_PYTHON": sys.executable, "PLANNER_WHEELS": str(self.wheels)}
        every = {**os.environ, **wanted, **environment}
        return subprocess.run(
            [*command, *arguments],
            cwd=cwd or self.path.parent,
            env={name: value for name, value in every.items() if value is not None},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
