"""Planning mode by command: enter, submit, approve, reject, cancel, track, pause (PM-2, PM-6)."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from orchestrator.execute import approve as execution
from orchestrator.execute.approve import open_or_adopt, waiting_with
from orchestrator.mode.lookup import find_light, own_mode
from orchestrator.mode.view import render_mode
from orchestrator.run import end
from orchestrator.run.limits import settle
from orchestrator.run.start import join, make_planner_folder
from shared import drift, resources
from shared.config import parse_config
from shared.drift import is_watched, place_of_light, problem_of
from shared.guard.consent import given, is_guarded
from shared.mode import limits
from shared.mode.sessions import agent_name, repository_root
from shared.mode.transitions import change_agent
from shared.steps.printing import print_current
from state import light
from state.actors import UNPROVEN
from state.clock import moment
from state.database import Database
from state.errors import Refused
from state.files import read_bytes, read_json
from state.stages import EXECUTING, INACTIVE, PAUSED, READ_ONLY, SUBMITTED

if TYPE_CHECKING:
    from typing import Any

    from orchestrator.mode.lookup import Mode
    from shared.mode.where import Target


HOST = "host"


def enter(target: Target, task: str | None, reason: str | None, now: float) -> str:
    """Start planning without a run; if the agent plans already, show its status."""
    root = repository_root(target.folder)
    path = os.path.join(make_planner_folder(root), resources.DATABASE)
    Database(path, create=True).close()
    found = own_mode(target, now).settle()
    if found.stage != INACTIVE:
        return render_mode(found, "This session plans already; nothing was changed.")
    place = place_of_light(found.home, found.agent)
    if is_watched(place):
        drift.take(place)
    found.change(
        "enter", HOST, reason or "", run_id=None, plan_json=None, revision=0, digest=None,
        task_description=task, reason=reason, **limits.columns(_settings(root)),
    )  # fmt: skip
    return render_mode(found)


def _settings(root: str) -> dict[str, Any]:
    path = os.path.join(root, resources.CONFIG_FILE)
    return parse_config(read_bytes(path)).to_json() if os.path.isfile(path) else {}


def submit(found: Mode, file: str) -> str:
    """Submit a light plan as the next revision; the same one again prints it again."""
    if found.state is not None:
        text = "this session plans a run; its plan is submitted by the freeze"
        raise Refused("conflict", "mode submit", text, "", found.state.command("step", "planner"))
    plan = light.parse_light(read_json(resources.find_answer(found.home, file)))
    digest = light.digest_of(plan)
    if found.stage == SUBMITTED and found.digest == digest:
        return render_mode(found)
    check_tree(found)
    revision = found.revision + 1
    with found.database as database:
        change_agent(
            database, found.agent, "submit", HOST, at=moment(found.now),
            plan_json=json.dumps(plan, ensure_ascii=False), digest=digest, revision=revision,
        )  # fmt: skip
        # A revision is kept also when the next one takes its place in the row.
        database.event(None, "PlanSubmitted", {"digest": digest, "revision": revision, **plan})
    found.reload()
    return render_mode(found)


def approve(target: Target, digest: str, now: float) -> str:
    """Record a person's approval of exactly this digest, of a light plan or of a run's."""
    found = find_light(target, digest, now)
    if found is None:
        state_dir = target.state_dir or waiting_with(target.folder, digest)
        state = open_or_adopt(state_dir, target.folder)
        settle(state)
        return execution.approve(state, digest, now)
    found.settle()
    if digest != found.digest:
        text = "this is not the digest of the submitted revision; nothing is approved"
        raise Refused("refused", digest, text, f"revision {found.revision}: {found.digest}")
    if found.stage != EXECUTING:
        rows = [found.row] if found.row else []
        consent = given(digest, guarded=is_guarded(found.database, rows), now=now)
        check_tree(found)
        found.change("approve", consent.who, f"channel: {consent.channel}")
    return render_mode(found)


def check_tree(found: Mode) -> None:
    """Refuse to go on with a light plan while the user's tree is not as it was."""
    place = place_of_light(found.home, found.agent)
    if found.stage in READ_ONLY and is_watched(place):
        drift.check(place, found.command("mode", "rebase"))


def remark(found: Mode, text: str) -> str:
    """Send a light plan back with a person's remarks, which are why planning goes on."""
    if not text.strip():
        raise Refused("invalid", "TEXT", "the remarks are empty", "what is to be otherwise")
    check_tree(found)
    found.change("revise", HOST, text, reason=text.strip())
    return render_mode(found)


def reject(found: Mode, digest: str | None, reason: str) -> str:
    """Refuse the submitted revision: planning ends and nothing is carried out."""
    if digest is not None and digest != found.digest:
        text = "this is not the digest of what was submitted; nothing is rejected"
        raise Refused("refused", digest, text, found.digest or "nothing was submitted")
    if found.state is not None:
        return end.reject(found.state, reason)
    found.change("reject", UNPROVEN, reason)
    return render_mode(found)


def cancel(found: Mode) -> str:
    """End planning, whatever its stage; a run is cancelled with it."""
    if found.state is not None:
        return end.cancel(found.state)
    found.change("cancel", UNPROVEN)
    return render_mode(found)


def track(found: Mode, number: int, status: str) -> str:
    """Note that a step of a light plan is started or done; with the last one the mode ends."""
    plan = found.plan
    if plan is None or found.stage not in (EXECUTING, INACTIVE):
        text = f"there is no approved light plan: the mode is {found.stage}"
        raise Refused("conflict", "mode step", text, "", found.command("mode", "status"))
    if found.status == PAUSED:
        raise Refused("refused", "mode step", "it is paused", "first", found.command("resume"))
    marked = light.mark(plan, number, status)
    if marked == plan:
        return render_mode(found)
    if found.stage == INACTIVE:
        text = "the mode has ended before this step was done"
        raise Refused("conflict", "mode step", text, "", found.command("mode", "status"))
    with found.database as database:
        at, text = moment(found.now), json.dumps(marked, ensure_ascii=False)
        database.set_planning(found.agent, plan_json=text, last_tool_at=at)
        database.audit(None, HOST, f"step {number} {status}", agent=found.agent, at=at,
                       digest=found.digest)  # fmt: skip
        if light.is_done(marked):
            change_agent(database, found.agent, "finish", "program", at=at)
    found.reload()
    return render_mode(found)


def pause(found: Mode) -> str:
    """Start nothing new until it is resumed; what was read-only stays so."""
    if found.status != PAUSED:
        _change(found, "pause")
    return render_mode(found)


def resume(found: Mode, agent: str | None) -> str:
    """Go on at the revision where planning stopped; a new session is bound to the run."""
    if found.status == PAUSED:
        _change(found, "resume")
    if found.state is None:
        return render_mode(found)
    join(found.state, agent_name(agent, found.state.run.repository))
    return print_current(found.state)


def _change(found: Mode, action: str) -> None:
    if found.state is None:
        found.change(action, HOST)
        return
    with found.state.lock(action), found.database:
        found.state.move(action, HOST, at=moment(found.now))


def rebase_light(found: Mode) -> str:
    """Take the tree as it is for the one that a light plan is made on."""
    if found.stage not in READ_ONLY:
        text = f"the mode is {found.stage}: the tree is compared while a plan is made"
        raise Refused("conflict", "mode rebase", text, "", found.command("mode", "status"))
    place = place_of_light(found.home, found.agent)
    accepted = problem_of(place) if is_watched(place) else ""
    if accepted:
        drift.take(place)
        with found.database as database:
            database.audit(None, UNPROVEN, "rebase", agent=found.agent, detail=accepted)
    return render_mode(found, accepted and "What changed in your tree is accepted.")
