"""`planner recall`: find what earlier plans of a repository decided."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

import click

from cli.answers import write
from cli.options import json_option
from shared.builders import Block, json_text
from shared.recall import age_of, recall
from state.errors import Refused

if TYPE_CHECKING:
    from state.recall_index import Found

_NOTHING = (
    "No earlier plan of this repository says anything with these words. Looked at are plans whose "
    "commit stands: not those that were taken back."
)


@click.command("recall")
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), default=5, help="How many at most; else 5.")
@json_option
def recall_command(query: str, limit: int, *, as_json: bool) -> None:
    """Find what earlier plans decided and why.

    It searches decisions, rejected alternatives, risks, invariants and history, only of plans that
    were committed. Each says who approved its plan – proven, unproven, nobody as far as this clone
    knows –, and what nobody approved comes last.

    Example: planner recall "why do dates have no time zone"
    """
    if not query.strip():
        raise Refused("usage", "QUERY", "the query is empty", "a few words of what you look for")
    found, now = recall(os.getcwd(), query, limit), time.time()
    if as_json:
        rows = [
            {**one.entry._asdict(), "confidence": one.confidence, "approved": one.approved}
            for one in found
        ]
        write(json_text(rows) + "\n")
        return
    block = Block("result", found=len(found))
    for one in found:
        _show(block, one, now)
    if not found:
        block.task(_NOTHING)
    write(block.render())


def _show(block: Block, one: Found, now: float) -> None:
    entry = one.entry
    text = f"{entry.title}\n{entry.body}".strip()
    block.data(
        entry.kind, text, id=entry.name, confidence=f"{one.confidence:.2f}",
        age=age_of(entry.at, now), source=entry.source, commit=entry.commit_id[:12],
        approved=one.approved,
    )  # fmt: skip


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["recall", *sys.argv[1:]]))
