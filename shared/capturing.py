"""The scratch worktree becomes changes in the plan, and the project's commands judge it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from shared import plans, resources
from shared.builders import Block
from shared.checks.registry import Subject, run_checks
from shared.config import Config, commands_hash, write_paths
from shared.git.capture import capture
from shared.git.commit import check_head
from shared.git.objects import Objects
from shared.git.rebase import carry_over
from shared.git.repository import Repository, head, repository_at, uncommitted
from shared.git.snapshot import snapshot
from shared.git.tree import check_before
from shared.git.vault import Vault, open_vault
from shared.git.worktree import Worktree, open_worktree
from shared.run import PERSON
from shared.verify.background import verify
from shared.verify.job import Done, Job, Running
from shared.verify.lock import undisturbed, vacancy
from shared.verify.prepare import prepare
from shared.verify.process import Confined
from state import store
from state.changes import attach, plan_changes, promised_files
from state.errors import Refused
from state.models import Base, VerifyResult
from state.waves import files_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shared.git.capture import Capture
    from shared.git.change import Change as Changed
    from shared.qr.types import Item, Phase
    from shared.run import State
    from state.models import Plan


class Captured(NamedTuple):
    """A plan with the worktree's changes in it, and what the capture said."""

    plan: Plan
    capture: Capture


def open_repository(state: State) -> tuple[Repository, Vault]:
    """Return the user's repository and the run's vault beside it."""
    repository = repository_at(state.run.repository)
    return repository, open_vault(repository, resources.vault_path(state.state_dir))


def open_tree(state: State) -> Worktree:
    """Return the run's scratch worktree."""
    return open_worktree(repository_at(state.run.repository), state.worktree)


def base_of(plan: Plan) -> Base:
    """Return the plan's base; Refused for a plan that has none."""
    if plan.base is None:
        raise Refused("refused", "base", "the plan names no base", "a plan that `start` made")
    return plan.base


def config_of(state: State) -> Config:
    """Return the configuration as a Config."""
    return Config.from_json(state.config["config"])


def confirm(state: State, digest: str) -> None:
    """Remember a person's word on the project's commands; Refused for another hash."""
    stored = state.config
    if not digest or digest != stored["hash"]:
        text = f"the commands of this run have the hash {stored['hash'] or '(none configured)'}"
        raise Refused("not_found", digest, text, "", state.command("config", "show"))
    with state.database as database:
        database.confirm(digest, stored["text"])
        database.audit(state.run, PERSON, "confirm commands", detail=stored["text"])


def job_of(state: State, plan: Plan) -> Job:
    """Return what verify needs to know."""
    base = base_of(plan)
    return Job(
        state_dir=state.state_dir,
        repository=state.run.repository,
        worktree=state.worktree,
        base_commit=base.snapshot or base.commit,
        base_tree=base.tree,
        config=config_of(state),
        tests=tuple(sorted({f for m in plan.milestones for f in m.tests.files})),
    )


def capture_into(state: State, plan: Plan) -> Captured:
    """Return the plan with the worktree's changes; formatters and the user's hook run first."""
    config = config_of(state)
    if config.format and not state.database.is_confirmed(commands_hash(config)):
        prepare(job_of(state, plan), state.database.is_confirmed)
    repository, vault = open_repository(state)
    planned = {file for m in plan.milestones for file in files_of(m)}
    with undisturbed(state.state_dir):
        found = capture(
            repository,
            state.worktree,
            vault,
            base_of(plan).tree,
            runner=Confined(tuple(write_paths(config, repository.root))),
            leave_out=config.link,
            formatters=config.format,
            owned=planned.__contains__,
        )
    return Captured(attach(plan, found.changes), found)


def capture_now(state: State) -> str:
    """Capture, store and say what was found."""
    with state.lock("plan capture"):
        plan = plans.open_plan(state)
        captured = capture_into(state, plan)
        store.save_plan(resources.plan_path(state.state_dir), captured.plan)
    lines = [
        f"{c.id} {c.file}: {(c.before or 'absent')[:10]} → {(c.after or 'absent')[:10]}"
        for c in plan_changes(captured.plan)
    ]
    block = Block("result", tree=captured.capture.tree)
    block.data("changes", "\n".join(lines) or "the worktree is as the base")
    return _notes(block, captured.capture).render()


def _notes(block: Block, found: Capture) -> Block:
    block.data("left out, ignored by git", "\n".join(found.ignored[:20]))
    return block.data("put back, nobody planned them", "\n".join(found.put_back[:20]))


def verify_plan(state: State, plan: Plan) -> Done | Running:
    """Return what verify says of the worktree; to be called without the lock."""
    return verify(job_of(state, plan), state.database.is_confirmed)


def with_results(plan: Plan, done: Done) -> Plan:
    """Return the plan with verify results."""
    results = tuple(VerifyResult.model_validate(r.for_plan()) for r in done.results)
    return plan.model_copy(update={"verify": results})


def still_running(state: State) -> Running | None:
    """Return what a verification in the background does, after waiting for its end; or None."""
    plan = store.load_plan(resources.plan_path(state.state_dir))
    with vacancy(state.state_dir) as free:
        if free is not None:
            return None
    answer = verify(job_of(state, plan), state.database.is_confirmed)
    return answer if isinstance(answer, Running) else None


def verify_now(state: State) -> str:
    """Verify, store the results and show them; or say that verify goes on."""
    with state.lock("plan verify"):
        plan = plans.open_plan(state)
    answer = verify(job_of(state, plan), state.database.is_confirmed, again=True)
    if isinstance(answer, Running):
        return running_block(state, answer, state.command("plan", "verify"))
    with state.lock("plan verify"):
        plan = plans.open_plan(state)
        store.save_plan(resources.plan_path(state.state_dir), with_results(plan, answer))
    return _show_results(answer)


def _show_results(answer: Done) -> str:
    if not answer.results:
        text = "no verify commands are configured at the base: NOT VERIFIED"
        return Block("result").data("verify", text).render()
    block = Block("result", tree=answer.tree)
    lines = [f"{r.command}: {r.outcome} (base: {r.baseline})" for r in answer.results]
    block.data("verify", "\n".join(lines))
    for result in answer.failures:
        block.data("output", result.tail, command=result.command)
    notes = [answer.touched, answer.wrote, *answer.notes]
    return block.data("notes", "\n".join(n for n in notes if n)).render()


def running_block(state: State, running: Running, again: str) -> str:
    """Return the block that says that verify goes on and how to come back to it."""
    block = Block("step", workflow="planner", name="verify", state_dir=state.state_dir)
    return block.data("progress", running.text).next("running", again).render()


def prepare_worktree(state: State) -> None:
    """Link and set up the worktree where a person has confirmed the commands; else later."""
    plan = store.load_plan(resources.plan_path(state.state_dir))
    job = job_of(state, plan)
    digest = commands_hash(job.config)
    if job.config.setup and state.database.is_confirmed(digest):
        prepare(job, state.database.is_confirmed)


def move_base(state: State, plan: Plan) -> Plan:
    """Return the plan on the tree as it is now; the worktree and its changes move along.

    Nothing moves where every planned file is still as the plan found it. Files at which the
    changes met others hold conflict markers and are named among the remarks.
    """
    repository, vault = open_repository(state)
    changes = plan_changes(plan)
    moved = check_before(repository, vault, changes) + check_head(repository, changes)
    if not moved and os.path.isdir(state.worktree):
        return plan
    return on_tree(state, plan, changes, {c.file for c in changes})


def on_tree(state: State, plan: Plan, changes: Sequence[Changed], planned: Collection[str]) -> Plan:
    """Return the plan on HEAD, or with uncommitted work on top as before or for a planned file.

    The worktree is made anew, with `changes` carried along.
    """
    repository, vault = open_repository(state)
    at, old = head(repository), base_of(plan)
    mixed = not set(planned).isdisjoint(uncommitted(repository))
    new = snapshot(repository) if mixed or old.snapshot else at.commit
    saved = new if new != at.commit else None
    met = carry_over(repository, state.worktree, vault, old.snapshot or old.commit, changes, new)
    tree = repository.git.text("rev-parse", f"{new}^{{tree}}")
    base = Base(commit=at.commit, branch=at.branch or old.branch, tree=tree, snapshot=saved)
    note = f"The base moved to {new[:12]}." + (
        f" The changes met others in {', '.join(met)}: settle these files." if met else ""
    )
    return plan.model_copy(update={"base": base, "remarks": (*plan.remarks, note)})


def missing_documents(plan: Plan) -> list[str]:
    """Return the files in which documentation is promised and nothing is changed yet."""
    changed = {c.file for c in plan_changes(plan)}
    return sorted({f for m in plan.milestones for f in promised_files(m)} - changed)


def check(state: State, phase: Phase) -> list[Item]:
    """Return what the script checks of a phase say now; nothing is stored."""
    with state.lock(f"plan check --phase {phase}"):
        plan = store.load_plan(resources.plan_path(state.state_dir))
        if phase == "plan-design":
            return run_checks(phase, subject(state, plan, None))
        captured = capture_into(state, plan)
    return run_checks(phase, subject(state, captured.plan, captured.capture))


def subject(state: State, plan: Plan, captured: Capture | None) -> Subject:
    """Return what the script checks look at; nothing of git is read before a check asks."""
    if captured is None and plan.base is None:
        return Subject(plan=plan)
    trees = Objects(*open_repository(state))
    if captured is None:
        return Subject(plan=plan, base_tree=base_of(plan).tree, trees=trees)
    code = next((o.tree for o in plan.reviews if o.phase == "plan-code"), None)
    return Subject(
        plan=plan,
        worktree=state.worktree,
        base_tree=base_of(plan).tree,
        tree=captured.tree,
        code_tree=code,
        verify_commands=config_of(state).verify,
        trees=trees,
    )
