"""Runs that wait for their reviewers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository


@pytest.fixture
def small(make_repo: Callable[..., Repository]) -> Journey:
    """Return a run whose one reviewer is due."""
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    return journey.to("code review")
