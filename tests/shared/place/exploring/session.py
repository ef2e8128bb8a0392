"""A client that plans: it asks the real hook about a command and runs what that answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.shared.place.exploring import projects

COMMANDS = Path(__file__).with_name("commands.jsonl")
LIMIT = 120.0  # seconds for one command
AGENT = "explorer"  # and after it the project, since a session plans in one repository
_DAY = "2026-01-02T03:04:05Z"
_VARIES = (
    # What differs from one run to the next: times, ids of processes, names of temporary files.
    (r"\b\d+(\.\d+)? ?(ms|s|sec|seconds|usec|nsec)\b", "TIME"),
    (r"duration_ms:? \d[\d.]*", "duration_ms N"),
    (r"\btmp\.\w+", "tmp.NAME"),
    (r"(?m)^\[\d+\] \d+\n", ""),
    (r"at 0x[0-9a-f]+", "at ADDRESS"),
    # An overlay counts links and sizes of folders in its own way.
    (r"(?m)^(d[rwxst-]{9}) +\d+ (\S+ \S+) +\d+ ", r"\1 LINKS \2 SIZE "),
    (r"(?m)^([-l][rwxst-]{9}) +(\d+) ", r"\1 \2 "),  # as wide as the folders' counts
    (r"(?m)^total \d+$", "total N"),
    # What lies above a project is made anew in the place.
    (r"(?m)\w{3} [ \d]\d [\d:]{5} \.\.$", "TIME .."),
)
Answer = tuple[int, str]


def load() -> list[dict[str, Any]]:
    """Return the commands, each with its id, project, text, needs and what is expected."""
    return [json.loads(line) for line in COMMANDS.read_text(encoding="utf-8").splitlines()]


class Session:
    """Planning sessions in every project, for one user with a home of his own."""

    def __init__(self, base: Path, planner: Path) -> None:
        self.planner = planner
        self.home = base / "home"
        self.kept = base / "kept"
        self.prefix: list[str] = []
        self.home.mkdir(parents=True)
        (self.home / ".gitconfig").write_text(
            "[user]\nname = Ada\nemail = ada@example.invalid\n[init]\ndefaultBranch = main\n"
        )
        (self.home / ".claude").mkdir()
        self.has_rules({})
        self.environment = self._environment()
        made = projects.make(self.home / "work", self.environment)
        for project in made:
            self._call(project, "mode", "enter", "--agent", f"{AGENT}-{project.name}")
            shutil.copytree(project, self.kept / project.name, symlinks=True)
        self.seen = {project.name: _state(project) for project in made}

    def has_rules(self, rules: dict[str, list[str]]) -> None:
        """Write the client's settings: what the user denies, asks for and, besides us, allows."""
        permissions = {"allow": [f"Bash({self.planner} ro:*)"], **rules}
        settings = json.dumps({"permissions": permissions})
        (self.home / ".claude" / "settings.json").write_text(settings)

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(Path(sys.executable).resolve().parent), os.environ["PATH"]])
        real = Path(os.environ.get("RUSTUP_HOME", Path("~/.rustup").expanduser()))
        return {
            "HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb",
            "USER": "ada", "SHELL": "/bin/bash", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_DATE": _DAY, "GIT_COMMITTER_DATE": _DAY, "RUSTUP_HOME": str(real),
            "PLANNER_PYTHON": sys.executable, "npm_config_update_notifier": "false",
        }  # fmt: skip

    def lacks(self, command: dict[str, Any]) -> list[str]:
        """Return the programs that a command needs and this machine has not."""
        path = self.environment["PATH"]
        return [n for n in command["needs"] if n != "venv" and not shutil.which(n, path=path)]

    def asks(self, command: dict[str, Any]) -> tuple[str, str]:
        """Return pass, ask or deny, and what runs or why not."""
        folder = self.folder(command)
        event = {
            "session_id": f"{AGENT}-{folder.name}", "cwd": str(folder),
            "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command["text"], "description": "x"},
        }  # fmt: skip
        done = subprocess.run(
            [*self.prefix, str(self.planner), "hook", "claude", "PreToolUse"],
            input=json.dumps(event), cwd=folder, env=self.environment,
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        said = json.loads(done.stdout)["hookSpecificOutput"]
        decided = said.get("permissionDecision", "pass").replace("allow", "pass")
        changed = said.get("updatedInput", {}).get("command", command["text"])
        return decided, said["permissionDecisionReason"] if decided == "deny" else changed

    def folder(self, command: dict[str, Any]) -> Path:
        """Return the project in which a command runs."""
        return self.home / "work" / str(command["project"])

    def runs(self, text: str, command: dict[str, Any]) -> Answer:
        """Run a text by bash, as the client's tool does; return the exit code and the output."""
        process = subprocess.Popen(
            ["bash", "-c", text], cwd=self.folder(command), env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True, text=True, errors="replace",
        )  # fmt: skip
        try:
            output, _ = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        return process.returncode, normal(output)

    def restore(self, command: dict[str, Any]) -> bool:
        """Put a project back as it was, but for the planner's own files; say if it had changed."""
        folder = self.folder(command)
        if _state(folder) == self.seen[folder.name]:
            return False
        for entry in folder.iterdir():
            if entry.name == ".planner":
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        for entry in (self.kept / folder.name).iterdir():
            if entry.name == ".planner":
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.copytree(entry, folder / entry.name, symlinks=True)
            else:
                shutil.copy2(entry, folder / entry.name, follow_symlinks=False)
        self.seen[folder.name] = _state(folder)
        return True

    def _call(self, folder: Path, *words: str) -> None:
        subprocess.run(
            [str(self.planner), *words], cwd=folder, env=self.environment,
            check=True, capture_output=True,
        )  # fmt: skip


def normal(output: str) -> str:
    """Replace what differs between any two runs, and drop the line that names what was lost."""
    for pattern, word in _VARIES:
        output = re.sub(pattern, word, output)
    lines = output.splitlines()
    return "\n".join(line.rstrip() for line in lines if not line.startswith("planner: not kept: "))


def _state(folder: Path) -> list[tuple[str, int, int, int]]:
    """Return name, mode, size and time of every file but the planner's and git's index."""
    found = []
    for top, folders, files in os.walk(folder):
        if ".planner" in folders:
            folders.remove(".planner")
        for name in files:
            path = os.path.join(top, name)
            was = os.lstat(path)
            if not path.endswith("/.git/index"):
                found.append((path, was.st_mode, was.st_size, was.st_mtime_ns))
    return sorted(found)
