"""Decides whether an assistant that plans, or carries out a plan, may call a tool (PM-3, PM-4)."""

from __future__ import annotations

import os

from shared import resources
from shared.guard import places, tools
from shared.guard.denial import Denied
from shared.guard.permissions import refusal_for_assistant
from shared.guard.settings import load_settings
from state.stages import EXECUTING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from shared.mode.sessions import Session
    from state.database import Planning, Run

_LAUNCHER = os.path.join("bin", "planner")
_USER_RUNS = "show the command to the user and wait until they have run it"


class Call:
    """One tool call of an assistant, made from `payload`, the JSON of its client's hook event."""

    __slots__ = ("cwd", "host", "input", "name", "row", "run", "session", "tool")

    def __init__(
        self, host: str, payload: Mapping[str, Any], session: Session, row: Planning,
        run: Run | None,
    ) -> None:  # fmt: skip
        self.host = host
        self.name = str(payload["tool_name"])
        self.input: dict[str, Any] = payload.get("tool_input") or {}
        self.cwd = str(payload["cwd"])
        self.session = session
        self.row = row
        self.run = run
        self.tool = tools.find_tool(host, self.name)

    def answer(self) -> dict[str, Any]:
        """Return the hook's JSON answer about the tool call, empty to allow it; raises Denied."""
        kind = self.tool.kind
        if self.row.phase == EXECUTING:
            self._check_executing()
        elif kind == tools.SHELL:
            return self._shell(str(self.input[self.tool.field]))
        elif kind == tools.WRITE:
            self._check_write(str(self.input[self.tool.field]))
        elif kind == tools.SKILL:
            self._check_skill(str(self.input[self.tool.field]))
        elif kind not in tools.PASSING:
            self._check_named()
        return {}

    def _check_write(self, path: str) -> None:
        places.check_planning(path, self.cwd, self.session, self.run)

    def _check_skill(self, name: str) -> None:
        if name != tools.OWN_SKILL:
            text = f"loading the skill {name} may run commands"
            raise Denied(text, "read its SKILL.md with your file tool")

    def _check_named(self) -> None:
        """Deny a tool by name, unless the guard lacks an entry for it and the user allows it."""
        if self.tool is tools.UNKNOWN and self.name in load_settings(self.cwd).tools:
            return
        why, instead = self.tool.why
        raise Denied(f"{self.name}: {why}", instead)

    def _shell(self, command: str) -> dict[str, Any]:
        # Not at the top: only a shell command needs the guard's tables.
        from shared.guard.decide import decide

        files = places.patched(command) if self.host == "codex" else None
        if files is not None:
            for path in files:
                self._check_write(path)
            return {}
        rewrites = self.host in _REWRITTEN
        own = _refusal_where_we_add_ro if rewrites else refusal_for_assistant
        decision = decide(command, cwd=self.cwd, planner=own, extra=load_settings(self.cwd))
        if not decision.allowed:
            raise Denied(decision.reason, decision.instead)
        if decision.rewritten is None:
            return {}
        if not rewrites:
            self._check_hardened(command, decision.rewritten)
            return {}
        text = witnessed(command, self.cwd, decision.rewritten)
        return _REWRITTEN[self.host]({**self.input, self.tool.field: text})

    def _check_hardened(self, command: str, rewritten: str) -> None:
        """Deny git where a client's hook can't replace it by a safer form; show that form."""
        from shared.guard.decide import understand

        if any(c.words[0].value == "git" for c in understand(command, self.cwd)):
            text = "git would start programs that the repository's configuration names"
            raise Denied(text, f"run this safer form: {rewritten}")

    def _check_executing(self) -> None:
        """During a plan's execution, deny writes to planner files, and person-only commands."""
        if self.tool.kind == tools.WRITE:
            places.check_ours(str(self.input[self.tool.field]), self.cwd, self.session)
        if self.tool.kind == tools.SHELL:
            _check_person(str(self.input[self.tool.field]), self.cwd)


def witnessed(command: str, cwd: str, rewritten: str) -> str:
    """Return a shell line that shows the original commands but never runs them, only `rewritten`.

    A client compares its user's rules with the new text only, so rules for `git log` or for
    reading a file would no longer match. What follows `false &&` does not run, but rules match it.
    """
    from shared.guard.decide import understand
    from shared.guard.lexer import pipelines

    parts = pipelines(understand(command, cwd))
    return f"false && {' && '.join(parts)} || {rewritten}"


def _check_person(command: str, cwd: str) -> None:
    """Deny a shell command line that contains a planner command which only a person may run.

    A text that names the launcher must be one that the guard can read.
    """
    from shared.guard.decide import understand

    # Through any link, and after any quotes, its path ends like this.
    if _LAUNCHER not in command:
        return
    ours = os.path.realpath(os.path.join(resources.ROOT, _LAUNCHER))
    for one in understand(command, cwd):
        first, *words = (word.value for word in one.words)
        if os.path.realpath(first) == ours:
            why = refusal_for_assistant(words)
            if why is not None:
                raise Denied(why, _USER_RUNS)


def _refusal_where_we_add_ro(words: list[str]) -> str | None:
    """Return why an assistant may not run `planner WORDS`, or None if it may; Denied for `ro`."""
    if words[:1] == ["ro"]:
        raise Denied(
            "`planner ro` is added by the guard only", "send the command without `planner ro`"
        )
    return refusal_for_assistant(words)


def _claude(changed: dict[str, Any]) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": changed}}


def _vibe(changed: dict[str, Any]) -> dict[str, Any]:
    return {"hook_specific_output": {"tool_input": changed}}


# codex takes a changed input only with a decision, which would skip its user's approval.
_REWRITTEN = {"claude": _claude, "vibe": _vibe}
