"""Finds what is to be gone, or never to be there, and stands in the code after the change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.meanings import words_of_code
from quality_reviewer.named.said import statements
from quality_reviewer.named.things import every_thing, in_short
from quality_reviewer.word_tables import patterns
from quality_reviewer.words import stem, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.named.bearing import Bearing
    from quality_reviewer.named.things import Thing
    from shared.run import State

    Found = Iterator[tuple[str, str]]
    Row = tuple[str, int, str]

_PARTS = re.compile(
    r"(?<=[.;!?])\s+|\n+|,? \b(?:and|but|then|so that|because|since|while)\b (?!the\b)"
)
GONE = re.compile(
    r"\b(?:remove|drop|take (?:out|away)|get rid of|strip out|eliminate|rip out"
    r"|retire)\b(?P<after>.*)"
    r"|\btake (?P<between>.{3,60}?) out\b"
    r"|(?P<before>.{3,60}?)\b(?:is|are) (?:gone|removed|dropped|no longer \w+)\b"
    r"|\b(?:instead of|in place of|rather than)\b(?P<instead>[^,;.]*)"
    r"|\b(?:replace|rename|swap)s?\b (?P<old>.*?) (?:with|by|to|for|into)\b", re.IGNORECASE,
)  # fmt: skip
EXCHANGE = re.compile(
    r"([`'\"]?[\w-]{2,}[`'\"]?),? (?:instead of|rather than|and not|in place of|not)"
    r" (?:an? |the )?([`'\"]?[\w-]{2,}[`'\"]?)(?=[,.;:]|$| (?:for|in|when|if|as"
    r"|where)\b)", re.IGNORECASE,
)  # fmt: skip
_RENAMES = re.compile(r"\brename `?(\w+)`? (?:to|as|into) `?(\w+)`?", re.IGNORECASE)
_NEVER = re.compile(
    r"\b(?:never|do(?:es)? not|don't|must not|may not|without|no(?:thing)?|avoid|free of)\b"
    r"(?P<after>[^,;.]*)", re.IGNORECASE,
)  # fmt: skip
_KEPT = re.compile(
    r"\b(?:alias|compat\w*|deprecat\w*|old name|still works?|keep|keeps|stays?|unless|except|until"
    r"|if|when|where|only|other|twice|again|before|after|than|longer|yet)\b", re.IGNORECASE,
)  # fmt: skip
# What code is made of, by which a thing without a name is known to be a piece of code.
_PIECES_WORDS = """
line call loop parameter flag option import dependency branch check warning message statement
print cache lock default column field heading section key setting argument method function class
constant comment retry sleep limit timeout step service image container job wrapper
"""
_PIECES = frozenset(map(stem, _PIECES_WORDS.split()))
# What is never to be there, in words and in code.
_BARRED = patterns(r"""
log|logs|logged|logging = \blog(?:ger|ging)?\.\w+\(|console\.\w+\(|\bslog\.|\blogging\b
print|prints|printed|printing = \bprint\(|fmt\.Print|console\.log\(|\becho\b
sleep|sleeps|sleeping|wait|waits|waiting|pause|pauses = \bsleep\(|time\.Sleep\(|setTimeout\(
  |^\s*sleep \d
floats?|floating[ -]point = \bfloat\(|: float\b|parseFloat|\bREAL\b|float64|\bfloat\b
reg(?:ular expressions?|ex(?:es|p)?) = \bre\.\w+\(|RegExp|regexp\.|=~
global (?:state|variables?)|globals? = ^\s*global \w
shell = shell ?= ?True|os\.system\(
eval = \beval\(
threads?|threading = \bThread\(|ThreadPool|threading\.
bare except|catch[- ]all|swallow\w* = except\s*:|except (?:Base)?Exception\b[^\n]*:?\s*$|catch
   ?(?:\(\w+\))? ?\{\s*\}
select \*|star select = (?i)select \*
todos? = \bTODO\b
subprocess\w*|other process\w* = subprocess\.|exec\.Command|child_process
network|requests?|http calls? = \brequests\.\w+\(|urlopen\(|\bfetch\(\"http|http\.Get\(
mutat\w+|in place|change the input|modif\w+ the (?:input|list|argument) = ^\s*(?:return
   )?(?:items|rows|values|list|data|input)\.(?:sort|push|append|pop|splice|reverse)\(
any types?|`any` = :\s*any\b|<any>|as any\b
panics? = \bpanic\(
sudo|root = \bsudo\b|user: root
latest(?: tag| image)? = :latest\b
cascad\w+ = CASCADE
inline styles? = style=\{?[\"{]
""")  # fmt: skip
_GENERIC = frozenset(
    stem(word)
    for word in ["code", "line", "call", "file", "thing", "part", "way", "time", "old", "new"]
)


def taken_out(_state: State, bearing: Bearing) -> Found:
    """Yield each statement of what is to be gone, or never to be there, that still is."""
    if not bearing.is_whole:
        return
    said = [*statements(bearing.plan)]
    said += [(m.id, text, "") for m in bearing.plan.milestones for text in m.acceptance_criteria]
    for name, text, _ in said:
        for part in filter(str.strip, _PARTS.split(text)):
            why = _still_there(part, name, bearing) or _barred(part, bearing)
            if why := why or _exchanged(part, bearing):
                yield name, f"{name} says {in_short(part)!r}, and {why}"
                break


def _still_there(part: str, name: str, bearing: Bearing) -> str:
    match = GONE.search(part)
    if match is None or _KEPT.search(re.sub(r"no longer", "", part)):
        return ""
    what = next(filter(None, match.groups()), "")
    rows = _present(bearing)
    things = [t for t in every_thing(what, bearing.files)
              if t.kind in ("identifier", "quote", "option", "path")]  # fmt: skip
    for thing in things:
        if found := next((r for r in rows if _stands_in(r, thing)), None):
            return f"{found[0]}:{found[1]} still has {thing.shown}"
        if thing.kind == "path" and thing.forms[0] in bearing.lines.files_at_base() \
                and bearing.lines.planned(thing.forms[0]) is not None:  # fmt: skip
            return f"{thing.shown} is still there"
    wanted = words(what)
    by_words = match["instead"] is None and match["old"] is None
    is_piece = bool(wanted & _PIECES) and name.startswith("RM-") and by_words
    own = wanted - _GENERIC - (_PIECES if len(wanted - _PIECES) else set())
    for file, number, line in bearing.added_rows if is_piece and not things and own else ():
        if own <= words_of_code(line) and not re.match(r"\s*(?:#|//|--|/?\*)", line):
            return f"{file}:{number} still has it ({in_short(line.strip())})"
    return ""


def _stands_in(row: Row, thing: Thing) -> bool:
    form = thing.forms[0]
    if thing.kind == "identifier":
        return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", row[2]) is not None
    return form in row[2]


def _present(bearing: Bearing) -> list[Row]:
    """Return the lines of the touched code as planned, without comments, tests and documents."""
    names = sorted(p for p in bearing.paths if bearing.is_program(p))
    return [(file, n, line) for file in names for n, line in
            enumerate(bearing.lines.planned(file) or (), 1)
            if not re.match(r"\s*(?:#|//|--|/?\*)", line)]  # fmt: skip


def _barred(part: str, bearing: Bearing) -> str:
    """Return that the change adds what is never to be there, or ''."""
    match = _NEVER.search(part)
    if match is None or _KEPT.search(part):
        return ""
    after = match["after"]
    if re.match(r"\s*(?:is|are|gets?)\b", after) is None and match[0].lower().startswith("nothing"):
        return ""
    rows = [row for row in bearing.added_rows if not re.match(r"\s*(?:#(?!!)|//|--|/?\*)", row[2])]
    for said, code in _BARRED:
        if said.search(" ".join(after.split()[:5])):
            if found := next((r for r in rows if code.search(r[2])), None):
                return f"{found[0]}:{found[1]} does ({in_short(found[2].strip())})"
            return ""
    things = [t for t in every_thing(after, bearing.files) if t.kind == "identifier"]
    is_call = re.match(r"\s*(?:call|use|import|touch|need)\w*\b|\s*`", after)
    for thing in things if is_call else ():
        if found := next((r for r in rows if _stands_in(r, thing)), None):
            return f"{found[0]}:{found[1]} has {thing.shown}"
    return ""


def _exchanged(part: str, bearing: Bearing) -> str:
    """Return that of `X instead of Y` the code has Y and no X, or ''."""
    pairs = [match.groups() for match in EXCHANGE.finditer(part)]
    pairs += [(new, old) for old, new in _RENAMES.findall(part)]
    for pair in pairs:
        new, old = (one.strip("`'\"") for one in pair)
        text = bearing.programs
        known = words_of_code(text)
        has = [re.search(rf"(?<![\w.]){re.escape(one)}(?!\w)", text, re.IGNORECASE) is not None
               for one in (new, old)]  # fmt: skip
        has = [one or bool(words(name) & known) for one, name in zip(has, (new, old), strict=True)]
        if has == [False, True]:
            return f"the change has {old}, and no {new}"
    return ""
