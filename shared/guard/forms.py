"""The JSON of a client's hooks: how an event is read and an answer written for it.

`Form` is what Claude Code understands, and codex; our own plugins speak it, too. A client whose
hooks differ has functions of these names in its file in `shared/clients/`. The decision is made in
`shared/guard/calls.py` and knows nothing of this.
"""

from __future__ import annotations

from shared.clients import client_of

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    Payload = Mapping[str, Any]

_MAY_DIFFER = ("read_event", "deny", "change", "show_user")


class Form:
    """The common form of events and answers."""

    def read_event(self, payload: Payload) -> Payload:
        """Return an event with `tool_name`, `tool_input`, `cwd` and `session_id`."""
        return payload

    def deny(self, reason: str) -> dict[str, Any]:
        """Return the answer that denies a tool call; the model reads the reason."""
        decided = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decided}}

    def change(self, given: dict[str, Any], ask: str) -> dict[str, Any]:
        """Return the answer by which the tool is called with `given`, asking the user `ask`."""
        asked = {"permissionDecision": "ask", "permissionDecisionReason": ask} if ask else {}
        return {
            "hookSpecificOutput": {"hookEventName": "PreToolUse", **asked, "updatedInput": given}
        }

    def add_context(self, event: str, text: str) -> dict[str, Any]:
        """Return the answer to another event, by which the model is given a text."""
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}

    def show_user(self, text: str) -> dict[str, Any]:
        """Return the part of an answer that the client shows its user."""
        return {"systemMessage": text}


def form_of(host: str) -> Form:
    """Return the form of a client's hooks, the common one for a client that is not known."""
    form = Form()
    try:
        client = client_of(host)
    except ImportError:
        return form
    for name in _MAY_DIFFER:
        if hasattr(client, name):
            setattr(form, name, getattr(client, name))
    return form
