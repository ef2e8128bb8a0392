"""The record of a typed approval: for how long, of which session and digest it counts (PM-13)."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from shared.guard.typed import COMMAND, VALID_S, is_typed, record
from shared.mode.sessions import path_of
from shared.resources import sessions_path

pytestmark = pytest.mark.requirement("PM-13")

DIGEST = "d" * 64
ENVIRON = {"CLAUDE_CODE_SESSION_ID": "s-1"}
NOW = 1_000_000.0


def write(**values: Any) -> str:  # noqa: ANN401 – fields of any type
    """Write a record of the session s-1 by hand; return its folder."""
    folder = os.path.join(os.path.dirname(sessions_path()), "typed")
    os.makedirs(folder, exist_ok=True)
    found = {"session": "s-1", "digest": DIGEST, "at": NOW, "client": "1"} | values
    path = os.path.join(folder, os.path.basename(path_of("s-1")))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file)
    return folder


@pytest.mark.parametrize(
    ("later_s", "counts"),
    [(0, True), (1, True), (VALID_S, True), (VALID_S + 1, False), (-1, False)],
)
def test_a_typed_approval_counts_for_some_minutes(later_s: int, counts: bool) -> None:
    write()
    assert is_typed(DIGEST, ENVIRON, NOW + later_s) is counts


def test_it_counts_for_its_session_and_digest_alone() -> None:
    assert not is_typed(DIGEST, ENVIRON, NOW)
    write()
    assert not is_typed("e" * 64, ENVIRON, NOW)
    assert not is_typed(DIGEST, {"CLAUDE_CODE_SESSION_ID": "s-2"}, NOW)
    assert not is_typed(DIGEST, {}, NOW)
    write(session="s-2")
    assert not is_typed(DIGEST, ENVIRON, NOW)


@pytest.mark.parametrize("values", [{"at": None}, {"at": "now"}, {"digest": None}])
def test_a_record_that_is_damaged_does_not_count(values: dict[str, Any]) -> None:
    write(**values)
    assert not is_typed(DIGEST, ENVIRON, NOW)


@pytest.mark.parametrize(
    "payload",
    [
        {}, {"command_name": COMMAND}, {"command_name": COMMAND, "command_args": "  "},
        {"command_name": COMMAND, "command_args": "approve it"},
        {"command_name": COMMAND, "command_args": "DDDD"},
        {"command_name": "planner:status", "command_args": DIGEST},
        {"command_name": COMMAND, "command_args": DIGEST, "agent_id": "a"},
        {"command_name": COMMAND, "command_args": DIGEST},
    ],
)  # fmt: skip
def test_what_no_client_has_told_the_hook_itself_is_not_recorded(payload: dict[str, Any]) -> None:
    """The last one has the form, and is sent by no client: our input is no pair of its sockets."""
    record({"session_id": "s-1", **payload}, lambda typed: typed, NOW)
    folder = os.path.join(os.path.dirname(sessions_path()), "typed")
    assert not os.path.exists(folder)
    assert not is_typed(DIGEST, ENVIRON, NOW)
