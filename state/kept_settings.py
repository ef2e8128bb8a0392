"""The project's settings as a state directory keeps them, with their commands' hash and text.

The hook reads through this module, so it imports little.
"""

from __future__ import annotations

import os

from state.kept_files import damaged, gone, read_kept

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Any

# Where nothing is kept, and for what an earlier version did not keep.
_EMPTY: dict[str, Any] = {"config": {}, "hash": "", "text": "", "submodules": []}


def read_settings(path: str, *, is_due: bool = False) -> dict[str, Any]:
    """Return what is kept in the file `path`; no settings where there is no such file.

    Refused (`invalid`) where it is not as we have written it, and (`not_found`) where it is gone
    though it `is_due`: a plan is under way that was begun with it.
    """
    if is_due and not os.path.lexists(path):
        raise gone(path)
    found = read_kept(path, lambda value: value) if os.path.exists(path) else _EMPTY
    kept = {**_EMPTY, **found} if isinstance(found, dict) and "config" in found else {}
    if not kept or any(type(kept[name]) is not type(_EMPTY[name]) for name in _EMPTY):
        raise damaged(path, "these are not the settings that were kept when planning began")
    return kept
