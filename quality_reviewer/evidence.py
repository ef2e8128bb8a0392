"""Check that a passed MUST names evidence that exists: an entry of the plan, or a line (RV-1)."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from quality_reviewer.checks.promises import unwritten_documents
from quality_reviewer.citations import lines_named, parts_of, read_citation
from quality_reviewer.enclosing import around
from quality_reviewer.planned_lines import PlannedLines
from quality_reviewer.questions import BY_ID, CRITERIA, FIGURES, TRIED
from quality_reviewer.quoted import is_quote, line_quoted, misread
from quality_reviewer.ran import Ran
from quality_reviewer.scopes import owner_of
from shared.builders import counted, first_of
from shared.place.level import level
from shared.qr.types import MUST, PASS
from shared.steps.slices import entities_of
from shared.test_files import is_test
from state.errors import Problem
from state.milestones import changes_of, docs_of
from state.phases import CODE_PHASES, DOCS_PHASES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from quality_reviewer.citations import Citation
    from quality_reviewer.planned_lines import Lines
    from shared.qr.types import Item
    from shared.run import State
    from state.models import Change, Plan
    from state.phases import Phase

LEAST_REASON = 10  # letters
MOST_SHOWN = 8  # files, or ids
_SHOWN_CHARS = 60
_OF_SEVERAL = (CRITERIA, TRIED)


class Evidence:
    """What reviewers of a phase may name as evidence, read from the plan and its base commit."""

    def __init__(self, state: State, phase: Phase, plan: Plan, *, documented: bool = False) -> None:
        """`documented` says that documentation alone has been written since the phase passed."""
        self.plan = plan
        documented = documented or phase in DOCS_PHASES
        self._state = state
        self._of_design = phase == "plan-design"
        self._of_code = phase in CODE_PHASES and not documented
        self.ran = Ran(state.state_dir, plan, documented=documented)
        self._lines = PlannedLines.of(state, plan)

    def problem(self, item: Item, text: str, at: str) -> Problem | None:
        """Return what is wrong with the evidence for an answer to `item`; None if it is valid.

        Only PASS on a MUST needs any. Other answers may name some, which is not checked.
        """
        if item.severity != MUST or item.status != PASS:
            return None
        parts, due = self.parts(item, text), 1
        if item.check == CRITERIA:
            due = sum(len(m.acceptance_criteria) for m in self.plan.milestones
                      if m.id == item.scope)  # fmt: skip
        elif item.check == TRIED:
            due = len(parts)  # what is tried and does not hold is no explanation
        problems = [self.wrong(item, self.read(item, part)) for part in parts]
        if problems.count("") >= due:
            return None
        few = f"{item.id} is about {due} criteria, and its evidence names {problems.count('')}"
        wrong = next(filter(None, problems), few)
        return Problem("invalid", f"{at}.evidence", wrong, self.allowed(item))

    def in_lines(self, item: Item) -> str | None:
        """Return an item's evidence with a line for each criterion that it shows; else as it is.

        A part that is no reference explains the one before it.
        """
        if item.check not in _OF_SEVERAL or item.evidence is None:
            return item.evidence
        lines: list[str] = []
        for part in self.parts(item, item.evidence):
            named = self.read(item, part)
            if lines and self.wrong(item, named):
                lines[-1] += f"; {part.strip()}"
            else:
                without = f"{lines_named(named)} without: {named.test}"
                lines.append(without if named.test else part.strip())
        return "\n".join(lines)

    def parts(self, item: Item, text: str) -> list[str]:
        """Return the parts of a piece of evidence: one, but for criteria and what was tried."""
        if item.check not in _OF_SEVERAL:
            return [text]
        return parts_of(text, lambda part: self._begins(item, part))

    def _begins(self, item: Item, part: str) -> bool:
        """Return whether a part of evidence names something, and is not about what is named."""
        named = self.read(item, part)
        if named.kind == "line":
            looks_so = "." in named.file or "/" in named.file
            return looks_so or self._lines.planned(named.file) is not None
        return named.kind != "text" or named.file in self._touched(item)

    def read(self, item: Item, text: str) -> Citation:
        """Return what a part of the evidence for an item names."""
        named = read_citation(text, ids=self._takes_ids(item), runs=not self._of_design)
        whole = self._lines.need_none(self._changes(item)) if named.kind == "text" else ()
        files = [f for f in whole if re.match(rf"{re.escape(f)}(?![\w/-]|\.\w)", named.rest)]
        file = max(files, key=len, default="")
        return named._replace(kind="file", name=file, file=file) if file else named

    def wrong(self, item: Item, named: Citation) -> str:
        """Return what is wrong with one thing that a piece of evidence names, or ''."""
        why = self._of_another_kind(item, named)
        match "" if why else named.kind:
            case "" | "file":
                return why
            case "none":
                return self._no_evidence(item, named.rest)
            case "id":
                return self._entry(item, named.name)
            case "run" | "verify":
                problem = self.ran.problem(named)
                is_try = item.check == TRIED and named.kind == "run"
                return self.ran.untried(named) if is_try and not problem else problem
            case "line":
                return self._named_line(item, named)
        quoted = self._is_quote(item, named)
        return self._skipped(named) if quoted else self._no_reference(item, named)

    def _named_line(self, item: Item, named: Citation) -> str:
        problem = self._line(item, named)
        if named.test and not problem:
            return self._not_added(item, named) or self.ran.without(named)
        quoted = problem and self._is_quote(item, named)
        return self._skipped(named) if quoted or not problem else problem

    def _of_another_kind(self, item: Item, named: Citation) -> str:
        """Return why what is named cannot answer a question that asks for a run, or ''."""
        verified = named.kind == "verify" and (item.check == FIGURES or not self.has_place)
        if item.check not in (TRIED, FIGURES) or named.kind in ("run", "none") or verified:
            return ""
        if item.check == FIGURES:
            return f"{item.id} asks for the run that prints the figure, or for a claim less"
        if named.kind == "line" and named.test:
            return ""
        return f"{item.id} asks what was tried, and its evidence names no run and no test"

    @cached_property
    def has_place(self) -> bool:
        """Whether any command can run on the change, so that something can be tried."""
        return level(self._state.run.repository).holds

    def _not_added(self, item: Item, named: Citation) -> str:
        """Return why lines that a test is to fail without are none that the change adds, or ''."""
        texts, now = self._touched(item).get(named.file, {}), self._lines.planned(named.file) or ()
        if any(now[n - 1].strip() in texts[n] for n in named.among(texts) if n <= len(now)):
            return ""
        return f"{named.name} is no line that the change adds, so nothing can be taken out"

    def _skipped(self, named: Citation) -> str:
        """Return why a line of a test shows nothing, since the test is never run; else ''."""
        lines = self._lines.planned(named.file) if self.is_test(named.file) else None
        if not lines:
            return ""
        whole = self._lines.whole(named.file, base=False)
        number = named.first if named.kind == "line" else line_quoted(named, whole)
        if not 0 < number <= len(lines) or not around(lines, number).is_skipped:
            return ""
        return f"{named.file}:{number} stands in a test that is skipped, so it shows nothing"

    def _no_reference(self, item: Item, named: Citation) -> str:
        if named.file != named.rest and named.file in self._touched(item):
            return f"the change touches no line of {named.file} that reads as quoted"
        short = " ".join(named.rest.split())[:_SHOWN_CHARS]
        text = f"{short}…" if len(named.rest) > _SHOWN_CHARS else short
        return f"{item.id} passes a MUST, and its evidence is '{text}', which names none of these"

    def _is_designed(self, item: Item) -> bool:
        """Return whether a question is about the design, whichever phase asks it."""
        question = BY_ID.get(item.check)
        return self._of_design or (question is not None and question.phase == "plan-design")

    def _takes_ids(self, item: Item) -> bool:
        """Return whether an entry of the plan may answer a question.

        Once there is code, a question about the design of a milestone is answered by a line, and a
        criterion by an entry only where that promises documentation which is still to be written.
        """
        if item.check == CRITERIA:
            return bool(self._promised(item))
        if not self._is_designed(item):
            return False
        question = BY_ID.get(item.check)
        return self._of_design or (question is not None and question.per != "milestone")

    def _promised(self, item: Item) -> list[str]:
        """Return the documentation of an item's milestone that is still to be written."""
        own = [m for m in self.plan.milestones if m.id == item.scope]
        return [doc.id for m in own for doc in docs_of(m) if doc.id in self._unwritten]

    @cached_property
    def _unwritten(self) -> set[str]:
        return unwritten_documents(self._state, self.plan) if self._of_code else set()

    def is_test(self, file: str) -> bool:
        """Return whether a file is a test of the plan or by its name."""
        return is_test(file, [name for m in self.plan.milestones for name in m.tests.files])

    def _no_evidence(self, item: Item, reason: str) -> str:
        question = BY_ID.get(item.check)
        always = question is not None and question.always
        if always and (item.check != TRIED or self.has_place):
            return f"{item.id} applies to every plan, so `none` is not an answer to it"
        if sum(c.isalpha() for c in reason) < LEAST_REASON:
            return "`none` needs the reason why the question cannot apply"
        return ""

    def _entry(self, item: Item, name: str) -> str:
        """Return why an entry of the plan is no evidence, or ''."""
        if item.check == CRITERIA:
            is_promised = name in self._promised(item)
            return "" if is_promised else f"{name} is no documentation that is still to be written"
        if name not in self._ids(None):
            return f"{name} is no entry of the plan"
        return "" if name in self._ids(item) else f"{name} is no part of what {item.id} is about"

    def _line(self, item: Item, named: Citation) -> str:
        """Return why lines of a file are no evidence, or ''."""
        file = named.file
        touched = {} if self._may_be_any(item, file) else self._touched(item).get(file, {})
        lines = touched if named.among(touched) else self.lines(item, file)
        if named.among(lines):
            if named.last not in lines and named.last > (end := self._lines.length(file)):
                return f"{file} ends with line {end}, before {named.last}"
            return misread(named, lines, self._lines.whole(file, base=False))
        there = self._whole(file) if self._may_be_any(item, file) else None
        if there is None:
            where = "exists at the base" if self._of_design else "is touched by the change"
            return f"no line {named.name} {where}"
        if named.first >= 1 and named.last <= len(there):
            return f"{named.name} has no words in it, so it shows nothing"
        where = " at the base" if self._lines.at_base(file) == there else " as planned"
        number = named.name.rpartition(":")[2]
        return f"{file} has {counted(len(there), 'line')}{where}, none is {number}"

    def _whole(self, file: str) -> list[str] | None:
        planned = self._lines.planned(file)
        return planned if planned is not None else self._lines.at_base(file)

    def _may_be_any(self, item: Item, file: str) -> bool:
        """Return whether any line of a file may answer a question, changed or not."""
        question = BY_ID.get(item.check)
        by_test = question is not None and question.by_test and self.is_test(file)
        return by_test or self._is_designed(item)

    def lines(self, item: Item, file: str) -> Lines:
        """Return the lines of a file that may answer a question, by number."""
        found = {n: [*texts] for n, texts in self._touched(item).get(file, {}).items()}
        more = [self._lines.moved(c) for c in self._changes(item) if c.file == file]
        if self._may_be_any(item, file):
            more.append(self._lines.whole(file, base=self._is_designed(item)))
        for lines in more:
            for number, texts in lines.items():
                found.setdefault(number, []).extend(texts)
        return found

    def _is_quote(self, item: Item, named: Citation) -> bool:
        return is_quote(named, self.lines(item, named.file))

    def allowed(self, item: Item, within: Callable[[str], bool] = bool) -> str:
        """Return what may be named instead: of the change, lines of files that are `within`."""
        ways, whole = [], self._lines.need_none(self._changes(item))
        if item.check in (TRIED, FIGURES):
            return self._allowed_to_try(item)
        if touched := {f: lines for f, lines in self._touched(item).items() if within(f)}:
            rows = [f if f in whole else f"{f}:{_ranges(lines)}" for f, lines in touched.items()]
            ways.append(f"a line that the change touches: {'; '.join(first_of(rows, MOST_SHOWN))}")
        if (ran := self.ran.names()) and not self._of_design:
            named = ", ".join(first_of(ran, MOST_SHOWN))
            ways.append(f"a command that ran on these files ({named}): what came out")
        if promised := self._promised(item) if item.check == CRITERIA else ():
            ways.append(f"documentation that is still to be written: {', '.join(promised)}")
        if self._is_designed(item):
            ids = ", ".join(first_of(sorted(self._ids(item)), MOST_SHOWN))
            entry = f"an entry of the plan: {ids}; " if self._takes_ids(item) else ""
            ways.append(f"{entry}a line of a file at the base: FILE:LINE")
        if (question := BY_ID.get(item.check)) is None or not question.always:
            ways.append("where it cannot apply: none: REASON")
        return " – or ".join(ways) or "FAIL with what is missing: no part of the change is about it"

    def _allowed_to_try(self, item: Item) -> str:
        """Return what may be named where a run is asked for."""
        names = ", ".join(first_of(self.ran.names(), MOST_SHOWN)) or "none has run yet"
        ran = f"a `tree run` on this change ({names}): what came out"
        if item.check == FIGURES:
            return f"{ran} – or FAIL, and take the claim out"
        return f"{ran}, how many cases – or FILE:LINE without: TEST, of lines that the change adds"

    def _ids(self, item: Item | None) -> set[str]:
        """Return the ids of the plan's entries that a question is about; without one, all.

        One about a milestone is about its parts, and what belongs to no other milestone.
        """
        owner = owner_of(item.scope, self.plan) if item is not None else None
        others = {e.id for m in self.plan.milestones if owner not in (None, m.id)
                  for e in (m, *entities_of(m))}  # fmt: skip
        every = {e.id for e in entities_of(self.plan)}
        return {"overview", "knowledge", *(t.id for t in self.plan.task_spec), *every} - others

    def _touched(self, item: Item) -> dict[str, Lines]:
        """Return by file the lines that the change adds (new number) or removes (old number)."""
        return self._lines.touched(self._changes(item))

    def _changes(self, item: Item) -> Iterable[Change]:
        """Return the changes of the milestone that an item is about, or a part of; else all.

        What shows that one file is right is often in another: a test, or what the file runs.
        """
        milestones, owner = self.plan.milestones, owner_of(item.scope, self.plan)
        own = [c for m in milestones if m.id == owner for c in changes_of(m)]
        return own or [c for m in milestones for c in changes_of(m)]


def _ranges(numbers: Iterable[int]) -> str:
    """Return line numbers as text, neighbours joined: `3-5,9`."""
    rows: list[list[int]] = []
    for number in sorted(numbers):
        if rows and number == rows[-1][1] + 1:
            rows[-1][1] = number
        else:
            rows.append([number, number])
    return ",".join(f"{a}-{b}" if b > a else f"{a}" for a, b in rows)
