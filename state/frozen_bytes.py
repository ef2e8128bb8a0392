"""Read a frozen plan's digest from its bytes; imports only the standard library."""

from __future__ import annotations

import re
from hashlib import sha256

# In canonical order only base, checkpoints, context, counters, created_at, depth and diagrams come
# before the digest. None of them can hold a text field of that name, so the first match is ours.
_DIGEST = re.compile(rb',"digest":"([0-9a-f]{64})"')
# Stands in a plan's bytes for the digest that all its other bytes then give.
NO_DIGEST = "0" * 64


def digest_of(data: bytes) -> tuple[str | None, str | None]:
    """Return the digest stored in a frozen plan and the digest computed from the plan's bytes."""
    match = _DIGEST.search(data)
    if match is None:
        return None, None
    content = sha256(data[: match.start()])
    content.update(memoryview(data)[match.end() :])
    return match.group(1).decode(), content.hexdigest()


def stamped(data: bytes) -> tuple[bytes, str]:
    """Return a plan's bytes with their digest in the place of `NO_DIGEST`, and the digest."""
    _, digest = digest_of(data)
    if digest is None:
        raise ValueError("the plan has no digest to put another in the place of")
    member = ',"digest":"{}"'
    return data.replace(
        member.format(NO_DIGEST).encode(), member.format(digest).encode(), 1
    ), digest
