"""Who approved a committed plan, as far as this clone can tell: somebody proven, unproven, nobody.

An approval lies in the plan's ref, which whoever may push can write, and in the database of the
machine on which it was given. Without either a plan is what anybody may have committed.
"""

from __future__ import annotations

import contextlib
import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from shared import approval, resources
from state.channels import PROVEN
from state.database import Database
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shared.approval import Signers
    from shared.git.repository import Repository

PROVEN_WORD, UNPROVEN_WORD, NOBODY = APPROVED = ("proven", "unproven", "nobody")


class Given(NamedTuple):
    """The approvals of one plan: those that refs have, as bytes, and the channel recorded here."""

    digest: str
    files: tuple[bytes, ...]
    channel: str
    signers: Signers

    @property
    def key(self) -> str:
        """What changes where the answer may change."""
        parts = (self.channel.encode(), self.signers.lines, *self.files)
        return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()

    def word(self) -> str:
        """Return who approved the plan, in the strongest word that one of the approvals bears.

        A signature that does not count approves nothing.
        """
        recorded = (
            [PROVEN_WORD if self.channel in PROVEN else UNPROVEN_WORD] if self.channel else []
        )
        found = [*recorded, *self._said()]
        return min(found, key=APPROVED.index, default=NOBODY)

    def _said(self) -> Iterator[str]:
        for data in self.files:
            with contextlib.suppress(Refused):
                found = approval.parse(data, approval.FILE)
                if found.digest != self.digest:
                    continue
                channel = approval.signed_by(found, self.signers)[0] if found.signature else ""
                yield PROVEN_WORD if channel in PROVEN else UNPROVEN_WORD


def approvals(repository: Repository, digests: Iterable[str], refs: str) -> Iterator[Given]:
    """Yield what approvals there are of each plan; `refs` are lines of an object and its ref.

    Who may sign is said by HEAD and the user's own settings, not by the base of a plan.
    """
    lines = [line.split(" ", 1) for line in refs.splitlines()]
    objects = repository.git.objects([f"{at}:{approval.FILE}" for at, _ in lines])
    files: dict[str, list[bytes]] = {}
    for (_, ref), found in zip(lines, objects, strict=True):
        if found.kind == "blob":
            files.setdefault(ref.rpartition("/")[2], []).append(found.content)
    path = resources.database_path(os.path.join(repository.root, resources.PLANNER_FOLDER))
    channels: dict[str, str] = {}
    with contextlib.suppress(Refused):
        channels = Database(path).channels() if resources.is_database(path) else {}
    signers = approval.allowed_signers(repository.git, "HEAD")
    for digest in digests:
        yield Given(digest, tuple(files.get(digest, ())), channels.get(digest, ""), signers)
