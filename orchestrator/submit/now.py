"""Say where the places of a plan's remarks are now, in the revision that is shown (LP-3)."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from orchestrator.submit.carried import Found, Text, compared, find_again, find_quoted
from orchestrator.submit.remarks import revision_of
from orchestrator.submit.trees import opened_trees
from shared.workspace import base_of
from state import kinds
from state.errors import Refused
from state.models import Change
from state.statements import place_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.submit.trees import Trees
    from shared.git.change import Entry, FileChange
    from shared.run import State
    from state.models import Anchor, Plan

GONE = "gone since"


def places_now(state: State, plan: Plan) -> dict[str, str]:
    """Return in words where what each remark is about is now, by the remark's id.

    Remarks on the whole plan have none, nor has any while the revision's code cannot be read.
    """
    anchored = {one.id: one.anchor for one in plan.user_remarks if one.anchor}
    entities = {name: a for name, a in anchored.items() if a.entity}
    found = {name: "" if _is_in(plan, a.entity) else GONE for name, a in entities.items()}
    files = {name: a for name, a in anchored.items() if not a.entity}
    if not files or plan.base is None:
        return found
    try:
        with opened_trees(state) as trees:
            for digest in dict.fromkeys(a.revision_digest for a in files.values()):
                later = _Later(state, trees, plan, digest)
                own = {name: a for name, a in files.items() if a.revision_digest == digest}
                found |= {name: later.place(anchor) for name, anchor in own.items()}
    except Refused:  # such as a blob beside the plan that is not here
        return found
    return found


def _is_in(plan: Plan, name: str) -> bool:
    return bool(kinds.find(plan, name)) or any(task.id == name for task in plan.task_spec)


class _Later:
    """A revision of a plan, compared with an earlier one on which remarks were made."""

    def __init__(self, state: State, trees: Trees, plan: Plan, digest: str) -> None:
        self._trees, self._plan = trees, plan
        self._base, self._new = base_of(plan).tree, trees.new(plan)
        self._earlier: Plan | None = None
        self._changes: list[FileChange] = []
        with contextlib.suppress(Refused):  # not as it was submitted: what is quoted is left
            self._earlier = revision_of(state, plan, digest)
            self._changes = trees.between(self._earlier, plan) if self._earlier else []

    def place(self, anchor: Anchor) -> str:
        """Return where an anchor's lines, or its file, are in the later revision."""
        tree = self._base if anchor.side == "old" else self._new
        entry = self._trees.files(tree, {anchor.file}).get(anchor.file)
        if entry is not None and (not anchor.line or entry.blob == anchor.blob):
            return _words("now at", anchor.side, Found(anchor.file, anchor.line, anchor.end))
        change = self._change_of(anchor)
        if not anchor.line:
            new = change.file if change and change.after and anchor.side == "new" else ""
            return f"now at {new}" if new else GONE
        if change is not None:
            found = self._by_comparison(anchor, change)
            how = "now at" if found and found.file == change.file else "moved to"
            return _words(how, anchor.side, found) if found else GONE
        found = self._by_its_text(anchor, entry) if entry else None
        return _words("by its text at", anchor.side, found) if found else GONE

    def _change_of(self, anchor: Anchor) -> FileChange | None:
        """Return what has become of an anchor's file since; None if nothing is known of it."""
        changes = self._changes
        if anchor.side == "old" and self._earlier is not None:
            changes = self._trees.between_bases(self._earlier, self._plan, {anchor.file})
        own = (c for c in changes if (c.old_file or c.file) == anchor.file)
        return next((c for c in own if c.before == anchor.blob), None)

    def _by_comparison(self, anchor: Anchor, change: FileChange) -> Found | None:
        blobs = [change.before or "", *filter(None, [change.after])]
        old, *rest = self._trees.lines(blobs)
        if old is None:
            return None
        new = rest[0] if rest else None
        own = [_text(change, new, len(old))] if new is not None else []
        others = self._others if anchor.side == "new" else []
        texts = chain(own, (one for one in others if one.file != change.file))
        return find_again(old, anchor.line, anchor.end, texts)

    @cached_property
    def _others(self) -> list[Text]:
        """The files that have new lines, to any of which a line may have been moved."""
        changed = [c for c in self._changes if c.after and c.patch]
        found = self._trees.lines([c.after for c in changed if c.after])
        pairs = zip(changed, found, strict=True)
        texts = (_text(c, lines, 0) for c, lines in pairs if lines is not None)
        return [text._replace(kept=None) for text in texts if text.added]

    def _by_its_text(self, anchor: Anchor, entry: Entry) -> Found | None:
        """Return where lines are of whose revision nothing is left but what the remark quotes."""
        lines = self._trees.lines([entry.blob])[0]
        if lines is None or len(anchor.quote) != anchor.end - anchor.line + 1:
            return None
        at = find_quoted(anchor.before, anchor.quote, anchor.after, lines)
        return Found(anchor.file, *at) if at else None


def _text(change: FileChange, lines: Sequence[str], old: int) -> Text:
    """Return a changed file with its new lines; `old` is how many it had before."""
    said = compared(Change(id="CC-001", **asdict(change)), old, len(lines))
    return Text(change.file, lines, said.added, said.kept)


def _words(how: str, side: str, found: Found) -> str:
    return f"{how} {place_in(found.file, side, found.line, found.end)}"
