"""A run whose developer is a function, as the end-to-end tests drive it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.conftest import Repository
from tests.journey import LAUNCHER, Answer, Journey, call, passing, shell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Host(Journey):
    """Drives one run in the repository around `cwd`; `edit` is what the developer does.

    `files` are planned with an intent each, those of `tests` as tests. With `processes` each
    command is started as a client does; else in this process, since starting Python for each takes
    longer than all the work of most tests.
    """

    def __init__(
        self,
        cwd: Path,
        edit: Callable[[Path], object] = lambda _: None,
        files: Sequence[str] = (),
        tests: Sequence[str] = (),
        *,
        processes: bool = False,
    ) -> None:
        super().__init__(Repository(cwd), "Change it")
        self.edit, self.processes = edit, processes
        self.review, self.verdicts = "auto", passing
        self.answers = {
            "context.json": {"task_spec": ["change what was asked"]},
            "design.json": design(files, tests=tests),
            "docs.json": [],
            "reason.md": "The user has read it and wants it so.",
            "remarks.md": "Once more, please.",
        }

    def call(self, *words: str) -> Answer:
        """Run a command, from a folder that has nothing to do with the repository if it may."""
        cwd = "/" if "--state-dir" in words else self.repository.path
        python = ("env", f"PLANNER_PYTHON={sys.executable}", LAUNCHER)
        done = shell(shlex.join([*python, *words]), cwd) if self.processes else call(cwd, *words)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def edit_worktree(self, _: object, worktree: str = "worktree") -> None:
        """Do the developer's work."""
        self.edit(Path(self.state_dir, worktree))


def design(
    *parts: Sequence[str], tests: Sequence[str] = (), after: Mapping[int, int] | None = None
) -> list[dict[str, object]]:
    """Return the edits of a plan with a milestone for the files of each part.

    `after` has the number of the part that one waits for, by its own number.
    """
    planned = {"files": list(tests), "type": "unit", "scenarios": {"normal": ["it works"]}}
    overview = {"title": "Change it", "problem": "It is old.", "approach": "Make it new."}
    edits: list[dict[str, object]] = [
        {"op": "set", "id": "overview", "version": 1, "fields": overview}
    ]
    for number, files in enumerate(parts, 1):
        fields = {
            "name": f"Part {number}", "files": [*files, *tests], "requirements": ["T-1"],
            "acceptance_criteria": ["it is changed"],
            "tests": planned if tests else {"skip_reason": "nothing to run"},
            "depends_on": [f"$m{after[number]}"] if after and number in after else [],
        }  # fmt: skip
        edits.append({"op": "add", "kind": "milestone", "as": f"$m{number}", "fields": fields})
        intents = ({"milestone": f"$m{number}", "file": f, "behavior": "is new"} for f in files)
        edits += [{"op": "add", "kind": "intent", "fields": intent} for intent in intents]
    return edits
