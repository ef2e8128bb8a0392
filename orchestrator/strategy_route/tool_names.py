"""Find names and calls of tools in the text of a goal, which says what and never how (ST-2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.run import State

# Families of tools, with the verbs that make a tool's name of them; `test.py` is a file, not one.
_FAMILIES = {
    "internet": "research search fetch",
    "memory": "search save store delete recall",
    "browser": "navigate click open read screenshot",
    "web": "search fetch",
    "file": "edit read write create delete glob grep",
    "git": "add commit diff log push pull status checkout branch merge rebase",
    "test": "run",
    "shell": "run exec",
    "bash": "run exec",
    "spreadsheet": "read write",
    "doc": "read write",
    "pdf": "read write",
    "email": "read write send",
    "calendar": "read write",
}
_DOTTED = "|".join(
    rf"{name}\.(?:\*|(?:{'|'.join(verbs.split())})\b(?!\.\w|\())"
    for name, verbs in _FAMILIES.items()
)
# Names that are no words of English; the others count only as a call.
_NAMES = (
    "WebFetch", "WebSearch", "MultiEdit", "NotebookEdit", "NotebookRead", "TodoWrite",
    "ExitPlanMode", "apply_patch", "str_replace_based_edit_tool", "search_replace",
    "write_file", "read_file",
)  # fmt: skip
# Functions have these names too, so only a call with a tool's own argument counts.
_CALLED = (
    r"(?:Bash|Edit|Glob|Grep|Read|Task|Write)\(\s*(?:command|file_path|path|pattern|prompt)\s*[=:]"
)
_TOOL = re.compile(
    rf"(?<![\w./-])(?:{_DOTTED})|\b(?:{'|'.join(_NAMES)})\b|\bmcp__\w+|\b{_CALLED}"
    r"|</?(?:tool_call|tool_use|function_call|invoke)\b|\"(?:tool|tool_name|function)\"\s*:"
)
_NAME = re.compile(r"\w+(?:\.\w+)?")
_MOST = 3


def named_tools(text: object, is_own: Callable[[str], bool]) -> list[str]:
    """Return the first tools that a text names or calls, each once; empty if it names none.

    A name that `is_own`, of the user's code or request, is none.
    """
    found = dict.fromkeys(_TOOL.findall(text) if isinstance(text, str) else [])
    return [one for one in found if not (_NAME.fullmatch(one) and is_own(one))][:_MOST]


def own_names(state: State) -> Callable[[str], bool]:
    """Return what tells whether a name stands in the request of a run or in its repository."""

    def is_own(name: str) -> bool:
        words = ("grep", "-q", "-w", "-F", "--untracked", "-e", name)
        found = name in state.run.request
        return found or state.repository.git.attempt(*words).returncode == 0

    return is_own
