"""What nobody needs to decide on a plan, at the end of its page and folded: ids, blobs, reviews."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.submit.page.html import Element, Items, Section
from orchestrator.submit.page.proof import reviews

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.submit.page.facts import Edited, Facts
    from orchestrator.submit.page.html import Node
    from orchestrator.submit.page.places import Places
    from state.models import Plan

_SHORT = 12


def details(facts: Facts, files: Sequence[Edited], places: Places) -> Section:
    """Return the folded details: what the plan was made on and tried on, blobs, review history."""
    inside = [Items(_made_on(facts.plan), "rows"), _blobs(files), reviews(facts, places)]
    summary = Element("summary", "Ids, trees, blobs, and the history of the reviews")
    folded = Element("details", [summary, Element("div", inside)], {"class": "details"})
    return Section("details", "Details", folded)


def _made_on(plan: Plan) -> list[Node]:
    trees = sorted({result.tree for result in plan.verify})
    rows: list[Node] = [
        ["The verify commands ran on tree ", Element("code", tree), "."] for tree in trees
    ]
    if (base := plan.base) is not None:
        extra = " with uncommitted work on top" if base.snapshot else ""
        rows.append([
            f"The base is commit {base.commit[:_SHORT]} on ", Element("code", base.branch),
            f"{extra}, tree ", Element("code", base.tree), ".",
        ])  # fmt: skip
    return rows


def _blobs(files: Sequence[Edited]) -> Node:
    """Return the ids and blobs of the changed files as a table."""
    if not files:
        return None
    titles = [Element("th", name, {"scope": "col"}) for name in ("File", "Id", "For", "Blob")]
    rows = [Element("tr", _cells(file)) for file in files]
    parts = [Element("thead", Element("tr", titles)), Element("tbody", rows)]
    return Element("table", parts, {"class": "blobs", "aria-label": "Ids and blobs"})


def _cells(file: Edited) -> list[Node]:
    change = file.change
    before, after = ((blob or "absent")[:_SHORT] for blob in (change.before, change.after))
    intents = ", ".join(i for i in (change.intent_ref, *change.more_intent_refs) if i)
    name = Element("a", change.file, {"href": f"#{change.id}"})
    return [
        Element("th", name, {"scope": "row"}),
        *(Element("td", text) for text in (change.id, intents, f"{before} → {after}")),
    ]
