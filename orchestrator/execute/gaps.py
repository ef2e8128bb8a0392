"""Store what a reviewer says about the gaps between plan and result: fine, or back to work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.executor import WORKFLOW
from orchestrator.path import going_back
from shared.drift import check_run
from shared.named_files import read_answer
from shared.plan_file import open_plan
from shared.qr.types import FAIL, SHOULD, Item, LoopState, item_id, rows_of
from state import store
from state.errors import Problem, Refused
from state.milestones import untouched
from state.results import OpenItem
from state.written_json import TEXT, an_object, list_of, problems_in, sound_items

if TYPE_CHECKING:
    from shared.run import State
    from state.models import Plan

CHECK = "planned-untouched"
COVERED = "covered"
VERDICTS = (COVERED, "partly", "missing")
_EXAMPLE = '[{"gap": "M-001 src/a.py", "verdict": "covered", "reason": "…"}]'


def judge_gaps(state: State, path: str, who: str) -> None:
    """Store a verdict on each gap; all covered, they are shown for approval, else agents go on."""
    answers = read_answer(state.state_dir, path).json()
    with state.lock("exec reconcile"):
        state.reload()
        last = max(WORKFLOW.steps)
        if not state.is_writing or state.run.step != last:
            here = state.command("step", state.run.workflow)
            text = "there is nothing to reconcile now"
            raise Refused("conflict", "exec reconcile", text, "do the step that is due", here)
        plan = open_plan(state)
        check_run(state)
        gaps = untouched(plan)
        _check(answers, gaps)
        iteration = state.database.phase(state.run, "impl-code")[1]
        items = [
            Item(id=item_id(n), scope=row["gap"].partition(" ")[0], check=CHECK, severity=SHOULD,
                 status=FAIL, finding=f"{row['gap']}: planned and untouched; {row['reason']}")
            for n, row in enumerate(answers, 1)
        ]  # fmt: skip
        left = [i for i, row in zip(items, answers, strict=True) if row["verdict"] != COVERED]
        if not left:
            store.save_plan(state.plan_path, _with_open(plan, items))
        with state.database as database:
            verdict = "fail" if left else "pass"
            outcome = {"verdict": verdict, "computed": verdict, "decided_by": who,
                       "reason": "", "items": rows_of(left or items)}  # fmt: skip
            name = "impl-code" if left else "reconcile"
            database.add_outcome(state.run, name, iteration, outcome)
            if left:
                database.set_phase(state.run, "impl-code", LoopState.RETRY, iteration + 1)
                with going_back(state, "gaps to fill"):
                    state.go_to(WORKFLOW.name, WORKFLOW.number("impl-code", "execute"))


def _with_open(plan: Plan, items: list[Item]) -> Plan:
    found = [OpenItem(id=i.id, check=i.check, severity=i.severity, finding=i.finding or "")
             for i in items]  # fmt: skip
    reviews = [
        o.model_copy(update={"open": (*(one for one in o.open if one.check != CHECK), *found)})
        if o.phase == "impl-code"
        else o
        for o in plan.reviews
    ]
    return plan.model_copy(update={"reviews": tuple(reviews)})


def _check(answers: object, gaps: list[str]) -> None:
    """Raise Refused unless there is a verdict with a reason on each gap, and on nothing else."""
    row = an_object(
        {"gap": {"enum": gaps}, "verdict": {"enum": VERDICTS}, "reason": TEXT},
        ("gap", "verdict", "reason"),
        _EXAMPLE,
    )
    problems = problems_in(answers, list_of(row, _EXAMPLE), "gaps")
    named = [row["gap"] for row in sound_items(answers, problems).values()]
    problems += [
        Problem(
            "invalid", "gaps", f"{gap} is judged {named.count(gap)} times", "judge each gap once"
        )
        for gap in gaps
        if named.count(gap) > 1 or (not problems and gap not in named)
    ]
    if problems:
        raise Refused.of(problems)
