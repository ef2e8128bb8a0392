"""Holds an agent that writes a milestone to the milestone's tools and its worktree (PM-4).

The client's hook events name the sub-agent. Its first planner command with `--milestone` binds it;
a client that names no sub-agents binds none, and the worktree's capture finds what went elsewhere.
"""

from __future__ import annotations

import os

from shared.guard import places, tools
from shared.guard.denial import Denied
from shared.guard.own import own_words, understand
from shared.paths import readings
from shared.resources import answer_path, milestone_worktree_path, plan_path
from state import store
from state.execution import IN_PROGRESS
from state.modes import tools_of

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from shared.guard.tools import Tool
    from state.database import Database, Run
    from state.plan_table import Milestone
    from state.rows import Progress

_OPTION = "--milestone"


def hold_agent(host: str, payload: Mapping[str, Any], database: Database, run: Run | None) -> str:
    """Return the milestone that the calling agent writes, "" for none; Denied where it forbids."""
    agent = str(payload.get("agent_id") or "")
    if not agent or run is None or run.workflow != "executor" or run.digest is not None:
        return ""
    tool = tools.find_tool(host, str(payload.get("tool_name")))
    given, cwd = payload.get("tool_input") or {}, str(payload.get("cwd") or os.sep)
    words = _own_words(tool, given, cwd)
    row = _bound(database, run, agent, _milestone_option(words or []))
    if row is None:
        return ""
    if words is None:
        _check_call(tool, payload, database, run, row)
    return row.id


def _check_call(
    tool: Tool, payload: Mapping[str, Any], database: Database, run: Run, row: Progress
) -> None:
    """Deny a tool call that the milestone of its agent does not allow."""
    name, given = str(payload.get("tool_name")), payload.get("tool_input") or {}
    cwd = str(payload.get("cwd") or os.sep)
    plan = store.read_plan(plan_path(run.state_dir))
    milestone = next((m for m in plan.milestones if m.id == row.id), None)
    if milestone is None:
        return
    written = places.written(tool, given)
    for path in written:
        for real in readings(path, cwd):
            places.check_one_name(real, path)
    outside = [path for path in written if not _is_answer(path, cwd, run.state_dir)]
    if written and not outside:
        return  # an agent that may do nothing more may still say how it went
    _check_tool(tool, name, milestone)
    for path in outside:
        _check_place(path, cwd, run.state_dir, row.id)
    _check_turns(database, run, row, milestone)


def _own_words(tool: Tool, given: Mapping[str, Any], cwd: str) -> list[str] | None:
    """Return the words of a planner command that is called alone; None for any other call."""
    if tool.kind != tools.SHELL:
        return None
    try:
        return own_words(understand(str(given.get(tool.field) or ""), cwd), cwd)
    except Denied:
        return None


def _milestone_option(words: list[str]) -> str:
    """Return the milestone that a planner command names, or ''."""
    for at, word in enumerate(words):
        if word == _OPTION and at + 1 < len(words):
            return words[at + 1]
        if word.startswith(f"{_OPTION}="):
            return word.partition("=")[2]
    return ""


def _bound(database: Database, run: Run, agent: str, named: str) -> Progress | None:
    """Return the milestone in progress that an agent writes, binding it to the one it names.

    An agent that is started anew takes the milestone over from the one before it.
    """
    rows = {n: r for n, r in database.progress(run).items() if r.status == IN_PROGRESS}
    own = next((row for row in rows.values() if row.agent == agent), None)
    if own is None and named in rows:
        own = rows[named].replaced(agent=agent, turns=0)
        with database:
            database.bind_agent(run, named, agent)
            database.audit(run, "guard", "bind agent", detail=f"{named}: {agent}")
    if own is not None and named not in ("", own.id):
        text = f"this agent writes {own.id}, and the command is for {named}"
        raise Denied(text, "hand in your own milestone; the host starts an agent for each")
    return own


def _check_tool(tool: Tool, name: str, milestone: Milestone) -> None:
    """Deny a tool that the milestone denies or does not allow, by its name, `shell` or `write`."""
    kind = tools.WRITE if tool.kind == tools.PATCH else tool.kind
    own = {name.casefold(), *({kind} & {tools.SHELL, tools.WRITE})}
    allowed, denied = tools_of(milestone)
    if own & denied or (allowed and not own & allowed):
        text = f"the approved plan does not allow {name} for {milestone.id}"
        ways = ", ".join(sorted(allowed))
        instead = f"use only {ways}" if ways else "do it without this tool"
        raise Denied(text, f"{instead}; if that cannot be done, hand in the failure and say why")


def _check_turns(database: Database, run: Run, row: Progress, milestone: Milestone) -> None:
    """Count an agent's call of a tool; deny it if the plan's number of turns is used up (PC-6)."""
    most = milestone.max_turns
    if most is None:
        return
    if row.turns >= most:
        text = f"the approved plan gives the agent of {row.id} {most} turns, and they are used up"
        raise Denied(text, "write the result file and hand in what you have, or the failure")
    with database:
        database.count_turn(run, row.id, row.agent)


def _is_answer(path: str, cwd: str, state_dir: str) -> bool:
    folder = answer_path(os.path.realpath(state_dir), "")
    return all(real.startswith(os.path.join(folder, "")) for real in readings(path, cwd))


def _check_place(path: str, cwd: str, state_dir: str, name: str) -> None:
    """Deny writing outside the milestone's own worktree."""
    worktree = milestone_worktree_path(os.path.realpath(state_dir), name)
    reals = readings(path, cwd)
    if not all(real.startswith(os.path.join(worktree, "")) for real in reals):
        text = f"{path} lies outside the worktree of {name}"
        raise Denied(text, f"change files under {worktree} only; other agents write the rest")
