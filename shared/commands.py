"""The table of the planner's commands: who may run each, who uses it, and what took its place.

`planner help --who`, the docs, each command's own check of its caller, the guard and the labels of
a way out (`retry:`, `person:`) read it. What a command is for is the first sentence of its help.
Hooks read it too, so it is plain data.
"""

from __future__ import annotations

from state.actors import HOST, ROLES

ANYONE = "anyone"
PERSON_ONLY = "person only"
# Ends a row whose command writes the user's files: not for an assistant that plans.
LATER = ", not an assistant that plans"

# Who uses a command: a person types it, a printed block or prompt names it, CI calls it.
_PERSON, _BLOCK, _CI = "a person", "a printed block", "CI"
_BOTH = f"{_PERSON}, {_BLOCK}"
_BUILDS = "host, developer, technical-writer"

# Name → who may run it, who uses it.
COMMANDS: dict[str, tuple[str, str]] = {
    "start": (ANYONE, _BOTH),
    "approve": (PERSON_ONLY, _PERSON),
    "step": (ANYONE, _BLOCK),
    "status": (ANYONE, _BOTH),
    "pause": (ANYONE, _BOTH),
    "resume": (ANYONE, _BOTH),
    "cancel": (PERSON_ONLY, _PERSON),
    "decide": ("host, with the person's answer", _BLOCK),
    "retry": (HOST, _BLOCK),
    "auto on": (PERSON_ONLY, _PERSON),
    "auto off": (ANYONE, _PERSON),
    "events": (ANYONE, f"{_PERSON}, {_CI}"),
    "export": (ANYONE, f"{_PERSON}, {_CI}"),
    "queue add": (HOST, _BOTH),
    "queue list": (ANYONE, _BOTH),
    "queue next": (HOST, _BLOCK),
    "queue remove": (HOST, _BOTH),
    "template save": (HOST + LATER, _BOTH),
    "template list": (ANYONE, _BOTH),
    "template use": (HOST, _BOTH),
    "stats": (ANYONE, _PERSON),
    "edit": (PERSON_ONLY, _PERSON),
    "init": (PERSON_ONLY, _PERSON),
    "setup": (PERSON_ONLY, _PERSON),
    "undo": (ANYONE + LATER, _BOTH),
    "pr": (HOST + LATER, _BOTH),
    "plan add": ("host, architect, technical-writer (doc)", _BLOCK),
    "plan set": ("host, architect, developer (why_comments), technical-writer (doc)", _BLOCK),
    "plan remove": ("host, architect, technical-writer (doc)", _BLOCK),
    "plan batch": ("host, architect, technical-writer (doc)", _BLOCK),
    "plan import": ("host, architect", _BOTH),
    "plan show": (ANYONE, _BOTH),
    "plan list": (ANYONE, _BOTH),
    "plan capture": (_BUILDS, _BLOCK),
    "plan verify": (_BUILDS, _BLOCK),
    "plan check": (ANYONE, _BLOCK),
    "plan done": ("host, the role of the phase", _BLOCK),
    "plan freeze": (HOST, _BLOCK),
    "plan revise": (HOST, _BLOCK),
    "plan diff": (ANYONE, _BOTH),
    "plan render": (ANYONE, _BOTH),
    "plan schema": (ANYONE, f"{_BOTH}, {_CI}"),
    "qr list": (ANYONE, _BOTH),
    "qr set": ("host, quality-reviewer", _BLOCK),
    "qr add": ("host, quality-reviewer", _BLOCK),
    "qr own": (HOST, _BLOCK),
    "qr gate": (HOST, _BLOCK),
    "qr decline": ("host, the role of the phase", _BLOCK),
    "qr accept": (PERSON_ONLY, _PERSON),
    "context set": (HOST, _BLOCK),
    "context add-quote": (HOST, _BLOCK),
    "context ask": ("host, architect, developer, technical-writer", _BLOCK),
    "mode enter": (HOST, _BLOCK),
    "mode status": (ANYONE, _BOTH),
    "mode submit": (HOST, _BLOCK),
    "mode edit": ("host, with the person's words", _BLOCK),
    "mode rebase": (PERSON_ONLY, _PERSON),
    "mode reject": (PERSON_ONLY, _PERSON),
    "mode step": (HOST, _BLOCK),
    "exec run": (HOST + LATER, _BLOCK),
    "exec apply": (HOST + LATER, _BLOCK),
    "exec commit": (HOST + LATER, _BLOCK),
    "exec next": (HOST, _BLOCK),
    "exec done": (_BUILDS, _BLOCK),
    "exec limited": (HOST, _BLOCK),
    "exec ask": (_BUILDS, _BLOCK),
    "exec reconcile": ("host, quality-reviewer", _BLOCK),
    "exec deviate": (_BUILDS, _BLOCK),
    "exec accept": (PERSON_ONLY, _PERSON),
    "tree rm": (_BUILDS, _BLOCK),
    "tree mv": (_BUILDS, _BLOCK),
    "tree chmod": (_BUILDS, _BLOCK),
    "tree restore": (_BUILDS, _BLOCK),
    "tree run": (_BUILDS, _BLOCK),
    "requirements startup": (HOST, _BLOCK),
    "requirements refine": (HOST, _BLOCK),
    "requirements accept": (HOST, _BLOCK),
    "requirements implement": (HOST, _BLOCK),
    "requirements complete": (HOST + LATER, _BLOCK),
    "requirements commit": (HOST + LATER, _BLOCK),
    "requirements history": (ANYONE, _BOTH),
    "recall": (ANYONE, _BOTH),
    "workflow new": (HOST + LATER, _BOTH),
    "workflow check": (ANYONE, _BOTH),
    "workflow list": (ANYONE, _BOTH),
    "workflow run": (HOST, _BOTH),
    "strategy set": (HOST, _BLOCK),
    "strategy show": (ANYONE, _BOTH),
    "strategy verdict": (HOST, _BLOCK),
    "strategy context": (HOST, _BLOCK),
    "config show": (ANYONE, _PERSON),
    "config confirm": (PERSON_ONLY, _PERSON),
    "audit": (ANYONE, _PERSON),
    "guard check": (ANYONE, f"{_PERSON}, {_CI}"),
    "ro": (ANYONE, _BLOCK),
    "review": (ANYONE, _PERSON),
    "validate": (ANYONE, f"{_PERSON}, {_CI}"),
    "doctor": (ANYONE, f"{_PERSON}, {_CI}"),
    "repair": (PERSON_ONLY, _PERSON),
    "prune": (PERSON_ONLY, _PERSON),
    "demo": (ANYONE + "; with --keep" + LATER[1:], _PERSON),
    "help": (ANYONE, _BOTH),
}

# Commands of a person that an assistant's process may reach: they ask for proof of the person.
CONSENTED = ("approve", "auto on")

# Commands that take no --state-dir, since they are about no run or about all of them.
OF_NO_RUN = (
    "queue add", "queue list", "queue next", "queue remove", "template save", "template list",
    "template use", "stats", "init", "setup", "plan schema", "mode enter", "recall",
    "workflow check", "workflow list", "guard check", "ro", "validate", "prune", "demo", "help",
)  # fmt: skip

# Commands that an agent's name is given to.
OF_AGENT = (
    "start", "approve", "pause", "resume", "cancel", "queue next", "mode enter", "mode status",
    "mode submit", "mode edit", "mode rebase", "mode reject", "mode step", "strategy set",
)  # fmt: skip

# A command that is gone → the one that does its deed.
GONE = {
    "context answer": "decide",
    "mode approve": "approve",
    "mode cancel": "cancel",
    "runnable": "status --json",
}


def name_of(words: list[str]) -> str:
    """Return the row of the table for the words of a command, "" if there is none."""
    return next((n for n in (" ".join(words[:2]), " ".join(words[:1])) if n in COMMANDS), "")


def is_for_person(name: str) -> bool:
    """Return whether a command is one that only a person may run; not for one that is unknown."""
    return name in COMMANDS and COMMANDS[name][0] == PERSON_ONLY


def roles_of(name: str) -> tuple[str, ...]:
    """Return the roles in which an agent may run a command.

    Of a row for the role of the phase every role: the command itself knows whose phase it is.
    """
    who = COMMANDS[name][0]
    if who.startswith(ANYONE) or "the role of the phase" in who:
        return ROLES
    return tuple(role for role in ROLES if role in {word.split(" ")[0] for word in who.split(", ")})


def names_roles(words: list[str]) -> bool:
    """Return whether the table names some roles, and not all, that may run a command."""
    name = name_of(words)
    return bool(name) and roles_of(name) not in ((), ROLES)
