"""Says whether a plan's change bears what a statement names."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from quality_reviewer.checks.meaning import is_prose
from quality_reviewer.named.files import Files
from quality_reviewer.named.things import UNIT, digits
from quality_reviewer.planned_lines import PlannedLines
from quality_reviewer.words import words
from shared.patch import read_patch
from shared.test_files import is_test
from shared.tree_runs import recorded
from state.changes import apart
from state.milestones import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quality_reviewer.named.things import Thing
    from shared.patch import Line
    from shared.run import State
    from state.models import Change, Milestone, Plan

_NUMBER = re.compile(r"\d[\d,_]*(?:\.\d+)?")
_AMOUNT = re.compile(rf"{_NUMBER.pattern}(?={UNIT})")
# By which a number of one unit reads in another: a minute has 60 seconds, a kB 1000 bytes.
_SCALES = (60, 3600, 24, 86400, 7, 12, 1000, 1024, 1_000_000, 1024**2, 1024**3, 100)
_TOKEN = re.compile(r"\w+")
_SLOTS = re.compile(r"<[^<>]*>|\{[^{}]*\}|…|\.\.\.|%[sdr]")


class Bearing:
    """The lines and paths of a plan's change, in which what is named is looked for."""

    def __init__(self, state: State, plan: Plan) -> None:
        self.plan = plan
        self.lines = PlannedLines.of(state, plan)
        self.changes = [change for m in plan.milestones for change in changes_of(m)]
        self._patches: dict[str, list[Line]] = {}
        self.tests = {file for m in plan.milestones for file in m.tests.files}
        self._state_dir = state.state_dir

    @cached_property
    def files(self) -> Files:
        """The paths of the base and of the plan."""
        return Files({*self.lines.files_at_base(), *self.paths})

    @cached_property
    def paths(self) -> set[str]:
        """The paths that the change touches."""
        return {p for c in self.changes for p in (c.file, c.old_file) if p}

    @cached_property
    def added(self) -> str:
        """The lines that the change adds."""
        return "\n".join(self.added_lines(self.changes))

    @cached_property
    def added_code(self) -> str:
        """The lines that the change adds to what is no documentation."""
        return "\n".join(self.added_lines(c for c in self.changes if self.is_code(c.file)))

    @cached_property
    def differing(self) -> str:
        """The lines that the change adds or removes, those around, and the heads over them."""
        rows = [line.text for c in self.changes for line in self._patch(c) if line.kind != "!"]
        for change in self.changes:
            near = {n.new for n in self._patch(change) if n.new}
            rows += self.lines.heads(change.file, near)
        return "\n".join([*rows, *sorted(self.paths)])

    @cached_property
    def changed(self) -> str:
        """The lines that the change adds or removes, with the heads over them, and its paths."""
        rows = [n.text for c in self.changes for n in self._patch(c) if n.kind in "+-"]
        for change in self.changes:
            lines = [n for n in self._patch(change) if n.kind in "+- "]
            beside = [one for at, one in enumerate(lines)
                      if any(n.kind != " " for n in lines[max(at - 1, 0) : at + 2])]  # fmt: skip
            rows += self.lines.heads(change.file, {n.new for n in beside if n.new})
        return "\n".join([*rows, *sorted(self.paths)])

    @cached_property
    def touched(self) -> str:
        """All lines of the touched files and of the milestones' tests, and the change's own."""
        names = sorted(self.paths | self.tests)
        texts = ("\n".join(self.lines.planned(name) or ()) for name in names)
        return "\n".join([self.differing, *texts])

    @cached_property
    def _tested(self) -> str:
        texts = ("\n".join(self.lines.planned(name) or ()) for name in sorted(self.tests))
        return "\n".join([self.differing, *texts])

    @cached_property
    def is_whole(self) -> bool:
        """Whether all changes can be read: none is kept beside the plan, and there are some."""
        return bool(self.changes) and not any(map(apart, self.changes))

    @staticmethod
    def is_code(file: str) -> bool:
        """Return whether a file is code and no test or documentation, by its name."""
        data = (".lock", ".json", ".csv", ".svg", ".html", ".css", ".xml", ".txt")
        return not (is_prose(file) or is_test(file, ()) or file.endswith(data))

    def is_test(self, file: str) -> bool:
        """Return whether a file is a test of the plan or by its name."""
        return is_test(file, self.tests)

    def added_lines(self, changes: Iterable[Change]) -> Iterator[str]:
        """Yield the lines that some changes add."""
        return (line.text for c in changes for line in self._patch(c) if line.kind == "+")

    def numbered(self, change: Change) -> Iterator[tuple[int, str]]:
        """Yield the lines that a change adds with their numbers."""
        return ((n.new or 0, n.text) for n in self._patch(change) if n.kind == "+")

    def words_of(self, milestone: Milestone) -> set[str]:
        """Return the rarer words of a milestone: of its texts, its paths and its change."""
        tests, docs = milestone.tests, milestone.documentation
        texts = [
            milestone.name, *milestone.acceptance_criteria, *milestone.files, *tests.files,
            *(f"{i.behavior} {i.function} {i.file}" for i in milestone.code_intents),
            *tests.scenarios.normal, *tests.scenarios.edge, *tests.scenarios.error,
            docs.model_dump_json(exclude={"changes"}),
            *(line.text for c in changes_of(milestone) for line in self._patch(c)),
        ]  # fmt: skip
        return words("\n".join(texts))

    def bears(self, thing: Thing, text: str | None = None) -> bool:
        """Return whether the change holds a thing; with `text`, whether that does."""
        if thing.kind == "path":
            return self._has_path(thing.forms[0]) or thing.forms[0] in self.added
        if thing.kind == "document":
            return any(path in self.paths for path in thing.forms)
        if thing.kind == "tests":
            return bool(self.tests) or any(map(self.is_test, self.paths))
        if text is not None:
            return holds(text, thing)
        where = {"acronym": self.touched, "identifier": self.differing}.get(
            thing.kind, self._tested
        )
        return holds(where, thing) or (thing.kind == "number" and holds(self.printed, thing))

    @cached_property
    def printed(self) -> str:
        """What the commands that were recorded for this change have printed."""
        return "\n".join(run.said for run in recorded(self._state_dir))

    def _has_path(self, name: str) -> bool:
        name = name.strip("/")
        return any(f"/{path}".endswith(f"/{name}") or f"/{name}/" in f"/{path}"
                   for path in self.paths)  # fmt: skip

    def _patch(self, change: Change) -> list[Line]:
        if change.id not in self._patches:
            self._patches[change.id] = read_patch(change)
        return self._patches[change.id]


def holds(text: str, thing: Thing) -> bool:
    """Return whether a text holds a number, in whichever unit, an identifier or a quoted text."""
    form = thing.forms[0]
    if thing.kind == "number":
        # So many of a unit may stand as so many of another one.
        forms = same_number(form) if re.search(r"[A-Za-z%]", thing.shown) else {form}
        return not forms.isdisjoint(numbers_of(text))
    if thing.kind in ("identifier", "acronym"):
        return _flat(form) in _flat(text)
    if thing.kind == "option":
        own = f"--{form}|[\"']{form}[\"']|\\b{form.replace('-', '_')}\\s*[:=]"
        return re.search(own, text) is not None
    flat = " ".join(form.split()).casefold()
    if flat in " ".join(text.split()).casefold():
        return True
    # A text that is put together stands in parts.
    known = {token.casefold() for token in _TOKEN.findall(text)}
    tokens = [token.casefold() for token in _TOKEN.findall(_SLOTS.sub(" ", form))]
    lost = [token for token in tokens if token not in known]
    return not lost or (_SLOTS.search(text) is not None and len(lost) * 3 < len(tokens))


def numbers_of(text: str) -> set[str]:
    """Return the numbers of a text as they are compared, decimal ones also without the point."""
    return {digits(number.strip(",_")) for number in _NUMBER.findall(text)}


def amounts_of(text: str) -> set[str]:
    """Return the numbers of a text that stand before a unit, as they are compared."""
    return {digits(number.strip(",_")) for number in _AMOUNT.findall(text)}


def same_number(number: str) -> set[str]:
    """Return how a number may read: itself, and as so many of another unit."""
    value = float(number)
    scaled = [value * scale for scale in _SCALES] + [value / scale for scale in _SCALES]
    return {number, *(digits(f"{one:.6f}") for one in scaled if one == round(one, 6))}


def _flat(text: str) -> str:
    """Return a text without what tells `maxSize`, `max_size` and `--max-size` apart."""
    return re.sub(r"[_-]", "", text).casefold()
