"""Runs a shell command for `planner ro`: in the place, else confined if the parser admits it.

In the place any command may run. Where it does not hold, only what the parser admits runs, and the
kernel keeps that from writing as far as it has a layer for it.
"""

from __future__ import annotations

import os
import sys
import time

from shared.guard.denial import Denied
from shared.mode import sessions
from shared.mode.guarded import assistant_variable
from shared.mode.sessions import agent_name
from shared.place import level
from shared.resources import answer_path, command, quote, writing_folder
from state.errors import Refused

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.guard.words import Command
    from shared.mode.sessions import Session

SHELL = ("bash", "--noprofile", "--norc", "-c")
FILE = "--file"
_WRITABLE = ("/dev/null",)
_NOT_FOUND = 127
_SHOWN = 5
# More than a host passes on; what it does pass on may be open for writing.
_DESCRIPTORS = 1024
_PLAN = "put the change into the plan"

# The only variables that are kept: none names a program, a library or its options.
_KEPT = frozenset({
    "COLUMNS", "HOME", "LANG", "LANGUAGE", "LINES", "LOGNAME", "NO_COLOR", "PWD", "TERM", "TZ",
    "USER", "XDG_CONFIG_HOME",
})  # fmt: skip
# No option of git does this: a repository may lack objects, and name the program that git starts
# to fetch them.
_GIT = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}


class Wanted:
    """What `planner ro` is to run: `text` for a shell, and `words` if it is a single command."""

    __slots__ = ("text", "words")

    def __init__(self, text: str, words: list[str] | None = None) -> None:
        self.text = text
        self.words = words


def run_ro(argv: list[str], show: Callable[[str], None] | None = None) -> int:
    """Run the command given to `planner ro`; return its exit code. `show` writes a refusal."""
    try:
        folder = os.getcwd()
        session = sessions.find(agent_name(None, ""), folder)
        check_needed(session)
        wanted = read_wanted(argv, session)
        code = run_in_place(wanted, folder, session)
        if code is not None:
            return code
        hold(admitted(wanted, folder, session))
    except Refused as refusal:
        from shared.builders import error_block
        from shared.output import exit_code, write

        (show or write)(error_block(refusal.problems))
        return exit_code(refusal)
    except Exception as error:  # noqa: BLE001 – the one handler of what does not go through click
        from shared.output import write, write_fault

        return write_fault(error, show or write)
    return _NOT_FOUND


def check_needed(session: Session | None) -> None:
    """Raise Refused if an assistant that is not planning asks to run a protected command.

    Its user's rule for our launcher would then bypass the user's other rules: only while it plans,
    the guard shows those rules the command.
    """
    if assistant_variable() and session is None:
        text = "no session is in planning mode here, so commands need no guard"
        raise Refused("refused", "ro", text, "send the command without `planner ro`")


def read_wanted(argv: list[str], session: Session | None) -> Wanted:
    """Return the command that the arguments of `planner ro` give or name; Refused if they don't."""
    from shared.guard import texts

    form, *words = argv or [""]
    if form == "--" and words:
        return Wanted(" ".join(map(quote, words)), words)
    if form == "-c" and len(words) == 1:
        return Wanted(words[0])
    if form == FILE and len(words) == 1:
        return Wanted(_read_file(words[0], session))
    if texts.is_name(form) and not words:
        text = texts.load(form)
        texts.tidy(time.time())
        return Wanted(text)
    problem = "the command to run is missing: name it after `--`, give it as one text after `-c`"
    text = f"{problem}, or name its file after `{FILE}`"
    raise Refused("usage", "ro", text, retry=command("ro", "--help"))


def _read_file(path: str, session: Session | None) -> str:
    """Return the shell text in a file among the session's answers; Refused as by the hook."""
    from shared.guard.texts import MOST_BYTES
    from state.files import read_bytes

    if session is None:
        text = "no session is in planning mode here, so there are no answers to read from"
        raise Refused("refused", FILE, text, "name the command after `--`")
    answers = os.path.realpath(answer_path(_home(session), ""))
    real = os.path.realpath(os.path.join(_home(session), path))
    if not real.startswith(answers + os.sep):
        allowed = f"write the command into {os.path.join(answers, 'command.sh')}"
        raise Refused("refused", path, "this file is not among the answers", allowed)
    if not os.path.exists(real):
        problem = "the file cannot be read: there is no such file"
        raise Refused("not_found", path, problem, "write the command into it first")
    size = os.path.getsize(real)
    try:
        text = read_bytes(real).decode() if size <= MOST_BYTES else "\0"
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        problem = f"the file has more than {MOST_BYTES} bytes, or is not text in UTF-8"
        raise Refused("invalid", path, problem, "a shorter command that names other files")
    _check_advice(text, session)
    return text


def _check_advice(text: str, session: Session) -> None:
    """Raise Refused for what the hook would have denied; it has not seen the file's text."""
    from shared.guard.advice import check_text
    from shared.guard.settings import load_settings
    from shared.guard.targets import view_of
    from shared.mode.memory import Memory

    run = Memory(session).run
    try:
        settings = load_settings(session.state_dir)
        check_text(text, view_of(os.getcwd(), session, settings, run))
    except Denied as denied:
        raise Refused("refused", "ro", denied.reason, denied.instead) from None


def _home(session: Session) -> str:
    return session.state_dir or os.path.dirname(session.database)


def _repository(folder: str, session: Session | None) -> str:
    known = session is not None and os.path.isdir(session.repository)
    return session.repository if session and known else sessions.repository_root(folder)


def run_in_place(wanted: Wanted, folder: str, session: Session | None) -> int | None:
    """Run a command in the place and return its exit code; None if the place does not hold."""
    repository = _repository(folder, session)
    if not level.level(repository).holds:
        return None
    # Not at the top: where the place does not hold, nothing else needs it.
    from shared.place.enter import CannotEnter
    from shared.place.planning import leave_worktrees_out, planning_place
    from shared.place.turns import Turn

    home = _home(session) if session else None
    with Turn(home, wanted.text) as turn:
        place = planning_place(folder, repository, home)
        leave_worktrees_out(place, wanted.text)
        place.begin = turn.begin
        try:
            report = level.run_twice(place, wanted.words or [*SHELL, wanted.text], _client())
        except CannotEnter as error:
            level.forget(place, str(error))
            return None
    instead = f"edit in {writing_folder(_home(session))}" if session and session.run_id else _PLAN
    report.leave_out_ignored(place.repository)
    for line in report.notes(instead):
        sys.stderr.write(f"{line}\n")
    return report.code


def _client() -> int | None:
    """Return a descriptor of the client that waits for the command, None where none is known.

    Its output may be a file, so that nothing else tells that it has ended.
    """
    from shared.guard import ancestry

    client = next((p for p in ancestry.above(os.getpid()) if p.is_client), None)
    try:
        return os.pidfd_open(client.pid) if client else None
    except OSError:
        return None


def admitted(wanted: Wanted, folder: str, session: Session | None) -> list[str]:
    """Return the words to run where the place does not hold; Refused if the parser denies it."""
    # Not at the top: in the place nothing needs the parser's tables.
    from shared.guard.decide import decide
    from shared.guard.own import understand
    from shared.guard.settings import load_settings

    try:
        settings = load_settings(session.state_dir if session else None)
        decision = decide(wanted.text, cwd=folder, extra=settings)
        if decision.allowed:
            return _safer(wanted, understand(wanted.text, folder), folder)
    except Denied as denied:
        raise Refused("refused", "ro", denied.reason, denied.instead) from None
    found = level.level(_repository(folder, session))
    why = f" (any command may run only in the place, and here {found.reason})"
    reason = decision.reason + (why if found.reason else "")
    raise Refused("refused", "ro", reason, decision.instead)


def _safer(wanted: Wanted, commands: list[Command], folder: str) -> list[str]:
    """Return the words to run for an allowed command; say on stderr what it will leave out."""
    from shared.guard.harden import harden, harden_text, left_out

    environment = scrubbed(os.environ)
    skipped = left_out(commands, folder, environment)
    if skipped:
        more = f" and {len(skipped) - _SHOWN} more" if len(skipped) > _SHOWN else ""
        shown = ", ".join(skipped[:_SHOWN]) + more
        sys.stderr.write(f"planner: not read, as their names say that they are secret: {shown}\n")
    if wanted.words:
        return harden(wanted.words, folder, environment)
    return [*SHELL, harden_text(commands, folder, environment)]


def hold(words: list[str]) -> None:
    """Replace this process by a command that can't change files; return only if it isn't found.

    Raises OSError if the kernel has a layer and refuses to use it.
    """
    from shared.place import bpf, seccomp
    from shared.sandbox import become, is_available, restrict

    environment = scrubbed(os.environ)
    os.closerange(3, _DESCRIPTORS)
    if is_available():
        restrict(_WRITABLE, alone=True)
    if bpf.is_available():
        seccomp.forbid()
    try:
        become(words, environment)
    except OSError as error:
        sys.stderr.write(f"{words[0]}: {error.strerror}\n")


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the few environment variables for a protected command: locale, user, folders, PATH."""
    kept = {n: v for n, v in environment.items() if n in _KEPT or n.startswith("LC_")}
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    return {**kept, **_GIT, "PATH": os.pathsep.join(filter(os.path.isabs, folders))}
