"""What the guard checks when a client calls a tool (PM-3); the tools are in `shared/clients/`.

A tool that a client's table does not name is denied unless the user's own configuration names it:
clients gain tools with every release, and servers can add any.
"""

from __future__ import annotations

from shared.clients import client_of

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

READ, ASK, AGENTS, TASKS = "read", "ask", "agents", "tasks"
# A tool by which an assistant keeps a list of its own; who reviews requirements has none (RL-7).
TODO = "todo"
FILE, FOLDER, SEARCH = "file", "folder", "search"
BESIDE, ALONE = "beside", "alone"
SHELL, WRITE, PATCH, SKILL, DENY = "shell", "write", "patch", "skill", "deny"
OWN_SKILL = "planner"
PASSING = (READ, ASK, AGENTS, TASKS)


class Tool:
    """One tool of a client: what the guard looks at when it is called."""

    __slots__ = ("field", "folder", "ignored", "kind", "leaves_out", "names", "patched", "why")

    def __init__(  # noqa: PLR0913 – each is a column of the clients' tables
        self, kind: str, field: str = "", *, names: str = "", leaves_out: str = "",
        ignored: tuple[str, bool] = ("", True), folder: str = "",
        why: tuple[str, str] = ("", ""), patched: Callable[[str], list[str] | None] | None = None,
    ) -> None:  # fmt: skip
        # What to check, and the field with the path or command.
        self.kind = kind
        self.field = field
        # The field of a search with the patterns of file names to which it is limited.
        self.names = names
        # Whether that leaves out files: BESIDE other patterns, ALONE where there are none, or "".
        self.leaves_out = leaves_out
        # The field by which a search reads what git ignores, and with which value.
        self.ignored = ignored
        # The field of a shell command with the folder in which it is to run.
        self.folder = folder
        # Of a denied tool why, and what to do instead.
        self.why = why
        # Reads from a patch, or from a command that may be one, the files that it changes; None
        # where it cannot.
        self.patched = patched


_UNKNOWN_INSTEAD = (
    "use the tools for reading and searching; if this tool only reads, the user may name it in"
    ' their own ~/.config/planner/config.toml: [guard] tools = ["…"]'
)
UNKNOWN = Tool(
    DENY, why=("the guard does not know this tool, which may change something", _UNKNOWN_INSTEAD)
)


# How a field's name ends that holds paths; clients rename them from release to release.
_PATHS = ("path", "paths", "file", "files", "dir", "dirs", "directory", "directories", "folder",
          "folders", "root", "roots")  # fmt: skip


def paths_beside(tool: Tool, given: Mapping[str, Any]) -> list[str]:
    """Return the paths that a call names in fields of other names than the one that is known."""
    fields = [name for name in given if name != tool.field and name.lower().endswith(_PATHS)]
    return [text for name in fields for text in texts(given[name])]


def texts(value: object) -> list[str]:
    """Return the texts in a JSON value that are not empty."""
    if isinstance(value, str):
        return [value] if value else []
    inner = list(value.values()) if isinstance(value, dict) else value
    return [text for one in inner for text in texts(one)] if isinstance(inner, list) else []


def find_tool(host: str, name: str) -> Tool:
    """Return the entry of a client's tool: what the guard checks when it is called."""
    row = client_of(host).TOOLS.get(name)
    return Tool(row[0], row[1], **row[2]) if row else UNKNOWN
