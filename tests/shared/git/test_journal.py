"""The journal of an apply: what is saved is loaded, and what damaged it is refused (PL-31)."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from shared.git.journal import (
    Journal,
    Move,
    Raw,
    Read,
    Stored,
    is_on_side,
    is_same,
    journal_state,
    load_journal,
    read_file,
    save_journal,
)
from tests.state.plans import refusal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("PL-31")

OLD, NEW = b"old\n", b"new\n"


def stored(data: bytes, kind: str = "file", *, executable: bool = False) -> Stored:
    raw = Raw(kind, hashlib.sha256(data).hexdigest(), executable)
    return Stored(raw, 0o755 if executable else 0o644, "copy")


MOVE = Move("src/a.py", stored(OLD), stored(NEW))
JOURNAL = Journal(
    "d" * 64, "applying", x_bits=True, folders={"src": 0o755, "new": None},
    moves=(MOVE, Move("b", None, stored(NEW)), Move("c", stored(OLD), None)),
)  # fmt: skip


@pytest.mark.parametrize("state", ["applying", "applied", "undoing", "undone"])
def test_what_is_saved_is_loaded(state: Any, tmp_path: Path) -> None:  # noqa: ANN401
    journal = JOURNAL._replace(state=state)
    save_journal(str(tmp_path), journal)
    assert load_journal(str(tmp_path)) == journal
    assert journal_state(str(tmp_path)) == state
    assert (tmp_path / "journal.json").stat().st_mode & 0o777 == 0o600


def test_without_a_journal_there_is_no_state(tmp_path: Path) -> None:
    assert load_journal(str(tmp_path)) is None
    assert journal_state(str(tmp_path / "nowhere")) is None


def test_a_journal_of_another_version_is_for_another_planner(tmp_path: Path) -> None:
    (tmp_path / "journal.json").write_text('{"version": 2}')
    [problem] = refusal(load_journal, str(tmp_path))
    assert problem.kind == "refused"
    assert problem.problem == "the journal has version 2; this planner reads version 1"
    assert problem.allowed == "use the planner that wrote the journal, or a newer one"


@pytest.mark.parametrize("name", ["version", "digest", "state", "x_bits", "moves", "folders"])
def test_a_journal_that_lacks_a_field_is_damaged(name: str, tmp_path: Path) -> None:
    save_journal(str(tmp_path), JOURNAL)
    path = tmp_path / "journal.json"
    data = json.loads(path.read_text())
    del data[name]
    path.write_text(json.dumps(data))
    [problem] = refusal(load_journal, str(tmp_path))
    assert (problem.kind, problem.at) == ("invalid", str(path))
    assert problem.problem == (
        f"this file of the planner is damaged: KeyError('{name}');"
        " the files' old and new content lies in the same folder"
    )
    assert problem.retry == "planner repair"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"version": 1, "moves": [1]}'])
def test_what_is_no_journal_is_damaged(text: str, tmp_path: Path) -> None:
    (tmp_path / "journal.json").write_text(text)
    assert "this file of the planner is damaged" in refusal(load_journal, str(tmp_path))[0].problem


def test_a_file_is_read_with_its_kind_and_never_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_bytes(OLD)
    (tmp_path / "src" / "a.py").chmod(0o755)
    os.symlink("a.py", tmp_path / "src" / "link")
    os.symlink("src", tmp_path / "linked")
    os.mkfifo(tmp_path / "pipe")
    root = str(tmp_path)
    assert read_file(root, "src/a.py") == Read("file", 0o755, OLD)
    assert read_file(root, "src/link") == Read("link", 0o777, b"a.py")
    assert read_file(root, "pipe") == Read("other", 0, b"")
    for nothing in ("src", "nowhere", "nowhere/a", "linked/a.py", "src/a.py/b"):
        assert read_file(root, nothing) is None, nothing


def test_a_file_is_on_a_side_by_its_bytes_and_where_they_count_its_x_bit(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    path = tmp_path / "src" / "a.py"
    root = str(tmp_path)
    assert not is_on_side(root, JOURNAL, MOVE, "before")
    for data, side, other in ((OLD, "before", "after"), (NEW, "after", "before")):
        path.write_bytes(data)
        path.chmod(0o644)
        assert is_on_side(root, JOURNAL, MOVE, side)  # type: ignore[arg-type]
        assert not is_on_side(root, JOURNAL, MOVE, other)  # type: ignore[arg-type]
    path.chmod(0o755)
    assert not is_on_side(root, JOURNAL, MOVE, "after")
    assert is_on_side(root, JOURNAL._replace(x_bits=False), MOVE, "after")


def test_no_file_is_the_same_as_no_file_alone() -> None:
    found = Read("file", 0o644, OLD)
    assert is_same(JOURNAL, None, None)
    assert not is_same(JOURNAL, found, None)
    assert not is_same(JOURNAL, None, stored(OLD))
    assert is_same(JOURNAL, found, stored(OLD))
    assert not is_same(JOURNAL, found, stored(OLD, "link"))
    assert is_same(JOURNAL, Read("link", 0o777, OLD), stored(OLD, "link"))
    assert MOVE.side("before") == stored(OLD)
    assert MOVE.side("after") == stored(NEW)
