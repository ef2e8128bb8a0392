"""The guard's entries in each client's hooks, as text: ours, or what `planner setup` writes."""

from __future__ import annotations

from pathlib import Path

from cli.setup.documents import add
from cli.setup.hosts import HOSTS
from shared.resources import ROOT, installed_path

_FILES = {"gemini": "settings"}


def hooks_of(host: str) -> str:
    """Return the content of the client's file of hooks; they call the guard of this checkout."""
    if host == "claude":
        return Path(ROOT, "hooks", "claude.json").read_text(encoding="utf-8")
    text = ""
    for path, form, entry in HOSTS[host].wanted("", False).entries:  # noqa: FBT003 – one of a table
        if Path(path).stem == _FILES.get(host, "hooks"):
            text, _ = add(form, text, entry)
    return text.replace(installed_path("hooks", "guard"), str(Path(ROOT, "hooks", "guard")))
