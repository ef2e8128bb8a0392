"""Find phrases in comments and prose that describe a change, such as `used to be`.

"Now returns None" needs a reader who knows what was there before. The same words also describe a
running program: "previously seen keys are skipped", "the old value". So only forms that rarely do
are searched for, and most of them not after a word such as "if" or "once".
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from quality_reviewer.checks.comments import Comment

# What code does, is made to be, consists of; each as it appears after "now" or "the old".
_DOES = (
    "accepts|allows|calls|checks|copes|defaults|delegates|emits|expects|fails|fetches|goes through"
    "|handles|ignores|includes|keeps|lives|loads|logs|needs|parses|prints|raises|reads|rebuilds"
    "|rejects|relies|requires|respects|returns|reuses|runs|skips|stores|strips|supports|takes"
    "|throws|tries|uses|validates|wraps|works|writes"
)
_MADE = (
    "a no-op|allowed|async|built|called|checked|computed|configurable|created|defined|deprecated"
    "|done|generated|handled|immutable|implemented|lazy|loaded by|necessary|nullable|optional"
    "|part of|performed|private|public|raised|required|responsible|returned|sorted by|supported"
    "|thrown|tied to|used|validated"
)
_WORK = (
    "algorithm|approach|architecture|behaviou?r|code|code path|design|implementation|layout|logic"
    "|macro|mechanism|scheme|solution|way"
)
_PART = (
    "argument|check|class|code|constant|default|fallback|function|helper|logic|loop|method|module"
    "|option|parameter|test|variable"
)
_CHANGED = (
    "changed (?:from|to)|dropped|extracted|introduced|migrated|moved|ported|refactored|removed"
    "|renamed|replaced|rewritten"
)
_REDONE = (
    "(?:(?:the|this|our) (?:migration|rewrite|redesign|re-?factor(?:ing)?)"
    "|this (?:change|commit|fix|patch|pull request))(?! (?:is|was|has))"
)
_NAMED = "an?|the|called|hard-?coded|in|known|named|part"
_ABLE = "accept|allow|avoid|cover|handle|match|reflect|return|support|use"
_OLD = "old|former|previous|earlier"
_DATA = "content|data|element|entry|file|item|key|line|name|node|one|path|row|size|state|text|value"

# A space stands for any white space, ^ for the start of a sentence.
_ALWAYS = (
    rf"^now (?:also |only )?(?:{_DOES}|{_MADE}|an?)",
    rf"^previously,? (?:this|that|the|it|we|they|there|called|did|raised|returned|used|{_NAMED})",
    rf"^no longer (?:needed|relevant|{_MADE})",
    rf"^was (?:previously |formerly )?(?:{_NAMED})(?!.*\?$)",
    rf"(?:was|were) previously (?:done|handled|{_NAMED})",
    rf"^(?:originally,?|this was originally) (?:this|that|the|it|we|they|written|{_NAMED})",
    r"^formerly|formerly (?:called|done|in)|^until now,?(?= (?:it|the|this|we))",
    r"(?:this|it|they|there|we|code) used to(?! be able)|^used to (?:live|return|be an?)",
    r"it was [0-9]+(?=\W*$)|it was decided|this was added|recently changed|since the last release",
    r"(?:old|new|earlier) version (?:of this|of the (?:code|function|class|method))",
    r"(?:old|new|earlier) version (?:used|did|does|was|had|returned|raised)",
    r"^(?:the )?(?:old|new) version:",
    r"^in (?:the )?(?:earlier|previous) (?:versions|releases)(?! of)",
    rf"^(?:the )?(?:new|{_OLD}) (?:{_WORK})(?! of the| and| should)",
    rf"(?:the|our) (?:{_OLD}) (?:[a-z-]+ )?(?:{_WORK})(?! of the| and)",
    r"the new (?:approach|implementation|logic|way)(?! of the)",
    rf"^the (?:{_OLD}) (?:{_PART}) (?:did|had|raised|returned|used|was)",
    rf"back to the (?:original|{_OLD}) (?:{_WORK})|^improved version of",
    rf"(?:instead of|rather than|unlike|contrary to) (?:the )?(?:{_OLD})(?! (?:{_DATA}))",
    rf"replace[sd] (?:the )?(?:former|legacy|(?:{_OLD}|original) (?:{_WORK}|parser|{_PART}))",
    r"replaced the old",
    rf"(?:after|as of|before|by|in|part of|prior to|since|until|with) {_REDONE}",
    r"(?:same|behaves?|works?)(?: [a-z]+)? as before|^(?:like|unlike) before,",
    r"(?:different(?:ly)? (?:from|than)|in contrast to) before(?=\W*$|,)",
    r"^(?:before|earlier), (?:it|this|we|they)|^earlier it|^earlier versions (?:did|raised|used)",
    r"(?:it|this) was (?:an?|the) (?:[a-z]+ ){1,3}before(?=\W*$)|^was:",
    r"^(?:it|this) changed (?:from|to)|^(?:changed|bug ?fix):|^moved here",
    r"^(?:changed|switched|migrated|renamed|moved|extracted|ported) (?:from|to|into|out of)",
    r"^(?:changed|deleted|removed|renamed|replaced) (?:the|this|old)",
    r"^has been (?:renamed|moved|replaced)|^updated for the new",
    r"^refactored|^re(?:implemented|worked|wrote) (?:as|in|the|to)|^rewritten (?:to|in)",
    rf"^(?:adjusted|enhanced|extended|improved|modified|updated) to (?:{_ABLE})",
    r"^added (?:because|support|this|to (?:fix|avoid|support|handle))",
    r"^introduced (?:an?|because|for|in|the|to)|^dropped support for",
    rf"^(?:newly|recently) (?:added|introduced) (?:{_PART})",
    r"^recently (?:added|changed|introduced)(?=\W*$| (?:because|for|to) )",
    r"^fixed (?:an?|the|this) (?:[a-z-]+ )?(?:bug|crash|error|issue|leak|race|typo)",
    r"^(?:the )?fix(?:es)? for (?:an?|bug|issue|the|this)",
    r"^(?-i:NEW|CHANGED|FIXED|ADDED|UPDATED|REMOVED):",
)
# Not where a condition stands before them in the sentence: then they are moments of the run.
_UNLESS_IN_RUN = (
    rf"(?<!^)now (?:also |only |always )?(?:{_DOES})|(?:is|are) now (?:{_MADE})",
    r"^we now (?:also|always|call|only|require|return|store|support|use)",
    r"^(?:callers|this|it) can now",
    rf"(?:is|are) no longer (?:{_MADE})",
    rf"no longer (?:{_DOES}|depends|need to|have to)",
    r"(?:^this|we) no longer(?! (?:exists?|fits?|has|have|holds?|match(?:es)?))",
    r"(?:not|[a-z]+n't|no) (?:[a-z]+ ){0,3}any\s?more(?=\W*$)",
    r"(?:it|this) is now an?",
    r"we (?:switched|migrated|refactored|renamed|replaced|dropped support)",
    r"we (?:changed (?:this|the)|moved (?:this|it))",
    rf"^(?:it|this) (?:was|has been) (?:{_CHANGED})",
    rf"(?:that|the|this) (?:[a-z]+ )?(?:{_PART}) (?:was|has been) (?:{_CHANGED})",
    r"has been (?:changed to|renamed to|rewritten|refactored|moved into)",
    r"(?:default|format|name|order|signature|type) (?:has |was )?changed from",
)
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|once|until|unless|while|whose|whether|after|where|as soon as|in case"
    r"|(?<!note )that|which|who)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.;!?])\s+|\n\s*\n")
# Documentation has forms of its own for what came with which version.
_VERSIONED = re.compile(
    r"\.\. (?:version|deprecated)\w*::[^\n]*(?:\n[^\n]*\S[^\n]*)*"
    r"|\b(?:added|changed|new) in (?:version )?v?[0-9]",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")


@cache  # not when the module is loaded: it takes long, and many a change has no comment
def _one_of(forms: Sequence[str]) -> re.Pattern[str]:
    either = "|".join(f"(?:{form})" for form in forms).replace(" ", r"\s+")
    return re.compile(rf"(?<![\w.-])(?:{either})(?!\w|\()", re.IGNORECASE)


def find_temporal(comments: Sequence[Comment]) -> Iterator[tuple[int, str]]:
    """Yield (line number, phrase) where a text describes a change, not the present state."""
    passage: list[Comment] = []
    for comment in comments:
        follows = passage and comment.goes_on and comment.number == passage[-1].number + 1
        if not follows:
            yield from _in_passage(passage)
            passage = []
        passage.append(comment)
    yield from _in_passage(passage)


def _in_passage(passage: Sequence[Comment]) -> Iterator[tuple[int, str]]:
    lines = "\n".join(_QUOTED.sub("_", comment.text) for comment in passage)
    text = _VERSIONED.sub(lambda found: "\n" * found[0].count("\n"), lines)
    at, number = 0, passage[0].number if passage else 0
    for end in [*(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]:
        phrase = _phrase(text[at:end])
        if phrase:
            start = text.index(phrase, at)
            yield number + text.count("\n", 0, start), " ".join(phrase.split())
        at = end


def _phrase(sentence: str) -> str:
    """Return a sentence's first phrase that describes a change; empty if there is none."""
    sentence = sentence.strip()
    found = _one_of(_ALWAYS).search(sentence)
    if found is None:
        found = _one_of(_UNLESS_IN_RUN).search(sentence)
        if found and _CONDITION.search(sentence, 0, found.start()):
            found = None
    return found[0] if found else ""
