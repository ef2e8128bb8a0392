"""Each row of the table of commands, run as each role, as the host and as an assistant (W7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.commands import ANYONE, COMMANDS, CONSENTED, PERSON_ONLY
from state.actors import ROLES
from tests.journey import call

if TYPE_CHECKING:
    from pathlib import Path

# Rows in which no --role is read: they print for whoever asks, or start another program's words.
UNREAD = {"help", "step", "ro"}
# Rows of which the command itself knows the role, by its phase → its other words.
OWN_CHECK = {"plan done": (), "qr decline": ("qa-001", "--file", "answers/declined.md")}
ROLE_OF_PHASE = {
    "plan-design": "architect", "plan-code": "developer", "plan-docs": "technical-writer",
    "impl-code": "developer", "impl-docs": "technical-writer",
}  # fmt: skip
REFUSED = "may not run this"


def words_of(name: str) -> list[str]:
    """Return the words of a row; of the groups with a command for each kind, one of these."""
    kinds = {"plan add": ["risk"], "plan set": ["R-001"]}
    return [*name.split(), *kinds.get(name, [])]


def allowed(who: str) -> set[str]:
    """Return the roles that a row names, read by another way than the program's."""
    if who.startswith(ANYONE):
        return {*ROLES}
    return {role for role in ROLES if f" {role}" in who}


@pytest.mark.requirement("SD-7")
@pytest.mark.parametrize("name", sorted({*COMMANDS} - UNREAD - {*OWN_CHECK}))
def test_a_row_takes_the_roles_that_it_names_and_no_others(name: str, tmp_path: Path) -> None:
    """The caller is judged before the help is printed, and nothing is done."""
    taken = set()
    for role in ROLES:
        answer = call(tmp_path, *words_of(name), "--role", role, "--help")
        if answer.code:
            assert (answer.code, answer.problems[0][0]) == (1, "refused")
            assert REFUSED in answer.problems[0][1]
        else:
            taken.add(role)
    assert taken == allowed(COMMANDS[name][0])


@pytest.mark.requirement("SD-7")
@pytest.mark.parametrize("name", OWN_CHECK)
def test_a_row_of_the_phases_role_takes_that_role_alone(name: str, tmp_path: Path) -> None:
    """A role that is taken hears that no run is there; nothing is done."""
    assert COMMANDS[name][0] == "host, the role of the phase"
    for phase, holder in ROLE_OF_PHASE.items():
        for role in ROLES:
            words = (*words_of(name), *OWN_CHECK[name], "--phase", phase, "--role", role)
            answer = call(tmp_path, *words)
            assert answer.code == 1, answer.text
            assert (REFUSED in answer.problems[0][1]) == (role != holder), answer.text
    assert not [*tmp_path.iterdir()]


@pytest.mark.requirement("SD-7")
@pytest.mark.parametrize("name", sorted(n for n, row in COMMANDS.items() if row[0] == PERSON_ONLY))
def test_a_command_of_a_person_is_refused_to_an_assistant_by_itself(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No hook is there: the command looks at the variables that assistants set."""
    monkeypatch.setenv("CLAUDECODE", "1")
    answer = call(tmp_path, *words_of(name))
    if name not in CONSENTED:
        assert "CLAUDECODE says that an assistant does" in answer.problems[0][1], answer.text
    assert answer.code in (1, 2)
    assert call(tmp_path, *words_of(name), "--help").code == 0
    assert not [*tmp_path.iterdir()]


@pytest.mark.requirement("SD-7")
def test_an_assistant_may_look_at_what_a_persons_command_would_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    answer = call(tmp_path, "prune", "--dry-run")
    assert "an assistant does" not in answer.text
