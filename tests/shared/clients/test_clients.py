"""What the file of each client holds, and what is made from all of them."""

from __future__ import annotations

import pytest

from cli.setup.hosts import HOSTS
from shared.clients import client_of
from shared.guard import tools
from shared.guard.forms import form_of
from shared.guard.hook import DEEDS
from tests.generated_clients import KNOWN, clients_text, names

KINDS = {
    tools.READ, tools.ASK, tools.AGENTS, tools.TASKS, tools.TODO, tools.FILE, tools.FOLDER,
    tools.SEARCH, tools.SHELL, tools.WRITE, tools.PATCH, tools.SKILL, tools.DENY,
}  # fmt: skip


def test_what_concerns_every_client_is_made_from_their_files() -> None:
    assert KNOWN.read_text(encoding="utf-8") == clients_text(), "--update-golden makes it"


def test_each_client_has_a_file_and_a_recipe_of_setup() -> None:
    assert names() == sorted(HOSTS)


def test_each_file_holds_what_the_others_hold() -> None:
    held = [
        {word for word in vars(client_of(name)) if word.isupper() and not word.startswith("_")}
        for name in names()
    ]
    assert held == [held[0]] * len(held)
    assert all(hasattr(client_of(name), "read_settings") for name in names())


@pytest.mark.requirement("PM-3")
@pytest.mark.parametrize("name", names())
def test_the_guard_knows_what_to_check_of_each_tool_and_event(name: str) -> None:
    client = client_of(name)
    assert set(client.EVENTS.values()) <= {*DEEDS}
    assert "call" in client.EVENTS.values()
    for tool in (tools.find_tool(name, each) for each in client.TOOLS):
        assert tool.kind in KINDS
        assert bool(tool.field) == (tool.kind not in {*tools.PASSING, tools.TODO, tools.DENY})
        assert all(tool.why) == (tool.kind == tools.DENY)
        assert tool.patched is not None or tool.kind != tools.PATCH


@pytest.mark.requirement("PM-3")
def test_a_tool_or_client_that_is_not_known_is_denied() -> None:
    assert tools.find_tool("claude", "Absent") is tools.UNKNOWN
    assert form_of("absent").deny("why")["hookSpecificOutput"]["permissionDecision"] == "deny"
    with pytest.raises(ImportError):
        tools.find_tool("absent", "Bash")
