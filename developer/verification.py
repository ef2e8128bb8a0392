"""Runs the project's verify commands on a run's scratch worktree, keeps their results (PL-34)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from developer.verify.background import verify
from developer.verify.hooks import hooks_hash, render_hooks
from developer.verify.hooks import not_confirmed as hooks_not_confirmed
from developer.verify.job import Job, Running
from developer.verify.prepare import not_confirmed, prepare
from shared import archive
from shared.candidates import chosen_commands
from shared.config import commands_hash, render_commands
from shared.git.repository import repository_at
from shared.place.level import level
from shared.plan_file import open_plan
from shared.workspace import base_of, config_of
from state import store
from state.actors import UNPROVEN
from state.errors import Refused

if TYPE_CHECKING:
    from developer.verify.job import Done
    from shared.run import State
    from state.models import Plan


def confirm(state: State, digest: str) -> None:
    """Record that the project's commands, or its git hooks, are confirmed.

    Refused if `digest` is the hash of neither.
    """
    stored = state.config
    config = config_of(state)
    verify = (*config.verify, *chosen_commands(state.state_dir))
    more = replace(config, verify=tuple(dict.fromkeys(verify)))
    shown = {stored["hash"]: stored["text"], commands_hash(more): render_commands(more)}
    hooks = render_hooks(state.repository, state.worktree)
    shown[hooks_hash(hooks)] = hooks
    if not digest or digest not in shown:
        known = stored["hash"] or "(none configured)"
        text = f"this is not the hash of this run's commands, which is {known}"
        raise Refused("not_found", digest, text, "", state.command("config", "show"))
    with state.database as database:
        database.confirm(digest, shown[digest])
        database.audit(state.run, UNPROVEN, "confirm commands", detail=shown[digest])


def job_of(state: State, plan: Plan) -> Job:
    """Return what a verification of the plan needs: worktree, base commit, commands, test files."""
    base = base_of(plan)
    return Job(
        state_dir=state.state_dir,
        repository=state.run.repository,
        worktree=state.worktree,
        base_commit=base.snapshot or base.commit,
        base_tree=base.tree,
        config=config_of(state),
        tests=tuple(sorted({f for m in plan.milestones for f in m.tests.files})),
        in_place=level(state.run.repository).holds,
        chosen=tuple(chosen_commands(state.state_dir)),
        beside=archive.paths(state),
        opened=state.opened,
    )


def tools_job(state: State, plan: Plan, worktree: str = "") -> Job:
    """Return what formatters and hooks of a capture need, and whether a person confirmed it.

    Refused for those that would run without a place and that nobody has confirmed. `worktree` is
    that of a milestone.
    """
    job, is_confirmed = job_of(state, plan), state.database.is_confirmed
    repository = repository_at(job.repository, job.opened)
    hooks = hooks_not_confirmed(repository, worktree or job.worktree, is_confirmed, state.state_dir)
    format_ = (
        not_confirmed(job.config, is_confirmed, state.state_dir) if job.config.format else None
    )
    refused = [refusal for refusal in (format_, hooks) if refusal]
    if refused and not job.in_place:
        raise Refused.of([problem for refusal in refused for problem in refusal.problems])
    confirmed = is_confirmed(commands_hash(job.config))
    return replace(job, confirmed=confirmed, hooks_refused=hooks)


def verify_plan(state: State, plan: Plan) -> Done | Running:
    """Run the verify commands on the worktree; call without the run's lock, since it takes long."""
    return verify(job_of(state, plan), state.database.is_confirmed)


def with_results(plan: Plan, done: Done) -> Plan:
    """Return a copy of the plan that holds the results of the verify commands."""
    results = tuple(r.for_plan() for r in done.results)
    return plan.model_copy(update={"verify": results})


def verify_now(state: State) -> Done | Running:
    """Run the verify commands and store the results in the plan, or return what still runs."""
    with state.lock("plan verify"):
        plan = open_plan(state)
    answer = verify(job_of(state, plan), state.database.is_confirmed, again=True)
    if isinstance(answer, Running):
        return answer
    with state.lock("plan verify"):
        plan = open_plan(state)
        store.save_plan(state.plan_path, with_results(plan, answer))
    return answer


def prepare_worktree(state: State, plan: Plan) -> None:
    """Link folders and run the setup commands in the worktree, where no place has all that already.

    Only if a person has confirmed them.
    """
    job = job_of(state, plan)
    digest = commands_hash(job.config)
    if job.config.setup and not job.in_place and state.database.is_confirmed(digest):
        prepare(job, state.database.is_confirmed)
