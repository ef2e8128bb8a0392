"""What CI reads at most of what the judged bring, so that nobody can make it run out of memory."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from shared.git.large import MEBIBYTE
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_COMMITS = 2_000
MOST_REFS = 10_000
MOST_PLAN_MB = 32
MOST_APPROVAL_BYTES = MEBIBYTE
# Changed files of one commit, merge or range.
MOST_FILES = 200_000
# Of JSON values in a plan: each takes far more memory than its letters.
MOST_VALUES = 400_000
# Digests that one message names.
MOST_NAMED = 200
MOST_MEMORY_MB = 300
# Of these, what the program itself needs before it reads anything.
_OWN_MB = 60
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def plan_problem(data: bytes) -> str:
    """Return why the bytes of a plan are more than is read, "" if they are not."""
    if len(data) > MOST_PLAN_MB * MEBIBYTE:
        return size_problem(len(data))
    if len(data) <= MOST_VALUES or data.count(b",") <= MOST_VALUES:
        return ""
    if _TEXTS.sub(b"", data).count(b",") <= MOST_VALUES:
        return ""
    return f"has more than {MOST_VALUES:,} values, which is as many as are read of one plan"


def size_problem(size: int) -> str:
    """Return what is wrong with a plan of so many bytes."""
    return f"has {size / MEBIBYTE:,.0f} MB, more than the {MOST_PLAN_MB} MB that are read of one"


@contextlib.contextmanager
def within_memory() -> Iterator[None]:
    """Keep this process and the git processes that it starts from taking more than is allowed.

    Refused where one of them would.
    """
    with _limited():
        try:
            yield
        except MemoryError:
            pass
        except Refused as refusal:
            if not ran_out(refusal):
                raise
        else:
            return
    text = f"judging this takes more than {MOST_MEMORY_MB} MB of memory"
    way = "judge fewer commits at once, or leave out what is larger than a plan can be"
    raise Refused("refused", "memory", text, way)


def ran_out(refusal: Refused) -> bool:
    """Return whether a git process was refused memory."""
    return any("Out of memory" in problem.problem for problem in refusal.problems)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    used = _used()
    if not used:
        yield
        return
    import resource  # where there is no such module, there is no /proc either

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = used + (MOST_MEMORY_MB - _OWN_MB) * MEBIBYTE
    bounds = [one for one in (soft, hard) if one != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([most, *bounds]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _used() -> int:
    """Return the bytes of memory of this process that count, 0 where the system does not say."""
    try:
        with open("/proc/self/status", "rb") as file:
            found = re.search(rb"VmData:\s+(\d+) kB", file.read())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0
