"""What detection returns, and the project's files as it reads them."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from state.beneath import Beneath
from state.errors import Refused

MOST_BYTES = 1 << 20


class Candidate(NamedTuple):
    """A command that may test the project."""

    command: str
    # The file and line that speak for it.
    evidence: str


class Project(NamedTuple):
    """A project's files, and its environments."""

    # The folder with the files.
    files: str
    # The user's own tree, which has the environments.
    root: str

    def read(self, name: str) -> str:
        """Return the text of a plain file of the project, '' if there is none to be read."""
        try:
            data = Beneath(self.files).read(os.path.normpath(name), MOST_BYTES)
        except Refused:  # a link, or no plain file
            return ""
        return (data or b"").decode("utf-8", "replace")

    def has(self, name: str) -> bool:
        """Return whether the project has a file or folder of this name."""
        return os.path.exists(os.path.join(self.files, name))

    def has_here(self, name: str) -> bool:
        """Return whether the user's own tree has it, ignored or not."""
        return os.path.exists(os.path.join(self.root, name))


def line_of(text: str, pattern: str) -> int:
    """Return the number of the first line that matches, 1 if none does."""
    found = re.search(pattern, text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1
