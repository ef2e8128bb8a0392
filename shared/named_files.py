"""Read the files that a command is given by name, but for those that it must not read.

Commands read outside the place: a link among the answers, or a name from a misled assistant, must
not make them store or show what the place hides. What is read is what was judged, whatever a
command of the place changes meanwhile.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from shared.guard.denial import Denied
from shared.guard.scene import Scene
from shared.guard.secrets import check_read
from shared.paths import check_one_reading
from state.beneath import Beneath
from state.errors import Refused
from state.files import parse_json, unusable

if TYPE_CHECKING:
    from typing import Any

MOST_BYTES = 32 << 20
_ALLOWED = "write what the command needs, without any secret, into a file in answers/ and name that"


class Named(NamedTuple):
    """A file that a command was given, as it was when it was read."""

    # Without links.
    path: str
    data: bytes
    # In nanoseconds since 1970.
    changed_at: int

    def text(self) -> str:
        """Return the text; bytes that are not UTF-8 are replaced by the character �."""
        return self.data.decode("utf-8", "replace")

    def json(self) -> Any:  # noqa: ANN401 – any JSON value
        """Return the JSON value; Refused with the place of a syntax error."""
        return parse_json(self.data, self.path)


def read_answer(state_dir: str, path: str) -> Named:
    """Return the file at `path`, relative to the state directory or as it is given.

    Refused as `read_named` does; `not_found` if it is not written yet.
    """
    inside = os.path.join(state_dir, path)
    return read_named(next((p for p in (inside, path) if os.path.exists(p)), inside))


def read_named(path: str) -> Named:
    """Return a file that a command may read; links are followed.

    Refused if there is none, if it may hold a secret, is not a regular file or is too large.
    """
    scene = Scene(os.getcwd())
    try:
        check_one_reading(path)
        real = os.path.realpath(path)
        check_read(os.path.abspath(path), scene)
        check_read(real, scene)
    except Denied as denied:
        raise Refused("refused", path, denied.reason, _ALLOWED) from None
    except OSError as error:  # a link on the way is no longer one
        raise unusable(path, error) from None
    # From here on no link is followed: what is read lies where it was judged.
    files = Beneath(os.sep)
    status = files.status(real)
    if status and not stat.S_ISREG(status.st_mode):
        raise Refused("refused", path, "this is not a regular file", _ALLOWED)
    data = files.read(real, MOST_BYTES)
    if status is None or data is None:
        allowed = "write the file at this path, then run the same command again"
        raise Refused("not_found", path, "this file does not exist yet", allowed)
    return Named(real, data, status.st_mtime_ns)
