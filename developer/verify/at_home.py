"""Runs formatters and hooks at the repository's own path, in the place, and keeps their changes.

There they find what git ignores, such as node_modules, which a scratch worktree lacks.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from developer.verify.confined import HOOK_LIMIT_S, WRITE, folder_of_hook, printed
from developer.verify.in_place import TEMPORARY, scene
from developer.verify.prepare import check_confirmed
from developer.verify.process import OUT_OF_TIME, temporary_variables
from shared.git.copies import bring
from shared.git.filters import hold_content
from shared.git.repository import repository_at
from shared.git.scratch import scratch, sweep
from shared.git.settle import Ran, Trial
from shared.git.stand_in import staged
from shared.git.worktree import open_worktree
from shared.place.enter import CannotEnter, run
from shared.place.level import forget
from shared.place.planning import environment
from shared.place.values import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from developer.verify.job import Job
    from shared.git.repository import Repository
    from shared.git.settle import Tool
    from shared.place.values import Place

_LIMITS = (
    "formatters and hooks of a capture run at the repository's own path, without network and "
    "secrets; what they write is lost but for changes of files that git does not ignore, and "
    f"where `[verify] write` of planner.toml says, {WRITE}"
)
_BORROWED = "GIT_ALTERNATE_OBJECT_DIRECTORIES"
# Below the private folder $0: git's index before the tool ran and after it, and the tree that the
# tool has left, with its objects. Whatever the tool started is ended before git looks.
_DRIVER = """
cp -- "$1" "$0/before"; index=$1; shift
"$@"; code=$?
{ kill -s KILL -- -1; wait; } 2>/dev/null
cp -- "$index" "$0/after" 2>/dev/null
export GIT_INDEX_FILE="$0/before" GIT_OBJECT_DIRECTORY="$0/objects"
ADD >/dev/null 2>"$0/said" && TREE >"$0/tree" 2>>"$0/said" && : >"$0/done"
exit "$code"
"""
# What running Python leaves never counts as work.
_ADD = ("add", "--all", "--", ".", ":(exclude,glob)**/__pycache__/**")
# The objects of what has not changed are outside: the tool may have put others where git looks.
_WRITE_TREE = ("write-tree", "--missing-ok")


@dataclass(frozen=True)
class AtHome:
    """Runs a tool where the repository holds the files of the job's worktree (VR-5)."""

    job: Job

    def __call__(self, tree: str, tool: Tool) -> Trial | None:
        """Run a tool on the git tree `tree` and bring what it changes into the worktree.

        Returns None where there is no place, or where git cannot keep what the tool has left;
        Refused for a formatter that nobody has confirmed then.
        """
        trial = self._try(tree, tool)
        if trial is None and tool.formatter:
            check_confirmed(self.job.config, lambda _: self.job.confirmed, self.job.state_dir)
        return trial

    def _try(self, tree: str, tool: Tool) -> Trial | None:
        repo = repository_at(self.job.repository, self.job.opened)
        words = tool.words(repo.git, open_worktree(repo, self.job.worktree).git)
        if not words:
            return Trial(Ran(0, ""))
        # Whoever confirmed a network confirmed it for the verify commands.
        job = replace(self.job, config=replace(self.job.config, network=False))
        index = os.path.join(repo.git_dir, "index")
        folder = job.file("runs")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        sweep(folder)
        with scratch(folder) as private:
            os.mkdir(os.path.join(private, "objects"))
            argv = ["sh", "-c", _driver(repo), private, index, *words]
            try:
                with scene(job, tree, job.base_commit, folder) as shown:
                    place = shown.place
                    place.kept = (*place.kept, os.path.realpath(private))
                    place.shown += folder_of_hook(words)
                    env = tool.environment(repo.root, index) | temporary_variables(TEMPORARY)
                    place.environment = environment(env | {"PWD": place.repository})
                    ran = _run(place, argv)
            except CannotEnter:
                return None
            if os.path.exists(os.path.join(private, "done")):
                if not self._take(repo, tree, private):
                    return None
            elif ran.code != OUT_OF_TIME:
                return None
            return Trial(ran, staged(repo, os.path.join(private, "after"), tree))

    def _take(self, repo: Repository, old: str, private: str) -> bool:
        """Give the worktree the files of the tree that a tool has left, and return True.

        False, and nothing done, if git-lfs or the like has kept content of theirs, since that went
        with the place.
        """
        with open(os.path.join(private, "tree"), encoding="ascii") as file:
            new = file.read().strip()
        if new != old:
            borrowed = {_BORROWED: _in_list(os.path.join(private, "objects"))}
            git = open_worktree(repo, self.job.worktree).git.having(**borrowed)
            words = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--end-of-options")
            rows = git.names("diff-tree", *words, old, new)
            if hold_content(repo.git, git, rows[1::2]):
                return False
            # What the tool stored vanishes: git's index does not learn of it.
            bring(git, rows, private)
        return True


def _in_list(path: str) -> str:
    """Return a path as git reads it in a list, quoted, since it may hold a colon."""
    return '"{}"'.format(path.replace("\\", "\\\\").replace('"', '\\"'))


def _driver(repo: Repository) -> str:
    add, tree = (shlex.join(repo.git_in_place.words(*words)) for words in (_ADD, _WRITE_TREE))
    return _DRIVER.replace("ADD", add).replace("TREE", tree)


def _run(place: Place, argv: Sequence[str]) -> Ran:
    place.limits = Limits(seconds=HOOK_LIMIT_S)
    with tempfile.TemporaryFile() as output:
        try:
            report = run(place, argv, output=output.fileno())
        except CannotEnter as error:
            forget(place, str(error))
            raise
        late = report.code == OUT_OF_TIME and bool(report.limit)
        said = printed(output, late and HOOK_LIMIT_S)
    return Ran(report.code, said, report.limit or _LIMITS)
