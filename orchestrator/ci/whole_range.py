"""Judge what a range changes as one difference, whatever way its commits took there (CM-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.ci.judged import ENOUGH, Whole
from orchestrator.ci.limits import MOST_FILES
from shared.git.history import empty_tree, tree_of
from shared.git.merged import merge_of
from state.errors import Problem

if TYPE_CHECKING:
    from orchestrator.ci.judge import Judge
    from orchestrator.ci.judged import Verdict
    from shared.git.change import Entry
    from shared.git.history import Made


class WholeRange:
    """Collects what the commits of a range leave, and compares it with the whole difference."""

    def __init__(self, judge: Judge, require: str | None) -> None:
        self.judge = judge
        self.require = require
        # By path what commits left there that were sound.
        self._held: dict[str, set[Entry | None]] = {}
        # What is a finding already, by a commit of its own.
        self._named: set[str] = set()
        # What the commits were made on.
        self._parents: set[str] = set()

    def add(self, made: Made, verdict: Verdict | None) -> None:
        """Take in one commit with its verdict; None is a merge that adds nothing of its own."""
        self._parents.update(made.stored.parents)
        enough = ENOUGH[self.require or "same"]
        if verdict is None or (verdict.word in enough and not verdict.problems):
            for path, end in made.changed.items():
                self._held.setdefault(path, set()).add(end.after)
        else:
            self._named |= {*made.changed, *verdict.additional}

    def judged(self, start: str, end: str) -> Whole:
        """Return what differs between where the range begins and ends, and what nobody approved."""
        name = f"{start[:12]}..{end[:12]}"
        before, why = self._before(start, end)
        if why:
            text = f"the range cannot be judged as one difference: {why}"
            return Whole(name, why=why, problems=self._demanded(name, text))
        after = tree_of(self.judge.reader, end)
        whole = self.judge.reader.changed(before, after, MOST_FILES)
        unheld = sorted(p for p, e in whole.items() if e.after not in self._held.get(p, set()))
        if not {*unheld} - self._named:
            return Whole(name, len(whole), tuple(unheld))
        text = "its commits are what was approved, and the files that it changes are not: "
        text += ", ".join(path for path in unheld if path not in self._named)
        return Whole(name, len(whole), tuple(unheld), problems=self._demanded(name, text))

    def _demanded(self, name: str, text: str) -> tuple[Problem, ...]:
        if self.require is None:
            return ()
        way = f"`--require {self.require}` of every file that the range changes"
        return (Problem("refused", name, text, way),)

    def _before(self, start: str, end: str) -> tuple[str, str]:
        """Return the tree that the range started from, or why that cannot be known."""
        judge = self.judge
        if start in self._parents:
            return tree_of(judge.reader, start), ""
        done = judge.repository.git.attempt("merge-base", "--all", start, end)
        bases = done.stdout.decode().split()
        if bases == [start]:
            return tree_of(judge.reader, start), ""
        if judge.is_shallow:
            return "", "this clone is shallow: git fetch --unshallow"
        if len(bases) > 1:
            merged = merge_of(judge.vault, bases)
            if merged.conflicts or not merged.tree:
                return "", f"it started from {len(bases)} commits that git cannot join"
            return merged.tree, ""
        return (tree_of(judge.reader, bases[0]) if bases else empty_tree(judge.repository)), ""
