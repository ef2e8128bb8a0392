"""Add entries to a settings file as text, and take them out again; nothing else of it changes.

Every change is checked by reading its result: it must hold what the file held before and the
entries, else it is refused. So a file in a form that is not understood is left as it is.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from cli.setup.spans import TOML_BLANK, Node, Spans
from cli.setup.splices import Inserted, cut, gap, insert, newline

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Entry(NamedTuple):
    """A value that belongs into the list at `keys`; `initial` comes before it in a new list.

    With None as `initial` it is the value of the one key: of the user's, if there is one.
    """

    keys: tuple[str, ...]
    value: Any
    initial: tuple[str, ...] | None = ()

    @property
    def whole(self) -> Any:  # noqa: ANN401 – any JSON value
        """Return what stands at the last key where nothing was there."""
        return self.value if self.initial is None else [*self.initial, self.value]

    def present(self, settings: Any) -> bool:  # noqa: ANN401 – any JSON value
        """Return whether the settings hold the value."""
        if self.initial is None:
            return self.keys[0] in settings
        return self.value in (self._list(settings) or [])

    def _list(self, settings: Any) -> list[Any] | None:  # noqa: ANN401 – any JSON value
        """Return the list at `keys`, None without one; ValueError if something else is there."""
        for at, key in enumerate(self.keys):
            if not isinstance(settings, dict):
                name = ".".join(self.keys[:at]) or "the file"
                raise ValueError(f"{name} is not an object")  # noqa: TRY004 – of the file
            settings = settings.get(key)
            if settings is None:
                return None
        if not isinstance(settings, list):
            raise ValueError(f"{'.'.join(self.keys)} is not a list")  # noqa: TRY004 – of the file
        return settings

    def added(self, settings: Any) -> Any:  # noqa: ANN401 – any JSON value
        """Return the settings with the value at the end of the list."""
        found = copy.deepcopy(settings)
        if self.initial is not None and (known := self._list(found)) is not None:
            known.append(self.value)
            return found
        inner = found
        for key in self.keys[:-1]:
            inner = inner.setdefault(key, {})
        inner[self.keys[-1]] = self.whole
        return found

    def taken(self, settings: Any) -> Any:  # noqa: ANN401 – any JSON value
        """Return the settings without the value, and without what is then empty on its way."""
        found = copy.deepcopy(settings)
        if self.initial is None:
            # Entries of others need it, too.
            if not any(isinstance(value, dict) for value in found.values()):
                found.pop(self.keys[0], None)
            return found
        if (known := self._list(found)) is not None:
            known[:] = [value for value in known if value != self.value]
            if tuple(known) == self.initial:
                known.clear()
        for size in range(len(self.keys), 0, -1):
            inner = found
            for key in self.keys[: size - 1]:
                inner = inner.get(key, {})
            if inner.get(self.keys[size - 1]) in ([], {}):
                del inner[self.keys[size - 1]]
        return found


class Json:
    """Settings in JSON, with the comments and commas that clients accept in it."""

    entry_form = "JSON"

    def parse(self, text: str) -> Any:  # noqa: ANN401 – any JSON value
        """Return the value in the text; {} for an empty one."""
        return Spans(text).read().value if text.strip() else {}

    def insertions(self, text: str, entry: Entry) -> list[Inserted]:
        """Return what to insert for an entry, each place counted before any is inserted."""
        if not text.strip():
            made = json.dumps(entry.added({}), indent=2, ensure_ascii=False)
            return [(0, made if text else f"{made}\n")]
        node = Spans(text).read()
        for at, key in enumerate(entry.keys):
            if key not in node.keys:
                value = entry.whole
                for outer in reversed(entry.keys[at + 1 :]):
                    value = {outer: value}
                return insert(text, node, value, key)
            node = node.items[node.keys.index(key)]
        return insert(text, node, entry.value)

    def without(self, text: str, entry: Entry) -> str:
        """Return the text without an entry and without what is then empty on its way."""
        if entry.initial is None:
            outer = Spans(text).read()
            return cut(text, outer, outer.keys.index(entry.keys[0]))
        node = self._inner(text, entry.keys)
        while entry.value in node.value:
            text = cut(text, node, node.value.index(entry.value))
            node = self._inner(text, entry.keys)
        for size in range(len(entry.keys), 0, -1):
            outer = self._inner(text, entry.keys[: size - 1])
            at = outer.keys.index(entry.keys[size - 1])
            if outer.items[at].value in ([], {}):
                text = cut(text, outer, at)
        return text

    def _inner(self, text: str, keys: Sequence[str]) -> Node:
        node = Spans(text).read()
        for key in keys:
            node = node.items[node.keys.index(key)]
        return node


class Toml:
    """Settings in TOML: an entry belongs into an array of one table."""

    entry_form = "TOML"

    def parse(self, text: str) -> Any:  # noqa: ANN401 – any TOML value
        """Return the tables in the text."""
        return tomllib.loads(text)

    def insertions(self, text: str, entry: Entry) -> list[Inserted]:
        """Return what to insert for an entry, each place counted before any is inserted."""
        array = self._array(text, entry)
        if array is not None:
            return insert(text, array, entry.value, blank=TOML_BLANK)
        line = f"{entry.keys[-1]} = {json.dumps(entry.whole)}{newline(text)}"
        header = self._header(text, entry)
        if header is not None:
            lead = "" if text[header - 1] == "\n" else newline(text)
            return [(header, lead + line)]
        table = f"[{'.'.join(entry.keys[:-1])}]{newline(text)}"
        return [(len(text), gap(text) + table + line)]

    def without(self, text: str, entry: Entry) -> str:
        """Return the text without an entry; a list that is then empty stays."""
        array = self._array(text, entry)
        while array is not None and entry.value in array.value:
            text = cut(text, array, array.value.index(entry.value), TOML_BLANK)
            array = self._array(text, entry)
        return text

    def _array(self, text: str, entry: Entry) -> Node | None:
        at = self._header(text, entry)
        key = re.compile(rf"^[ \t]*{entry.keys[-1]}[ \t]*=[ \t]*(?=\[)", re.MULTILINE)
        found = key.search(text, at) if at is not None else None
        return Spans(text, TOML_BLANK).value(found.end()) if found else None

    def _header(self, text: str, entry: Entry) -> int | None:
        """Return the place after the line that begins the entry's table, None without it."""
        name = r"[ \t]*\.[ \t]*".join(map(re.escape, entry.keys[:-1]))
        line = rf"^[ \t]*\[[ \t]*{name}[ \t]*\][ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)"
        found = re.search(line, text, re.MULTILINE)
        return found.end() if found else None


class Tables(Toml):
    """Settings in TOML: an entry is a table of its own at the end, such as `[[hooks]]`."""

    def insertions(self, text: str, entry: Entry) -> list[Inserted]:
        """Return the table as text and its place, the end."""
        end = newline(text)
        lines = [f"[[{entry.keys[0]}]]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in entry.value.items()]
        return [(len(text), gap(text) + end.join(lines) + end)]

    def without(self, text: str, entry: Entry) -> str:
        """Return the text: a table that is not as it was written is somebody else's."""
        del entry
        return text


Form = Json | Toml | Tables


def add(form: Form, text: str, entry: Entry) -> tuple[str, list[Inserted]]:
    """Return the text with an entry, and what was inserted, in order; ValueError if it cannot."""
    expected = entry.added(form.parse(text))
    pieces = sorted(form.insertions(text, entry), reverse=True)
    changed = text
    for at, piece in pieces:
        changed = changed[:at] + piece + changed[at:]
    if form.parse(changed) != expected:
        raise ValueError("its form is not one that can be added to")
    return changed, pieces


def undone(text: str, pieces: Sequence[Inserted]) -> str:
    """Return the text as it was before these pieces were inserted, in this order."""
    for at, piece in reversed(pieces):
        if text[at : at + len(piece)] != piece:
            raise ValueError("it is not as it was written")
        text = text[:at] + text[at + len(piece) :]
    return text


def taken(form: Form, text: str, entry: Entry, pieces: Sequence[Inserted]) -> str:
    """Return a text that somebody has changed since, without an entry; ValueError if it cannot."""
    settings = form.parse(text)
    if not entry.present(settings):
        return text
    expected = entry.taken(settings)
    if expected == settings:
        return text
    ways: tuple[Callable[[], str], ...] = (
        lambda: _cut_pieces(text, [piece for _, piece in pieces]),
        lambda: form.without(text, entry),
    )
    for way in ways:
        try:
            found = way()
            left = form.parse(found)
            if not entry.present(left) and entry.taken(left) == expected:
                return found
        except ValueError:
            continue
    raise ValueError("what setup has added cannot be told from the rest")


def _cut_pieces(text: str, pieces: list[str]) -> str:
    for piece in pieces:
        if text.count(piece) != 1:
            raise ValueError("not just once")
        text = text.replace(piece, "")
    return text
