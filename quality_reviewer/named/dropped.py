"""Finds parts of the request that nothing takes up, and statements of which nothing is done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.meanings import is_meant, meant, spelled_out
from quality_reviewer.named.said import statements
from quality_reviewer.named.statements import wanted_of_request
from quality_reviewer.named.taken_out import GONE
from quality_reviewer.named.things import clauses, in_short, is_english, things
from quality_reviewer.word_tables import patterns
from quality_reviewer.words import stem, words, words_with_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

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
throttle throw time track translate treat trim truncate try turn undo unify update upgrade upload
use validate verify wait warn wipe wrap write
"""
_VERB = rf"(?:{'|'.join(_VERBS.split())})"
_START = re.compile(
    rf"^\W*(?:(?:and|also|then|please|finally|furthermore|next|it (?:should|must|needs to)"
    rf"|we (?:need to"
    rf"|should|must|want to)|(?:can|could) you|make sure (?:that|to)|I(?:'d"
    rf"| would) like to)\b[, ]*)*"
    rf"{_VERB}\b(?! (?:is|are|was|of)\b)", re.IGNORECASE,
)  # fmt: skip
_LEADS = re.compile(r"^\W*(?:(?:and|also|then|please|finally|but)\b[, ]*)*", re.IGNORECASE)
# Verbs of deeds whose words stand in what does them.
_CONCRETE_WORDS = """
archive attach compress convert copy debounce deduplicate encode encrypt escape extract hash
highlight import indent invalidate localise localize log mail mask measure mirror notify paginate
prefix print profile publish purge quote redact redirect report rotate round sanitise sanitize
schedule sign sort stream strip subscribe tag throttle translate trim truncate unsubscribe upload
validate warn zip
"""
_CONCRETE = frozenset(_CONCRETE_WORDS.split())
_OBLIGES = re.compile(r"\b(?:should|must|shall|needs? to|has to|have to|want)\b", re.IGNORECASE)
_ITEM = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)]|\[[ x]\])\s+", re.MULTILINE)
_SPLIT = re.compile(
    rf"(?<=[.;!?])\s+|\n+|;\s*|,? (?:and|also|then|plus|as well as)(?: also| then"
    rf"| please)? (?={_VERB}\b)"
    rf"|, (?={_VERB}\b)|,? (?=but\b)"
    r"|,? and (?=(?:never|no|do not|don't)\b)|\s[–-]\s", re.IGNORECASE,
)  # fmt: skip
_OUT = re.compile(r"\b(?:out of scope|not in scope|later|not now|another time|nothing else"
                  r"|no need)\b",
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
# Deeds that code has signs of, in words, and what code, tests or documents then hold.
_DEEDS = patterns(r"""
is logged|are logged|logs? (?:each|every|a|an|the|it|when|how)|log(?:s|ged|ging)? (?:failed
  |failing|errors|every|each|the) = \blog|console\.|print|warn|slog|echo|tracing|capture
encrypt\w* = encrypt|gpg|cipher|openssl|crypt|fernet|\bage\b
e?-?mails?|by mail|mailed = mail|smtp|\w@\w
cach(?:e|es|ed|ing) = cache|memo|ttl
gzip\w*|compress\w* = gzip|compress|\bgz\b|zstd|zip|tgz|deflate|brotli
translat\w+|locali[sz]\w+ = i18n|gettext|locale|lang|translat|_\(
paginat\w+|page by page = page|offset|cursor|limit
metrics? = metric|counter|gauge|prometheus|statsd|histogram|inc\(
in (?:one|a) transaction|rolled back|rolls? back = begin|commit|rollback|transaction
  |atomic|with conn
deprecat\w+ = deprecat
time(?:s|d)? out|timeouts? = time-?_?out|deadline|alarm|max_time
environment variables? = environ|getenv|process\.env|\$\{?[A-Z]|lookupenv|env
dry[- ]run = dry
progress bar = progress|tqdm|bar
check ?sums? = sum|sha|md5|digest|crc
rate[- ]limit\w*|throttl\w+ = rate|throttl|limit|429|bucket|sleep
audit(?:ed)?(?: log| trail)? = audit
in parallel|concurrently = thread|gather|Promise\.all|go func|async|pool|parallel|concurren
  |errgroup|xargs -P
web ?hooks? = hook
health ?checks?|healthcheck = health|ready|ping|liveness
escap(?:e|es|ed) = escap|quote|replace|sanitiz|html|encode
time ?zones?|UTC = utc|zone|tz|\bZ\b|\+00:00
retr(?:y|ies|ied)|tried again|tries again = retr|attempt|again|tries|while|for |backoff|until
restor(?:e|es|ed|ing) = restor|recover|undelete|= null|undo|import|load|unpack|-x|tar x
print(?:s|ed)? = print|echo|write|render|template|pdf|puts|console|log|show
redirect\w* = redirect|30[1278]|location
redact\w*|mask(?:s|ed|ing)? = redact|mask|\*\*\*
notif\w+ = notif|mail|send|slack|webhook|alert|post
sanitis\w+|sanitiz\w+ = sanit|escape|strip|clean|bleach|purify
""")  # fmt: skip
# Products and platforms that what is said of them names in the code too.
_PRODUCT_WORDS = """
Windows macOS Android Slack Teams Discord Redis Postgres PostgreSQL MySQL MariaDB SQLite MongoDB
Kafka RabbitMQ Prometheus Grafana Sentry Kubernetes Terraform Ansible Stripe PayPal Azure Jenkins
Safari Firefox Chrome Excel Elasticsearch Memcached Celery Nginx Apache Cloudflare Datadog
OpenTelemetry Jaeger Okta Keycloak LDAP Kerberos GraphQL Protobuf Avro Parquet
"""
_PRODUCTS = frozenset(_PRODUCT_WORDS.split())
_DENIES = re.compile(
    r"\b(?:not|no|never|nothing|without|unless|already|instead)\b|n't\b", re.IGNORECASE
)
_BEGIN = 5  # letters by which words are one, such as health and healthz


class Told:
    """A text in which wishes are looked for, with its words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = words_with_names([text]) | words(text)


def dropped(state: State, bearing: Bearing) -> Found:
    """Yield each part of the request that asks for something, and of which nothing says a word."""
    told = "\n".join(_texts(bearing.plan))
    text = Told("\n".join([told, bearing.added, *bearing.paths]))
    for part in wishes(spelled_out(wanted_of_request(state))):
        lost = lost_of(part, text)
        if lost and not any(map(bearing.bears, things(part, bearing.files))):
            yield "request", (f"the request asks for {in_short(part)!r}, and neither the task nor "
                              f"the change says anything of {lost}")  # fmt: skip


def lost_of(part: str, told: Told) -> str:
    """Return which words of a wish a text lacks, if these are enough to call it dropped; else ''.

    That is most of them, or what says the deed.
    """
    if deed := missing_deed(part, told.text):
        return deed
    verb = next(iter(re.findall(r"[A-Za-z]+", _LEADS.sub("", part))), "").lower()
    if verb in _CONCRETE and nowhere({stem(verb)}, told.words | meant(told.text)):
        return verb
    wanted = words(part) - PLAIN
    lost = nowhere(wanted, told.words)
    is_dropped = len(wanted) > 1 and len(lost) * 3 >= len(wanted) * 2
    return ", ".join(_shown(part, lost)) if is_dropped and part.isascii() else ""


def missing_deed(part: str, text: str) -> str:
    """Return a deed or a product that a part of a sentence names and a text lacks; '' if none."""
    for said, code in _DEEDS:
        match = said.search(part)
        if match and not re.search(code.pattern, text, re.IGNORECASE):
            return match[0]
    names = (n for n in re.findall(r"\b[A-Z]\w+", part) if n in _PRODUCTS)
    return next((n for n in names if n.lower() not in text.lower()), "")


def undone(_state: State, bearing: Bearing) -> Found:
    """Yield each statement of a deed that the change has no sign of, or all words of nowhere."""
    if not bearing.is_whole:
        return
    text = bearing.tested
    known = words(text) | words_with_names([text])
    plan = bearing.plan
    placed = {one.id for one in plan.user_remarks if one.outcome}
    placed |= {one.id for one in plan.checkpoints if one.outcome}
    for name, said, question in statements(plan):
        for clause in clauses(spelled_out(said)) if name not in placed else ():
            if GONE.search(clause) or _DENIES.search(clause):
                continue
            wanted = words(clause) - PLAIN
            lost = nowhere(wanted - words(question), known)
            lost = {word for word in lost if not is_meant(text, word)}
            is_far = not question and len(lost) > 1 and lost == wanted and is_english(clause)
            missing = missing_deed(clause, text) or (is_far and ", ".join(_shown(clause, lost)))
            if missing:
                yield name, (f"{name} says {in_short(clause)!r}, and no line of the change says "
                             f"anything of {missing}")  # fmt: skip


def nowhere(wanted: set[str], known: AbstractSet[str]) -> set[str]:
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
