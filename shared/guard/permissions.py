"""Who may run each command: anyone, an agent in a role, the host (orchestrator), a person only.

The help prints the table and the guard holds it, so it imports nothing.
"""

from __future__ import annotations

ANYONE = "anyone"
HOST = "host"
PERSON = "person only"
_HELP = ("--help", "-h")

WHO = {
    "start": ANYONE,
    "step": ANYONE,
    "status": ANYONE,
    "pause": ANYONE,
    "resume": ANYONE,
    "cancel": PERSON,
    "edit": PERSON,
    "undo": ANYONE,
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
    "qr accept": PERSON,
    "context set": HOST,
    "context add-quote": HOST,
    "context answer": HOST,
    "context ask": "host, architect, developer, technical-writer",
    "mode enter": HOST,
    "mode status": ANYONE,
    "mode submit": HOST,
    "mode approve": PERSON,
    "mode edit": "host, with the person's words",
    "mode rebase": PERSON,
    "mode reject": PERSON,
    "mode cancel": PERSON,
    "mode step": HOST,
    "exec apply": HOST,
    "exec commit": HOST,
    "exec deviate": HOST,
    "exec accept": PERSON,
    "tree rm": "host, developer, technical-writer",
    "tree mv": "host, developer, technical-writer",
    "tree chmod": "host, developer, technical-writer",
    "tree run": "host, developer, technical-writer",
    "config show": ANYONE,
    "config confirm": PERSON,
    "audit": ANYONE,
    "guard check": ANYONE,
    "ro": ANYONE,
    "review": ANYONE,
    "validate": ANYONE,
    "doctor": ANYONE,
    "demo": ANYONE,
    "help": ANYONE,
}


def allowed_to_assistants(words: list[str]) -> str | None:
    """Return why an assistant may not run `planner WORDS`; None where it may.

    Options of a group of commands only ask for help, so a command is known by its first words.
    """
    if not words or words[0] in _HELP or (len(words) > 1 and words[1] in _HELP):
        return None
    for count in (2, 1):
        who = WHO.get(" ".join(words[:count]))
        if who is not None:
            return None if who != PERSON else f"`planner {' '.join(words[:count])}` is a person's"
    return f"the planner has no command `{' '.join(words[:2])}`"
