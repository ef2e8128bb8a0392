"""Finds parts of the request that nothing in the plan takes up, and statements nothing is done of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.meanings import spelled_out, words_of_code
from quality_reviewer.named.said import statements
from quality_reviewer.named.statements import wanted_of_request
from quality_reviewer.named.taken_out import GONE
from quality_reviewer.named.things import clauses, in_short, is_english, things
from quality_reviewer.words import stem, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.named.bearing import Bearing
    from shared.run import State
    from state.models import Plan

    Found = Iterator[tuple[str, str]]

# What a sentence that asks for something begins with, or a part of one.
_VERBS = """
add adjust align allow announce apply archive ask attach backfill batch block build bump cache call
cap catch change check clean clear close collapse colour color compress compute configure confirm
convert copy count cover create cut debounce default defer delete deny deprecate describe disable
display document drop emit enable encode encrypt end enforce ensure escape evict exclude expire
expose extend extract fail fall fetch filter fix flag flush force forbid format generate give group
guard handle hash hide highlight honor honour ignore implement import include increase index inform
insert introduce invalidate keep leave let limit link list load localise localize lock log lower
make mark mask measure mention merge migrate mirror move name normalise normalize note notify
offer omit open order paginate parse pass paste permit pin prefix prevent preserve print profile
protect provide publish purge put queue quote raise rate read record redact reduce refresh refuse
reject release reload remember remind remove rename render replace report require reset resolve
respect respond restore restrict retry return reuse reverse roll rotate round run sanitise sanitize
save say schedule seed send separate serve set share shorten show shut sign skip sort split start
stop store strip style subscribe suggest support suppress swap switch sync tag take tell test
throttle throw time track translate treat trim truncate try turn undo unify update upgrade
upload use validate verify wait warn wipe wrap write
"""
_VERB = rf"(?:{'|'.join(_VERBS.split())})"
_START = re.compile(
    rf"^\W*(?:(?:and|also|then|please|finally|furthermore|next|it (?:should|must|needs to)|we (?:need to"
    rf"|should|must|want to)|(?:can|could) you|make sure (?:that|to)|I(?:'d| would) like to)\b[, ]*)*"
    rf"{_VERB}\b(?! (?:is|are|was|of)\b)", re.IGNORECASE,
)  # fmt: skip
_LEADS = re.compile(r"^\W*(?:(?:and|also|then|please|finally|but)\b[, ]*)*", re.IGNORECASE)
_VERB_ALONE = re.compile(rf"{_VERB}\b", re.IGNORECASE)
_OBLIGES = re.compile(r"\b(?:should|must|shall|needs? to|has to|have to|want)\b", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)]|\[[ x]\])\s+", re.MULTILINE)
_SPLIT = re.compile(
    rf"(?<=[.;!?])\s+|\n+|;\s*|,? (?:and|also|then|plus|as well as)(?: also| then| please)? (?={_VERB}\b)"
    rf"|, (?={_VERB}\b)|,? (?=but\b)|\s[–-]\s", re.IGNORECASE,
)  # fmt: skip
_OUT = re.compile(r"\b(?:out of scope|not in scope|later|not now|another time|nothing else|no need)\b",
                  re.IGNORECASE)  # fmt: skip
# Verbs and nouns of any task.
_PLAIN_WORDS = """
add make use let keep please give put allow support implement introduce provide create build
change update handle ensure thing way sure able want need nice work good better new plan part
same other everything something behaviour case each whole also one two it we you so time write
say take get there project repository repo codebase feature test document release leave stay
explain describe guide docs documentation readme page section manual comment mention note tell
second seconds minute hour day week month byte bytes percent
check checks
come go one ones others lot bit kind sort case it them they
"""
PLAIN = frozenset(map(stem, _PLAIN_WORDS.split()))
# Verbs that say little of what is to be done, beside those.
_WEAK_WORDS = """
run move switch set go turn start begin serve share show display list pin bump upgrade raise
lower adjust apply fix rework simplify refactor clean improve extend cover respect honour
confirm check return read load open pass call name put split join treat accept offer expose
increase reduce decrease shorten replace swap remove drop delete reject refuse limit cap try
enable disable force try
"""
_WEAK = frozenset(map(stem, _WEAK_WORDS.split()))
# Proper nouns that no line has to hold.
_EVERYWHERE_WORDS = """
Python Go Rust Java Ruby Node Git Linux Unix Markdown English American British European German
French Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May
June July August September October November December React Django Docker I Unicode Boolean String
"""
_EVERYWHERE = frozenset(_EVERYWHERE_WORDS.split())
# Deeds that code has signs of: what a statement says, what code, tests or documents then hold.
_DEEDS = tuple((re.compile(rf"\b(?:{said})\b", re.IGNORECASE), re.compile(code, re.IGNORECASE))
               for said, code in (
    (r"is logged|are logged|logs? (?:each|every|a|an|the|it|when|how)|log(?:s|ged|ging)? (?:failed|failing"
     r"|errors|every|each|the)", r"\blog|console\.|print|warn|slog|echo|tracing|capture"),
    (r"encrypt\w*", r"encrypt|gpg|cipher|openssl|crypt|fernet|\bage\b"),
    (r"e?-?mails?|by mail|mailed", r"mail|smtp|@"), (r"cach(?:e|es|ed|ing)", r"cache|memo|ttl"),
    (r"gzip\w*|compress\w*", r"gzip|compress|\bgz\b|zstd|zip|tgz|deflate|brotli"),
    (r"translat\w+|locali[sz]\w+", r"i18n|gettext|locale|lang|translat|_\("),
    (r"paginat\w+|page by page", r"page|offset|cursor|limit"),
    (r"metrics?", r"metric|counter|gauge|prometheus|statsd|histogram|inc\("),
    (r"transactions?|rolled back|rolls? back", r"begin|commit|rollback|transaction|atomic|with conn"),
    (r"deprecat\w+", r"deprecat"), (r"time(?:s|d)? out|timeouts?", r"time-?_?out|deadline|alarm|max_time"),
    (r"environment variables?", r"environ|getenv|process\.env|\$\{?[A-Z]|lookupenv|env"),
    (r"dry[- ]run", r"dry"), (r"progress bar", r"progress|tqdm|bar"), (r"check ?sums?", r"sum|sha|md5|digest|crc"),
    (r"rate[- ]limit\w*|throttl\w+", r"rate|throttl|limit|429|bucket|sleep"),
    (r"audit(?:ed)?(?: log| trail)?", r"audit"), (r"in parallel|concurrently",
     r"thread|gather|Promise\.all|go func|async|pool|parallel|concurren|errgroup|xargs -P"),
    (r"web ?hooks?", r"hook"), (r"health ?checks?|healthcheck", r"health|ready|ping|liveness"),
    (r"escap(?:e|es|ed)", r"escap|quote|replace|sanitiz|html|encode"),
    (r"time ?zones?|UTC", r"utc|zone|tz|\bZ\b|\+00:00"), (r"retr(?:y|ies|ied)|tried again|tries again",
     r"retr|attempt|again|tries|while|for |backoff|until"),
    (r"archived?", r"archiv|tar|zip|move|mv "), (r"colou?r(?:ed|s)?", r"colou?r|\\033|\\x1b|ansi|style|chalk|#[0-9a-f]{3}"),
    (r"lock(?:s|ed|ing)?", r"lock|mutex|flock|atomic|semaphore|for update"),
    (r"restor(?:e|es|ed|ing)", r"restor|recover|undelete|= null|undo|import|load|unpack|-x|tar x"),
))  # fmt: skip
_DENIES = re.compile(
    r"\b(?:not|no|never|nothing|without|unless|already|instead)\b|n't\b", re.IGNORECASE
)
_BEGIN = 5  # letters by which words are one, such as health and healthz
_LEAST_SHARE = 2  # a clause is dropped where one in so many of its words, or more, is nowhere


def dropped(state: State, bearing: Bearing) -> Found:
    """Yield each part of the request that asks for something, and of which nothing says a word."""
    told = words_of_code("\n".join(_texts(bearing.plan)))
    here = told | (words_of_code(bearing.added) | words(" ".join(bearing.paths)))
    for part in wishes(spelled_out(wanted_of_request(state))):
        lost = lost_of(part, here)
        if lost and not any(map(bearing.bears, things(part, bearing.files))):
            yield "request", (f"the request asks for {in_short(part)!r}, and neither the task nor "
                              f"the change says anything of {lost}")  # fmt: skip


def lost_of(part: str, here: set[str]) -> str:
    """Return which words of a wish stand nowhere, if these are enough to call it dropped; else ''.

    That is half of them, or the verb where it says what is to be done.
    """
    bare = _LEADS.sub("", part)
    verb = words((re.findall(r"[A-Za-z]{3,}", bare) or [""])[0])
    wanted = words(part) - PLAIN - (verb & _WEAK)
    lost = nowhere(wanted, here)
    is_deed = bool(verb & lost) and _VERB_ALONE.match(bare) is not None
    is_dropped = bool(wanted) and (is_deed or len(lost) * _LEAST_SHARE >= len(wanted))
    return ", ".join(_shown(part, lost)) if is_dropped and part.isascii() else ""


def undone(_state: State, bearing: Bearing) -> Found:
    """Yield each statement of a deed that the change has no sign of, or most words of nowhere."""
    if not bearing.is_whole:
        return
    text = "\n".join([bearing.differing, bearing.tested])
    known = words_of_code(text) | words(bearing.touched_heads)
    plan = bearing.plan
    placed = {one.id for one in (*plan.user_remarks, *plan.checkpoints) if one.outcome}
    for name, said, question in statements(plan):
        for clause in clauses(spelled_out(said)) if name not in placed else ():
            if GONE.search(clause):
                continue
            deed = next(
                (d for d, code in _DEEDS if d.search(clause) and not code.search(text)), None
            )
            if deed is not None and not _DENIES.search(clause):
                yield name, (f"{name} says {in_short(clause)!r}, and no line of the change has "
                             f"{deed.search(clause)[0]} or what does it")  # type: ignore[index] # fmt: skip
                continue
            if name_ := next(
                (
                    n
                    for n in _proper(clause)
                    if is_english(clause) and n.lower() not in text.lower()
                ),
                "",
            ):
                yield (
                    name,
                    f"{name} says {in_short(clause)!r}, and no line of the change has {name_}",
                )
                continue
            wanted = words(clause) - PLAIN
            lost = nowhere(wanted - words(question), known)
            is_far = len(lost) * 3 >= len(wanted) * 2 and len(lost) > 1
            if is_far and not question and is_english(clause):
                shown = ", ".join(_shown(clause, lost))
                yield name, (f"{name} says {in_short(clause)!r}, and no line of the change says "
                             f"anything of {shown}")  # fmt: skip


def _proper(clause: str) -> list[str]:
    """Return the proper nouns of a clause, such as Windows, by their capitals within it."""
    return [n for n in re.findall(r"(?<=[a-z,] )[A-Z][a-z]+(?:-[A-Z][a-z]+)*\b(?![\w.(`'])", clause)
            if n not in _EVERYWHERE]  # fmt: skip


def nowhere(wanted: set[str], known: set[str]) -> set[str]:
    """Return which stems are not among the known, also not by how they begin."""
    begins = {word[:_BEGIN] for word in known if len(word) >= _BEGIN}
    return {word for word in wanted - known if word[:_BEGIN] not in begins}


def wishes(text: str) -> Iterator[str]:
    """Yield the parts of a text that ask for something, each without its bullet."""
    for line in text.splitlines():
        is_item = _ITEM.match(line) is not None
        parts = [p.strip() for p in _SPLIT.split(_ITEM.sub("", line)) if p and p.strip()]
        for at, part in enumerate(parts):
            asks = _START.match(part) or _OBLIGES.search(part) or (is_item and at == 0)
            if asks and not _OUT.search(part) and not _DENIES.search(part):
                yield part


def _shown(text: str, lost: set[str]) -> list[str]:
    found = (w for w in re.findall(r"[A-Za-z][\w-]*", text) if words(w) & lost)
    return [*dict.fromkeys(w.lower() for w in found)][:3]


def _texts(plan: Plan) -> Iterator[str]:
    """Yield what a plan says of what is to be done, or not to be done."""
    yield from (one.text for one in plan.task_spec)
    yield from (one.text for one in plan.user_remarks)
    yield from (f"{c.question} {c.answer}" for c in plan.checkpoints)
    yield from (*plan.context.constraints, *plan.context.rejected_alternatives)
    yield from (c.description for c in plan.planning_context.constraints)
    yield from (a.alternative for a in plan.planning_context.rejected_alternatives)
    for one in plan.milestones:
        yield from (one.name, *one.acceptance_criteria)
        yield from (i.behavior for i in one.code_intents)
