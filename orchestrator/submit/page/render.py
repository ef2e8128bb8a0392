"""Make review.html, which shows the whole plan to the person who decides on it (PM-15).

It holds no script, and its policy allows nothing but its own style: what a plan says is always
shown as text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.submit.kinds import marked_at_base
from orchestrator.submit.now import places_now
from orchestrator.submit.outcomes import rows_of_plan
from orchestrator.submit.page import design, details, file_diffs, proof, revisions
from orchestrator.submit.page.facts import Facts, edited_files
from orchestrator.submit.page.first import answer_box, first_screen
from orchestrator.submit.page.html import Element, page
from orchestrator.submit.page.places import Places
from orchestrator.submit.since import last_seen
from orchestrator.submit.spent import spent_on
from shared.contents import DECIDED, DRAWN, GOAL, LIMITS
from shared.digests import SHORTEST
from shared.mode.guarded import is_guarded
from shared.plan_file import check_frozen
from state import store
from state.phases import PHASES

if TYPE_CHECKING:
    from collections.abc import Collection

    from orchestrator.submit.page.html import Node
    from shared.run import State
    from state.models import Plan


def read_facts(state: State, plan: Plan | None = None) -> Facts:
    """Return the data of a run's review page; raise Refused if its frozen plan was altered."""
    run, database = state.run, state.database
    if plan is None and run.digest is None:
        plan = store.load_plan(state.plan_path)
    elif plan is None:
        plan = check_frozen(state)
    previous, since = last_seen(state, plan)
    audit, answers = database.audit_rows(run), database.answers(run)
    approvals = [r for r in audit if r["action"] == "approve"]
    reverts = database.reverts(run)
    approved = database.approved_by(run, plan.digest or "")
    return Facts(
        plan,
        run,
        marked=marked_at_base(state, plan),
        spent=spent_on(state, plan),
        previous=previous,
        since=since,
        answers=answers,
        outcomes=database.outcomes(run, *PHASES),
        accepted=[(*named, reason) for named, reason in database.accepted(run, *PHASES).items()],
        approved=next((r for r in approvals if r["digest"] == plan.digest), None),
        channel=approved[0] if approved else "",
        guarded=is_guarded(database, database.planning_of(run.run_id)),
        reverted=reverts[-1] if reverts else "",
        now=places_now(state, plan),
        commands=_commands(state, plan, answers),
    )


def _commands(state: State, plan: Plan, answers: Collection[str]) -> dict[str, str]:
    """Return what the person may type: on a plan that waits, or to answer its first question."""
    digest = (state.run.digest or "")[:SHORTEST]
    asked = [c.id for c in plan.checkpoints if c.id not in answers and not state.run.ending]
    named = {"decide": state.typed("decide", asked[0], "CHOICE")} if asked else {}
    return {
        **named,
        "approve typed": f"/planner:approve {digest}",
        "approve": state.approving,
        "remark": state.typed("mode", "edit", "what should be different"),
        "reject": state.typed("mode", "reject", digest),
    }


def render_page(facts: Facts) -> str:
    """Return the review page as HTML text; the same review gives the same bytes."""
    plan, files, rows = (
        facts.plan,
        edited_files(facts.plan, facts.marked),
        rows_of_plan(facts.plan, facts.now),
    )
    places = Places(files)
    parts = {
        "Your answer": answer_box(facts),
        "Differences": revisions.differences(facts),
        "Questions": design.questions(facts, places),
        "Changes": file_diffs.changes(files),
        "Goal": design.goal(facts.run.request, rows[GOAL], places),
        "Decisions": design.decisions(rows[DECIDED], places),
        "Risks": design.risks(rows[LIMITS], rows[DRAWN], places),
        "Milestones": design.milestones(plan, files, places),
        "Verify": proof.verified(facts),
        "Details": details.details(facts, files, places),
    }
    title = " ".join(plan.overview.title.split()) or "Plan"
    return page(
        f"{title} – plan for review", first_screen(facts, files, rows), parts, _footer(facts)
    )


def _footer(facts: Facts) -> Node:
    plan = facts.plan
    digest = [", ", Element("code", plan.digest)] if plan.digest else None
    return Element("p", [
        "Made by planner review. This page shows the plan; what is approved is its digest", digest,
        ". The commit names it in its line ", Element("code", "Plan-Digest:"), ".",
    ])  # fmt: skip
