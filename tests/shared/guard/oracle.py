"""Runs commands with a real bash, in which every program is a stub that logs its words.

Builtins are off, so the shell itself executes nothing. For each command that was started, the log
says its words and where its three streams lead.
"""

from __future__ import annotations

import glob
import os
import shlex
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from shared.guard.decide import decide
from shared.guard.own import understand
from shared.guard.policy import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from shared.guard.words import Command, Word

# `.` stays on, to read the mutants; the guard accepts no command of that name.
_BUILTINS_OFF = """\
for name in $(compgen -b); do
  case $name in .|enable) ;; *) off="$off $name" ;; esac
done
enable -n $off
"""
_STUB = """\
#!/bin/sh
out=- err=- in=-
[ /proc/self/fd/1 -ef /dev/null ] && out=null
if [ /proc/self/fd/2 -ef /dev/null ]; then err=null
elif [ /proc/self/fd/2 -ef /proc/self/fd/1 ]; then err=out; fi
[ /proc/self/fd/0 -ef ../input ] && in=../input
printf '%s\\0' "${0##*/}" "<$in >$out 2>$err" $# "$@" >>"$ORACLE_LOG"
exit STATUS
"""


class Ran(NamedTuple):
    """A command that was started: its words, and where its streams lead."""

    words: tuple[str, ...]
    streams: str


class Oracle:
    """A folder of stubs, a home and an empty folder; `status` is what every stub exits with."""

    def __init__(self, folder: Path, status: int) -> None:
        self.status = status
        self.home = folder / "home"
        self.work = folder / "work"
        self.stubs = folder / "stubs"
        # There from the start, so that a pattern such as `../*` finds the same before and after.
        self.notes = folder / ".notes"
        for made in (self.home, self.work, self.stubs, self.notes):
            made.mkdir()
        (folder / "input").touch()
        stub = self.stubs / "stub"
        stub.write_text(_STUB.replace("STATUS", str(status)))
        stub.chmod(0o755)
        for name in COMMANDS:
            (self.stubs / name).symlink_to("stub")

    def run(self, texts: Sequence[str]) -> list[list[Ran]]:
        """Return what each text started, all run by one bash in the empty folder."""
        lines = [_BUILTINS_OFF]
        for number, text in enumerate(texts):
            mutant, log = self.notes / f"mutant-{number}", self.notes / f"log-{number}"
            mutant.write_text(f"{text}\n", encoding="utf-8")
            log.unlink(missing_ok=True)
            lines.append(f"ORACLE_LOG={shlex.quote(str(log))}\n. {shlex.quote(str(mutant))}\n")
        script = self.notes / "script"
        script.write_text("".join(lines))
        environment = {
            "HOME": str(self.home), "USER": "u", "PATH": str(self.stubs), "LC_ALL": "C.UTF-8",
            "ORACLE_LOG": "",
        }  # fmt: skip
        subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", str(script)], cwd=self.work, env=environment,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )  # fmt: skip
        return [list(_logged(self.notes / f"log-{n}")) for n in range(len(texts))]

    def understood(self, text: str) -> list[Ran] | None:
        """Return what the guard expects `text` to start; None if the guard denies it.

        Also None if input comes from a file that does not exist here: bash then starts nothing.
        """
        environment = {"HOME": str(self.home), "USER": "u"}
        before = {name: os.environ.get(name) for name in environment}
        os.environ.update(environment)
        try:
            if not decide(text, cwd=str(self.work)).allowed:
                return None
            commands = understand(text, str(self.work))
            read = {
                r.target.value for c in commands for r in c.redirects if r.form == "<" and r.target
            }
            return list(self._started(commands)) if read <= {"../input"} else None
        finally:
            for name, value in before.items():
                os.environ.pop(name, None) if value is None else os.environ.update({name: value})

    def _started(self, commands: list[Command]) -> Iterable[Ran]:
        """Yield what a shell starts of a list in which every command exits with the status."""
        runs = True
        for command in commands:
            if command.joiner in ("&&", "||"):
                runs = (command.joiner == "&&") == (self.status == 0)
            elif command.joiner == ";":
                runs = True
            if runs:
                words = (name for word in command.words for name in self._expanded(word))
                yield Ran(tuple(words), _streams(command))

    def _expanded(self, word: Word) -> list[str]:
        """Return what the shell expands a pattern to; the folder is empty, but `/` is real."""
        if not word.globs or word.value == "[":
            return [word.value]
        active = {*word.globs, *(at for at, c in enumerate(word.value) if c in "]-!^")}
        pattern = "".join(c if at in active else glob.escape(c) for at, c in enumerate(word.value))
        found = glob.glob(pattern.replace("[^", "[!"), root_dir=self.work)
        return sorted(found) or [word.value]


def _logged(log: Path) -> Iterable[Ran]:
    if not log.exists():
        return
    fields = iter(log.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1])
    for name in fields:
        streams, size = next(fields), int(next(fields))
        yield Ran((name, *(next(fields) for _ in range(size))), streams)


def _streams(command: Command) -> str:
    """Return where the streams lead, as the stub logs it; `-` is the shell's own stream."""
    given, out, err = "-", "-", "-"
    for redirect in command.redirects:
        if redirect.form == ">":
            out = "null"
        elif redirect.form == "2>":
            err = "null"
        elif redirect.form == "<":
            given = redirect.target.value if redirect.target else ""
        else:
            err = "null" if out == "null" else "out"
    return f"<{given} >{out} 2>{'-' if err == 'out' and out == 'null' else err}"
