"""Finds the digest that a person means by its first digits, among all that were ever frozen (FC-4).

A model can make two plans whose digests begin alike, so superseded ones count as well.
"""

from __future__ import annotations

import os

from shared.resources import is_database
from state.database import Database

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

LENGTH = 64
SHORTEST = 12
_DIGITS = frozenset("0123456789abcdef")


def known(paths: Iterable[str]) -> set[str]:
    """Return every digest that the databases at these paths know; a missing database knows none."""
    found: set[str] = set()
    for path in {_in_real_folder(path) for path in paths if is_database(path)}:
        rows = Database(path).audit_rows(None)
        found |= {str(row["digest"]) for row in rows if row["digest"]}
    return found


def _in_real_folder(path: str) -> str:
    """Return the real path of a database, unless the file itself is a link, which is refused."""
    folder, name = os.path.split(path)
    return os.path.join(os.path.realpath(folder), name)


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
