"""The short summary of a plan that a person reads before approving, one line per subject."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from orchestrator.reviewed import beyond_limit, passed_with, reviewers_of, tries
from shared.archive import paths as archived
from shared.builders import first_of
from shared.candidates import read_found
from shared.contents import DOCUMENTS, INTENTS, PERSON, UNPROVEN, lines_for
from shared.digests import SHORTEST
from shared.execution.costs import whole_cost
from shared.git.kept import is_kept
from shared.requirements_record import lane_of, read_lane
from shared.resources import PLANNING_FOLDER, superseded_plan_path
from shared.steps.slices import answer_lines
from shared.tree_runs import runs_on_change
from shared.verified import EXERCISED, facts_of
from state import store
from state.channels import approval_text
from state.milestones import changes_of
from state.statements import placed, task_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared.run import State
    from state.database import Run
    from state.plan_table import Milestone, Plan, VerifyResult


MOST_UNRUN = 6
_PROVEN = "only a proven approval counts: typed in Claude Code, or signed by a key to touch"


def _verified(results: Sequence[VerifyResult]) -> str:
    """Return each verify command's result, and whether any command runs the changed code."""
    if not results:
        return "NOT VERIFIED"
    known = "fails on the base as well, so it tells NOTHING of the change"
    said = "; ".join(
        f"{r.command}: {known if r.outcome == 'known-failure' else r.outcome} ({facts_of(r)})"
        for r in results
    )
    exercised = results[0].exercised
    return said if exercised is None else f"{said}; {EXERCISED[exercised]}"


def _revised(state: State, plan: Plan) -> list[str]:
    """Return which entities and files differ from the previous revision, by comparing hashes."""
    path = superseded_plan_path(state.state_dir, plan.revision - 1)
    if not os.path.exists(path):
        return []
    old, new = store.read_plan(path).seals, plan.seals
    # A new remark has a line of its own.
    known = [n for n in sorted({*old, *new}) if n in old or not n.startswith("RM-")]
    named = [n for n in known if "-" in n or n == "overview"]
    files = {intent.id: intent.file for m in plan.milestones for intent in m.code_intents}
    files |= {change.id: change.file for m in plan.milestones for change in changes_of(m)}
    changed = dict.fromkeys(files.get(n, n) for n in named if old.get(n) != new.get(n))
    return [f"changed since revision {plan.revision - 1}: {', '.join(changed) or 'nothing'}"]


def _reviewed(plan: Plan) -> str:
    rounds = [one.iteration for one in plan.reviews if one.iteration > 1]
    which = "a gate" if len(rounds) == 1 else f"{len(rounds)} gates"
    gates = f"; {which} took {' and '.join(map(str, rounds))} rounds" if rounds else ""
    beyond = beyond_limit(plan.reviews)
    return f"reviewed by {reviewers_of(plan.reviews)}{gates}{beyond and '; '}{beyond}"


def _unrun(state: State, plan: Plan) -> list[str]:
    """Return which of the project's own checks no command that ran here names (RV-9)."""
    if state.run.depth != "full":
        return []
    ran = [*(r.command for r in plan.verify), *(r.command for r in runs_on_change(state.state_dir))]
    known = f"\n{'; '.join(ran)}\n"
    left = [f"{name} ({at})" for name, at in read_found(state.state_dir).checks
            if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", known)]  # fmt: skip
    return left and [
        f"the project's checks that did not run here: {', '.join(first_of(left, MOST_UNRUN))}"
    ]


def _passed(plan: Plan) -> list[str]:
    """Return the notes of reviewers, and the phases that passed against the figures."""
    passed = passed_with(plan.reviews)
    against = [o for o in plan.reviews if passed[o.phase].against]
    return [
        *(f"note, {line}" for found in passed.values() for line in found.notes),
        *(f"passed against the figures, {o.phase}: {o.reason}" for o in against),
    ]


def _files_of(milestone: Milestone, run: Run) -> list[str]:
    if run.depth == "intent":
        return [*milestone.files]
    changes = changes_of(milestone)
    return [f"{c.old_file} → {c.file}" if c.old_file else c.file for c in changes]


def _intended(plan: Plan, run: Run) -> list[str]:
    """Return what is to be done in each file where that is approved and no code is written yet."""
    if run.depth != "intent":
        return []
    contents = (INTENTS, DOCUMENTS)
    return [line for m in plan.milestones for line in lines_for(PERSON, contents, m)]


def _apart(plan: Plan) -> list[str]:
    """Return which files a plan has beside it, since they are too large; nothing without any."""
    changes = [change for m in plan.milestones for change in changes_of(m)]
    large = [c.file for c in changes if c.encoding == "blob" and c.after]
    said = "not self-contained: the plan needs its ref for"
    return [f"{said} {', '.join(large)}, too large for a patch"] if large else []


def _committed(state: State) -> str:
    if is_kept(state.run.repository):
        return "nothing is committed, since there is no git here"
    copies = archived(state)
    if (lane := lane_of(state.state_dir)) and read_lane(lane["lifecycle"]).git:
        copies += (f"the round's requirements, todo and history in {PLANNING_FOLDER}/",)
    return f"the commit adds {' and '.join(copies)}" if copies else ""


def _spent(state: State) -> list[str]:
    """Return what the agents that wrote the plan's changes have used; nothing before one has."""
    cost = whole_cost(state.database, state.run)
    return [f"written by agents: {cost.text()}"] if cost.agents else []


def summary(state: State) -> str:
    """Return the summary of a plan to approve, one line per entry; line breaks become spaces."""
    plan, run = state.plan, state.run
    overview = plan.overview
    files = list(dict.fromkeys(file for m in plan.milestones for file in _files_of(m, run)))
    answers = state.database.answers(run)
    asked = [(answer_lines([one], answers), one.outcome) for one in plan.checkpoints]
    lines = [
        f"{overview.title} (revision {run.revision}, digest {(run.digest or '')[:SHORTEST]})",
        *lines_for(PERSON, (UNPROVEN,), plan),
        overview.approach,
        *(f"answered: {line}{outcome and ' → '}{outcome}" for line, outcome in asked if line),
        *(f"{d.id}: {d.decision}" for d in plan.planning_context.decision_log),
        *(task.text for task in task_of(plan, out_of_scope=True)),
        *(f"assumed: {text}" for text in plan.context.assumptions),
        *(f"risk: {r.risk}" for r in plan.planning_context.known_risks),
        *_intended(plan, run),
        "; ".join(filter(None, [f"files: {', '.join(files)}", _committed(state)])),
        f"verify: {_verified(plan.verify)}"
        if run.depth == "full"
        else "approved are the intents; their code is written then and comes back for approval",
        *_apart(plan),
        *_revised(state, plan),
        *(
            f"{one.id}{', instead of ' if one.overrules else ''}{', '.join(one.overrules)}: "
            f"{placed(one.text, one.anchor)}{one.outcome and ' → '}{one.outcome}"
            for one in plan.user_remarks
            if one.revision >= plan.revision - 1 or one.outcome.startswith("declined")
        ),
        *(f"revised: {text}" for text in plan.remarks),
        _reviewed(plan),
        *tries(plan.reviews),
        *_unrun(state, plan),
        *_spent(state),
        *_passed(plan),
    ]
    approved = state.database.approved_by(run, run.digest or "")
    if approved:
        lines.append(f"approved: {approval_text(approved)}")
    elif state.config["config"].get("require") == "proven":
        lines.append(_PROVEN)
    lines += [
        f"open: {item.id} {item.severity} {item.finding}"
        for outcome in plan.reviews
        for item in outcome.open
    ]
    return "\n".join(" ".join(line.split()) for line in lines)
