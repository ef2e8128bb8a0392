"""Say why git finds no repository around a folder, and what leads out of it."""

from __future__ import annotations

import os
import re

from shared.paths import real_path
from state.errors import Refused

_TRUST = re.compile(r"git config --global --add safe\.directory .+")


def refuse_hidden(path: str, git_dir: str, *, bare: bool) -> None:
    """Raise Refused if a setting, which other tools leave behind, hides the files around `path`.

    Git then takes a working tree for `bare`, or for one that lies elsewhere.
    """
    if os.path.commonpath([real_path(path), real_path(git_dir)]) == real_path(git_dir):
        return  # it is the git folder, or inside it
    setting = "core.bare is true" if bare else "core.worktree names another folder"
    text = f"{setting} in the settings of {git_dir}, so git does not see the files here"
    change = "core.bare false" if bare else "--unset core.worktree"
    allowed = "if another tool has left that behind, set it right; the files stay"
    raise Refused("refused", path, text, allowed, f"git config {change}")


def not_found(path: str, said: str) -> Refused:
    """Return the Refused for a folder in which git, by what it said, finds no repository."""
    if trusting := _TRUST.search(said):
        allowed = "if you trust who owns this folder, add it to those that git may use; or have it "
        allowed += "belong to you"
        return Refused("refused", path, f"git refuses it: {said}", allowed, trusting[0])
    text = f"not inside a git repository: {said}"
    return Refused("not_found", path, text, allowed="use a folder inside a git working tree")
