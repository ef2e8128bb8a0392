"""Makes ten small projects, with their histories, from `projects.txt`.

There `==== PROJECT/PATH` begins a file; `@N` after it means the file's text in commit N, `x` that
it can be run, `-` that the commit deletes it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("projects.txt")


def make(folder: Path, environment: dict[str, str]) -> list[Path]:
    """Write every project below `folder`, each a repository of its own, and return them."""
    commits: dict[str, dict[int, list[tuple[str, list[str], str]]]] = {}
    for part in SOURCE.read_text(encoding="utf-8").split("==== ")[1:]:
        head, _, text = part.partition("\n")
        name, *marks = head.split()
        project, _, path = name.partition("/")
        number = next((int(mark[1:]) for mark in marks if mark[0] == "@"), 1)
        commits.setdefault(project, {}).setdefault(number, []).append((path, marks, text))
    for project, numbered in commits.items():
        _history(folder / project, numbered, environment)
    _extras(folder, environment)
    return [folder / project for project in commits]


def _history(
    project: Path, commits: dict[int, list[tuple[str, list[str], str]]], environment: dict[str, str]
) -> None:
    project.mkdir(parents=True)
    _git(project, environment, "init", "--quiet")
    for number in sorted(commits):
        for path, marks, text in commits[number]:
            file = project / path
            if "-" in marks:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            if "x" in marks:
                file.chmod(0o755)
        author = "Ada <ada@example.invalid>" if number % 2 else "Ben <ben@example.invalid>"
        _git(project, environment, "add", "--all")
        said = f"--message=Step {number} of {project.name}"
        _git(project, environment, "commit", "--quiet", f"--author={author}", said)
        if number == 1:
            _git(project, environment, "tag", "v0.1.0")


def _extras(folder: Path, environment: dict[str, str]) -> None:
    """Add a branch, the links of a workspace and an environment with an editable install."""
    ledger, weather = folder / "pysrc", folder / "pyvenv"
    _git(ledger, environment, "branch", "feature/csv", "HEAD~1")
    links = folder / "npmws" / "node_modules" / "@acme"
    links.mkdir(parents=True)
    for name in ("core", "web"):
        (links / name).symlink_to(f"../../packages/{name}")
    venv = weather / ".venv"
    options = ("--without-pip", "--system-site-packages", "--symlinks")
    subprocess.run([sys.executable, "-m", "venv", *options, str(venv)], check=True, env=environment)
    (packages,) = venv.glob("lib/python3*/site-packages")
    # What `pip install --editable` leaves, made without pip, which would ask the network.
    (packages / "weather.pth").write_text(f"{weather / 'src'}\n", encoding="utf-8")
    info = packages / "weather-0.4.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weather\nVersion: 0.4.1\n")
    (info / "RECORD").write_text("")
    program = venv / "bin" / "weather"
    program.write_text(f"#!{venv}/bin/python\nfrom weather.__main__ import main\nmain()\n")
    program.chmod(0o755)


def _git(project: Path, environment: dict[str, str], *words: str) -> None:
    subprocess.run(["git", *words], cwd=project, env=environment, check=True, capture_output=True)
