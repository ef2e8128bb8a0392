"""Reads what a text names: numbers, identifiers, quoted texts, paths, documents.

English is enough: a text in another language names less, and is never said to be untrue for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.named.files import Files

    Kind = Literal[
        "number", "identifier", "option", "acronym", "quote", "path", "document", "tests"
    ]

# What says that something is to be kept or left out, is otherwise today, or only explains.
_DENIES = re.compile(
    r"\b(?:not|no|never|none|nothing|without|except|stays?|remains?|unchanged|untouched|keeps?|"
    r"kept|leaves?|left|excludes?|excluding|already|existing|today|before|instead|rather|such as|"
    r"e\.g|for example|like|unlike|outside|ignores?|avoids?|passes|succeeds?|exits?|green|"
    r"works?|still|compatib\w+|as (?:it|they|before|is|are)|as \w+ do(?:es)?|go(?:es)? on|"
    r"out of scope|currently|at the moment|crash\w*|bugs?|wrong\w*|broken|problem|see|"
    r"according to|based on|as described|"
    r"(?:we|I) (?:saw|see|have|had|gets?|got|found))"
    r"\b|n't\b|\bcannot\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?<=[.;!?])\s+|\n+|,? (?=(?:but|while|whereas)\b)|\s[–-]\s|"
    r"\s(?=(?:if|when|where|unless|because|since|so that|so old)\b)|"
    r"\s(?=(?:to keep|to leave|to avoid|whose|which|that)\b)|"
    # What is wanted beside what is to be left out.
    r",? (?:and |then )+(?=(?:add|say|write|tell|put|give|note|round|move|rename|replace|remove|"
    r"make|use|print|show|return|raise|log|document|update|describe|mention|translate)\b)"
)
# What a clause that only says when something holds begins with; after its comma stands what holds.
_WHEN = re.compile(r"^\W*(?:if|when|where|unless|since|because)\b[^,]*,\s", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(0-9])|\n+")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+", re.MULTILINE)
_QUOTED = re.compile(r'"([^"\n]{2,80})"|“([^”\n]{2,80})”|(?<![\w\'])\'([^\'\n]{2,80})\'(?![\w\'])')
_TICKED = re.compile(r"`+([^`\n]{1,80})`+")
_PATH = re.compile(r"(?<![\w./:@-])(?:[\w.-]+/)*[\w.-]*\w\.[A-Za-z][A-Za-z0-9]{0,4}(?![\w/])")
_EXAMPLE = re.compile(r"\be\.g\.|\bi\.e\.")
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z0-9]+(?:-[a-z0-9]+)*)\b")
_SUBJECT = re.compile(
    r"^\W*(?:the )?(?:function |method |class )?[`\w.]+(?:\(\))?`? \w+s\b", re.IGNORECASE
)
_CALLED = re.compile(r"(?<![\w.])(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w{2,})\((?!s\))")
_SNAKE = re.compile(r"(?<![\w.-])_{0,2}[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+_{0,2}(?![\w-])")
_CAMEL = re.compile(
    r"(?<![\w.@/-])(?:[A-Z][a-z0-9]+){2,}(?![\w-])|(?<![\w.])[a-z]+(?:[A-Z][a-z0-9]+)+\b"
)
_DOTTED = re.compile(r"(?<![\w./:@-])[A-Za-z_]\w+\.([A-Za-z_]\w+)(?![\w./-])")
_AMOUNT = r"(?<![\w.#/:_-])(\d{1,3}(?:[,_]\d{3})+|\d+)(\.\d+)?"
UNIT = r" ?(?:ms|s|sec|seconds?|minutes?|min|hours?|h|days?|weeks?|[kKMGT]i?B|bytes?|%)(?!\w)"
_NUMBER = re.compile(rf"{_AMOUNT}(?:({UNIT})|(?![\w/:-])(?!\.\d))")
_NO_AMOUNT = re.compile(
    r"(?:python|version|release|rfc|pep|issue|pr|line|lines|step|section|http|v)\s*$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_TESTS = re.compile(
    r"\b(?:with|add|adds|write|unit|regression|new)\s(?:an?\s|new\s|the\s)?tests?\b",
    re.IGNORECASE,
)
# CamelCase that is no code.
_PROPER_WORDS = """
GitHub GitLab JavaScript TypeScript PostgreSQL YouTube LinkedIn OpenAI OpenAPI WebSocket WebSockets
MacOs DevOps NumPy SciPy PyTest PyPi FastApi GraphQl PowerShell BitBucket StackOverflow iPhone
macOS eMail
"""
_PROPER = frozenset(_PROPER_WORDS.split())
_ACRONYM = re.compile(r"(?<![\w.`'/-])[A-Z]{3,8}(?![\w'/-])")
# Capitals that name nothing which a line of code has to show.
_SPOKEN_WORDS = """
API CLI GUI URL HTTP HTTPS FIXME TODO NOTE MUST SHOULD NOT AND ASCII TTL LRU FIFO LIFO PEP RFC SQL
CRUD MIT FAQ NULL TRUE FALSE README CHANGELOG LICENSE CONTRIBUTING ALL ANY ONLY NEVER ALWAYS YES
"""
_SPOKEN = frozenset(_SPOKEN_WORDS.split())
# Names that every code has, which no line has to show.
_EVERYWHERE_WORDS = "None True False null true false int str bool list dict bytes float self main"
_EVERYWHERE = frozenset(_EVERYWHERE_WORDS.split())
# Stems by which a text means the document; of the first ones, without an article.
_DOCUMENT_WORDS = "readme changelog contributing"
_DOCUMENTS = frozenset(_DOCUMENT_WORDS.split())
_GUIDE_WORDS = "guide manual tutorial handbook faq glossary cookbook quickstart runbook howto"
_GUIDES = frozenset(_GUIDE_WORDS.split())
_CODE_MARKS = re.compile(r"[=()\[\]{}\"'<>]")
_LEAST_NAME = 3  # letters
_MOST_SHOWN = 80
_ENGLISH = re.compile(
    r"\b(?:the|a|an|of|to|in|is|are|and|for|with|as|on|at|by|be|it)\b", re.IGNORECASE
)


class Thing(NamedTuple):
    """One thing that a text names: as it is shown, and what is looked for."""

    kind: Kind
    shown: str
    # Of a number, its digits; of a document, the paths that it may be.
    forms: tuple[str, ...]


def clauses(text: str) -> Iterator[str]:
    """Yield the parts of a text that want something; those that deny, keep or compare left out."""
    parts = _CLAUSE.split(_EXAMPLE.sub("such as", _BULLET.sub("", text)))
    for clause in (piece for part in parts for piece in _apart(part)):
        bare = _TICKED.sub(" ", _QUOTED.sub(" ", clause))
        if clause.strip() and not _DENIES.search(bare):
            yield clause


def _apart(clause: str) -> tuple[str, ...]:
    match = _WHEN.match(clause)
    return (clause[: match.end()], clause[match.end() :]) if match else (clause,)


def sentences(text: str) -> list[str]:
    """Return the sentences and list items of a text."""
    return [part.strip() for part in _SENTENCE.split(_BULLET.sub("", text)) if part.strip()]


def things(text: str, files: Files) -> list[Thing]:
    """Return what a text names and wants."""
    found: dict[tuple[str, ...], Thing] = {}
    for clause in clauses(text):
        for thing in _things(clause, files):
            found.setdefault(thing.forms, thing)
    return [*found.values()]


def identifiers(text: str, files: Files) -> list[Thing]:
    """Return the identifiers that a text names and wants."""
    return [thing for thing in things(text, files) if thing.kind == "identifier"]


def subject(clause: str, files: Files) -> Thing | None:
    """Return the identifier that a clause begins with and says something of; None without one."""
    begins = _SUBJECT.match(clause)
    found = _things(begins[0], files) if begins else ()
    return next((thing for thing in found if thing.kind == "identifier"), None)


def is_english(text: str) -> bool:
    """Return whether a text has words by which English can be told."""
    return text.isascii() and _ENGLISH.search(text) is not None


def digits(number: str) -> str:
    """Return a number as it is compared: `1,400` and `1_400` are 1400, `2.50` is 2.5."""
    plain = number.replace(",", "").replace("_", "")
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain.lstrip("0")) or "0"


def in_short(text: str) -> str:
    """Return a text as one short line."""
    flat = " ".join(text.split())
    return f"{flat[:_MOST_SHOWN]}…" if len(flat) > _MOST_SHOWN else flat


def _things(clause: str, files: Files) -> Iterator[Thing]:
    rest = clause
    for match in _QUOTED.finditer(rest):
        text = next(filter(None, match.groups()))
        if re.search(r"\w\w", text):
            yield Thing("quote", f'"{text}"', (text,))
    rest = _QUOTED.sub(" ", rest)
    for match in _TICKED.finditer(rest):
        yield from _ticked(match[1], files)
    rest = _TICKED.sub(" ", rest)
    for match in _PATH.finditer(rest):
        if _is_path(match[0], files):
            yield Thing("path", match[0], (match[0],))
            rest = rest.replace(match[0], " ", 1)
    yield from _bare(rest, files)


def _bare(rest: str, files: Files) -> Iterator[Thing]:
    """Yield what a clause names without marks."""
    for pattern in (_CALLED, _SNAKE, _CAMEL, _DOTTED):
        for match in pattern.finditer(rest):
            name = match[1] if pattern.groups else match[0]
            if name not in _PROPER and not name.isdigit() and len(name) >= _LEAST_NAME:
                yield Thing("identifier", match[0].rstrip("("), (name,))
    for match in _OPTION.finditer(rest):
        yield Thing("option", match[0], (match[1],))
    for match in _ACRONYM.finditer(rest):
        if match[0] not in _SPOKEN:
            yield Thing("acronym", match[0], (match[0],))
    yield from _numbers(rest)
    yield from _documents(rest, files)
    if _TESTS.search(rest):
        yield Thing("tests", "tests", ("tests",))


def _ticked(text: str, files: Files) -> Iterator[Thing]:
    name = text.strip()
    bare = re.fullmatch(r"(?:[\w]+\.)*(\w{2,})(?:\(.*\))?", name)
    if _is_path(name, files):
        yield Thing("path", name, (name,))
    elif match := _OPTION.fullmatch(name):
        yield Thing("option", name, (match[1],))
    elif bare and (bare[1].isdigit() or bare[1] in _EVERYWHERE):
        return
    elif bare:
        yield Thing("identifier", name, (bare[1],))
    elif re.search(r"\w\w", name) and (" " not in name or _CODE_MARKS.search(name)):
        yield Thing("quote", f"`{name}`", (name,))


def _is_path(name: str, files: Files) -> bool:
    return files.holds(name) or files.could_hold(name)


def _numbers(text: str) -> Iterator[Thing]:
    for match in _NUMBER.finditer(text):
        number = digits(f"{match[1]}{match[2] or ''}")
        is_name = _YEAR.fullmatch(number) or _NO_AMOUNT.search(text[: match.start()])
        if match[3] or (len(number) > 1 and not is_name):
            yield Thing("number", match[0], (number,))


def _documents(text: str, files: Files) -> Iterator[Thing]:
    """Yield the documents that a text calls by the stem of their file: `the guide`."""
    for stem, paths in files.documents.items():
        name, after, before = re.escape(stem), "", ""
        if stem not in _DOCUMENTS:
            before = r"\bthe (?:\w+ )?"
            is_guide = stem.rpartition(" ")[2] in _GUIDES
            after = "" if is_guide else r" (?:guide|page|manual|document|documentation|docs)"
        if match := re.search(rf"{before}\b({name}{after})\b", text, re.IGNORECASE):
            shown = match[1] if stem in _DOCUMENTS else f"the {match[1]}"
            yield Thing("document", shown, tuple(paths))
