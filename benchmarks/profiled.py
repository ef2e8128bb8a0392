"""Run `bin/planner` in this process and write how often each file of the program called another.

`python -I -S benchmarks/profiled.py TALLY LAUNCHER WORD…` does what `LAUNCHER WORD…` does, and
leaves in the file TALLY a JSON list of [calling file, called file, calls]; `crossings.py` says what
is counted. It imports nothing of ours, so that no file is loaded but by the command itself.
"""

from __future__ import annotations

import json
import os
import runpy
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
OURSELVES = "benchmarks"


class Profiler:
    """Counts calls between files of the program; pass its method `see` to sys.setprofile."""

    def __init__(self) -> None:
        self.tally: dict[tuple[str, str], int] = {}
        self.importing = 0  # how many module bodies of ours are being run
        self.names: dict[str, str] = {}

    def see(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call, or note that a module body begins or ends."""
        if event not in {"call", "return"}:
            return  # of functions written in C
        called = self.name_of(frame)
        if not called:
            return
        if frame.f_code.co_name == "<module>":
            self.importing += 1 if event == "call" else -1
        elif event == "call" and not self.importing:
            caller = self.caller_of(frame)
            if caller and caller != called:
                self.tally[caller, called] = self.tally.get((caller, called), 0) + 1

    def caller_of(self, frame: FrameType) -> str:
        """Return the file of the program that made this call, perhaps through click or sqlite3."""
        above = frame.f_back
        while above is not None:
            if name := self.name_of(above):
                return name
            above = above.f_back
        return ""

    def name_of(self, frame: FrameType) -> str:
        """Return the path of a frame's file below the program's root; empty for any other file."""
        path = frame.f_code.co_filename
        name = self.names.get(path)
        if name is None:
            name = self.names[path] = _inside(path)
        return name


def _inside(path: str) -> str:
    """Return a module's path below the program's root; empty if the module is not part of it."""
    if not path.startswith(ROOT + os.sep) or not path.endswith(".py"):
        return ""
    name = path[len(ROOT) + 1 :]
    return "" if name.startswith(".") or name.split(os.sep)[0] == OURSELVES else name


def main(tally: str, launcher: str) -> None:
    """Run bin/planner with the rest of sys.argv, and write the counts even if it fails."""
    profiler, leave, ours = Profiler(), os._exit, os.getpid()

    def write() -> None:
        sys.setprofile(None)
        if os.getpid() == ours:  # a child that was forked on the way ends here as well
            with open(tally, "w", encoding="utf-8") as file:
                json.dump([[*files, calls] for files, calls in profiler.tally.items()], file)

    def write_and_leave(status: int) -> NoReturn:
        write()
        leave(status)

    os._exit = write_and_leave
    sys.setprofile(profiler.see)
    try:
        runpy.run_path(launcher, run_name="__main__")
    finally:
        write()


if __name__ == "__main__":
    _, to, program, *words = sys.argv
    sys.argv = [program, *words]
    main(to, program)
