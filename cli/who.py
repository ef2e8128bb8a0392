"""Who may run each command: anyone, an agent in a role, the host (orchestrator), a person only."""

from __future__ import annotations

ANYONE = "anyone"
HOST = "host"
PERSON = "person only"

WHO = {
    "start": ANYONE,
    "step": ANYONE,
    "status": ANYONE,
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
    "plan render": ANYONE,
    "plan schema": ANYONE,
    "qr list": ANYONE,
    "qr gate": HOST,
    "qr accept": PERSON,
    "context set": HOST,
    "context add-quote": HOST,
    "context answer": HOST,
    "mode approve": PERSON,
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
    "validate": ANYONE,
    "doctor": ANYONE,
    "demo": ANYONE,
    "help": ANYONE,
}
