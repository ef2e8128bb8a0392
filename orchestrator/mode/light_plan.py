"""Enter and leave planning mode; submit, approve, reject and track a light plan (PM-2, PM-6)."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from orchestrator.execute.approve import TYPED, Given, full_digest, open_or_adopt, waiting_with
from orchestrator.execute.approve import approve as approve_run
from orchestrator.folders import make_planner_folder
from orchestrator.mode.lookup import find_light, own_mode
from orchestrator.run import end
from orchestrator.run.limits import settle
from orchestrator.run.settings import light_settings, refuse_turned_off, write_light_settings
from orchestrator.run.start import bind_agent
from orchestrator.submit.readable import refresh
from shared import drift, resources
from shared.digests import SHORTEST
from shared.drift import is_watched, problem_of, tree_of_light
from shared.execution import holder
from shared.guard.consent import check_consent, check_demand, check_second_act
from shared.mode import limits, sessions
from shared.mode.guarded import assistant_variable, is_guarded
from shared.mode.sessions import agent_name, repository_root
from shared.mode.transitions import change_agent, check_only_here
from shared.mode.where import database_path
from shared.named_files import read_answer
from shared.resources import sessions_path
from state import light
from state.actors import HOST, UNPROVEN
from state.clock import moment
from state.database import Database
from state.errors import Problem, Refused
from state.kept_settings import read_settings
from state.stages import EXECUTING, INACTIVE, PAUSED, READ_ONLY, SUBMITTED

if TYPE_CHECKING:
    from orchestrator.mode.lookup import Mode
    from shared.git.repository import Repository
    from shared.mode.where import Target
    from shared.run import State


def enter(target: Target, task: str | None, reason: str | None, now: float) -> Mode:
    """Start planning mode without a run; for an agent that is already planning, nothing changes."""
    root = repository_root(target.folder)
    check_only_here(database_path(target.folder), agent_name(target.agent, root))
    path = database_path(target.folder)
    config = None if os.path.isfile(path) else light_settings(root)  # a refusal then makes nothing
    home = make_planner_folder(root)
    Database(path, create=True).close()
    found = own_mode(target, now).settle()
    if found.stage != INACTIVE:
        found.note = "This session plans already; nothing was changed."
        return found
    tree = tree_of_light(found.home, found.agent)
    if is_watched(tree):
        drift.take(tree)
    settings = config or light_settings(root)
    refuse_turned_off(settings)
    values = write_light_settings(home, settings)
    found.change(
        "enter", HOST, reason or "", run_id=None, plan_json=None, revision=0, digest=None,
        task_description=task, reason=reason, **limits.columns(values),
    )  # fmt: skip
    return found


def submit(found: Mode, file: str) -> None:
    """Submit a light plan (a list of steps) as the next revision; repeating it changes nothing."""
    if found.state is not None:
        text = "`mode submit` is for plans without a run; this run submits by `planner plan freeze`"
        raise Refused(
            "conflict",
            "mode submit",
            text,
            "do the step that is due",
            found.state.command("step", "planner"),
        )
    plan = light.parse_light(read_answer(found.home, file).json(), found.plan)
    digest = light.digest_of(plan)
    if found.stage == SUBMITTED and found.digest == digest:
        return
    check_tree(found)
    revision = found.revision + 1
    with found.database as database:
        change_agent(
            database, found.agent, "submit", HOST, at=moment(found.now),
            plan_json=json.dumps(plan, ensure_ascii=False), digest=digest, revision=revision,
        )  # fmt: skip
        # The row holds only the last revision; the events keep all of them.
        database.event(None, "PlanSubmitted", {"digest": digest, "revision": revision, **plan})
    found.reload()


def approve(target: Target, begins: str, now: float, given: Given = TYPED) -> Mode | State:
    """Record a person's approval of the plan whose digest begins so; return the plan or run."""
    opened: dict[str, Repository] = {}
    digest = full_digest(begins, target.folder, target.state_dir, opened)
    found = find_light(target, digest, now)
    if found is None:
        state_dir = target.state_dir or waiting_with(target.folder, digest)
        state = open_or_adopt(state_dir, target.folder)
        state.opened |= opened
        settle(state)
        approve_run(state, digest, now, given)
        return state
    found.settle()
    if digest != found.digest:
        text = "this is not the digest of the submitted revision; nothing is approved"
        raise Refused("refused", digest, text, f"revision {found.revision}: {found.digest}")
    if given.is_signed:
        text = "a plan without a run has no base to sign for"
        raise Refused("conflict", "--sign", text, "approve it without a signature")
    if found.stage != EXECUTING:
        rows = [found.row] if found.row else []
        guarded = is_guarded(found.database, rows)
        consent = check_consent(digest, guarded=guarded, now=now)
        check_demand(consent, _demand(found), digest)
        _refuse_while_asked(found)
        check_tree(found)
        what = ("approve", digest)
        check_second_act(found.database, rows, consent, what, again=given.unproven)
        found.change("approve", consent.who, consent.detail)
    return found


def _refuse_while_asked(found: Mode) -> None:
    """Raise Refused while a submitted light plan asks what nobody has answered (SD-2)."""
    ways = "answer in the chat: the plan is submitted again with what you say"
    problems = [
        Problem("refused", f"questions[{n}]", f"the question is not answered: {text}", ways)
        for n, text in enumerate(light.open_questions(found.plan or light.NO_PLAN))
    ]
    if problems:
        raise Refused.of(problems)


def _demand(found: Mode) -> str:
    """Return what the stored settings ask of an approval."""
    kept = read_settings(resources.run_config_path(found.home), is_due=True)
    return str(kept["config"].get("require", ""))


def check_tree(found: Mode) -> None:
    """Raise Refused if the user's tree changed since planning of the light plan started."""
    tree = tree_of_light(found.home, found.agent)
    if found.stage in READ_ONLY and is_watched(tree):
        drift.check(tree, found.command("mode", "rebase"))


def remark(found: Mode, text: str) -> None:
    """Send a light plan (a list of steps) back for revision, with a person's remarks."""
    if not text.strip():
        raise Refused("invalid", "TEXT", "the remarks are empty", "say in TEXT what to change")
    check_tree(found)
    found.change("revise", HOST, text.strip())


def reject(found: Mode, digest: str | None, reason: str) -> None:
    """Reject the submitted plan: planning mode ends and nothing is carried out."""
    meant = digest is None or (len(digest) >= SHORTEST and (found.digest or "").startswith(digest))
    if not meant:
        text = "this is not the digest of what was submitted; nothing is rejected"
        raise Refused("refused", digest or "", text, found.digest or "nothing was submitted")
    if found.state is not None:
        found.note = end.reject(found.state, reason)
        refresh(found.state)
    else:
        found.change("reject", UNPROVEN, reason)


def cancel(found: Mode) -> None:
    """End planning mode at any stage; if it belongs to a run, cancel the run too."""
    if found.state is not None:
        found.note = end.cancel(found.state)
        refresh(found.state)
    else:
        found.change("cancel", UNPROVEN)


def track(found: Mode, number: int, status: str) -> None:
    """Record that a step of a light plan is started or done; the last one done ends planning."""
    plan = found.plan
    if plan is None or found.stage not in (EXECUTING, INACTIVE):
        text = f"there is no approved light plan: planning mode is {found.stage}"
        raise Refused("conflict", "mode step", text, "", found.command("mode", "status"))
    if found.status == PAUSED:
        raise Refused(
            "refused",
            "mode step",
            "planning is paused",
            "resume planning first",
            found.command("resume"),
        )
    marked = light.mark(plan, number, status)
    if marked == plan:
        return
    if found.stage == INACTIVE:
        text = "planning mode has ended before this step was done"
        raise Refused("conflict", "mode step", text, "", found.command("mode", "status"))
    with found.database as database:
        at, text = moment(found.now), json.dumps(marked, ensure_ascii=False)
        database.set_planning(found.agent, plan_json=text, last_tool_at=at)
        database.audit(None, HOST, f"step {number} {status}", agent=found.agent, at=at,
                       digest=found.digest)  # fmt: skip
        if light.is_done(marked):
            change_agent(database, found.agent, "finish", "program", at=at)
    found.reload()


def pause(found: Mode) -> None:
    """Pause planning until it is resumed; files that were read-only for the assistant stay so."""
    if found.status != PAUSED:
        _change(found, "pause")


def resume(found: Mode, agent: str | None, *, take_over: bool = False) -> None:
    """Resume paused planning at the same revision; a session that is new to it joins it.

    With `take_over` this instance executes the run in place of one that is dead. Of a run, all of
    it is stored, or nothing.
    """
    if found.state is not None:
        _resume_run(found, found.state, agent, take_over=take_over)
        return
    if found.status == PAUSED:
        found.change("resume", HOST)
    repository = os.path.dirname(found.home)
    name = agent_name(agent, repository)
    # A person in a terminal has no session that could be kept read-only.
    is_session = name != repository or bool(assistant_variable())
    if is_session and name != found.agent and not sessions.join(name, found.agent):
        text = f"{sessions_path()} cannot be written, so hooks would not keep this session"
        raise Refused("refused", "resume", f"{text} read-only", "let it be written")


def _resume_run(found: Mode, state: State, agent: str | None, *, take_over: bool) -> None:
    with state.lock("resume"), state.database:
        if take_over:
            holder.take_over(state)
        if found.status == PAUSED:
            state.move("resume", HOST, at=moment(found.now))
        bind_agent(state, agent)


def _change(found: Mode, action: str) -> None:
    if found.state is None:
        found.change(action, HOST)
        return
    with found.state.lock(action), found.database:
        found.state.move(action, HOST, at=moment(found.now))


def rebase_light(found: Mode) -> None:
    """Record the user's tree as it is now as the one for which a light plan is made."""
    if found.stage not in READ_ONLY:
        text = f"planning mode is {found.stage}; a changed tree can be accepted only while planning"
        raise Refused("conflict", "mode rebase", text, "", found.command("mode", "status"))
    tree = tree_of_light(found.home, found.agent)
    accepted = problem_of(tree) if is_watched(tree) else ""
    if accepted:
        drift.take(tree)
        with found.database as database:
            database.audit(None, UNPROVEN, "rebase", agent=found.agent, detail=accepted)
        found.note = "What changed in your tree is accepted."
