"""Find the files that a command is given by name, and refuse those that it must not read.

Commands read outside the place: a link among the answers, or a name from a misled assistant, must
not make them store or show what the place hides.
"""

from __future__ import annotations

import os
import stat

from shared.guard.denial import Denied
from shared.guard.scene import Scene
from shared.guard.secrets import check_read
from shared.paths import check_one_reading
from state.errors import Refused

MOST_BYTES = 32 << 20
_ALLOWED = "write what the command needs, without any secret, into a file in answers/ and name that"


def find_answer(state_dir: str, path: str) -> str:
    """Return the existing file at `path`, relative to the state directory or as it is given.

    Links are followed. Refused (`not_found`) if it is not written yet; Refused too if it may hold
    a secret, is not a regular file or is too large.
    """
    inside = os.path.join(state_dir, path)
    found = next((p for p in (inside, path) if os.path.exists(p)), None)
    if found is None:
        allowed = "write the file at this path, then run the same command again"
        raise Refused("not_found", inside, "this file does not exist yet", allowed)
    return check_named(found)


def check_named(path: str) -> str:
    """Return the real path of an existing file that a command may read; else raise Refused."""
    check_one_reading(path)
    real = os.path.realpath(path)
    try:
        check_read(os.path.abspath(path), Scene(os.getcwd()))
    except Denied as denied:
        raise Refused("refused", path, denied.reason, _ALLOWED) from None
    status = os.stat(real)
    if not stat.S_ISREG(status.st_mode):
        raise Refused("refused", path, "this is not a regular file", _ALLOWED)
    if status.st_size > MOST_BYTES:
        text = f"the file has {status.st_size} bytes; at most {MOST_BYTES} are read"
        raise Refused("refused", path, text, "name a smaller file")
    return real
