"""Check that a passed MUST names evidence that exists: an entry of the plan, or a line (RV-1)."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quality_reviewer.checks.git_trees import Objects
from quality_reviewer.questions import BY_ID, CRITERIA
from quality_reviewer.scopes import owner_of
from quality_reviewer.signs import is_test
from shared.builders import first_of
from shared.patch import read_patch
from shared.qr.types import MUST, PASS
from shared.steps.slices import entities_of
from shared.tree_runs import captured_tree, runs_on_change
from shared.verified import VERIFY
from shared.workspace import open_repository
from state.errors import Problem
from state.milestones import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from shared.qr.types import Item
    from shared.run import State
    from state.models import Change, Plan
    from state.phases import Phase

_ID = re.compile(r"[A-Z]{1,4}-\d+|overview|knowledge")
_LINE = re.compile(r"([^\n]+?):(\d{1,7})(?:-(\d{1,7}))?(?!\w)")
_RUN = re.compile(r"run (\d{1,6})\b\W*")
_VERIFY = re.compile(rf"{VERIFY}(?: (\d{{1,6}}))?\b\W*")
_SEPARATOR = re.compile(r"[;\n]")
_NONE = re.compile(r"none\b\W*", re.IGNORECASE)
LEAST_REASON = 10  # letters
LEAST_QUOTE = 4  # characters of a line: a bracket alone shows nothing
MOST_SHOWN = 8  # files, or ids
_SHOWN_CHARS = 60


class Evidence:
    """What reviewers of a phase may name as evidence, read from the plan and its base commit."""

    def __init__(self, state: State, phase: Phase, plan: Plan) -> None:
        self._state = state
        self._plan = plan
        self._of_design = phase == "plan-design"

    def problem(self, item: Item, text: str, at: str) -> Problem | None:
        """Return what is wrong with the evidence for an answer to `item`; None if it is valid.

        Only PASS on a MUST needs any. Other answers may name some, which is not checked.
        """
        if item.severity != MUST or item.status != PASS:
            return None
        question = BY_ID.get(item.check)
        design = self._of_design or (question is not None and question.phase == "plan-design")
        parts, due = _parts(item, text), 1
        if item.check == CRITERIA:
            due = sum(len(m.acceptance_criteria) for m in self._plan.milestones
                      if m.id == item.scope)  # fmt: skip
        problems = [self._wrong(item, part, design=design) for part in parts]
        if problems.count("") >= due:
            return None
        few = f"{item.id} is about {due} criteria, and its evidence names {problems.count('')}"
        wrong = next(filter(None, problems), few)
        return Problem("invalid", f"{at}.evidence", wrong, self._allowed(item, design=design))

    def in_lines(self, item: Item) -> str | None:
        """Return an item's evidence with a line for each criterion that it shows; else as it is.

        A part that is no reference explains the one before it.
        """
        if item.check != CRITERIA or item.evidence is None:
            return item.evidence
        lines: list[str] = []
        for part in _parts(item, item.evidence):
            if lines and self._wrong(item, part, design=False):
                lines[-1] += f"; {part.strip()}"
            else:
                lines.append(part.strip())
        return "\n".join(lines)

    def _wrong(self, item: Item, text: str, *, design: bool) -> str:
        """Return what is wrong with one reference of a piece of evidence, or ''."""
        said = text.strip().lstrip("`'\"(")
        if none := _NONE.match(said):
            return self._no_evidence(item, said[none.end() :])
        if found := _ID.match(said) if design else None:
            return "" if found[0] in self._ids else f"{found[0]} is no entry of the plan"
        if found := None if self._of_design else _RUN.match(said):
            return self._run(int(found[1]), said[found.end() :])
        if found := None if self._of_design else _VERIFY.match(said):
            return self._verification(int(found[1] or 1), said[found.end() :])
        if found := _LINE.match(said):
            return self._line(item, found, design=design or self._is_test(item, found[1]))
        named = self._whole_file(item, said) or self._is_quote(item, said)
        return "" if named else self._no_reference(item, said)

    def _no_reference(self, item: Item, said: str) -> str:
        file, colon, _ = said.partition(":")
        if colon and file in self._touched(item):
            return f"the change touches no line of {file} that reads as quoted"
        short = " ".join(said.split())[:_SHOWN_CHARS]
        text = f"{short}…" if len(said) > _SHOWN_CHARS else short
        return f"{item.id} passes a MUST, and its evidence is '{text}', which names none of these"

    def _is_test(self, item: Item, file: str) -> bool:
        """Return whether a file is a test whose lines may show the answer, changed or not."""
        tests = [name for m in self._plan.milestones for name in m.tests.files]
        question = BY_ID.get(item.check)
        return question is not None and question.by_test and is_test(file, tests)

    def _no_evidence(self, item: Item, reason: str) -> str:
        question = BY_ID.get(item.check)
        if question is not None and question.always:
            return f"{item.id} applies to every plan, so `none` is not an answer to it"
        if sum(c.isalpha() for c in reason) < LEAST_REASON:
            return "`none` needs the reason why the question cannot apply"
        return ""

    def _run(self, number: int, came_out: str) -> str:
        """Return why a command that the assistant ran is no evidence, or ''."""
        if number not in self._runs:
            return f"run {number} is none of the commands that ran on these files"
        if (code := self._runs[number]) and str(code) not in came_out:
            return f"run {number} ended with exit {code}, and the evidence does not say so"
        return "" if came_out.strip() else f"it does not say what came out of run {number}"

    def _verification(self, number: int, came_out: str) -> str:
        """Return why what the program ran to verify the change is no evidence, or ''."""
        if number not in self._verified:
            return f"{VERIFY} {number} is none of the commands that verified these files"
        if why := self._verified[number]:
            return f"{VERIFY} {number} {why}, so it shows nothing"
        return "" if came_out.strip() else f"it does not say what came out of {VERIFY} {number}"

    def _line(self, item: Item, found: re.Match[str], *, design: bool) -> str:
        """Return why the lines that a match of _LINE names are no evidence, or ''."""
        file, first = found[1], int(found[2])
        named = range(first, max(first, int(found[3] or 0)) + 1)
        touched = self._touched(item)
        if any(line in touched.get(file, ()) for line in named):
            return ""
        if design and (count := self._lines_at_base(file)) is not None:
            if first >= 1 and named[-1] <= count:
                return ""
            return f"{file} has {count} lines at the base, none is {found[0].rpartition(':')[2]}"
        where = "exists at the base" if self._of_design else "is touched by the change"
        return f"no line {found[0]} {where}"

    def _whole_file(self, item: Item, said: str) -> bool:
        """Return whether a text names a changed file that has no lines, such as an image."""
        return any(said.startswith(f) for f, lines in self._touched(item).items() if not lines)

    def _is_quote(self, item: Item, said: str) -> bool:
        """Return whether a text is a changed file and a whole line that the change touches.

        The semicolon that ends many a line may be missing: it also stands between references.
        """
        return any(
            said.startswith((f"{change.file}:", f"{change.old_file}:"))
            and len(whole := line.text.strip().rstrip(";")) >= LEAST_QUOTE
            and whole in said
            for change in self._changes(item)
            for line in read_patch(change)
            if line.kind in "+-"
        )

    def _allowed(self, item: Item, *, design: bool) -> str:
        """Return what may be named instead, taken from the plan and its changes."""
        ways = []
        if touched := self._touched(item):
            rows = [f"{f}:{_ranges(lines)}" if lines else f for f, lines in touched.items()]
            ways.append(f"a line that the change touches: {'; '.join(first_of(rows, MOST_SHOWN))}")
        good = [f"{VERIFY} {number}" for number, why in self._verified.items() if not why]
        if (self._runs or good) and not self._of_design:
            rows = first_of([*good, *(f"run {number}" for number in self._runs)], MOST_SHOWN)
            ways.append(f"a command that ran on these files ({', '.join(rows)}): what came out")
        if design:
            ids = ", ".join(first_of(sorted(self._ids), MOST_SHOWN))
            ways.append(f"an entry of the plan: {ids}; a line of a file at the base: FILE:LINE")
        if (question := BY_ID.get(item.check)) is None or not question.always:
            ways.append("where it cannot apply: none: REASON")
        return " – or ".join(ways)

    @cached_property
    def _runs(self) -> dict[int, int]:
        """Exit codes of the commands that ran on this change, by number."""
        return {run.number: run.code for run in runs_on_change(self._state.state_dir)}

    @cached_property
    def _verified(self) -> dict[int, str]:
        """Why each verify command's result on this change shows nothing, or '', by number."""
        tree, why = captured_tree(self._state.state_dir), {}
        results = [result for result in self._plan.verify if result.tree == tree]
        for number, result in enumerate(results, start=1):
            blind = result.exercised is False
            unnoticed = "passes with the changed code broken too" if blind else ""
            why[number] = unnoticed if result.outcome == "pass" else "does not pass"
        return why

    @cached_property
    def _ids(self) -> set[str]:
        entities = {e.id for e in entities_of(self._plan)}
        return {"overview", "knowledge", *(t.id for t in self._plan.task_spec), *entities}

    @cached_property
    def _base(self) -> tuple[Objects, Mapping[str, Any]] | None:
        if self._plan.base is None:
            return None
        objects = Objects(*open_repository(self._state))
        return objects, objects.entries(self._plan.base.tree)

    def _lines_at_base(self, file: str) -> int | None:
        """Return how many lines a file has at the base commit; None if there is no such file."""
        if self._base is None or file not in self._base[1]:
            return None
        objects, entries = self._base
        return len(objects.read(entries[file].blob).splitlines())

    def _touched(self, item: Item) -> dict[str, set[int]]:
        """Return by file the lines that the change adds (new number) or removes (old number)."""
        found: dict[str, set[int]] = {}
        for change in self._changes(item):
            lines = read_patch(change)
            found.setdefault(change.file, set()).update(n.new or 0 for n in lines if n.kind == "+")
            before = found.setdefault(change.old_file or change.file, set())
            before.update(n.old or 0 for n in lines if n.kind == "-")
        return found

    def _changes(self, item: Item) -> Iterable[Change]:
        """Return the changes of the milestone that an item is about, or a part of; else all.

        What shows that one file is right is often in another: a test, or what the file runs.
        """
        milestones, owner = self._plan.milestones, owner_of(item.scope, self._plan)
        own = [c for m in milestones if m.id == owner for c in changes_of(m)]
        return own or [c for m in milestones for c in changes_of(m)]


def _parts(item: Item, text: str) -> list[str]:
    """Return the parts of a piece of evidence: one, but for acceptance criteria."""
    parts = _SEPARATOR.split(text) if item.check == CRITERIA else []
    return [part for part in parts if part.strip()] or [text]


def _ranges(numbers: set[int]) -> str:
    """Return line numbers as text, neighbours joined: `3-5,9`."""
    rows: list[list[int]] = []
    for number in sorted(numbers):
        if rows and number == rows[-1][1] + 1:
            rows[-1][1] = number
        else:
            rows.append([number, number])
    return ",".join(f"{a}-{b}" if b > a else f"{a}" for a, b in rows)
