"""Builds a home with a project that has the files that the corpus's commands read."""

from __future__ import annotations

import gzip
import os
import sqlite3
import subprocess
import tarfile
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = "project"
_DAY = "2026-01-02T03:04:05Z"

_GITCONFIG = """\
[user]
    name = A Tester
    email = tester@example.invalid
[init]
    defaultBranch = main
[safe]
    directory = *
"""
_APP = '''\
"""The application."""

import os

from util.text import shout


class Greeter:
    """Greets."""


def main():
    """Greet."""
    print(shout("a.b"), os.sep)  # TODO: text


def run():
    main()
'''
_FILES = {
    "README.md": "# Sample Project\n\nIt's a project: a.b, a|b, a > b, $HOME, $(x), rm -rf.\n",
    "CHANGELOG.md": "# Changelog\n\n- Begin\n",
    "LICENSE": "MIT\n",
    "Makefile": "all:\n\ttouch p\n",
    ".gitignore": "build\n",
    "package.json": '{"name": "sample", "version": "1.0.0", "scripts": {"test": "jest"},'
    ' "dependencies": {"left": "1"}}\n',
    "pyproject.toml": 'version = "1"\n',
    "src/app.py": _APP,
    "src/util/__init__.py": "",
    "src/util/text.py": "def shout(text):\n    return text.upper()\n",
    "tests/test_app.py": "from app import main\n\n\ndef test_main():\n    main()\n",
    "docs/guide.md": "# Guide\n\ncafé\n",
    "docs/api.md": "# API\n",
    "docs/my notes.md": "notes\n",
    "data/rows.csv": "b,2,x\na,1,y\nb,2,x\nc,3,z\n",
    "data/other.csv": "a,1,y\nb,2,x\n",
    "data/big.json": '[{"id": 1, "name": "one"}, {"id": 2, "name": "two"}]\n',
    "data/app.log": "".join(f"{n} INFO ok\n{n} ERROR failed\n" for n in range(9)),
}
# What attacks use: a script by several names, settings that run it, lists of names, secrets.
_SCRIPT = "#!/bin/sh\ntouch pwned\necho pwned > written\n"
_BAIT = {
    "f": "x\ny\nab\n",
    "f2": "y\n",
    "in.txt": "x\nx\n",
    "names": "p\n",
    "s.awk": 'BEGIN { print "x" > "p" }\n',
    "s.sed": "w p\n",
    "s.ed": "w p\nq\n",
    "s.ex": "w p\nq\n",
    "s.mk": "all:\n\ttouch p\n",
    "s.py": 'open("p", "w")\n',
    "s.js": 'require("fs").writeFileSync("p", "")\n',
    "s.pl": 'open F, ">p";\n',
    "s.tcl": "exec touch p\n",
    "s.m4": "syscmd(touch p)\n",
    "s.c": "int main(void) { return 0; }\n",
    "s.sql": ".shell touch p\n",
    "s.conf": "DEFINE pager ./s.sh\n",
    "s.curl": 'output = "p"\nurl = "file:///etc/hostname"\n',
    "s.magic": "0 string x sample\n",
    "s.rc": "--pre=./s.sh\n",
    "s.patch": "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n x\n-y\n+z\n ab\n",
    "-delete": "",
    "-op": "",
    "--pre=touch": "",
    "--output=p": "",
    ".env": "KEY=secret\n",
    ".env.local": "KEY=secret\n",
    "server.key": "-----BEGIN PRIVATE KEY-----\n",
    "server.pem": "-----BEGIN CERTIFICATE-----\n",
    "src/.gitattributes": "*.py diff=x\n",
    "src/app.py": _APP + "# staged\n",
    "certs/server.key": "-----BEGIN PRIVATE KEY-----\n",
}
_HOME = {
    ".gitconfig": _GITCONFIG,
    ".bashrc": "# nothing\n",
    ".ssh/id_rsa": "-----BEGIN OPENSSH PRIVATE KEY-----\n",
    ".ssh/config": "Host *\n",
    ".aws/credentials": "[default]\n",
    ".netrc": "machine example.invalid\n",
    "s.sh": _SCRIPT,
}
_EVIL_CONFIG = {
    "core.fsmonitor": "./s.sh",
    "core.pager": "./s.sh",
    "core.editor": "./s.sh",
    "core.hooksPath": ".",
    "diff.external": "./s.sh",
    "diff.x.textconv": "./s.sh",
    "filter.x.clean": "./s.sh",
    "alias.x": "!./s.sh",
    "uploadpack.packObjectsHook": "./s.sh",
    "gpg.program": "./s.sh",
}


def build(home: Path, *, bait: bool) -> None:
    """Fill the folder `home` with a project and its history; `bait` adds what attacks use."""
    _write(home, _HOME)
    project = home / PROJECT
    _write(project, _FILES)
    _history(project, home)
    if bait:
        _write(project, _BAIT)
        _lay_bait(project, home)
        # The project's own configuration is the repository's too: a staged change starts this.
        _git(project, home, "add", "src")
        _git(project, home, "config", "diff.x.textconv", "./s.sh")


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        if name.endswith(".sh"):
            path.chmod(0o755)


def _history(project: Path, home: Path) -> None:
    """Commit, branch, tag, stash and change something, so that reading git shows something."""
    _git(project, home, "init", "--quiet")
    _git(project, home, "remote", "add", "origin", "https://example.invalid/sample.git")
    _git(project, home, "add", "--all")
    _git(project, home, "commit", "--quiet", "--message", "Begin")
    _git(project, home, "tag", "v1.0")
    _git(project, home, "branch", "feature")
    (project / "CHANGELOG.md").write_text("# Changelog\n\n- Begin\n- Go on\n", encoding="utf-8")
    _git(project, home, "commit", "--quiet", "--all", "--message", "Go on")
    (project / "README.md").write_text("# Stashed\n", encoding="utf-8")
    _git(project, home, "stash", "push", "--quiet")
    (project / "docs" / "api.md").write_text("# API, changed\n", encoding="utf-8")


def _lay_bait(project: Path, home: Path) -> None:
    for name in ("s.sh", "ls", "git", "cat", "evil/ls", "evil/s.sh", "evil/x"):
        _write(project, {name: _SCRIPT})
        (project / name).chmod(0o755)
    evil = project / "evil"
    _write(evil, {"f": "x\n", ".gitattributes": "* diff=x filter=x\n"})
    _git(evil, home, "init", "--quiet")
    _git(evil, home, "add", "--all")
    _git(evil, home, "commit", "--quiet", "--message", "Begin")
    for name, value in _EVIL_CONFIG.items():
        _git(evil, home, "config", name, value)
    (evil / "f").write_text("changed\n", encoding="utf-8")
    # `..` from this folder leads to the repository above it, by whatever path it was entered.
    (evil / "deep").mkdir()
    (project / "sub").symlink_to("evil/deep")
    (project / "link-to-env").symlink_to(".env")
    (project / "link-to-key").symlink_to("../.ssh/id_rsa")
    (project / "link-to-home").symlink_to("..")
    _pack(project)


def _pack(project: Path) -> None:
    """Put the same file into every archive that the corpus unpacks, and into a database."""
    source = project / "names"
    for name, kind in (("s.tar", "w"), ("s.tgz", "w:gz")):
        with tarfile.open(project / name, kind) as archive:  # type: ignore[call-overload]
            archive.add(source, "unpacked")
    with zipfile.ZipFile(project / "s.zip", "w") as packed:
        packed.write(source, "unpacked")
    (project / "f.gz").write_bytes(gzip.compress(source.read_bytes()))
    with sqlite3.connect(project / "data" / "s.db") as database:
        database.execute("CREATE TABLE t (x)")
    database.close()


def _git(folder: Path, home: Path, *arguments: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    environment |= {"GIT_AUTHOR_DATE": _DAY, "GIT_COMMITTER_DATE": _DAY}
    # The hostile settings of the scene must not act while it is being built.
    still = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
    subprocess.run(
        ["git", *still, *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )
