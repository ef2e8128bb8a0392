"""Run attacks on the place for real, each in a scene that is looked at before and after.

`python -m tests.shared.place.arena --base FOLDER --way place FILE…` prints one line of JSON for
each attack. `--way ro` goes through `planner ro`; `--way bash` runs them without the place: the
control that shows what is noticed. `--way layers` runs them under Landlock and seccomp alone, and
`--way parser` as `planner ro` does where the kernel gives no namespaces.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from tests.shared.place import files
from tests.shared.place.client import GRACE, run
from tests.shared.place.scene import PLANNER, ROOT, SEARCH, Scene, build, pack, unpack
from tests.shared.place.watch import NOTICE, Listeners, Open, Pipe, Terminal, Victim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ENTRY = Path(__file__).parent / "entry.py"
PR_SET_CHILD_SUBREAPER = 36
NAMESPACES = ("mnt", "pid", "net", "ipc", "user")

Way = Literal["place", "ro", "bash", "layers", "parser"]
HOLDING: tuple[Way, ...] = ("place", "ro")  # the others run only what harms the scene alone
LAYERS = """
import sys
sys.path.insert(0, sys.argv[1])
from shared.guard.runner import hold
hold(["bash", "-c", sys.argv[2]])
"""


@dataclass(frozen=True)
class Attack:
    """One line of attacks/*.jsonl."""

    id: str
    kind: str
    idea: str
    text: str
    control: bool = True
    needs: tuple[str, ...] = ()
    end: str = ""

    def missing(self) -> list[str]:
        """Return the programs that it needs and that are not here."""
        return [name for name in self.needs if not shutil.which(name, path=SEARCH)]


@dataclass
class Outcome:
    """What one attack did."""

    id: str
    kind: str
    idea: str
    effects: list[str] = field(default_factory=list)
    ran: bool = False
    seconds: float = 0.0
    exit: int = 0
    output: str = ""
    text: str = ""
    missing: list[str] = field(default_factory=list)


def load(paths: Iterable[Path]) -> Iterator[Attack]:
    """Read attacks, one JSON object a line."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            values = json.loads(line)
            yield Attack(**{**values, "needs": tuple(values.get("needs", ()))})


def without_namespaces(*command: str) -> list[str]:
    """Return the words that run a command where the kernel gives no more user namespaces."""
    forbid = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    return ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh", *command]


def words(way: Way, text: str, scene: Scene) -> list[str]:
    """Return the command that runs a text: the adapter."""
    if way == "bash":
        return ["/bin/bash", "-c", text]
    if way == "layers":
        return [sys.executable, "-I", "-S", "-c", LAYERS, str(ROOT), text]
    if way in ("ro", "parser"):
        command = [str(PLANNER), "ro", "-c", text]
        return command if way == "ro" else without_namespaces(*command)
    return [sys.executable, str(ENTRY), str(scene.state), text]


class Arena:
    """A scene with all that watches it, rebuilt when an attack changed something."""

    def __init__(self, base: Path, way: Way) -> None:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
        self.way: Way = way
        self.scene = build(base)
        for name in (*NAMESPACES, "uts"):
            self.scene.more[f"{name}ns"] = os.readlink(f"/proc/self/ns/{name}")
        self.archive = pack(self.scene)
        self.rebuilt = 0
        self._open()

    def _open(self) -> None:
        self.victim = Victim(self.scene)
        self.listeners, self.pipe = Listeners(self.scene), Pipe(self.scene)
        self.descriptors = Open(self.scene)
        self._warm_up()
        self.before = files.look(self.scene)

    def _warm_up(self) -> None:
        """Let the place remember what it does of a repository; stop if the place does not hold.

        Some attacks would harm the machine if they ran without namespaces of their own.
        """
        if self.way in ("bash", "layers"):
            return
        probe = self.scene.outside / "probe"
        text = f"touch {probe}; cat {self.scene.outside}/kept.txt; readlink " + " ".join(
            f"/proc/self/ns/{n}" for n in NAMESPACES
        )
        for _ in range(2):  # what changed just now is looked at once more
            terminal = Terminal()
            done = run(words(self.way, text, self.scene), self.scene, terminal.take)
            terminal.close()
            time.sleep(NOTICE)
        if self.way == "parser":
            return
        seen, *own = done.stdout.split() or [""]
        shared = {self.scene.more[f"{name}ns"] for name in NAMESPACES} & {*own}
        if seen != "kept" or probe.exists() or shared or len(own) != len(NAMESPACES):
            message = f"the place does not hold, so no attack is run: {done}"
            raise RuntimeError(message)

    def _close(self) -> None:
        for one in (self.victim, self.listeners, self.pipe, self.descriptors):
            one.close()

    def rebuild(self) -> None:
        """Put everything back."""
        self._close()
        self._remove_marked()
        self._remove_ipc()
        unpack(self.scene, self.archive)
        self.rebuilt += 1
        self._open()

    def _remove_marked(self) -> None:
        for name in files.look(self.scene):
            if self.scene.mark in name and not name.startswith(f"{self.scene.base}/"):
                path = Path(name)
                with contextlib.suppress(OSError):
                    path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()

    def _remove_ipc(self) -> None:
        after = files.look(self.scene)
        for name in files.IPC:
            for made in {*after[name]} - {*self.before.get(name, ())}:
                option = {"shm": "-m", "sem": "-s", "msg": "-q"}[name[-3:]]
                subprocess.run(["ipcrm", option, str(made).split()[1]], check=False)

    def close(self) -> None:
        """End what watches and remove the scene."""
        self._close()
        self._remove_marked()
        shutil.rmtree(self.scene.base, ignore_errors=True)

    def run(self, attack: Attack) -> Outcome:
        """Run one attack and say what it did."""
        outcome = Outcome(attack.id, attack.kind, attack.idea, missing=attack.missing())
        if outcome.missing:
            return outcome
        sign = f"ran-{self.scene.mark}"
        outcome.text = self.scene.fill(attack.text)
        terminal, start = Terminal(), time.monotonic()
        text = f"echo {sign}\n{outcome.text}"
        done = run(words(self.way, text, self.scene), self.scene, terminal.take, end=attack.end)
        outcome.seconds = round(time.monotonic() - start, 3)
        outcome.exit, printed = done.returncode, done.stdout + done.stderr
        outcome.ran = sign in printed.splitlines()
        outcome.effects += self._left_over()
        time.sleep(NOTICE)
        outcome.effects += self._noticed(terminal) + self._printed(printed)
        terminal.close()
        changed = self._changed(outcome)
        outcome.output = printed.replace(f"{sign}\n", "")[-600:]
        if changed or outcome.effects:
            self.rebuild()
        return outcome

    def _noticed(self, terminal: Terminal) -> list[str]:
        return [
            *self.listeners.heard(),
            *self.pipe.heard(),
            *self.victim.heard(),
            *terminal.heard(),
        ]

    def _changed(self, outcome: Outcome) -> bool:
        after = files.look(self.scene)
        if after == self.before:
            return False
        outcome.effects += files.changes(self.scene, self.before, after)
        outcome.effects += self._copied()
        return True

    def _copied(self) -> list[str]:
        """Say which secrets lie where a command may write."""
        told = []
        for folder in (self.scene.state, self.scene.repo / ".planner" / "answers"):
            for path in folder.rglob("*"):
                if path.is_file() and not path.is_symlink():
                    found = self._secrets(path.read_text(errors="replace", encoding="utf-8"))
                    told += [f"{name} was copied to {path}" for name in found]
        return told

    def _secrets(self, text: str) -> list[str]:
        return [
            f"the secret of {n}" for n, word in self.scene.secrets.items() if hidden(word, text)
        ]

    def _printed(self, printed: str) -> list[str]:
        claim = f"claim-{self.scene.mark}"
        claims = [line for line in printed.splitlines() if line.startswith(claim)]
        told = [f"the command shows: {line.removeprefix(claim).strip()}" for line in claims]
        if f'File "{ROOT}/shared/place' in printed and "KeyboardInterrupt" not in printed:
            told.append("the place itself failed")
        return told + [f"printed {name}" for name in self._secrets(printed)]

    def _left_over(self) -> list[str]:
        """End what still runs a moment after the command ended, and name it."""
        end = time.monotonic() + GRACE
        while (left := self._running()) and time.monotonic() < end:
            time.sleep(0.02)
        for pid, _ in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        while self._running():
            time.sleep(0.01)
        return [f"still running: {name}" for _, name in left]

    def _running(self) -> list[tuple[int, str]]:
        """Return the processes that descend from us, but for the victim; bury the dead ones."""
        parents: dict[int, int] = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError):
                    fields = (Path("/proc") / name / "stat").read_text().rpartition(")")[2].split()
                    parents[int(name)] = int(fields[1])
        known = {self.victim.process.pid}
        with contextlib.suppress(ChildProcessError):
            for pid in [p for p, parent in parents.items() if parent == os.getpid()]:
                if pid not in known and os.waitpid(pid, os.WNOHANG) != (0, 0):
                    del parents[pid]
        ours: set[int] = {os.getpid()}
        while more := {p for p, parent in parents.items() if parent in ours} - ours - known:
            ours |= more
        return [(pid, _command(pid)) for pid in sorted(ours - {os.getpid()})]


def hidden(word: str, text: str) -> bool:
    """Say whether a secret stands in a text, plain or in a usual encoding."""
    raw = word.encode()
    forms = {word, word[::-1], raw.hex(), raw.hex(" ")}
    forms |= {base64.b64encode(b"\0" * shift + raw)[4:-4].decode() for shift in range(3)}
    dense = "".join(text.split())
    return any(form in text for form in forms) or any(form in dense for form in (word, raw.hex()))


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        text = (Path("/proc") / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ")
        return text.decode(errors="replace")[:200] or f"process {pid}"
    return f"process {pid}"


def main() -> None:
    """Run the attacks of the files and print what each did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="a folder that does not exist")
    parser.add_argument("--way", choices=get_args(Way), default="place")
    parser.add_argument("--only", default="", help="ids or ideas, joined by semicolons")
    parser.add_argument("--first", action="store_true", help="one attack of each idea")
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    arena, seen = Arena(options.base, options.way), set[str]()
    try:
        for attack in load(options.files):
            chosen = not options.only or {attack.id, attack.idea} & set(options.only.split(";"))
            skipped = options.first and attack.idea in seen
            if chosen and not skipped and (options.way in HOLDING or attack.control):
                seen.add(attack.idea)
                sys.stdout.write(json.dumps(asdict(arena.run(attack))) + "\n")
                sys.stdout.flush()
    finally:
        arena.close()


if __name__ == "__main__":
    main()
