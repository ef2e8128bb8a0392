"""Find again, in a later revision, the place that a remark was made on (LP-3).

A line that git's comparison keeps is the same one where what stands around it says so too; one that
was moved, or set anew by a formatter, is found by its text and its neighbours among the lines that
are new. Where two places would do, or none, the line is gone: a wrong place would mislead whoever
reads the remark.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.submit.remarks import MOST_CHARS
from shared.patch import read_patch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from state.models import Change

_TELLING = re.compile(r"\w.*\w.*\w", re.DOTALL)  # not a bracket, a blank line, a rule
# The ends of a file, as lines that no file has.
_FIRST, _LAST = "\0<", "\0>"
_ENOUGH = 10  # letters and digits of a line that is hardly written twice
_MOST_PLACES = 50  # that are alike; of more, none would be the one


class Compared(NamedTuple):
    """What git says of a file's lines in two revisions."""

    # By the number of an old line, that of the new one which it has become.
    kept: Mapping[int, int]
    added: frozenset[int]


class Text(NamedTuple):
    """A file of the later revision in which a line may be found again."""

    file: str
    lines: Sequence[str]
    # Which of its lines are new, and thus may be ones that were moved.
    added: frozenset[int]
    # Of the file that the remark was made on, which of its lines are which there.
    kept: Mapping[int, int] | None = None


class Found(NamedTuple):
    """Where lines are now."""

    file: str
    line: int
    end: int


def compared(change: Change, old: int, new: int) -> Compared:
    """Return what the patch of a file says of its `old` lines, which have become `new` ones."""
    kept: dict[int, int] = {}
    added: set[int] = set()
    if change.patch is None and change.before != change.after:
        return Compared(kept, frozenset(added))
    at_old = at_new = 1
    for line in read_patch(change):
        if line.kind == "+" and line.new:
            added.add(line.new)
            at_new = line.new + 1
        elif line.kind == "-" and line.old:
            at_old = line.old + 1
        elif line.kind == " " and line.old and line.new:
            kept[line.old] = line.new
            at_old, at_new = line.old + 1, line.new + 1
        elif line.kind == "@" and line.old is not None:
            # What lies before a hunk is the same; an empty side is counted from the line before it.
            apart = line.old - at_old
            kept.update((at_old + n, at_new + n) for n in range(max(apart, 0)))
            at_old, at_new = at_old + apart, at_new + apart
    rest = min(old - at_old, new - at_new) + 1
    kept.update((at_old + n, at_new + n) for n in range(max(rest, 0)))
    return Compared(kept, frozenset(added))


def find_again(old: Sequence[str], line: int, end: int, texts: Iterable[Text]) -> Found | None:
    """Return where the lines `line` to `end` of a file are in a later revision; None if gone.

    The text that says which lines are kept comes first.
    """
    search = _Search(old, line, end)
    places = []
    for text in texts:
        lines = _closed(text.lines)
        if (at := search.kept_at(text)) and search.is_same(lines, at):
            return Found(text.file, at, at + end - line)
        places += [Found(text.file, at, at + end - line) for at in search.moved_to(text, lines)]
    return places[0] if len(places) == 1 else None


def find_quoted(
    before: Sequence[str], quote: Sequence[str], after: Sequence[str], lines: Sequence[str]
) -> tuple[int, int] | None:
    """Return where lines are of which nothing but these texts is known; None if nowhere for sure.

    All may be cut to MOST_CHARS.
    """
    key, cut = [*before, *quote, *after], [line[:MOST_CHARS] for line in lines]
    if not any(map(_TELLING.search, key)) or not _is_once(key, cut):
        return None
    size = len(key)
    at = next(n for n in range(len(cut)) if cut[n] == key[0] and cut[n : n + size] == key)
    line = at + 1 + len(before)
    return line, line + len(quote) - 1


class _Search:
    """Lines of a file that are looked for; of all texts only what is no blank counts."""

    def __init__(self, old: Sequence[str], line: int, end: int) -> None:
        self._old, self._line, self._end = _closed(old), line, end
        self._quote = self._old[line : end + 1]

    def kept_at(self, text: Text) -> int:
        """Return where git has kept all of the lines, one after the other; 0 if nowhere."""
        if not text.kept:
            return 0
        now = [text.kept.get(n, 0) for n in range(self._line, self._end + 1)]
        return now[0] if now == [*range(now[0], now[0] + len(now))] else 0

    def moved_to(self, text: Text, lines: Sequence[str]) -> Iterator[int]:
        """Yield the places among a text's new lines that these lines were moved to."""
        size = len(self._quote)
        alike = [
            at
            for at in sorted(text.added)
            if lines[at] == self._quote[0]
            and lines[at : at + size] == self._quote
            and text.added.issuperset(range(at, at + size))
        ]
        if len(alike) <= _MOST_PLACES:
            yield from (at for at in alike if self.is_same(lines, at))

    def is_same(self, lines: Sequence[str], at: int) -> bool:
        """Return whether the lines around say that these are the ones, and no others would do."""
        old, first, last = self._old, self._line, self._end
        up = down = 0
        while up < min(first, at) and old[first - up - 1] == lines[at - up - 1]:
            up += 1
        after = at + last - first
        while (
            last + down + 1 < len(old)
            and after + down + 1 < len(lines)
            and old[last + down + 1] == lines[after + down + 1]
        ):
            down += 1
        around = [*old[first - up : first], *old[last + 1 : last + 1 + down]]
        if up and down:
            told = any(map(_TELLING.search, around))
        else:
            # What stands on one side alone may have stayed while the line itself was replaced.
            speaks = len(self._quote) > 1 or any(self._is_alone([one], lines) for one in around)
            told = speaks and self._is_alone(self._quote, lines)
        if not told:
            return False
        key = old[first - up : last + 1 + down]
        return _is_once(key, old) and _is_once(key, lines)

    def _is_alone(self, part: Sequence[str], lines: Sequence[str]) -> bool:
        """Return whether lines say enough, and stand once in each of both files."""
        telling = sum(map(str.isalnum, "".join(part))) >= _ENOUGH
        return telling and _is_once(part, self._old) and _is_once(part, lines)


def _closed(lines: Sequence[str]) -> list[str]:
    """Return lines by number between the ends of their file, without blanks, with one quote."""
    return [_FIRST, *("".join(line.split()).replace("'", '"') for line in lines), _LAST]


def _is_once(key: Sequence[str], lines: Sequence[str]) -> bool:
    """Return whether lines stand in a text in one place alone."""
    text, wanted = (f"\n{chr(10).join(part)}\n" for part in (lines, key))
    first = text.find(wanted)
    return first >= 0 and text.find(wanted, first + 1) < 0
