"""Finds acceptance criteria whose evidence does not show what it is named for (RV-7, SD-4)."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from quality_reviewer.checks.meaning import is_prose
from quality_reviewer.citations import read_citation
from quality_reviewer.criteria import judged_criteria
from quality_reviewer.enclosing import around
from quality_reviewer.planned_lines import PlannedLines
from quality_reviewer.quoted import line_quoted
from quality_reviewer.ran import Ran
from quality_reviewer.words import holds_a_name, names_in, words_with_names
from shared.test_files import is_test
from state.milestones import files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shared.run import State
    from state.models import Milestone, Plan

_MOST_WORDS = 90  # characters of a criterion
# What a criterion says that a program does: only a test or a run can show it.
_DOES = re.compile(
    r"\b(?:returns?|raises?|throws?|prints?|exits?|fails?|refuses?|rejects?|accepts?|logs?|writes?"
    r"|reads?|sends?|calls?|yields?|stops?|ignores?|retries|rounds?|parses?|sorts?|skips?|converts?"
    r"|strips?|answers?|deletes?|closes?|opens?|works?|times out|warns?|waits?|responds?"
    r"|(?:is|are) (?:refused|rejected|ignored|raised|returned|printed|logged|accepted|skipped))\b"
)
# `f(1) is 3`, `parse("") == None`, `f(2) gives 4`.
_CALL = re.compile(r"\w\([^()]*\)`? (?:is|==|=|→|->|gives|equals|becomes) ")
_TELLS = re.compile(
    r"\b(?:says?|names?|explains?|describes?|shows?|lists?|documents?|documented|mentions?|has|have"
    r"|contains?|tells?|states?|sections?|headings?|entry|entries|links?|notes?|covers?)\b",
    re.IGNORECASE,
)
# `assert a == a`, `assertEqual(f(1), f(1))`, `assert True`.
_SAME = re.compile(
    r"\bassert\s+(?P<left>[^=!<>]+?)\s*==\s*(?P=left)\s*(?:$|[,#])"
    r"|\bassert\w*\(\s*(?P<one>[^\s].*?)\s*,\s*(?P=one)\s*[,)]"
    r"|\bassert\s+True\b|\bassertTrue\(\s*True\s*[,)]|\bexpect\((?P<got>.+?)\)\.to\w+\(\s*(?P=got)\s*\)"
)
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
        rows = [(text, reader.cited(shown) or together) for text, shown in judged.criteria]
        for text, cited in rows:
            if cited and (why := reader.doubt(milestone, text, cited)):
                yield milestone.id, f"{milestone.id} “{_short(text)}” is claimed: {why}"
        if not together:
            for text, why in reader.shared(rows):
                yield milestone.id, f"{milestone.id} “{_short(text)}” is claimed: {why}"


class _Reader:
    """Reads the evidence of a plan's criteria."""

    def __init__(self, state: State, plan: Plan) -> None:
        self._plan = plan
        self._lines = PlannedLines.of(state, plan)
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
            # Without any tests or runs the summary says so, once.
            could = bool(self._commands) or any(map(self._lines.planned, milestone.tests.files))
            does = could and (_DOES.search(text) or _CALL.search(text))
            return f"no test or run shows it, its evidence is {names}" if does else ""
        doubts = [self._of_other(milestone, one) or self._foreign(text, one) for one in tests]
        return "" if "" in doubts else doubts[0]

    def _of_other(self, milestone: Milestone, one: Cited) -> str:
        """Return that a test which is cited is another milestone's, or compares what is equal."""
        own = {*milestone.tests.files, *files_of(milestone)}
        theirs = [m.id for m in self._plan.milestones if one.file in m.tests.files]
        if own and theirs and one.file not in own:
            return f"{one.name} is a test of {', '.join(theirs)}"
        lines = self._lines.planned(one.file) or []
        line = lines[one.number - 1] if 0 < one.number <= len(lines) else ""
        return f"{one.name} compares a thing with itself" if _SAME.search(line) else ""

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
        names = names_in(text)
        if names and not holds_a_name(names, place.reached):
            listed = ", ".join(sorted(names))
            return f"its test {where} holds nothing of what it names ({listed})"
        wanted, there = words_with_names([text]), words_with_names([one.file, *lines])
        if wanted and not wanted & there:
            return f"its test {where} shares no word with it"
        return ""

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
            if not wanted or near is None or wanted & words_with_names(near):
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
            there, common = (
                words_with_names(around(lines, number).reached),
                words_with_names(texts[:1]),
            )
            for text in texts:
                common &= words_with_names([text])
            for text in texts:
                own = words_with_names([text]) - common
                if own and not own & there:
                    yield text, f"{file}:{number} is named for {len(texts)} criteria, not for this"


def _is_of(one: Cited, documents: list[str]) -> bool:
    """Return whether a line stands in one of some documents, or a run looks into it."""
    if one.kind == "run":
        return any(name.lower() in one.command.lower() for name in documents)
    base = os.path.splitext(os.path.basename(one.file))[0].lower()
    return any(one.file == name or one.file.endswith(f"/{name}") or base == name
               for name in documents)  # fmt: skip


def _short(text: str) -> str:
    return text if len(text) <= _MOST_WORDS else f"{text[:_MOST_WORDS].rstrip()}…"
