"""Finds what a plan's reasons, notes and documents cite that is not there, or is otherwise."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from quality_reviewer.checks.meaning import is_prose
from quality_reviewer.enclosing import is_comment
from quality_reviewer.meanings import spelled_out, words_of_code
from quality_reviewer.named.claims import CLAIMS
from quality_reviewer.named.numbers import numbers_of, same_number
from quality_reviewer.named.things import (
    clauses,
    digits,
    every_thing,
    in_short,
    is_english,
    sentences,
)
from quality_reviewer.words import name_parts, stem, words, words_with_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.named.bearing import Bearing
    from shared.run import State

    Found = Iterator[tuple[str, str]]
    Text = tuple[str, str, str]  # an id, how it is called, and what it says

LINE = re.compile(r"(?<![\w/])([\w./-]*[\w-]\.[A-Za-z]\w{0,4}):(\d{1,6})(?:-(\d{1,6}))?(?![\w.])")
_NODE = re.compile(r"(?<![\w/])([\w./-]+\.[A-Za-z]\w{0,4})(?:::|#)([A-Za-z_]\w+)")
_LINK = re.compile(r"\]\((?!\w+:|#|/|<)([^)\s#?]+)")
_MODULE = re.compile(r"`(?:\w+\.)*(\w+)\.([A-Za-z_]\w{2,})(?:\(\))?`")
_NAME = re.compile(r"`([A-Za-z_]\w{3,})(?:\(\))?`")
IS_NUMBER = re.compile(
    r"`?(?<![\w-])([A-Za-z_][\w-]{2,})\b`?(?: (?:at|in|of) `?[\w./:-]+`?)?,?(?: which)? ?"
    r"(?:is|are|was|=|==|:|of|to|at|stays(?: at)?|remains|defaults to|has the value)"
    r" ?(?:now |only |set to |still |at most )?`?(\d[\d_,]*(?:\.\d+)?)(?![\w.:/-]*\w)"
)
CONSTANT = re.compile(
    r"^\s*(?:export |pub |public |private |static |readonly |final )*(?:const |let |var |val )?"
    r"([A-Za-z_][\w-]*)\s*(?::\s*[\w\[\]. ]+)?\s*:?[=:]\s*(?:\"?\$\{\w+:-)?"
    r"(\d[\d_]*(?:\.\d+)?)\b(?![\w.%]*[\w%(])"
)
_AMOUNT = re.compile(
    r"(?<![\w.#/:_-])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?:[ -]([A-Za-z]+))?(?![\w/:-])"
)
_TICKED = re.compile(r"`([A-Za-z_][\w-]*)(?:\(\))?`")
_TIMES_WORDS = """
ms s sec second seconds minute minutes min hour hours h day days week weeks
"""
_TIMES = frozenset(_TIMES_WORDS.split())
_MEASURES_WORDS = """
max min most least limit size count number num default second minute hour day week ms
milliseconds total seconds minutes hours days bytes kb mb percent value
"""
_MEASURES = frozenset(map(stem, _MEASURES_WORDS.split()))
# Names of constants that are spans of time.
_TIMED = re.compile(
    r"time|ttl|delay|wait|interval|pause|age|expir|retention|period|_m?s$|second|minute|hour|day"
    r"|keep",
    re.IGNORECASE,
)
_COUNTS = re.compile(r"size|limit|max|count|num|per_|cap", re.IGNORECASE)
_WAS = re.compile(r"\b(?:was|were|from|before|today|old|currently|until now|used to|instead"
                  r"|would|could|if|e\.g|example|not|never|no)\b|n't\b", re.IGNORECASE)  # fmt: skip
_BESIDE = 2  # lines above and below one that is named
_LEAST_PART = 3  # letters of a name


def cited(_state: State, bearing: Bearing) -> Found:
    """Yield each citation of a line, file or name that is not there, or says something else."""
    reasons = [*_reasons(bearing)]
    named = {m[1] for *_, text in reasons for m in (*LINE.finditer(text), *_NODE.finditer(text))}
    bearing.lines.hold([file for one in named if (file := _file(one, bearing))])
    for name, shown, text in reasons:
        for sentence in _sentences(text):
            for why in (*_lines(sentence, bearing), *_paths(sentence, bearing),
                        *_names(sentence, bearing)):  # fmt: skip
                yield name, f"{shown} {why}"


def measures(_state: State, bearing: Bearing) -> Found:
    """Yield each figure that is said of a constant of the touched code and is another one there."""
    known: dict[str, list[tuple[str, str]]] = {}
    for file in sorted(p for p in bearing.paths if bearing.is_program(p)):
        for number, line in enumerate(bearing.lines.planned(file) or (), 1):
            if match := CONSTANT.match(line):
                known.setdefault(match[1], []).append((digits(match[2]), f"{file}:{number}"))
    for name, shown, text in [*_reasons(bearing), *_written(bearing)]:
        for sentence in map(spelled_out, _sentences(text)):
            why = _stated(sentence, known) or _by_words(sentence, known, bearing)
            if why := why or _near_name(sentence, bearing):
                yield name, f"{shown} says {why}"


def links(_state: State, bearing: Bearing) -> Found:
    """Yield each link of a document that the change adds and that leads to no file."""
    names = {*bearing.lines.files_at_base(), *bearing.paths}
    for change in bearing.changes:
        folder = posixpath.dirname(change.file)
        for _, line in bearing.numbered(change) if is_prose(change.file) else ():
            for target in _LINK.findall(re.sub(r"`[^`]*`", "", line)):
                path = posixpath.normpath(posixpath.join(folder, target))
                is_there = path in names or any(n.startswith(f"{path}/") for n in names)
                if not is_there and "." in posixpath.basename(path) and not path.startswith(".."):
                    yield change.id, f"{change.file} links to {target}, which is not there"


def _reasons(bearing: Bearing) -> Iterator[Text]:
    plan = bearing.plan
    for one in plan.planning_context.decision_log:
        yield one.id, one.id, f"{one.decision}\n{one.reasoning_chain.replace('->', chr(10))}"
    for text in (*plan.context.current_understanding, *plan.context.invisible_knowledge):
        yield "context", f"the context ({in_short(text)!r})", text
    for risk in plan.planning_context.known_risks:
        yield risk.id, risk.id, f"{risk.risk}\n{risk.mitigation}"
    for rule in plan.invisible_knowledge.invariants:
        text = rule if isinstance(rule, str) else rule.text
        yield "knowledge", f"the invariant {in_short(text)!r}", text
    yield "overview", "the overview", f"{plan.overview.approach}"
    for milestone in plan.milestones:
        for intent in milestone.code_intents:
            yield intent.id, intent.id, intent.behavior


def _written(bearing: Bearing) -> Iterator[Text]:
    """Yield what the change says in documents and in comments."""
    for change in bearing.changes:
        for number, line in bearing.numbered(change):
            if is_prose(change.file) or is_comment(line):
                yield change.id, f"{change.file}:{number}", line


def _sentences(text: str) -> list[str]:
    return [s for part in text.split("\n") for s in sentences(part)]


def _lines(sentence: str, bearing: Bearing) -> Iterator[str]:
    for match in LINE.finditer(sentence):
        file = _file(match[1], bearing)
        if not file:
            continue
        first, last = int(match[2]), int(match[3] or match[2])
        versions = [v for v in (bearing.lines.planned(file), bearing.lines.at_base(file)) if v]
        most = max(map(len, versions), default=0)
        if last > most:
            yield f"cites {match[0]}, and that file has {most} lines"
            continue
        near = "\n".join(
            t for v in versions for t in v[max(first - 1 - _BESIDE, 0) : last + _BESIDE]
        )
        rest = sentence.replace(match[0], " ")
        wanted = words(rest) - words(file)
        named = [t for t in every_thing(rest, bearing.files) if t.kind == "identifier"]
        holds = any(re.search(rf"\b{re.escape(t.forms[0])}\b", near) for t in named)
        if named and not holds and not wanted & words_of_code(near):
            yield f"cites {match[0]}, where {named[0].shown} does not stand"
        elif (
            not named and len(wanted) > 1 and not wanted & words_of_code(near) and is_english(rest)
        ):
            yield f"cites {match[0]}, which says nothing of it ({in_short(rest)!r})"


def _paths(sentence: str, bearing: Bearing) -> Iterator[str]:
    for match in _NODE.finditer(sentence):
        file = _file(match[1], bearing)
        text = "\n".join(bearing.lines.planned(file) or ()) if file else ""
        if text and not re.search(rf"\b{re.escape(match[2])}\b", text):
            yield f"cites {match[0]}, and {file} has no {match[2]}"
    for clause in clauses(sentence):
        for thing in every_thing(clause, bearing.files):
            if (
                thing.kind == "path"
                and "/" in thing.forms[0]
                and not bearing.files.holds(thing.forms[0])
            ):
                yield f"names {thing.shown}, which is not there"


def _file(name: str, bearing: Bearing) -> str:
    """Return the one path that a text calls so; '' where there is none, or several."""
    found = bearing.files.by_name.get(name.rpartition("/")[2], ())
    paths = [path for path in found if f"/{path}".endswith(f"/{name.removeprefix('./')}")]
    return paths[0] if len(paths) == 1 else ""


def _names(sentence: str, bearing: Bearing) -> Iterator[str]:
    """Yield names of a touched module that it has not, and those like one of the touched files."""
    if _WAS.search(sentence):
        return
    for match in _MODULE.finditer(sentence):
        own = [p for p in bearing.paths if posixpath.basename(p).partition(".")[0] == match[1]]
        texts = ["\n".join([*(bearing.lines.planned(p) or ()), *(bearing.lines.at_base(p) or ())])
                 for p in own]  # fmt: skip
        if texts and not any(re.search(rf"\b{match[2]}\b", text) for text in texts):
            yield f"names {match[0]}, and {own[0]} has no {match[2]}"
    known, parts = bearing.names
    for match in _NAME.finditer(sentence):
        name, own_parts = match[1], name_parts(match[1])
        is_gone = name.casefold().replace("_", "") not in known
        if is_gone and len(own_parts) > 1 and own_parts & parts and not bearing.files.holds(name):
            yield f"names `{name}`, which no touched file holds"


def _stated(sentence: str, known: dict[str, list[tuple[str, str]]]) -> str:
    """Return that a constant named in a sentence has another value than the sentence says."""
    for match in IS_NUMBER.finditer(sentence):
        found, said = known.get(match[1], []), digits(match[2])
        if found and all(said not in same_number(value) for value, _ in found):
            return f"that {match[1]} is {match[2]}, and it is {found[0][0]} at {found[0][1]}"
    return ""


def _by_words(sentence: str, known: dict[str, list[tuple[str, str]]], bearing: Bearing) -> str:
    """Return the same of a constant that a sentence has in words: `the timeout is 60 seconds`."""
    if _WAS.search(sentence):
        return ""
    said = words(sentence)
    for match in _AMOUNT.finditer(sentence):
        number, noun = digits(match[1]), (match[2] or "").lower()
        values = same_number(number, noun) if noun in _TIMES else {number}
        if not values.isdisjoint(numbers_of(bearing.programs)):
            continue
        for name, found in known.items():
            core = {w for w in words_with_names([name]) if len(w) > 1} - _MEASURES
            is_time = noun in _TIMES and _TIMED.search(name) is not None
            is_count = noun and noun not in _TIMES and _COUNTS.search(name) is not None
            about = core and core <= said and (words(noun) & core or is_time or is_count)
            if about and all(values.isdisjoint({value}) for value, _ in found):
                return f"{in_short(sentence)!r}, and {name} is {found[0][0]} at {found[0][1]}"
    return ""


def _near_name(sentence: str, bearing: Bearing) -> str:
    """Return that a number beside a name in backticks is not the one beside it in the code."""
    names = [name for name in _TICKED.findall(sentence) if len(name) >= _LEAST_PART]
    said = [
        m
        for m in _AMOUNT.finditer(_TICKED.sub(" ", sentence))
        if m[2] and (len(m[1]) > 1 or m[2] in _TIMES)
    ]
    if len(names) != 1 or len(said) != 1 or _WAS.search(sentence) or CLAIMS.search(sentence):
        return ""
    rows = [(f, n, t) for f in sorted(p for p in bearing.paths if bearing.is_program(p))
            for n, t in enumerate(bearing.lines.planned(f) or (), 1)]  # fmt: skip
    at = [n for n, row in enumerate(rows) if re.search(rf"(?<!\w){re.escape(names[0])}\b", row[2])]
    own = [row for n in at for row in rows[n : n + 1 + _BESIDE] if row[0] == rows[n][0]]
    there = {one for *_, line in own for one in numbers_of(line)}
    scaled = same_number(digits(said[0][1]), said[0][2])
    if (
        not there
        or not scaled.isdisjoint(there)
        or not scaled.isdisjoint(numbers_of(bearing.programs))
    ):
        return ""
    file, number, line = next(row for row in own if numbers_of(row[2]) & there)
    return f"{said[0][0]} of `{names[0]}`, and {file}:{number} has {in_short(line.strip())}"
