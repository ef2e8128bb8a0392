"""What another run has applied is told as that run's, never as work to put aside (R3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository


@pytest.mark.requirement("PL-29", "SD-7")
def test_a_file_that_another_run_has_applied_is_waited_for(
    make_repo: Callable[..., Repository],
) -> None:
    repository = make_repo("project", FILES)
    first = Journey(repository).to("submitted")
    second = Journey(repository, "Make f add three")
    second.edits["src/a.py"] = "def f(x):\n    return x + 3\n"
    second.to("approved")
    first.to("applied")
    refused = second.planner("exec", "apply")
    assert refused.code == 1
    text = refused.text
    assert first.state_dir.rpartition("/")[2] in text
    assert "status" in text
    assert "stash" not in refused.text
    assert "yours" not in refused.text
    assert first.planner("undo").code == 0
    assert second.planner("exec", "apply").code == 0
    refused = first.planner("exec", "apply")
    assert "has applied this" in refused.text
    assert "stash" not in refused.text
