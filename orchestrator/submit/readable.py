"""Write plan.md and review.html, from which a person decides on a run's plan (PL-16, PM-15)."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from orchestrator.submit.page.render import read_facts, render_page
from orchestrator.submit.plan_md import render_plan
from shared import resources
from state.errors import Refused
from state.files import write_atomic

if TYPE_CHECKING:
    from orchestrator.submit.page.facts import Facts
    from shared.run import State
    from state.models import Plan


def write_readable(state: State, plan: Plan | None = None) -> str:
    """Write plan.md and review.html and return the page's path; the caller holds the run's lock.

    `plan` is the run's plan if the caller has just read or frozen it; else it is read here.
    """
    facts = read_facts(state, plan)
    path = resources.review_page_path(state.state_dir)
    write_atomic(resources.rendered_plan_path(state.state_dir), _text(facts).encode())
    write_atomic(path, render_page(facts).encode())
    return path


def refresh(state: State) -> None:
    """Write both files again after the run's stage has changed, if the run has a page.

    What cannot be written stops nothing: the change is done already.
    """
    if os.path.isfile(resources.review_page_path(state.state_dir)):
        with contextlib.suppress(Refused):
            write_readable(state)


def write_text(state: State, plan: Plan) -> str:
    """Write plan.md alone for a plan that may be under way, and return its path."""
    path = resources.rendered_plan_path(state.state_dir)
    write_atomic(path, rendered(state, plan).encode())
    return path


def rendered(state: State, plan: Plan, *, folds: bool = True) -> str:
    """Return the text of plan.md for a run's plan, with all that the run knows of it.

    Without `folds` nothing of it needs a viewer of Markdown.
    """
    return _text(read_facts(state, plan), folds=folds)


def _text(facts: Facts, *, folds: bool = True) -> str:
    return render_plan(facts.plan, facts.answers, facts, folds=folds)
