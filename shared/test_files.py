"""Tells the tests of a project from its other files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_TEST = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)(?:test_|conftest\.)|[._](?:test|spec)\."
)


def is_test(file: str, tests: Collection[str]) -> bool:
    """Return whether a file is a test: one of a milestone's `tests`, or by its name."""
    return file in tests or _TEST.search(file) is not None
