"""Give the user's files back what they held, where a commit is refused after its hooks have run."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from shared.git.journal import Journal, Move, parent_folders, read_file, store
from shared.git.replay import Raced, replay
from shared.git.users_files import is_set
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from shared.git.journal import Stored
    from shared.git.repository import Repository
    from shared.git.vault import Vault

# In the names of temporary files, where an apply has the digest of its plan.
_NAME = "put-back"


@contextlib.contextmanager
def put_back(repo: Repository, vault: Vault, paths: Collection[str]) -> Iterator[None]:
    """Let hooks run at the user's files; whatever is raised, these `paths` are as before.

    What another program writes meanwhile is left, and named by whoever looks at the files next.
    """
    root = repo.root
    with vault.scratch() as folder:
        kept = _stored(root, folder, "kept", paths)
        folders = parent_folders(root, list(paths))

        def restore() -> None:
            now = _stored(root, folder, "now", paths)
            moves = tuple(Move(p, now[p], kept[p]) for p in paths if _differ(now[p], kept[p]))
            journal = Journal(_NAME, "applying", is_set(repo, "core.fileMode"), moves, folders)
            with contextlib.suppress(OSError, Raced, Refused):
                replay(root, folder, journal, "after")

        with contextlib.ExitStack() as unless_made:
            unless_made.callback(restore)
            yield
            unless_made.pop_all()


def _stored(root: str, folder: str, side: str, paths: Collection[str]) -> dict[str, Stored | None]:
    found: dict[str, Stored | None] = {}
    for number, path in enumerate(paths):
        copy = store(folder, f"{side}-{number}", read_file(root, path))
        found[path] = copy
    return found


def _differ(one: Stored | None, other: Stored | None) -> bool:
    return (one and (one.raw, one.bits)) != (other and (other.raw, other.bits))
