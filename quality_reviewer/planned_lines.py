"""Reads the lines that evidence may name: at the base, as planned, and those of a change (SD-4)."""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import TYPE_CHECKING, ClassVar

from quality_reviewer.checks.git_trees import Objects
from shared.git.change import GITLINK, LINK, Entry
from shared.git.few_paths import tree_at
from shared.git.large import BLOB
from shared.patch import read_patch
from shared.workspace import open_repository
from state.changes import apart
from state.milestones import changes_of
from state.validator import path_problem

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from shared.git.repository import Repository
    from shared.run import State
    from state.models import Change, Plan

# A line by its number in its file: what reads so there, in the plan and before it.
Lines = dict[int, list[str]]
_SAYS = re.compile(r"\w")


class PlannedLines:
    """The lines of a repository's files at a plan's base and as the plan has them."""

    _last: ClassVar[tuple[State, Plan, PlannedLines] | None] = None

    @classmethod
    def of(cls, state: State, plan: Plan) -> PlannedLines:
        """Return the lines for a plan, the same for the same milestones: git is asked once."""
        last = cls._last
        same = last and last[0] is state and last[1].milestones is plan.milestones
        if not last or not same or last[1].base != plan.base:
            last = cls._last = (state, plan, cls(state, plan))
        return last[2]

    def __init__(self, state: State, plan: Plan) -> None:
        self._state, self._plan = state, plan
        self.at_base, self.planned = cache(self._at_base), cache(self._planned)
        self._touched, self._moved = cache(self._touched_by), cache(self._moved_by)
        self._patch = cache(lambda name: read_patch(self._changes[name]))

    def touched(self, changes: Iterable[Change]) -> dict[str, Lines]:
        """Return by file the lines that changes add or remove; those without words left out."""
        return self._touched(tuple(change.id for change in changes))

    def _touched_by(self, names: tuple[str, ...]) -> dict[str, Lines]:
        found: dict[str, Lines] = {}
        for change in (self._changes[name] for name in names):
            before = change.old_file or change.file
            own = {name: found.setdefault(name, {}) for name in (change.file, before)}
            for line in self._patch(change.id):
                if line.kind == "+":
                    _add(own[change.file], line.new, line.text)
                elif line.kind == "-":
                    _add(own[before], line.old, line.text)
        return found

    def need_none(self, changes: Iterable[Change]) -> set[str]:
        """Return the files of changes that are named without a line.

        They have none with words, such as an image or a file with another mode, or they are gone,
        or a link where they were none.
        """
        changes = tuple(changes)
        linked = [c for c in changes if LINK in (c.old_mode, c.mode) and c.old_mode != c.mode]
        gone = {c.file for c in (*linked, *(c for c in changes if c.after is None))}
        return gone | {file for file, lines in self.touched(changes).items() if not lines}

    def whole(self, file: str, *, base: bool = True) -> Lines:
        """Return the lines of a file as planned, and with `base` those before, which come first."""
        found: Lines = {}
        for lines in (self.at_base(file) if base else None, self.planned(file)):
            for number, text in enumerate(lines or (), start=1):
                _add(found, number, text)
        return found

    def length(self, file: str) -> int:
        """Return the last number that a line of a file has, in the plan or at the base."""
        return max(len(self.planned(file) or ()), len(self.at_base(file) or ()))

    def moved(self, change: Change) -> Lines:
        """Return the lines of a changed file that stay, but now belong to another one.

        A line belongs to the nearest one above that is indented less: the head of a function that
        is written above it takes over the lines below.
        """
        return self._moved(change.id)

    def _moved_by(self, name: str) -> Lines:
        change = self._changes[name]
        if change.before is None or change.after is None or change.encoding is not None:
            return {}
        now, then = (_lines(self._read(blob)) for blob in (change.after, change.before))
        rows = self._patch(change.id)
        added = {n.new for n in rows if n.kind == "+"}
        removed = {n.old for n in rows if n.kind == "-"}
        stayed = (n for n in range(1, len(now) + 1) if n not in added)
        stood = (n for n in range(1, len(then) + 1) if n not in removed)
        heads, old_heads = _heads(now), _heads(then)
        found: Lines = {}
        for number, old in zip(stayed, stood, strict=False):
            if heads[number - 1] != old_heads[old - 1]:
                _add(found, number, now[number - 1])
        return found

    def heads(self, file: str, numbers: Collection[int]) -> set[str]:
        """Return the lines that some lines of a planned file belong to, such as a function's."""
        above = _heads(self.planned(file) or ())
        return {head for n in numbers if n <= len(above) for head in above[n - 1]}

    def files_at_base(self) -> Collection[str]:
        """Return the paths of the base; none where a plan has none."""
        base = self._plan.base
        return self._opened[1].entries(base.tree) if base else ()

    def _planned(self, file: str) -> list[str] | None:
        """Return the lines of a file as planned; None if there is none, or it is too large."""
        for change in self._changes.values():
            if change.file == file and change.after is not None:
                return None if apart(change) else _lines(self._read(change.after))
            if file in (change.file, change.old_file):
                return None
        return self.at_base(file)

    def _at_base(self, file: str) -> list[str] | None:
        """Return the lines of a file at the base; None if there is none."""
        if changed := self._from.get(file):
            return None if changed.mode == GITLINK else _lines(self._read(changed.blob))
        # A reviewer may write anything before a colon; git would refuse what is no path.
        if self._plan.base is None or path_problem(file):
            return None
        git = self._opened[0].git
        entry = tree_at(git, self._plan.base.tree, [file]).get(file)
        known = entry is not None and entry.mode != GITLINK
        return _lines(self._opened[1].read(entry.blob)) if entry and known else None

    def _read(self, blob: str) -> bytes:
        """Return the content of a changed file; git is asked once for all of them."""
        changes = [c for c in self._changes.values() if c.encoding != BLOB]
        self._opened[1].hold({b for c in changes for b in (c.before, c.after) if b})
        return self._opened[1].read(blob)

    @cached_property
    def _opened(self) -> tuple[Repository, Objects]:
        repository, vault = open_repository(self._state)
        return repository, Objects(repository, vault)

    @cached_property
    def _changes(self) -> dict[str, Change]:
        return {c.id: c for m in self._plan.milestones for c in changes_of(m)}

    @cached_property
    def _from(self) -> dict[str, Entry]:
        """What the base has at the paths that the plan changes there."""
        every = self._changes.values()
        return {
            c.old_file or c.file: Entry(c.old_mode or c.mode or "", c.before)
            for c in every
            if c.before
        }


def _add(lines: Lines, number: int | None, text: str) -> None:
    if number and _SAYS.search(text):
        lines.setdefault(number, []).append(text.strip())


def _lines(content: bytes) -> list[str]:
    rows = content.decode("utf-8", "backslashreplace").split("\n")
    return rows[:-1] if rows[-1] == "" else rows


def _heads(lines: Iterable[str]) -> list[tuple[str, ...]]:
    """Return for each line the lines above that it belongs to, the outermost first."""
    above: list[tuple[int, str]] = []
    found = []
    for line in lines:
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        while text and above and above[-1][0] >= depth:
            above.pop()
        found.append(tuple(head for _, head in above))
        if text:
            above.append((depth, text))
    return found
