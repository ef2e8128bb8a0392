"""Work out what setup has to write: from what is there, what it once put there, what is wanted.

Whatever it put there before is first taken out in mind, then what is wanted is added. So the same
way sets up, brings up to date and removes, and doing it twice changes nothing.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from cli.setup import documents
from cli.setup.hosts import Wanted, foreign_guard
from cli.setup.journal import Change, Content, content_of, missing
from cli.setup.record import NOTHING, Edited, Placed
from shared.mode.sessions import sha256
from shared.paths import real_path
from state.beneath import Beneath
from state.errors import Problem, Refused
from state.files import unusable

if TYPE_CHECKING:
    from cli.setup.documents import Entry, Form
    from cli.setup.splices import Inserted

_NEW_SETTINGS = 0o600
_USERS_WRITE = 0o200


class Work:
    """The changes for one assistant; `problems` says why some cannot be made.

    Those in a `project` are made in it and nowhere else: a repository may hold links.
    """

    def __init__(self, wanted: Wanted, before: Placed, project: str = "") -> None:
        self._project = Beneath(project) if project else None
        self.changes: list[Change] = []
        self.problems: list[Problem] = []
        self.left: list[str] = []  # what is no longer as setup wrote it, and so stays
        self.wanted, self._before = wanted, before
        self._links: dict[str, str] = {}
        self._files: dict[str, str] = {}
        self._edited: dict[str, Edited] = {}
        for step, paths in (
            (self._link, {**before.links, **wanted.links}),
            (self._file, {**before.files, **wanted.files}),
            (self._edit, dict.fromkeys((*before.edited, *(path for path, *_ in wanted.entries)))),
        ):
            for path in paths:
                self._try(step, path)

    @property
    def placed(self) -> Placed:
        """Return what is placed once the changes are made."""
        made = [f for change in self.changes if change.after for f in missing(change.path)]
        kept = [f for f in self._before.folders if os.path.isdir(f)]
        found = Placed(self._links, self._files, self._edited, (*dict.fromkeys((*kept, *made)),))
        return found if found[:3] != NOTHING[:3] else NOTHING

    @property
    def gone(self) -> list[str]:
        """Return the folders that setup made and that nothing of it needs any more."""
        return [] if self.placed != NOTHING else [*reversed(self._before.folders)]

    def _try(self, step: object, path: str) -> None:
        assert callable(step)  # noqa: S101 – one of ours, for the type checker
        try:
            if self._project:
                # What is to be a link may be one.
                self._project.exists(os.path.dirname(path) if step == self._link else path)
            step(path)
        except Refused as refusal:
            self.problems += refusal.problems
        except OSError as error:  # it was something else a moment before
            self.problems += unusable(path, error).problems

    def _link(self, path: str) -> None:
        target, old = self.wanted.links.get(path, ""), self._before.links.get(path, "")
        here = content_of_link(path)
        is_ours = here is not None and here.link != "" and here.link == old
        if target and here is not None and not is_ours:
            if real_path(path) != real_path(target):
                text = f"{_kind(here)} that is not ours is here; it was not changed"
                raise Refused("conflict", path, text, "move it away, then run setup again")
            return  # as somebody has made it, and so not to be removed
        if target:
            self._links[path] = target
        if target and not (is_ours and old == target):
            self.changes.append(Change(path, here, Content(link=target)))
        elif not target and is_ours:
            self.changes.append(Change(path, here, None))

    def _file(self, path: str) -> None:
        text, old = self.wanted.files.get(path), self._before.files.get(path, "")
        here = content_of(path)
        is_ours = here is not None and sha256(here.data) == old
        if text is None:
            if is_ours:
                self.changes.append(Change(path, here, None))
            elif here is not None:
                self.left.append(path)
            return
        data = text.encode()
        if here is not None and not is_ours:
            if here.data != data:
                told = "another file is here, or this one was changed; it was not touched"
                raise Refused("conflict", path, told, "move it away, then run setup again")
            if not old:
                return  # as somebody has made it
        self._files[path] = sha256(data)
        if here is None or here.data != data:
            self.changes.append(Change(path, here, Content(data)))

    def _edit(self, path: str) -> None:
        old = self._before.edited.get(path, Edited("", made=False, entries=()))
        rows = [(form, entry) for at, form, entry in self.wanted.entries if at == path]
        form = rows[0][0] if rows else form_of(path)
        entries = [entry for _, entry in rows]
        real = real_path(path)
        here = content_of(real)
        try:
            text = here.data.decode() if here else ""
            if _still_there(form, text, here, old, entries):
                self._edited[path] = old
                return
            clean = _clean(form, text, here, old)
            refuse_foreign(path, form, clean, entries)
            after, pieces = _with(form, clean, entries)
        except ValueError as error:
            lines = "; ".join(json.dumps(entry.value) for entry in entries)
            told = f"cannot be changed as {form.entry_form}: {error}; it was not touched"
            way = f"correct it, or add by hand to {where(entries)}: {lines}" if entries else ""
            raise Refused(
                "invalid", path, told, way or "remove the planner's entries by hand"
            ) from None
        is_made = old.made or here is None
        if is_made and not entries and not after.strip():
            if here is not None:
                self._change(path, real, here, None)
            return
        if pieces:
            self._edited[path] = Edited(sha256(after.encode()), is_made, pieces)
        if after != text:
            self._change(path, real, here, after)

    def _change(self, path: str, real: str, here: Content | None, after: str | None) -> None:
        check_writable(path, real, here)
        mode = here.mode if here else _NEW_SETTINGS
        content = None if after is None else Content(after.encode(), mode)
        self.changes.append(Change(real, here, content))


def content_of_link(path: str) -> Content | None:
    """Return what is at a path that is to be a link; a folder counts as a file without content."""
    return Content() if os.path.isdir(path) and not os.path.islink(path) else content_of(path)


def form_of(path: str) -> Form:
    """Return the form of a settings file that nothing is wanted in any more."""
    if path.endswith("hooks.toml"):
        return documents.Tables()
    return documents.Toml() if path.endswith(".toml") else documents.Json()


def check_writable(path: str, real: str, here: Content | None) -> None:
    """Refuse a file that is not the user's own or that they have made read-only."""
    try:
        owner = os.stat(real).st_uid if here else os.geteuid()
    except OSError:
        owner = -1
    if owner != os.geteuid():
        raise Refused("refused", path, "belongs to another user; it was not changed", _OWN)
    if here and not here.mode & _USERS_WRITE:
        raise Refused("refused", path, "is read-only; it was not changed", "chmod u+w on the file")


_OWN = "run setup as the user who owns it"


def refuse_foreign(path: str, form: Form, text: str, entries: list[Entry]) -> None:
    """Refuse a file with a guard of the planner that setup did not put there in this form."""
    other = foreign_guard(form.parse(text), entries)
    if other and entries:
        told = f"already has a guard of the planner: {other}"
        raise Refused("conflict", path, told, "remove that entry, then run setup again")


def where(entries: list[Entry]) -> str:
    """Return where in a file the entries belong."""
    return ", ".join(dict.fromkeys(".".join(entry.keys) for entry in entries))


def _still_there(
    form: Form, text: str, here: Content | None, old: Edited, entries: list[Entry]
) -> bool:
    """Return whether a file that others have changed since holds just the entries wanted."""
    known = [entry for entry, _ in old.entries]
    others = here is not None and sha256(here.data) != old.sha256
    return bool(known) and others and all(entry in entries for entry in known) and all(
        entry.present(form.parse(text)) for entry in entries
    )  # fmt: skip


def _clean(form: Form, text: str, here: Content | None, old: Edited) -> str:
    """Return a file's text without what setup has put there."""
    if here is not None and sha256(here.data) == old.sha256:
        for _, pieces in reversed(old.entries):
            text = documents.undone(text, pieces)
        return text
    for entry, pieces in reversed(old.entries):
        text = documents.taken(form, text, entry, pieces)
    return "" if old.made and form.parse(text) == {} else text


def _with(
    form: Form, text: str, entries: list[Entry]
) -> tuple[str, tuple[tuple[Entry, tuple[Inserted, ...]], ...]]:
    """Return a text with the entries, and those that were not there yet with what was inserted."""
    made = []
    for entry in entries:
        if not entry.present(form.parse(text)):
            text, pieces = documents.add(form, text, entry)
            made.append((entry, (*pieces,)))
    return text, (*made,)


def _kind(content: Content) -> str:
    return f"a link to {content.link}" if content.link else "a file or folder"
