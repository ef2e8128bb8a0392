"""Says who may run each planner command: anyone, an agent in a role, its host, or only a person.

The help prints this table and the guard enforces it. What a person alone may run is denied to every
assistant while a session of the user plans. What writes outside the run is denied to a session that
plans (PP-5).
"""

from __future__ import annotations

import os

from shared.requirements_record import lane_of
from state.actors import HOST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ANYONE = "anyone"
PERSON_ONLY = "person only"
# Ends a row whose command writes the user's files: not for an assistant that plans.
_LATER = ", not an assistant that plans"
_HELP = ("--help", "-h")
# Not a command to type, so it has no row: what it is told counts as told by the client.
HOOK = "hook"

WHO = {
    "start": ANYONE,
    "approve": PERSON_ONLY,
    "step": ANYONE,
    "status": ANYONE,
    "pause": ANYONE,
    "resume": ANYONE,
    "cancel": PERSON_ONLY,
    "decide": "host, with the person's answer",
    "retry": HOST,
    "runnable": ANYONE,
    "auto on": PERSON_ONLY,
    "auto off": ANYONE,
    "events": ANYONE,
    "export": ANYONE,
    "queue add": HOST,
    "queue list": ANYONE,
    "queue next": HOST,
    "queue remove": HOST,
    "template save": HOST + _LATER,
    "template list": ANYONE,
    "template use": HOST,
    "stats": ANYONE,
    "edit": PERSON_ONLY,
    "init": PERSON_ONLY,
    "setup": PERSON_ONLY,
    "undo": ANYONE + _LATER,
    "pr": HOST + _LATER,
    "plan add": "host, architect, technical-writer (doc)",
    "plan set": "host, architect, developer (why_comments), technical-writer (doc)",
    "plan remove": "host, architect, technical-writer (doc)",
    "plan batch": "host, architect, technical-writer (doc)",
    "plan import": "host, architect",
    "plan show": ANYONE,
    "plan list": ANYONE,
    "plan capture": "host, developer, technical-writer",
    "plan verify": "host, developer, technical-writer",
    "plan check": ANYONE,
    "plan done": "host, the role of the phase",
    "plan freeze": HOST,
    "plan revise": HOST,
    "plan diff": ANYONE,
    "plan render": ANYONE,
    "plan schema": ANYONE,
    "qr list": ANYONE,
    "qr set": "host, quality-reviewer",
    "qr add": "host, quality-reviewer",
    "qr gate": HOST,
    "qr accept": PERSON_ONLY,
    "context set": HOST,
    "context add-quote": HOST,
    "context answer": HOST,
    "context ask": "host, architect, developer, technical-writer",
    "mode enter": HOST,
    "mode status": ANYONE,
    "mode submit": HOST,
    "mode approve": PERSON_ONLY,
    "mode edit": "host, with the person's words",
    "mode rebase": PERSON_ONLY,
    "mode reject": PERSON_ONLY,
    "mode cancel": PERSON_ONLY,
    "mode step": HOST,
    "exec run": HOST + _LATER,
    "exec apply": HOST + _LATER,
    "exec commit": HOST + _LATER,
    "exec next": HOST,
    "exec done": "host, developer, technical-writer",
    "exec limited": HOST,
    "exec ask": "host, developer, technical-writer",
    "exec reconcile": "host, quality-reviewer",
    "exec deviate": "host, developer, technical-writer",
    "exec accept": PERSON_ONLY,
    "tree rm": "host, developer, technical-writer",
    "tree mv": "host, developer, technical-writer",
    "tree chmod": "host, developer, technical-writer",
    "tree run": "host, developer, technical-writer",
    "requirements startup": HOST,
    "requirements refine": HOST,
    "requirements accept": HOST,
    "requirements implement": HOST,
    "requirements complete": HOST + _LATER,
    "requirements commit": HOST + _LATER,
    "requirements history": ANYONE,
    "recall": ANYONE,
    "workflow new": HOST + _LATER,
    "workflow check": ANYONE,
    "workflow list": ANYONE,
    "workflow run": HOST,
    "strategy set": HOST,
    "strategy show": ANYONE,
    "strategy verdict": HOST,
    "strategy context": HOST,
    "config show": ANYONE,
    "config confirm": PERSON_ONLY,
    "audit": ANYONE,
    "guard check": ANYONE,
    "ro": ANYONE,
    "review": ANYONE,
    "validate": ANYONE,
    "doctor": ANYONE,
    "repair": PERSON_ONLY,
    "prune": PERSON_ONLY,
    "demo": ANYONE + "; with --keep" + _LATER[1:],
    "help": ANYONE,
}


def refusal_for_assistant(words: list[str]) -> str | None:
    """Return why no assistant may run the command `planner WORDS`, or None if one may.

    A command is known by its first words: an option before them can only ask for help.
    """
    if _asks_for_help(words):
        return None
    if words[0] == HOOK:
        return "only a client may run `planner hook`, which tells what its user did"
    name = _name(words)
    if not name:
        return f"the planner has no command `{' '.join(words[:2])}`"
    return f"only a person may run `planner {name}`" if WHO[name] == PERSON_ONLY else None


def refusal_while_planning(words: list[str], cwd: str, home: str, folder: str) -> str | None:
    """Return why an assistant that plans may not run `planner WORDS` in `cwd`, or None if it may.

    `home` is the state directory in which it plans, `folder` where new runs of its repository go.
    """
    refusal = refusal_for_assistant(words)
    if refusal is not None or _asks_for_help(words):
        return refusal
    name = _name(words)
    if name == "demo" and any(_values(words, "--keep")):
        return "`planner demo --keep` writes a folder outside of your run"
    if WHO[name].endswith(_LATER):
        return f"`planner {name}` writes the user's files, which may not change while you plan"
    if WHO[name] == ANYONE and name != "start":
        return None
    for given in _values(words, "--state-dir"):
        real = os.path.realpath(os.path.join(cwd, given))
        new = name == "start" and real.startswith(folder + os.sep)
        if real not in (home, lane_of(home).get("lifecycle")) and not new:
            return f"`planner {name}` would write in {given}, outside of your run"
    return None


def is_for_person_only(words: list[str]) -> bool:
    """Return whether `planner WORDS` is a command that only a person may run."""
    return bool(words) and WHO.get(_name(words)) == PERSON_ONLY


def _asks_for_help(words: list[str]) -> bool:
    return not words or words[0] in _HELP or (len(words) > 1 and words[1] in _HELP)


def _name(words: list[str]) -> str:
    """Return the row of the table for a command, "" if there is none."""
    return next((n for n in (" ".join(words[:2]), words[0]) if n in WHO), "")


def _values(words: list[str], option: str) -> Iterator[str]:
    """Yield each value that an option is given in a command's words."""
    for at, word in enumerate(words):
        if word == option:
            yield words[at + 1] if at + 1 < len(words) else ""
        elif word.startswith(f"{option}="):
            yield word.partition("=")[2]
