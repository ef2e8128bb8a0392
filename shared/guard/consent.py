"""Decides how a plan's approval was given: typed into the client, in a terminal, or unproven.

The word for it is no stronger than what the system shows (PM-13, PP-7): `state/channels.py` has the
words, docs/hosts.md says what each proves.
"""

from __future__ import annotations

import os
import sys

from shared import resources
from shared.clients import known
from shared.guard import typed
from shared.mode.guarded import ASKED, GUARDED, assistant_variable, is_guarded
from shared.mode.sessions import all_sessions
from state.actors import PERSON, UNPROVEN
from state.channels import COMMAND, PROVEN, TERMINAL, UNPROVEN_CHANNEL, label
from state.errors import Refused
from state.stages import READ_ONLY

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Sequence

    from state.database import Database, Planning, Run

UNPROVEN_OPTION = "--unproven"  # of the second act
_CLIENT = "client "


class Consent:
    """How a plan's approval was given: `channel`, why not a stronger one, `who` the audit names."""

    __slots__ = ("channel", "who", "why")

    def __init__(self, channel: str, why: str = "", who: str = "") -> None:
        self.channel = channel
        self.why = why
        self.who = who or (PERSON if channel in PROVEN else UNPROVEN)

    @property
    def detail(self) -> str:
        """Return what the audit says of the approval."""
        return f"channel: {self.channel}" + (f" ({self.why})" if self.why else "")


def note_guarded(database: Database, row: Planning, run: Run | None) -> None:
    """Record once that a hook checks this agent's tool calls, and of which client's process."""
    if is_guarded(database, [row]):
        return
    from shared.guard import ancestry

    client = next((p for p in ancestry.above(os.getpid()) if p.is_client), None)
    detail = f"{_CLIENT}{client.identity}" if client else ""
    with database:
        database.audit(run, "guard", GUARDED, agent=row.agent_name, detail=detail)


def check_consent(digest: str, *, guarded: bool, now: float) -> Consent:
    """Return how the plan with hash `digest` was approved; Refused if an assistant approves it.

    `guarded` says whether hooks check the sessions that plan: without them, an assistant could
    have done whatever a person can do, so nothing is proven.
    """
    variable = assistant_variable()
    if variable:
        if typed.is_typed(digest, os.environ, now):
            return Consent(COMMAND)
        raise _not_typed(digest, f"an assistant runs this command ({variable} is set)")
    unchecked = Consent(UNPROVEN_CHANNEL, "no hook checks the session that plans")
    if not guarded and not _are_hooks_set_up():
        return unchecked
    from shared.guard import ancestry

    chain = ancestry.above(os.getpid())
    assistant = ancestry.assistant_in(chain)
    if assistant is not None:
        raise _not_typed(digest, f"an assistant runs this command ({assistant.name} started it)")
    if not guarded:
        return unchecked
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise _not_typed(digest, "this command does not run in a terminal")
    why = ancestry.stands_between(chain) or _others()
    return Consent(UNPROVEN_CHANNEL if why else TERMINAL, why)


def check_person(digest: str) -> None:
    """Raise Refused if an assistant asks for a signature, whoever would have to touch the key."""
    variable = assistant_variable()
    if variable:
        raise _not_typed(digest, f"an assistant runs this command ({variable} is set)")


def check_demand(consent: Consent, demand: str, digest: str) -> None:
    """Raise Refused if `[approval] require` asks for a proven approval and this one is not."""
    if demand != "proven" or consent.channel in PROVEN:
        return
    why = f": {consent.why}" if consent.why else ""
    text = f"this approval would be {label(consent.channel)}{why}; [approval] require is proven"
    sign = resources.command("approve", digest, "--sign")
    allowed = f"type /{typed.COMMAND} {digest} in Claude Code, or sign with a key to touch: {sign}"
    raise Refused("refused", "approve", text, allowed)


def check_second_act(
    database: Database, rows: Sequence[Planning], consent: Consent, what: Sequence[str], *,
    again: bool,
) -> None:  # fmt: skip
    """Raise Refused for the first act of an unproven approval; it counts once it is given `again`.

    `rows` are the agents that plan, `what` the words of the command. Where hooks check the session
    that plans, or were set up and do not, another program must not start the execution by what
    looks like any approval.
    """
    if consent.channel != UNPROVEN_CHANNEL:
        return
    if not (is_guarded(database, rows) or _are_hooks_set_up()):
        return
    run = database.run(rows[0].run_id) if rows and rows[0].run_id else None
    asked, noted = f"{' '.join(what)}, ", database.audit_rows(run)
    if any(row["action"] == ASKED and row["detail"].startswith(asked) for row in noted):
        if again:
            return
    else:
        agents = [row.agent_name for row in rows] or [database.agent]
        with database:
            for agent in agents:
                said = asked + consent.detail
                database.audit(run, consent.who, ASKED, agent=agent, detail=said)
    text = f"nothing shows that a person gives this approval: {consent.why}. So it takes two acts"
    allowed = (
        f"type /{typed.COMMAND} with the digest in Claude Code, sign by a key to touch (--sign), "
        "or use a terminal of your own that nothing else can type into; or read once more what "
        "you approve, then say that you do"
    )
    way = resources.command(*what, UNPROVEN_OPTION)
    raise Refused("refused", what[0], text, allowed, way)


def _are_hooks_set_up() -> bool:
    """Return whether `planner setup` has put hooks into an assistant of this user."""
    return os.path.lexists(resources.installed_path("hooks", "guard"))


def _others() -> str:
    """Return which assistant of this user runs outside of the place, "" if none does."""
    from shared.guard import ancestry

    found = ancestry.assistants_outside(_held())
    return f"an assistant runs that nothing holds ({found[0].name})" if found else ""


def _held() -> set[str]:
    """Return the identities of the clients whose commands the place holds while they plan."""
    from shared.guard import ancestry
    from shared.mode.memory import Memory
    from shared.place.level import level

    found = set()
    for session in all_sessions():
        left = Memory(session)
        if left.database is None or left.row is None or left.row.phase not in READ_ONLY:
            continue
        if not level(session.repository).holds:
            continue
        for noted in left.database.audit_rows(None):
            identity = noted["detail"].removeprefix(_CLIENT)
            ours = (noted["agent"], noted["action"]) == (session.agent, GUARDED)
            process = ancestry.read(int(identity.partition(":")[0] or 0)) if ours else None
            if (
                process
                and process.identity == identity
                and process.names.intersection(known.TAKE_CHANGED)
            ):
                found.add(identity)
    return found


def _not_typed(digest: str, why: str) -> Refused:
    text = f"{why}, and no person has typed the approval of this digest"
    terminal = resources.command("approve", digest)
    allowed = f"ask the user to type /{typed.COMMAND} {digest} in Claude Code, or in a terminal of"
    return Refused("refused", "approve", text, f"{allowed} their own: {terminal}")
