"""Keeps the client's own tools for reading and searching files from files with secrets (PP-2)."""

from __future__ import annotations

import os

from shared.guard.denial import Denied
from shared.guard.scene import Scene
from shared.guard.secrets import (
    check_look,
    check_narrow,
    check_pattern,
    check_read,
    check_tree,
    excluded,
)
from shared.guard.tools import ALONE, BESIDE, FILE, paths_beside, texts
from shared.paths import written_forms

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from shared.guard.tools import Tool


def named_paths(tool: Tool, given: Mapping[str, Any], cwd: str) -> list[str]:
    """Return what a call of a reading tool may name as its path, the known field's texts first.

    Without that field a list or search is of the folder `cwd`, and a file may be named by every
    text of the call; raises Denied if there is none.
    """
    own = texts(given.get(tool.field)) or ([] if tool.kind == FILE else [cwd])
    if own:
        return own + paths_beside(tool, given)
    found = texts(list(given.values()))
    if not found:
        text = "the guard finds no path in this call, so it cannot say what would be read"
        raise Denied(text, f"name the file in the field {tool.field}")
    return found


def check_reading(path: str, cwd: str) -> None:
    """Deny a tool that reads the file `path` if the shell might not read it."""
    for form in written_forms(path):
        check_read(form, Scene(cwd))


def check_given(words: list[str], cwd: str) -> None:
    """Deny a planner command that would read a secret: what it reads, it prints or stores."""
    if words[:2] in (["plan", "add"], ["plan", "set"]):  # they only name files of the project
        return
    for word in words:
        value = word.partition("=")[2] if word.startswith("--") else word
        if os.path.isfile(os.path.join(cwd, value)):
            check_read(value, Scene(cwd))


def check_listing(path: str, cwd: str) -> None:
    """Deny a tool that lists the folder `path` if the shell might not list it."""
    for form in written_forms(path):
        check_look(form, Scene(cwd))


def check_search(path: str, cwd: str) -> None:
    """Deny a tool that searches below `path` if the shell might not search there."""
    for form in written_forms(path):
        check_tree(form, Scene(cwd))


def searching(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the input with which a search leaves out secrets, None to keep it; raises Denied."""
    name, value = tool.ignored
    # A client may take a text such as "false" for what it means.
    if name and given.get(name) not in (None, not value):
        text = f"with {name} {str(value).lower()} it reads what git ignores, which may hold secrets"
        raise Denied(text, "search without it, or by grep or rg in the shell")
    if not tool.names:
        return None
    wanted = str(given.get(tool.names) or "")
    if tool.leaves_out == BESIDE:
        check_pattern("" if wanted.startswith("!") else wanted)
    elif wanted:
        check_narrow(wanted)
        return None
    elif tool.leaves_out != ALONE:
        return None
    # The last pattern decides, and one in braces is not taken apart at commas.
    return {**given, tool.names: f"{wanted} !{{{','.join(sorted(excluded()))}}}".strip()}
