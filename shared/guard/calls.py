"""Decides whether an assistant that plans, or carries out a plan, may call a tool (PM-3, PM-4)."""

from __future__ import annotations

import os

from shared.clients import client_of
from shared.guard import places, tools
from shared.guard.denial import Denied
from shared.guard.forms import form_of
from shared.guard.permissions import refusal_for_assistant, refusal_while_planning
from shared.guard.settings import load_settings
from shared.mode import sessions
from shared.paths import readings
from shared.requirements_record import WORKFLOW as REQUIREMENTS
from state.errors import Refused
from state.stages import EXECUTING

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from shared.mode.sessions import Session
    from state.database import Run

_NAME = "planner"
_LAUNCHER = os.path.join("bin", _NAME)
_USER_RUNS = "show the command to the user and wait until they have run it"


class Call:
    """One tool call of an assistant, made from `payload`, the JSON of its client's hook event.

    `stage` is that of its session, `milestone` the one that the calling agent writes.
    """

    __slots__ = (
        "cwd", "host", "input", "milestone", "mode", "name", "owner", "run", "session", "stage",
        "tool",
    )  # fmt: skip

    def __init__(
        self, host: str, payload: Mapping[str, Any], session: Session, stage: str,
        run: Run | None, milestone: str = "",
    ) -> None:  # fmt: skip
        self.host = host
        self.name = str(payload["tool_name"])
        self.input: dict[str, Any] = payload.get("tool_input") or {}
        self.owner = owner_of(payload)
        self.mode = str(payload.get("permission_mode") or "")
        self.session = session
        self.stage = stage
        self.run = run
        self.milestone = milestone
        self.tool = tools.find_tool(host, self.name)
        self.cwd = _folder(self.tool, self.input, str(payload["cwd"]))

    def answer(self) -> dict[str, Any]:
        """Return the hook's JSON answer about the tool call, empty to allow it; raises Denied."""
        kind = self.tool.kind
        if self.stage != EXECUTING and kind in (tools.SHELL, tools.AGENTS):
            self._give_back()
        if self.stage == EXECUTING:
            self._check_executing()
        elif kind == tools.SHELL:
            return self._shell(str(self.input[self.tool.field]))
        elif kind in (tools.WRITE, tools.PATCH):
            self._check_write(places.written(self.tool, self.input))
        elif kind in (tools.FILE, tools.FOLDER, tools.SEARCH):
            return self._read()
        elif kind == tools.SKILL:
            self._check_skill(str(self.input[self.tool.field]))
        elif kind == tools.TODO:
            self._check_todo_list()
        elif kind not in tools.PASSING:
            self._check_named()
        return {}

    def _check_write(self, paths: Sequence[str]) -> None:
        """Deny writing these files, or let no command begin until the tool has written them."""
        self._check_places(paths)
        # Not at the top: what reads needs no turn.
        from shared.place import turns

        lasts_s = turns.TOLD_S if tells_the_end(self.host) else turns.UNTOLD_S
        try:
            turns.lend(
                self.session.home, self.owner, ", ".join(paths), lasts_s,
                # Again: a command may have run at the first look.
                lambda: self._check_places(paths),
            )  # fmt: skip
        except Refused as refusal:
            problem = refusal.problems[0]
            raise Denied(problem.problem, problem.allowed) from None

    def _check_places(self, paths: Sequence[str]) -> None:
        for path in paths:
            places.check_planning(path, self.cwd, self.session, self.run)

    def _give_back(self) -> None:
        """End the lease of a file tool of this agent that was called and never ran.

        Such a client runs a tool that writes while no other one of the agent runs.
        """
        if tells_the_end(self.host):
            give_back(self.session, self.owner)

    def _check_todo_list(self) -> None:
        if self.run is not None and self.run.workflow == REQUIREMENTS:
            text = "requirements are reviewed without a todo list, which is made from their plan"
            raise Denied(text, "review the requirements and report what you changed")

    def _read(self) -> dict[str, Any]:
        """Deny reading, listing or searching secrets; return a search that leaves them out."""
        # Not at the top: what writes needs no list of secrets.
        from shared.guard import reading

        checks = {tools.FILE: reading.check_reading, tools.FOLDER: reading.check_listing}
        check = checks.get(self.tool.kind, reading.check_search)
        for path in reading.named_paths(self.tool, self.input, self.cwd):
            check(path, self.cwd)
        if self.tool.kind == tools.SEARCH:
            changed = reading.searching(self.tool, self.input)
            if changed is not None:
                return form_of(self.host).change(changed, "")
        return {}

    def _check_skill(self, name: str) -> None:
        if name != tools.OWN_SKILL:
            text = f"loading the skill {name[:80]} may run commands"
            raise Denied(text, "read its SKILL.md with your file tool")

    def _check_named(self) -> None:
        """Deny a tool by name, unless the guard lacks an entry for it and the user allows it."""
        if self.tool is tools.UNKNOWN and self.name in load_settings(self.session.state_dir).tools:
            return
        why, instead = self.tool.why
        raise Denied(f"{self.name[:80]}: {why}", instead)

    def _shell(self, command: str) -> dict[str, Any]:
        # Not at the top: only a shell command needs what decides about it.
        from shared.guard.shell import Shell
        from shared.guard.targets import view_of

        files = places.patched_by_shell(self.tool, command)
        if files is not None:
            self._check_write(files)
            return {}
        settings = load_settings(self.session.state_dir)
        view = view_of(self.cwd, self.session, settings, self.run, self.milestone)
        shell = Shell(self.host, self.mode, self.cwd, self.session, view, self._refusal)
        changed = shell.answer(command)
        if changed is None:
            return {}
        given = {**self.input, self.tool.field: changed.text}
        return form_of(self.host).change(given, changed.ask)

    def _refusal(self, words: list[str]) -> str | None:
        """Return why this session may not run `planner WORDS` while it plans, or None if it may."""
        # Not at the top: only our own commands are given files to read.
        from shared.guard.reading import check_given

        check_given(words, self.cwd)
        folder = os.path.dirname(self.session.database)
        return refusal_while_planning(words, self.cwd, self.session.home, folder)

    def _check_executing(self) -> None:
        """During a plan's execution, deny writes to planner files, and person-only commands."""
        for path in places.written(self.tool, self.input):
            places.check_ours(path, self.cwd, self.session)
        if self.tool.kind == tools.SHELL:
            check_person_only(str(self.input[self.tool.field]), self.cwd)


def owner_of(payload: Mapping[str, Any]) -> str:
    """Return by what the agent is known, in a lease, that calls a tool or has called one."""
    names = f"{payload.get('session_id') or ''}\n{payload.get('agent_id') or ''}"
    return sessions.sha256(names.encode("utf-8", "surrogatepass"))[:16]


def tells_the_end(host: str) -> bool:
    """Return whether a client's hooks tell when a file tool has ended."""
    return "after" in client_of(host).EVENTS.values()


def give_back(session: Session, owner: str) -> None:
    """Let commands of the place begin again, as far as an agent's file tool was in the way."""
    # Not at the top: what reads needs no turn.
    from shared.place import turns

    turns.give_back(session.home, owner)


def check_outside(host: str, payload: Mapping[str, Any]) -> None:
    """Deny a planner command that only a person may run to a session that does not plan itself."""
    tool = tools.find_tool(host, str(payload.get("tool_name")))
    if tool.kind == tools.SHELL and sessions.is_anyone_there():
        given = payload.get("tool_input") or {}
        folder = _folder(tool, given, str(payload.get("cwd") or os.sep))
        check_person_only(str(given.get(tool.field) or ""), folder)


def _folder(tool: tools.Tool, given: Mapping[str, Any], cwd: str) -> str:
    """Return the folder in which a tool works: the session's, or the one that it is given."""
    named = str(given.get(tool.folder) or "") if tool.folder else ""
    if not named:
        return cwd
    if len(readings(named, cwd)) > 1:
        text = f"the folder {named} may be read as one of several"
        raise Denied(text, "name it by its absolute path, without `..` and links")
    return os.path.join(cwd, named)


def check_person_only(command: str, cwd: str) -> None:
    """Deny a shell command line that contains a planner command which no assistant may run.

    Another program may be told to start it. A text that names the launcher by its path must be one
    that the guard can read.
    """
    from shared.guard.own import understand

    if _NAME not in command:
        return
    try:
        commands = understand(command, cwd)
    except Denied as denied:
        # Through any link, and after any quotes, its path ends like this.
        if _LAUNCHER in command:
            text = "this names the planner, and whether you may run that command cannot be read"
            text += f": {denied.reason}"
            raise Denied(text, "send the planner command alone, in its plain form") from None
        return
    for words in ([word.value for word in one.words] for one in commands):
        for at, word in enumerate(words):
            if _NAME in word and _is_ours(word, cwd):
                why = refusal_for_assistant(words[at + 1 :])
                if why is not None:
                    raise Denied(why, _USER_RUNS)
            elif _LAUNCHER in word and word != command:
                check_person_only(word, cwd)  # the text that another shell is given


def _is_ours(name: str, cwd: str) -> bool:
    """Return whether a command's name, a path or one to look for on PATH, leads to our launcher."""
    from shared.guard.own import is_ours

    folders = [cwd] if "/" in name else os.environ.get("PATH", os.defpath).split(os.pathsep)
    return any(is_ours(os.path.join(folder, name)) for folder in folders)
