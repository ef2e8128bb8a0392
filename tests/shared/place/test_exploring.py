"""What assistants send while they explore: it runs while a plan is made, and says the same.

The short form runs a part of them; all take about ten minutes.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from shared.resources import ROOT
from tests.forms import LONG, part
from tests.place import need_place
from tests.shared.place.arena import without_namespaces
from tests.shared.place.exploring.session import Session, load

if TYPE_CHECKING:
    from collections.abc import Sequence

PLANNER = Path(ROOT) / "bin" / "planner"
FOLDER = Path(__file__).parent / "exploring"
RULES = {"deny": ["Bash(rm:*)"], "ask": ["Bash(git push:*)"]}
SHARE = 0.98  # of the commands run here neither denied nor asked, and as many say the same

pytestmark = [
    pytest.mark.slow,
    pytest.mark.requirement("PP-4"),
    pytest.mark.skipif(sys.platform != "linux", reason="the place is made of Linux namespaces"),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Ten projects in which a session plans, made once: nothing that is run in them lasts."""
    need_place()
    return Session(tmp_path_factory.mktemp("exploring"), PLANNER)


def listed(name: str) -> dict[str, str]:
    """Return the ids that a file lists, each with the reason after it."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(" ") for line in lines if line and line[0] != "#")
    return {known: reason for known, _, reason in pairs}


def chosen(session: Session, step: int) -> Sequence[dict[str, Any]]:
    """Return the commands that can run here: all, or each of so many; name what is left out."""
    here = [command for command in load() if not session.lacks(command)]
    missing = Counter(n for command in load() for n in session.lacks(command))
    if missing:
        warnings.warn(pytest.PytestWarning(f"left out, not here: {dict(missing)}"), stacklevel=1)
    return part(here, step)


def outcome(session: Session, command: dict[str, Any]) -> str:
    """Return deny, ask, different or same: what becomes of a command."""
    decided, text = session.asks(command)
    if decided != "pass":
        return decided
    inside = session.runs(text, command)
    if session.restore(command):
        return "changed the project"
    outside = session.runs(command["text"], command)
    session.restore(command)
    return "same" if inside == outside else "different"


@pytest.mark.filterwarnings("default::pytest.PytestWarning")
def test_nearly_all_pass_and_say_what_they_say_outside(session: Session) -> None:
    session.has_rules({})
    explained = listed("exceptions.txt")
    commands = chosen(session, 40)
    found = {command["id"]: outcome(session, command) for command in commands}
    counts = Counter(found.values())
    print(counts)
    unexplained = {k: v for k, v in found.items() if v != "same" and k not in explained}
    assert unexplained == {}
    if LONG:
        assert 1 - (counts["deny"] + counts["ask"]) / len(found) >= SHARE
        assert counts["same"] / len(found) >= SHARE


@pytest.mark.filterwarnings("default::pytest.PytestWarning")
def test_with_rules_of_the_user_what_is_more_than_simple_commands_is_asked(
    session: Session,
) -> None:
    session.has_rules(RULES)
    found = Counter(session.asks(command)[0] for command in chosen(session, 23))
    print(found)
    assert found["pass"]
    assert found["ask"]


@pytest.mark.requirement("PP-8")
def test_without_the_place_the_parser_admits_what_it_did_before_there_was_one(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.has_rules({})
    monkeypatch.setattr(session, "prefix", without_namespaces())
    before = listed("admitted-before.txt")
    here = [c for c in load() if not session.lacks(c)]
    asked = here if LONG else part([c for c in here if c["id"] in before], 10)
    admitted = {c["id"] for c in asked if session.asks(c)[0] == "pass"}
    print(f"{len(admitted)} of {len(asked)} admitted")
    assert {c["id"] for c in asked if c["id"] in before} - admitted == set()
