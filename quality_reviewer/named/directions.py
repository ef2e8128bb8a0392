"""Finds what is said of an order, a direction or a default, and is otherwise in the code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.meanings import spelled_out
from quality_reviewer.named.said import statements
from quality_reviewer.named.things import in_short
from quality_reviewer.words import words, words_with_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.named.bearing import Bearing
    from shared.run import State

    Found = Iterator[tuple[str, str]]

_HIGH = (r"newest|latest|most recent|largest|highest|biggest|longest|dearest|greatest|best"
         r"|most \w+|last modified")  # fmt: skip
_LOW = r"oldest|earliest|smallest|lowest|cheapest|shortest|least \w+|fewest|worst"
_FIRST = r"(?: \w+){0,3}? (?:come[s]? |go(?:es)? |is |are |stands? )?(?:first|on top|at the top)\b"
_DESCENDING = re.compile(
    rf"\b(?:{_HIGH}){_FIRST}|\bdescending\b|\breverse (?:chrono|alpha|order)|\b(?:{_LOW})"
    r"(?: \w+){0,3}? last\b|\bhigh(?:est)? to low|\bnew(?:est)? to old", re.IGNORECASE,
)  # fmt: skip
_ASCENDING = re.compile(
    rf"\b(?:{_LOW}){_FIRST}|\bascending\b|(?<!reverse )\b(?:alphabetical|chronological)(?:ly)?\b"
    rf"|\b(?:{_HIGH})(?: \w+){{0,3}}? last\b|\blow(?:est)? to high|\bold(?:est)? to new",
    re.IGNORECASE,
)  # fmt: skip
_SORTS_DOWN = re.compile(
    r"\bDESC\b|reverse ?= ?True|\.reverse\(\)|\breversed\(|\bb(?:\.\w+|\[\w+\])+ ?- ?a[.\[]"
    r"|\[::-1\]"
    r"|sort\.Reverse|\.desc\(|order_by\(\s*[\"']-|key=lambda \w+: -|\w\[i\][\w.()]* > \w+\[j\]"
    r"|\bsort -\w*r|OrderByDescending|nlargest|\bb[.\w]*\.localeCompare\(a|\"desc\"|'desc'"
    r"|Reverse\("
)
_SORTS_UP = re.compile(
    r"\bORDER BY (?![^;\"'`]*\bDESC\b)|\bsorted\((?!.*(?:reverse|: -))|\.sort\(\)|\.sort\(key"
    r"(?!.*(?:reverse|: -))|\ba(?:\.\w+|\[\w+\])+ ?- ?b[.\[]|\ba[.\w]*\.localeCompare\(b"
    r"|\w\[i\][\w.()]* < \w+\[j\]|\bASC\b|sort\.(?:Strings|Ints)\(|nsmallest|order_by\(\s*[\"']\w",
    re.IGNORECASE,
)
_NEGATED_KEY = re.compile(r"\bage\b|elapsed|duration|since", re.IGNORECASE)
_UP = r"raise|increase|extend|lengthen|lift|bump|double|widen|higher"
_DOWN = r"lower|reduce|decrease|shorten|halve|shrink|tighten|cut"
_MOVES = re.compile(
    rf"\b(?:(?P<up>{_UP})|(?P<down>{_DOWN}))[sd]?\b (?:the |our |its |a |an )?"
    r"(?P<what>[\w` -]{3,50}?)(?= (?:from|to|by|so|when|until|at)\b|[.,;:]|$)",
    re.IGNORECASE,
)
_RAISED = re.compile(r"error|exception|[A-Z]\w+(?:Error|Exception)|(?i:\bwarning|\bfloor\b)")
_PAUSES = re.compile(r"\b(?:pause|wait|delay|interval|back-?off|sleep|between (?:attempts|tries))",
                     re.IGNORECASE)  # fmt: skip
_GROWS = re.compile(
    r"\bexponential|\bdoubl(?:es?|ed|ing)\b|\btwice (?:the|as)\b|\bgrow(?:s|ing)?\b|\blonger each"
    r"|\beach (?:\w+ ){0,2}longer|\bincreas(?:es|ing)\b", re.IGNORECASE,
)  # fmt: skip
_FIXED = re.compile(
    r"\bsame (?:pause|wait|delay|interval|time)|\b(?:fixed|constant|steady|equal)\b|\balways wait",
    re.IGNORECASE,
)
_SEQUENCE = re.compile(r"\b(\d+)(?: ?s)?, (\d+)(?: ?s)?,? (?:and |then )?(\d+)(?: ?s| seconds)?\b")
_SLEEPS = re.compile(r"sleep|setTimeout|time\.After|delay|backoff|pause", re.IGNORECASE)
_MULTIPLIES = re.compile(r"\*\*|<<|pow\(|\*= ?\w|\* ?2\b|\b2 ?\* ?\w*(?:wait|delay|pause)"
                         r"|exponential"
                         r"|(?P<n>\w*(?:wait|delay|pause|backoff)\w*) = (?P=n) ?\*|factor"
                         r"|multiplier")  # fmt: skip
_OFF = re.compile(r"\b(?:off|disabled|inactive|false)(?: by default|$)|\bby default (?:it is |is )?"
                  r"(?:off|disabled)|\bdefaults? (?:to |is )(?:off|false|disabled)|\bopt-in\b"
                  r"|\b(?:off|disabled) unless", re.IGNORECASE)  # fmt: skip
_ON = re.compile(r"\b(?:on|enabled|active|true)(?: by default|$)|\bby default (?:it is |is )?"
                 r"(?:on|enabled)|\bdefaults? (?:to |is )(?:on|true|enabled)|\bopt-out\b"
                 r"|\b(?:on|enabled) unless", re.IGNORECASE)  # fmt: skip
_AS_GIVEN = re.compile(r"\b(?:exactly )?as (?:they are |it is )?(?:typed|entered|given|written"
                       r"|sent)\b"
                       r"|\bverbatim\b|\bunaltered\b", re.IGNORECASE)  # fmt: skip
_ALTERS = re.compile(r"lower\(|upper\(|casefold|to(?:Lower|Upper)|strip\(|trim|capitalize|normaliz")
_SWITCH = re.compile(
    r"([A-Za-z_][\w.-]*)[\"']?\s*(?::\s*[\w| ]+)?\s*[:=]+\s*[\"']?(true|false|on|off|yes|no)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^\[+([\w.-]+)\]+|^(\w[\w-]*):\s*$")
_TRUE = ("true", "on", "yes")


def directions(_state: State, bearing: Bearing) -> Found:
    """Yield each statement of an order, direction, growth or default that the code contradicts."""
    if not bearing.is_whole:
        return
    for name, text, question in statements(bearing.plan):
        why = (
            _order(text, bearing)
            or _move(text, bearing)
            or _growth(f"{question} {text}" if _PAUSES.search(question) else text, text, bearing)
            or _switch(text, question, bearing)
            or _verbatim(text, question, bearing)
        )
        if why:
            yield name, f"{name} says {in_short(text)!r}, and {why}"


def opposite(said: str, text: str) -> str:
    """Return the words of a text that say the reverse of what was said, or ''."""
    for one, other in ((_DESCENDING, _ASCENDING), (_OFF, _ON), (_GROWS, _FIXED)):
        for mine, theirs in ((one, other), (other, one)):
            against = theirs.search(text)
            if mine.search(said) and not theirs.search(said) and against and not mine.search(text):
                return against[0]
    return ""


def _order(text: str, bearing: Bearing) -> str:
    down, up = _DESCENDING.search(text), _ASCENDING.search(text)
    if bool(down) == bool(up):
        return ""
    rows = [(f, n, t) for f, n, t in bearing.added_rows if not _NEGATED_KEY.search(t)]
    downs = [row for row in rows if _SORTS_DOWN.search(row[2])]
    ups = [row for row in rows if _SORTS_UP.search(row[2]) and not _SORTS_DOWN.search(row[2])]
    against, with_it = (ups, downs) if down else (downs, ups)
    if not against or with_it:
        return ""
    file, number, line = against[0]
    return f"{file}:{number} sorts the other way ({in_short(line.strip())})"


def _move(text: str, bearing: Bearing) -> str:
    """Return that a number which is to go up goes down, or does not change at all."""
    for match in _MOVES.finditer(text):
        wanted = words(match["what"])
        if _RAISED.search(match["what"]) or not wanted:
            continue
        moved = [one for one in bearing.moved if wanted & one.words]
        is_up = match["up"] is not None
        wrong = [one for one in moved if (one.new > one.old) != is_up]
        if wrong and len(wrong) == len(moved):
            one = wrong[0]
            return f"the change goes from {one.old:g} to {one.new:g} ({in_short(one.line.strip())})"
        still = [] if moved else _unmoved(wanted, bearing)
        if still:
            return f"{still[0]} stays as it was"
    return ""


def _unmoved(wanted: set[str], bearing: Bearing) -> list[str]:
    """Return the constants that words name and the change leaves as they are."""
    found = []
    for file in sorted(bearing.paths):
        then = {*(bearing.lines.at_base(file) or ())} if bearing.is_code(file) else set()
        for number, line in enumerate(bearing.lines.planned(file) or (), 1):
            match = re.match(r"\s*(?:export |const |var |let )*([A-Za-z_]\w*)\s*:?=\s*\d", line)
            if match and line in then and wanted & words_with_names([match[1]]):
                found.append(f"{file}:{number} ({in_short(line.strip())})")
    return found


def _growth(about: str, text: str, bearing: Bearing) -> str:
    """Return that pauses which are to grow do not, or the reverse."""
    if not _PAUSES.search(about):
        return ""
    grows, fixed = _GROWS.search(text), _FIXED.search(text)
    found = _SEQUENCE.search(spelled_out(text))
    numbers = [int(one) for one in found.groups()] if found else [0, 0, 0]
    is_doubled = numbers[0] and numbers[1] == 2 * numbers[0] and numbers[2] == 2 * numbers[1]
    is_even = numbers[0] and not is_doubled and numbers[2] - numbers[1] == numbers[1] - numbers[0]
    rows = [(f, n, t) for f, n, t in bearing.added_rows if _SLEEPS.search(t)]
    multiplies = any(_MULTIPLIES.search(t) for *_, t in bearing.added_rows)
    literal = bool(found) and all(
        any(re.search(rf"(?<![\w.]){n}(?![\w.])", t) for *_, t in bearing.added_rows)
        for n in numbers
    )
    if not rows or literal:
        return ""
    file, number, line = rows[0]
    where = f"{file}:{number} ({in_short(line.strip())})"
    if (grows or is_doubled) and not (fixed or multiplies) and "*" not in line:
        return f"{where} does not wait longer each time"
    if is_doubled and not multiplies:
        return f"{where} does not double"
    return (
        f"{where} waits longer each time" if (fixed or is_even) and not grows and multiplies else ""
    )


def _verbatim(text: str, question: str, bearing: Bearing) -> str:
    """Return that what is to stay as it was given is altered where it is taken."""
    if not _AS_GIVEN.search(text):
        return ""
    about = words(f"{question} {text}")
    for file, number, line in bearing.added_rows:
        if _ALTERS.search(line) and about & words_with_names([line]):
            return f"{file}:{number} alters it ({in_short(line.strip())})"
    return ""


def _switch(text: str, question: str, bearing: Bearing) -> str:
    """Return that what is to be off by default is on, or the reverse."""
    off, on = _OFF.search(text), _ON.search(text)
    if bool(off) == bool(on):
        return ""
    wanted = words_with_names([re.sub(r"\b(?:default|off|on|enabled?|disabled?)\b", "", one)
                               for one in (text, question)])  # fmt: skip
    found = []
    for file in sorted(p for p in bearing.paths if bearing.is_code(p) and not bearing.is_test(p)):
        heading = ""
        for number, line in enumerate(bearing.lines.planned(file) or (), 1):
            head = _HEADING.match(line)
            heading = (head[1] or head[2]) if head else heading
            for name, value in _SWITCH.findall(line):
                if wanted & words_with_names([name, heading]):
                    found.append((value.lower() in _TRUE, f"{file}:{number} ({line.strip()})"))
    if found and all(is_on == bool(off) for is_on, _ in found):
        return f"{found[0][1]} is {'on' if off else 'off'}"
    return ""
