"""Finds the digest that a person means by its first digits, among all that were ever frozen (FC-4).

A model can make two plans whose digests begin alike, so superseded ones count as well.
"""

from __future__ import annotations

import os

from state.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

LENGTH = 64
SHORTEST = 12
_DIGITS = frozenset("0123456789abcdef")


def known(paths: Iterable[str]) -> set[str]:
    """Return every digest that the databases at these paths know; a missing database knows none."""
    found: set[str] = set()
    for path in {os.path.realpath(path) for path in paths if os.path.isfile(path)}:
        rows = Database(path).audit_rows(None)
        found |= {str(row["digest"]) for row in rows if row["digest"]}
    return found


def is_digits(given: str) -> bool:
    """Return whether `given` has only digits that a digest may have."""
    return _DIGITS.issuperset(given)


def matching(given: str, digests: Collection[str]) -> list[str]:
    """Return the digests that begin with the digits `given`, in order."""
    return sorted(digest for digest in digests if digest.startswith(given))


def find(given: str, digests: Collection[str]) -> str:
    """Return a whole digest as it is, the one that `given` begins, or "" if that is not one."""
    if len(given) == LENGTH or len(given) < SHORTEST:
        return given if len(given) == LENGTH else ""
    found = matching(given, digests)
    return found[0] if len(found) == 1 else ""
