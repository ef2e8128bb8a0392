"""What the tests of the requirements lane share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.requirement_rounds import FILES, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository


@pytest.fixture
def rounds(make_repo: Callable[..., Repository]) -> Rounds:
    """Return a requirements lane that is not begun, in a repository with one commit."""
    return Rounds(make_repo(files=FILES))


@pytest.fixture
def without_git(make_repo: Callable[..., Repository]) -> Rounds:
    """Return a lane with --no-git that is not begun, in a repository with one commit."""
    return Rounds(make_repo(files=FILES), "--no-git")


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Return a function that prints although pytest captures."""

    def print_now(text: str) -> None:
        with capsys.disabled():
            print(f"\n  {text}", end="", flush=True)

    return print_now
