"""Read a person's remarks: which place each is about, in the form in which they write it (LP-3).

A line that begins with a place begins a remark: `src/a.py:20: words`, `src/a.py:20-25:`, of a line
before the change `src/a.py:O20:`, of the whole file `src/a.py:`, of the plan `M-002:`. What stands
before the first, or after the line `# On the whole plan`, is about that. A name with odd characters
is written as in JSON.
"""

from __future__ import annotations

import json
import os
import re
from collections import ChainMap
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple

from orchestrator.submit.since import read_revision
from orchestrator.submit.trees import opened_trees
from shared import resources
from shared.builders import visible_line
from state import kinds
from state.changes import plan_changes
from state.errors import Problem, Refused
from state.files import read_bytes
from state.frozen_bytes import digest_of
from state.models import Anchor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from orchestrator.submit.trees import Trees
    from shared.git.change import Entry
    from shared.run import State
    from state.models import Plan

MOST = 300  # places at once
MOST_LINES, MOST_CHARS = 20, 500  # kept of what a remark is about
AROUND = 2  # lines kept on each side of it
_LONGEST_PLACE = 5_000  # characters: a path has at most 4,096 bytes
_MOST_NAMES = 20  # that one line may begin with, where colons are in it
WHOLE = "# On the whole plan"
_HEADING = re.compile(r"# Remarks on revision \d{1,15}, digest ([0-9a-f]{64})\s*")
_MARK = re.compile(r"\s*(?:[-*] +)?(`?)")
_LINES = r"(?::(?P<old>O?)(?P<line>\d{1,9})(?:-(?P<end>\d{1,9}))?)?`?:(?=\s|$)"
_ENDS = re.compile(_LINES)
_ENTITY = re.compile(r"[A-Z]{1,3}-\d{1,15}")
_STRING = json.JSONDecoder()


class Said(NamedTuple):
    """A remark as it was written."""

    text: str
    anchor: Anchor | None = None


class _Place(NamedTuple):
    """What the beginning of a line would name, if there is such a file or entity."""

    name: str
    is_old: bool = False
    # None where no line is named.
    line: int | None = None
    end: int = 0
    # What the line says after it.
    rest: str = ""
    is_quoted: bool = False

    @property
    def is_file(self) -> bool:
        """Whether git could have a file of this name."""
        odd = "\0" in self.name or any("\ud800" <= char <= "\udfff" for char in self.name)
        return not odd and not {"", ".", ".."} & {*self.name.split("/")}


def heading(plan: Plan) -> str:
    """Return the line that says on which revision the remarks below it were made."""
    return f"# Remarks on revision {plan.revision}, digest {plan.digest}"


def read_remarks(state: State, plan: Plan, text: str) -> list[Said]:
    """Return the remarks that a text makes on a plan, or on an earlier revision that it names.

    Raises Refused with every place that is not there, and for an unknown revision.
    """
    first, _, rest = text.lstrip().partition("\n")
    if (named := _HEADING.fullmatch(first)) is not None:
        earlier, text = revision_of(state, plan, named[1]), rest
        if earlier is None:
            words = "the run has no revision with this digest, so its lines are not known"
            ways = "the same remarks without the line `# Remarks on`"
            raise Refused("not_found", named[1], words, ways)
        plan = earlier
    lines = text.split("\n")
    found = [list(_places(line)) for line in lines]
    if not any(found) and WHOLE not in lines:
        return _whole(lines)
    if plan.base is None:  # nothing is known of its files yet
        return _read(lines, found, _Known(plan))
    names = {one.name for places in found for one in places if one.is_file}
    with opened_trees(state) as trees:
        base, new = plan.base.tree, trees.new(plan)
        known = _Known(plan, trees, trees.files(base, names), trees.files(new, names))
        known.add_old_names(trees, base)
        return _read(lines, found, known)


def revision_of(state: State, plan: Plan, digest: str) -> Plan | None:
    """Return the revision of a digest, of this one and those that are kept; None if none has it.

    Raises Refused if it is not as it was submitted.
    """
    if plan.digest == digest:
        return plan
    for number in range(plan.revision - 1, 0, -1):
        path = resources.superseded_plan_path(state.state_dir, number)
        if os.path.isfile(path) and digest_of(read_bytes(path))[0] == digest:
            return read_revision(state, plan, number)
    return None


def _places(line: str) -> Iterator[_Place]:
    """Yield what the beginning of a line may name: the longest first."""
    mark = _MARK.match(line)
    begin = mark.end() if mark else 0
    shown = line[begin : begin + _LONGEST_PLACE]
    if shown.startswith('"'):
        yield from _quoted(shown, line[begin:])
        return
    for found in reversed([*islice(_ENDS.finditer(shown), _MOST_NAMES)]):
        if name := shown[: found.start()]:
            yield _place(name, found, line[begin + found.end() :])


def _quoted(shown: str, whole: str) -> Iterator[_Place]:
    try:
        name, end = _STRING.raw_decode(shown)
    except ValueError:
        return
    if name and (found := _ENDS.match(shown, end)):
        yield _place(name, found, whole[found.end() :])._replace(is_quoted=True)


def _place(name: str, found: re.Match[str], rest: str) -> _Place:
    line = int(found["line"]) if found["line"] else None
    return _Place(name, bool(found["old"]), line, int(found["end"] or line or 0), rest.strip())


def _whole(lines: Iterable[str]) -> list[Said]:
    text = "\n".join(lines).strip()
    return [Said(text)] if text else []


class _Known:
    """The files and entities that a remark may name."""

    def __init__(
        self,
        plan: Plan,
        trees: Trees | None = None,
        base: Mapping[str, Entry] | None = None,
        new: Mapping[str, Entry] | None = None,
    ) -> None:
        self.plan, self._trees = plan, trees
        self._sides = {"old": dict(base or {}), "new": dict(new or {})}
        self._renamed = {c.file: c.old_file for c in plan_changes(plan) if c.old_file}
        self._lines: dict[str, list[str] | None] = {}

    def add_old_names(self, trees: Trees, base: str) -> None:
        """Look up what renamed files were called, where a remark names them as they are now."""
        named = ChainMap(self._sides["old"], self._sides["new"])
        wanted = {old for new, old in self._renamed.items() if new in named}
        self._sides["old"] |= trees.files(base, wanted)

    def anchor(self, place: _Place) -> Anchor | Problem | None:
        """Return the anchor of a place, or what is wrong with it; None if it names nothing."""
        if place.line is None and not place.is_quoted and _ENTITY.fullmatch(place.name):
            there = kinds.find(self.plan, place.name) or self._is_task(place.name)
            return self._made(entity=place.name) if there else None
        side: Literal["old", "new"] = "old" if place.is_old else "new"
        name, entry = self._entry(place, side)
        other = self._sides["old" if side == "new" else "new"].get(place.name)
        if entry is None and other is not None and place.line is None:
            return self._made(file=place.name, side="old", blob=other.blob)
        if entry is None:
            return self._on_other_side(place) if other is not None else None
        if place.line is None:
            return self._made(file=name, side=side, blob=entry.blob)
        return self._of_lines(place, name, side, entry.blob)

    def _is_task(self, name: str) -> bool:
        return any(task.id == name for task in self.plan.task_spec)

    def _entry(self, place: _Place, side: str) -> tuple[str, Entry | None]:
        """Return a file's name on a side, and what is there; an old one also by its new name."""
        there = self._sides[side]
        before = self._renamed.get(place.name, "") if side == "old" else ""
        name = before if before and place.name not in there else place.name
        return name, there.get(name)

    def _on_other_side(self, place: _Place) -> Problem:
        said = visible_line(place.name)
        if place.is_old:
            text = "the file is new in this revision, so it has no line from before the change"
            return Problem("invalid", said, text, f"`{said}:{place.line}:`")
        new = next((n for n, old in self._renamed.items() if old == place.name), "")
        text = f"the file is {'renamed' if new else 'deleted'} in this revision"
        ways = f"`{said}:O{place.line}:`, its line from before the change"
        named = f", or a line of {visible_line(new)}" if new else ""
        return Problem("invalid", f"{said}:{place.line}", text, f"{ways}{named}")

    def _of_lines(
        self, place: _Place, name: str, side: Literal["old", "new"], blob: str
    ) -> Anchor | Problem:
        if blob not in self._lines:
            self._lines[blob] = self._trees.lines([blob])[0] if self._trees else None
        lines, line, end = self._lines[blob], place.line or 0, place.end
        at = f"{visible_line(name)}:{'O' * place.is_old}{line}"
        if lines is None:
            return Problem("invalid", at, "the file is binary", f"`{visible_line(name)}:`")
        if not 1 <= line <= end <= len(lines):
            text = f"the file has {len(lines):,} lines {_WHEN[side]}"
            whole = f"`{visible_line(name)}:` for the whole file"
            return Problem("invalid", at, text, f"lines from 1 to {len(lines)}, or {whole}")
        return self._made(
            file=name, side=side, line=line, end=end, blob=blob,
            quote=_cut(lines[line - 1 : end]),
            before=_cut(lines[max(line - 1 - AROUND, 0) : line - 1]),
            after=_cut(lines[end : end + AROUND]),
        )  # fmt: skip

    def _made(self, **fields: object) -> Anchor:
        digest = self.plan.digest if self.plan.frozen_at else None
        return Anchor.model_validate({"revision_digest": digest or "", **fields})


_WHEN = {"old": "before the change", "new": "in this revision"}


def _cut(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(line[:MOST_CHARS] for line in lines[:MOST_LINES])


def _read(lines: Sequence[str], found: Sequence[Sequence[_Place]], known: _Known) -> list[Said]:
    """Return the remarks of a text whose lines may begin with these places."""
    remarks: list[tuple[Anchor | None, str, list[str]]] = [(None, "", [])]
    problems: list[Problem] = []
    for line, places in zip(lines, found, strict=True):
        named = ((known.anchor(one), one) for one in places)
        anchor, place = next(((a, one) for a, one in named if a is not None), (None, None))
        if isinstance(anchor, Problem):
            problems.append(anchor)
        elif anchor is not None and place is not None:
            remarks.append((anchor, visible_line(place.name), [place.rest]))
        elif line == WHOLE:
            remarks.append((None, "", []))
        else:
            remarks[-1][2].append(line)
    said = [(at, Said("\n".join(words).strip(), anchor)) for anchor, at, words in remarks]
    text, ways = "the remark says nothing", "words after the place, or on the lines below"
    problems += [Problem("invalid", at, text, ways) for at, one in said if at and not one.text]
    if len(remarks) > MOST + 1:
        ways = f"at most {MOST}, or one remark in whose lines no place comes first"
        text = f"these are {len(remarks) - 1:,} remarks at once"
        problems = [Problem("invalid", "remarks", text, ways)]
    if problems:
        raise Refused.of(problems)
    return [one for _, one in said if one.text]
