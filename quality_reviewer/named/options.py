"""Finds answers where the change holds what is told of an option that was not chosen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from quality_reviewer.meanings import is_meant, spelled_out
from quality_reviewer.named.bearing import holds
from quality_reviewer.named.numbers import numbers_of, same_number
from quality_reviewer.named.things import in_short, things
from quality_reviewer.words import words, words_with_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from quality_reviewer.named.bearing import Bearing
    from state.models import Checkpoint, Option

    Found = Iterator[tuple[str, str]]

# How much more of a refused option than of the chosen one stands in the change.
_MORE = 0.5
_OF_DEFAULT = re.compile(
    r"\bdefaults?\b|\bwithout (?:the|an|any|a) \w+|\b(?:nothing|none|no \w+) is (?:given|set|said)"
    r"|\bleft out\b|\bnot given\b|\bunless\b", re.IGNORECASE,
)  # fmt: skip
_DEFAULT = re.compile(r"(?:default|\w)[\"']?\)?\s*(?:\?\?|\|\||[=:(])\s*[\"'`]?([\w.-]+)[\"'`]?")
_FAILS = re.compile(r"\b(?:raise|throw|error|exception|refuse|reject|abort|fail|stop|crash"
                    r"|panic)\w*",
                    re.IGNORECASE)  # fmt: skip
_GOES_ON = re.compile(r"\b(?:return|empty|none|null|ignore|skip|default|silent|warn|go on|continue"
                      r"|fall back|drop|log)\w*", re.IGNORECASE)  # fmt: skip
_RAISES = re.compile(
    r"\braise \w|\bthrow\b|\bpanic\(|errors\.New|fmt\.Errorf|return .*\bErr[A-Z]"
    r"|sys\.exit|process\.exit|\bexit [1-9]|status\([45]\d\d\)|Promise\.reject"
)
_AGREES = frozenset(words_with_names(["yes no ok please none keep leave just only always never"]))
# A quantity that is said without its number.
_AMOUNTS = {
    r"\b(?:a|one) week\b": "7 days", r"\b(?:a|one) fortnight\b": "14 days",
    r"\b(?:a|one) month\b": "30 days", r"\b(?:a|one) quarter\b": "90 days",
    r"\b(?:a|one) year\b": "365 days", r"\b(?:a|one) day\b": "24 hours",
    r"\bhalf an hour\b": "30 minutes", r"\ban hour\b": "60 minutes", r"\b(?:a|one) minute\b":
    "60 seconds", r"\bhalf a minute\b": "30 seconds", r"\ba quarter of an hour\b": "15 minutes",
}  # fmt: skip


def other_option(bearing: Bearing, asked: Checkpoint, said: str) -> Found:
    """Yield that the change adds what a refused option is told by, and not what the chosen is."""
    chosen = [o for o in asked.options if o.label in said]
    if len(chosen) > 1:
        longest = max(chosen, key=lambda o: len(o.label))
        chosen = [longest] if all(o.label in longest.label for o in chosen) else chosen
    if len(chosen) != 1 or asked.multi or not bearing.is_whole:
        return
    for other in asked.options:
        if other is not chosen[0] and (name := _refused(bearing, asked, chosen[0], other)):
            of = "" if name.startswith("no ") else ", which is of an option that was not chosen"
            yield asked.id, (f"{asked.id} was answered {in_short(said)!r}, and the change has "
                             f"{name}{of}")  # fmt: skip
            return


def _refused(bearing: Bearing, asked: Checkpoint, mine: Option, other: Option) -> str:
    """Return what the change has of a refused option, where it has less of the chosen one; ''."""
    for find in (_default, _outcome, _amounts, _names):
        if (found := find(bearing, asked, mine, other)) is not None:
            return found
    return _words(bearing, asked, mine, other)


def _names(bearing: Bearing, _asked: Checkpoint, mine: Option, other: Option) -> str | None:
    """Return what the refused option names and the change adds, where the chosen one's is not.

    None where the chosen one names nothing of its own.
    """
    own, added = f"{mine.label} {mine.description}", bearing.added_code
    wanted = [t for t in things(mine.label, bearing.files) if not holds(other.label, t)]
    theirs = [t.shown for t in things(other.label, bearing.files)
              if not holds(own, t) and holds(added, t)]  # fmt: skip
    if not wanted:
        return None
    return theirs[0] if theirs and not any(holds(added, t) for t in wanted) else ""


def _words(bearing: Bearing, asked: Checkpoint, mine: Option, other: Option) -> str:
    """Return a word by which the refused option is told, where the chosen one's are missing."""
    question = words(asked.question) | _AGREES
    here = words(mine.label) - question - words(other.label)
    there = words(other.label) - words(f"{mine.label} {mine.description}") - question
    there -= bearing.old_words
    is_bare, here = not here, here - bearing.old_words
    if not there or not (here or is_bare):
        return ""
    text = bearing.programs
    stated = words(text) | words_with_names([text])
    found = {word for word in there if word in stated or is_meant(text, word)}
    known = {word for word in here if word in stated or is_meant(text, word)}
    share = len(known) / len(here) if here else float(found != there)
    is_sure = not share or bool(there & stated)  # a sign may mean many things
    if found and is_sure and len(found) / len(there) - share >= _MORE:
        return min(_in(other.label, found))
    return ""


def _in(label: str, found: set[str]) -> set[str]:
    """Return the words of an option as it has them."""
    return {w.lower() for w in re.findall(r"[A-Za-z]+", label) if words(w) & found} or found


def _amounts(bearing: Bearing, _asked: Checkpoint, mine: Option, other: Option) -> str | None:
    """Return the amount of a refused option that the change has in place of the chosen one's.

    None where the chosen one names none.
    """
    own, theirs = (_numbers(f"{o.label}") for o in (mine, other))
    own, theirs = own - theirs, theirs - own
    if not own:
        return None
    there = numbers_of(bearing.programs)
    has_own = all(not same_number(n).isdisjoint(there) for n in own)
    found = sorted(n for n in theirs if n in there)
    if theirs or not bearing.programs:
        return found[0] if found and not has_own else ""
    return "" if has_own else f"no {min(own)}"


def _default(bearing: Bearing, asked: Checkpoint, mine: Option, other: Option) -> str | None:
    """Return the default that the code has, where it is a refused option's; '' if it is not.

    None where the question is of no default, or the code has none of a label's.
    """
    if not _OF_DEFAULT.search(asked.question):
        return None
    about = words(asked.question)
    rows = [t for *_, t in bearing.added_rows if _DEFAULT.search(t)]
    values = {m[1].casefold() for t in rows if words(t) & about for m in _DEFAULT.finditer(t)}
    own, theirs = (o.label.strip("`'\"").casefold() for o in (mine, other))
    if own in values or theirs not in values:
        return "" if own in values else None
    return f"{theirs} as its default"


def _outcome(bearing: Bearing, asked: Checkpoint, mine: Option, other: Option) -> str | None:
    """Return the line that fails where the answer is to go on, or that none does; '' if it is so.

    None where the options are no such pair.
    """
    fails = [bool(_FAILS.search(o.label)) and not _GOES_ON.search(o.label) for o in (mine, other)]
    goes = [bool(_GOES_ON.search(o.label)) and not _FAILS.search(o.label) for o in (mine, other)]
    rows = bearing.added_rows
    raising = [n for n, row in enumerate(rows) if _RAISES.search(row[2])]
    if fails[0] and goes[1]:
        return None if raising or not rows else "no line that fails"
    if not (goes[0] and fails[1]):
        return None
    for at in raising:
        near = "\n".join(line for *_, line in rows[max(at - 1, 0) : at + 1])
        if words(asked.question) & words(near):
            return in_short(rows[at][2].strip())
    return None


def _numbers(label: str) -> set[str]:
    for amount, number in _AMOUNTS.items():
        label = re.sub(amount, number, label, flags=re.IGNORECASE)
    return numbers_of(spelled_out(label))
