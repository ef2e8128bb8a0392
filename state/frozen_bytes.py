"""Read a frozen plan's digest from its bytes; imports only the standard library."""

from __future__ import annotations

import re
from hashlib import sha256

# In canonical order only base, checkpoints, context, counters, created_at, depth and diagrams come
# before the digest. None of them can hold a text field of that name, so the first match is ours.
_DIGEST = re.compile(rb',"digest":"([0-9a-f]{64})"')


def digest_of(data: bytes) -> tuple[str | None, str | None]:
    """Return the digest stored in a frozen plan and the digest computed from the plan's bytes."""
    match = _DIGEST.search(data)
    if match is None:
        return None, None
    content = sha256(data[: match.start()])
    content.update(memoryview(data)[match.end() :])
    return match.group(1).decode(), content.hexdigest()
