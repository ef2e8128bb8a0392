"""What is known of each client of a coding assistant, in one file per client.

A client's file imports nothing of ours, and a hook loads only the file of the client that calls.
What concerns every client at once, such as where their secrets lie, is in `known.py`, which a test
makes from these files. `Client` says what a file has to hold.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Protocol

    class Client(Protocol):
        """What the file of a client holds.

        It may have `read_event`, `deny`, `change` and `show_user` too, where its hooks speak
        another JSON than the common form in `shared/guard/forms.py`.
        """

        # Tool → what the guard checks (a kind of shared/guard/tools.py), the field with the path or
        # command, and what else `Tool` there has.
        TOOLS: Mapping[str, tuple[str, str, Mapping[str, Any]]]
        # Event of its hooks → what the guard does then: a key of DEEDS in shared/guard/hook.py.
        EVENTS: Mapping[str, str]
        # It calls a tool with a text that a hook puts in place of the model's.
        TAKES_CHANGED: bool
        # Its hook can have the user asked whether a command may run. One that cannot runs a changed
        # text, or denies it where the user has rules which that text would get round.
        ASKS: bool
        # Variables that it sets for its commands: with the session's id, and those by which anybody
        # knows that an assistant runs them. A session's id is a mark only if nobody else sets it.
        SESSION_VARIABLES: tuple[str, ...]
        MARKS: tuple[str, ...]
        # Names of its program as Linux shows them, and parts of its path where they say nothing.
        PROGRAMS: tuple[str, ...]
        PROGRAM_PATHS: tuple[str, ...]
        # Below a home; variable → what is secret below its value.
        SECRETS: tuple[str, ...]
        SECRET_VARIABLES: Mapping[str, str]
        # Files of the project that it writes by itself, at times of its own.
        OWN_FILES: tuple[str, ...]
        # A mark → git's variables by which it hides the user's settings from its commands.
        HIDDEN_GIT: Mapping[str, str]
        # Files of hooks/ that setup links to.
        PLUGINS: tuple[str, ...]

        def read_settings(self, found: Settings, folders: Iterable[str], mode: str) -> None:
            """Fill in what its settings hold that works in these folders, the project's first.

            `mode` is its permission mode.
            """


_MOST_BYTES = 1_000_000
MOST_ENTRIES = 100  # of a folder; one with more counts as if it held what is looked for


class Settings:
    """What a client's own settings hold that matters to a shell command whose text is replaced.

    Whether there is a rule, not what it means: each release of a client reads its rules
    differently. A settings file that cannot be read counts as if it held one.
    """

    __slots__ = ("allowed", "launcher", "others", "ours", "rules")

    def __init__(self, launcher: str = "", ours: tuple[str, ...] = ()) -> None:
        self.launcher = launcher  # the program that a rule of ours allows
        self.ours = ours  # real paths of our own folder and plugins
        self.rules = False  # perhaps a deny or ask rule
        self.others = False  # perhaps another hook that replaces the command
        self.allowed = False  # our launcher runs without a question

    def is_ours(self, path: str) -> bool:
        """Return whether a path leads to our own folder, or to one of our plugins."""
        return os.path.realpath(path) in self.ours

    @staticmethod
    def read(path: str) -> bytes | None:
        """Return the content of a settings file, None if there is none; one not readable is b""."""
        try:
            with open(path, "rb") as file:
                data = file.read(_MOST_BYTES + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError):
            return b""
        return data if len(data) <= _MOST_BYTES else b""

    @staticmethod
    def entries(folder: str) -> list[str] | None:
        """Return the paths of what is in a folder, None if that is too much."""
        try:
            with os.scandir(folder) as found:
                paths = [
                    entry.path for entry, _ in zip(found, range(MOST_ENTRIES + 1), strict=False)
                ]
        except OSError:
            return []
        return paths if len(paths) <= MOST_ENTRIES else None


def client_of(name: str) -> Client:
    """Return what is known of a client; ImportError for one that is not known."""
    # Not importlib, whose import costs a hook more than the file.
    client: Client = __import__(f"{__name__}.{name}", fromlist=("TOOLS",))
    return client
