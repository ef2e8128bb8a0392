"""Runs a shell command that the guard allows, with the kernel preventing it from changing files.

The second layer: if the guard is wrong about a command, that command still can't write, connect or
signal. If the kernel has neither Landlock nor seccomp, only the guard's decision protects.
"""

from __future__ import annotations

import os
import sys

from shared.guard import seccomp
from shared.guard.consent import assistant_variable
from shared.guard.decide import decide, understand
from shared.guard.denial import Denied
from shared.guard.harden import harden, harden_text
from shared.guard.settings import load_settings
from shared.mode import sessions
from shared.mode.sessions import agent_name
from shared.resources import command, quote
from shared.sandbox import become, is_available, restrict
from state.errors import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SHELL = ("bash", "--noprofile", "--norc", "-c")
_WRITABLE = ("/dev/null",)
_NOT_FOUND = 127
# More than a host passes on; what it does pass on may be open for writing.
_DESCRIPTORS = 1024

# The only variables that are kept: none names a program, a library or its options.
_KEPT = frozenset({
    "COLUMNS", "HOME", "LANG", "LANGUAGE", "LINES", "LOGNAME", "NO_COLOR", "PWD", "TERM", "TZ",
    "USER", "XDG_CONFIG_HOME",
})  # fmt: skip
# No option of git does this: a repository may lack objects, and name the program that git starts
# to fetch them.
_GIT = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}


def run_ro(argv: list[str]) -> int:
    """Replace this process by the command given to `planner ro`; return a code only on failure."""
    try:
        check_needed(os.getcwd())
        hold(admitted(argv))
    except Refused as refusal:
        from shared.builders import error_block
        from shared.output import exit_code, write

        write(error_block(refusal.problems))
        return exit_code(refusal)
    except Exception as error:  # noqa: BLE001 – the one handler of what does not go through click
        from shared.output import write_fault

        return write_fault(error)
    return _NOT_FOUND


def check_needed(folder: str) -> None:
    """Raise Refused if an assistant that is not planning asks to run a protected command.

    Its user's rule for our launcher would then bypass the user's other rules: only while it plans,
    the guard shows those rules the command.
    """
    if assistant_variable() and sessions.find(agent_name(None, ""), folder) is None:
        text = "no session is in planning mode here, so commands need no guard"
        raise Refused("refused", "ro", text, "send the command without `planner ro`")


def admitted(argv: list[str]) -> list[str]:
    """Return the words of the command given to `planner ro`; Refused if the guard denies it."""
    form, *words = argv
    if not words or (form == "-c" and words[1:]):
        problem = (
            "the command to run is missing: name it after `--`, or give it as one text after `-c`"
        )
        raise Refused("usage", "ro", problem, retry=command("ro", "--help"))
    folder = os.getcwd()
    text = words[0] if form == "-c" else " ".join(map(quote, words))
    try:
        decision = decide(text, cwd=folder, extra=load_settings(folder))
    except Denied as denied:
        raise Refused("refused", "ro", denied.reason, denied.instead) from None
    if not decision.allowed:
        raise Refused("refused", "ro", decision.reason, decision.instead)
    return [*SHELL, harden_text(understand(text, folder))] if form == "-c" else harden(words)


def hold(words: list[str]) -> None:
    """Replace this process by a command that can't change files; return only if it isn't found.

    Raises OSError if the kernel has a layer and refuses to use it.
    """
    environment = scrubbed(os.environ)
    os.closerange(3, _DESCRIPTORS)
    if is_available():
        restrict(_WRITABLE, alone=True)
    if seccomp.is_available():
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
