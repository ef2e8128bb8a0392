"""What the fault tests share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.register_assert_rewrite("tests.faults.trial", "tests.faults.scene", "tests.faults.strace")


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Return a function that prints although pytest captures."""

    def print_now(text: str) -> None:
        with capsys.disabled():
            print(f"\n  {text}", end="", flush=True)

    return print_now
