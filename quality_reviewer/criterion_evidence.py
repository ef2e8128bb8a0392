"""Finds acceptance criteria whose evidence does not show what it is named for (RV-7, SD-4)."""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.checks.meaning import is_prose
from quality_reviewer.citations import read_citation
from quality_reviewer.criteria import judged_criteria
from quality_reviewer.enclosing import around, names_by_line
from quality_reviewer.idle_lines import why_idle
from quality_reviewer.meanings import meant
from quality_reviewer.named.things import acronyms
from quality_reviewer.planned_lines import PlannedLines
from quality_reviewer.python_tests import NOTHING_ASSERTED
from quality_reviewer.quoted import line_quoted
from quality_reviewer.ran import Ran
from quality_reviewer.words import holds_a_name, names_in, words_with_names
from shared.patch import read_patch
from shared.test_files import is_test
from state.changes import plan_changes
from state.milestones import files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from quality_reviewer.enclosing import Around
    from shared.run import State
    from state.models import Milestone, Plan

_FEW = 2  # criteria that one line may well show
_MOST_WORDS = 90  # characters of a criterion
# What a criterion says that a program does: only a test or a run can show it.
_DOES = re.compile(
    r"\b(?:returns?|raises?|throws?|prints?|exits?|fails?|refuses?|rejects?|accepts?|logs?|writes?"
    r"|reads?|sends?|calls?|yields?|stops?|ignores?|retries|rounds?|parses?|sorts?|skips?|converts?"
    r"|strips?|answers?|deletes?|closes?|opens?|works?|times out|warns?|waits?|responds?"
    r"|(?:is|are) (?:refused|rejected|ignored|raised|returned|printed|logged|accepted|skipped))\b"
)
# The same said of what is done to a thing; a line of code may show it, in its words.
_IS_DONE = re.compile(
    r"\b(?:is|are|gets?) (?:not |never |always |only |then )?(?:\w+ed|cut|kept|sent|found|left"
    r"|put|tried)\b"
    r"|\b(?:comes?|gives? up|survives?|stays?) \b"
)
# `f(1) is 3`, `parse("") == None`, `f(2) gives 4`.
_CALL = re.compile(r"\w\([^()]*\)`? (?:is|==|=|→|->|gives|equals|becomes) ")
_TELLS = re.compile(
    r"\b(?:says?|names?|explains?|describes?|shows?|lists?|documents?|documented|mentions?|has|have"
    r"|contains?|tells?|states?|sections?|headings?|entry|entries|links?|notes?|covers?)\b",
    re.IGNORECASE,
)
# What a test shows that asserts nothing: it has come to its end.
_GOES_ON = re.compile(
    r"\b(?:not?|nothing|never|without|works?|accepts?|runs?|starts?|loads?|imports?|succeeds?"
    r"|passes"
    r"|parses|compiles)\b", re.IGNORECASE,
)  # fmt: skip
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]+|(?<![\w/])/[a-z][\w/-]+")
_SHARE = re.compile(r"(\d[\d.]*) ?(?:%|percent)")
_DEFINES = re.compile(
    r"\s*(?:export |pub |async |default )*(?:def|class|func|fn|function|type|interface|struct"
    r"|const|enum"
    r"|CREATE TABLE(?: IF NOT EXISTS)?)\s+(?:\([^)]*\) )?(\w+)", re.IGNORECASE,
)  # fmt: skip
_PATH = re.compile(r"[\w./-]+\.(?:md|markdown|rst|adoc)\b", re.IGNORECASE)
_ALWAYS = ("readme", "changelog", "contributing")


class Cited(NamedTuple):
    """One thing that the evidence of a criterion names."""

    # `line` or `run`.
    kind: str
    # As the evidence names it.
    name: str
    file: str = ""
    # Of a line; 0 where it is not known.
    number: int = 0
    # What a run called.
    command: str = ""


def claimed_criteria(state: State, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield each criterion whose evidence does not bear it, by its milestone, with why."""
    reader = _Reader(state, plan)
    for milestone in plan.milestones:
        judged = judged_criteria(plan, milestone)
        together = reader.cited(judged.together)
        doubted: set[str] = set()
        rows = [(text, reader.cited(shown) or together) for text, shown in judged.criteria]
        for text, cited in rows:
            if cited and (why := reader.doubt(milestone, text, cited)):
                doubted.add(text)
                yield milestone.id, f"{milestone.id} “{_short(text)}” is claimed: {why}"
        for text, why in () if together else reader.shared(rows):
            if text not in doubted:
                yield milestone.id, f"{milestone.id} “{_short(text)}” is claimed: {why}"


class _Reader:
    """Reads the evidence of a plan's criteria."""

    def __init__(self, state: State, plan: Plan) -> None:
        self._plan = plan
        self._lines = PlannedLines.of(state, plan)
        self._started = [result.command for result in plan.verify]
        self._commands = Ran(state.state_dir, plan, documented=True).came_out()
        self._tests = [name for m in plan.milestones for name in m.tests.files]
        self._files = {name for m in plan.milestones for name in files_of(m)}

    def cited(self, evidence: str) -> list[Cited]:
        """Return what a piece of evidence names, as far as a program can tell."""
        found = []
        for part in filter(str.strip, re.split(r"[;\n]", evidence)):
            named = read_citation(part, ids=True, runs=True)
            if named.kind in ("run", "verify"):
                command = self._commands.get(named.name, "")
                found.append(Cited("run", named.name, command=command))
            elif named.kind == "line" and self._lines.length(named.file):
                found.append(Cited("line", named.name, named.file, named.first))
            elif named.kind == "text" and named.file in self._files:
                number = line_quoted(named, self._lines.whole(named.file, base=False))
                found.append(Cited("line", named.file, named.file, number))
            elif named.kind == "id" and not found:
                return []  # documentation that was still to be written is judged by its own check
        return found

    def doubt(self, milestone: Milestone, text: str, cited: list[Cited]) -> str:
        """Return why evidence does not show a criterion, or ''."""
        if documents := self._documents(milestone, text):
            return self._not_in_document(text, documents, cited)
        runs = [one for one in cited if one.kind == "run"]
        tests = [one for one in cited if is_test(one.file, self._tests)]
        names = ", ".join(dict.fromkeys(one.name for one in cited))
        if runs:
            return ""
        if not [one for one in tests if not self._is_comment(one)]:
            is_done = _IS_DONE.search(text) and not self._says_it(text, cited)
            does = _DOES.search(text) or _CALL.search(text) or is_done
            return f"no test or run shows it, its evidence is {names}" if does else ""
        doubts = [self._of_other(milestone, text, one) or self._foreign(text, one) for one in tests]
        return "" if "" in doubts else doubts[0]

    def _says_it(self, text: str, cited: Iterable[Cited]) -> bool:
        """Return whether lines of code that are cited hold half of a criterion's words."""
        wanted = words_with_names([text])
        rows = [(one.number, self._lines.planned(one.file) or []) for one in cited]
        near = [line for at, lines in rows for line in lines[max(at - 2, 0) : at + 1]]
        return len(wanted & (words_with_names(near) | meant("\n".join(near)))) * 2 >= len(wanted)

    def _of_other(self, milestone: Milestone, text: str, one: Cited) -> str:
        """Return that a test which is cited is another milestone's, or shows nothing."""
        own = {*milestone.tests.files, *files_of(milestone)}
        theirs = [m.id for m in self._plan.milestones if one.file in m.tests.files]
        if own and theirs and one.file not in own:
            return f"{one.name} is a test of {', '.join(theirs)}"
        why = why_idle(one.file, self._lines.planned(one.file) or (), one.number, self._started)
        if why.endswith(NOTHING_ASSERTED) and _GOES_ON.search(text):
            return ""
        return why and f"{one.name} {why}"

    def _is_comment(self, one: Cited) -> bool:
        lines = self._lines.planned(one.file) or []
        return 0 < one.number <= len(lines) and around(lines, one.number).is_comment

    def _foreign(self, text: str, one: Cited) -> str:
        """Return why a line of a test is about something else than a criterion, or ''."""
        lines = self._lines.planned(one.file) or []
        if not 0 < one.number <= len(lines):
            return ""
        place = around(lines, one.number)
        where = f"{one.name} ({place.name})" if place.name else one.name
        why = next(self._lacks(text, one.file, place), "")
        return why and f"its test {where} {why}"

    def _lacks(self, text: str, file: str, place: Around) -> Iterator[str]:
        """Yield what a test lacks of what a criterion says."""
        here = "\n".join(place.reached)
        names = names_in(text) | {*_OPTION.findall(text)}
        if any(share in here for share in _SHARE.findall(text)):
            return  # 119 is what 19 percent lead to
        if names and not holds_a_name(names, place.reached):
            yield f"holds nothing of what it names ({', '.join(sorted(names))})"
        if gone := sorted(n for n in acronyms(text) if n.casefold() not in here.casefold()):
            yield f"holds nothing of what it names ({', '.join(gone)})"
        wanted, there = words_with_names([text]), words_with_names([file, here]) | meant(here)
        if names or not wanted:
            return
        if not wanted & there:
            yield "shares no word with it"
        lost = wanted - there
        is_other = len(lost) > 1 and lost & words_with_names(self._changed)
        if (
            is_other
            and len(lost) * 2 >= len(wanted)
            and (lost & self._defined or self._is_nearer(wanted, lost, place.name))
        ):
            yield f"says nothing of {', '.join(_as_said(text, lost))}"

    @cached_property
    def _defined(self) -> set[str]:
        """The words of what the touched code defines: functions, types, tables, constants."""
        names = sorted({c.file for c in plan_changes(self._plan)})
        own = filter(self._is_program, names)
        lines = (line for name in own for line in self._lines.planned(name) or ())
        return words_with_names(m[1] for m in map(_DEFINES.match, lines) if m)

    def _is_nearer(self, wanted: set[str], lost: set[str], name: str) -> bool:
        """Return whether another test of the plan holds clearly more of some words."""
        found = len(wanted) - len(lost)
        for file in self._tests:
            blocks: dict[str, list[str]] = {}
            lines = self._lines.planned(file) or []
            for head, line in zip(names_by_line(lines), lines, strict=True):
                blocks.setdefault(head, []).append(line)
            for head, block in blocks.items():
                there = words_with_names(block) | meant("\n".join(block))
                if head not in ("", name) and len(wanted & there) > found + 1:
                    return True
        return False

    @cached_property
    def _changed(self) -> list[str]:
        """The lines that the plan adds to what is no test and no document."""
        changes = [c for c in plan_changes(self._plan) if self._is_program(c.file)]
        return [n.text for c in changes for n in read_patch(c) if n.kind == "+"]

    def _is_program(self, file: str) -> bool:
        return not (is_test(file, self._tests) or is_prose(file))

    def _documents(self, milestone: Milestone, text: str) -> list[str]:
        """Return the documents whose words a criterion is about; [] if it is about none."""
        prose = sorted(name for name in self._files if is_prose(name))
        if paths := _PATH.findall(text):
            return [*paths] if _TELLS.search(text) else []
        own = sorted(files_of(milestone))
        alone = bool(own) and all(map(is_prose, own))
        if not alone and not _TELLS.search(text):
            return []
        stems = {name: os.path.splitext(os.path.basename(name))[0].lower() for name in prose}
        for stem in _ALWAYS:
            if re.search(rf"\b{stem}\b", text, re.IGNORECASE) and stem not in stems.values():
                return [stem]
        found = [
            name
            for name, stem in stems.items()
            if re.search(rf"\bthe {re.escape(stem)}\b", text, re.IGNORECASE)
            or (stem in _ALWAYS and re.search(rf"\b{stem}\b", text, re.IGNORECASE))
        ]
        return found or (own if alone else [])

    def _not_in_document(self, text: str, documents: list[str], cited: list[Cited]) -> str:
        own = [one for one in cited if _is_of(one, documents)]
        if not own:
            names = ", ".join(dict.fromkeys(one.name for one in cited))
            return f"no line of {', '.join(documents)} shows it, its evidence is {names}"
        aside = [os.path.splitext(os.path.basename(name))[0] for name in documents]
        wanted = words_with_names([_TELLS.sub(" ", _PATH.sub(" ", text))]) - words_with_names(aside)
        for one in own:
            near = self._near(one)
            if not wanted or near is None:
                return ""
            if wanted & (words_with_names(near) | meant("\n".join(near))):
                return ""
        return f"{own[0].name} shares no word with it"

    def _near(self, one: Cited) -> list[str] | None:
        """Return the paragraph that a line of a document stands in; None if it is not known."""
        lines = self._lines.planned(one.file) or []
        if not 0 < one.number <= len(lines):
            return None
        first, last = one.number - 1, one.number
        while first and lines[first - 1].strip():
            first -= 1
        while last < len(lines) and lines[last].strip():
            last += 1
        return [*lines[first:last]]

    def shared(self, rows: Iterable[tuple[str, list[Cited]]]) -> Iterator[tuple[str, str]]:
        """Yield each criterion that only a line shows that others name too, if it is not theirs."""
        by_line: dict[tuple[str, int], list[str]] = {}
        for text, cited in rows:
            if len(cited) == 1 and cited[0].number:
                by_line.setdefault((cited[0].file, cited[0].number), []).append(text)
        for (file, number), texts in by_line.items():
            lines = self._lines.planned(file) or []
            if len(texts) == 1 or number > len(lines):
                continue
            place = around(lines, number)
            there = words_with_names(place.reached) | meant("\n".join(place.reached))
            common = set.intersection(*(words_with_names([text]) for text in texts))
            for text in texts:
                wanted = words_with_names([text])
                own, lost = wanted - common, wanted - there
                is_far = len(texts) > _FEW or self._is_nearer(wanted, lost, place.name)
                if own and own <= lost and is_far:
                    yield text, f"{file}:{number} is named for {len(texts)} criteria, not for this"


def _is_of(one: Cited, documents: list[str]) -> bool:
    """Return whether a line stands in one of some documents, or a run looks into it."""
    if one.kind == "run":
        return any(name.lower() in one.command.lower() for name in documents)
    base = os.path.splitext(os.path.basename(one.file))[0].lower()
    return any(one.file == name or one.file.endswith(f"/{name}") or base == name
               for name in documents)  # fmt: skip


def _as_said(text: str, stems: set[str]) -> list[str]:
    """Return the words of a text that have some stems, each once."""
    found = (word for word in re.findall(r"[A-Za-z]+", text) if words_with_names([word]) & stems)
    return [*dict.fromkeys(found)]


def _short(text: str) -> str:
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS].rstrip()}…"
