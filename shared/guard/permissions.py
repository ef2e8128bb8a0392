"""Says who may run each planner command: anyone, an agent in a role, its host, or only a person.

The help prints this table and the guard enforces it.
"""

from __future__ import annotations

from state.actors import HOST

ANYONE = "anyone"
PERSON_ONLY = "person only"
_HELP = ("--help", "-h")

WHO = {
    "start": ANYONE,
    "step": ANYONE,
    "status": ANYONE,
    "pause": ANYONE,
    "resume": ANYONE,
    "cancel": PERSON_ONLY,
    "edit": PERSON_ONLY,
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
    "exec apply": HOST,
    "exec commit": HOST,
    "exec deviate": HOST,
    "exec accept": PERSON_ONLY,
    "tree rm": "host, developer, technical-writer",
    "tree mv": "host, developer, technical-writer",
    "tree chmod": "host, developer, technical-writer",
    "tree run": "host, developer, technical-writer",
    "config show": ANYONE,
    "config confirm": PERSON_ONLY,
    "audit": ANYONE,
    "guard check": ANYONE,
    "ro": ANYONE,
    "review": ANYONE,
    "validate": ANYONE,
    "doctor": ANYONE,
    "demo": ANYONE,
    "help": ANYONE,
}


def refusal_for_assistant(words: list[str]) -> str | None:
    """Return why an assistant may not run the command `planner WORDS`, or None if it may.

    A command is known by its first words: an option before them can only ask for help.
    """
    if not words or words[0] in _HELP or (len(words) > 1 and words[1] in _HELP):
        return None
    for count in (2, 1):
        name = " ".join(words[:count])
        if name in WHO:
            return f"only a person may run `planner {name}`" if WHO[name] == PERSON_ONLY else None
    return f"the planner has no command `{' '.join(words[:2])}`"
