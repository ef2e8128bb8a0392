"""An approval as a file, and what it proves by itself (PP-7).

`approval.json` travels with a plan: its signature can be checked in any clone, and every other word
in it is only what somebody has written.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from shared import ssh_signature
from shared.config import file_at, load_config
from shared.user_config import load_user_config
from state.channels import CHANNELS, SIGNED, SIGNED_OPEN, UNPROVEN_CHANNEL
from state.errors import Refused
from state.files import parse_json, read_bytes, write_json

if TYPE_CHECKING:
    from shared.git.command import Git

FILE = "approval.json"
_DIGEST = re.compile("[0-9a-f]{64}")
_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_FORM = "the file as `planner approve` wrote it into the run's state directory"


class Approval(NamedTuple):
    """One approval: of which digest, made against which base, by what channel, by whom.

    `commit` is the plan's commit, and `beside` are the files that it has besides the plan's.
    """

    digest: str
    base: str
    word: str = UNPROVEN_CHANNEL
    who: str = ""
    signature: str | None = None
    commit: str | None = None
    beside: tuple[str, ...] = ()

    @property
    def message(self) -> bytes:
        """The bytes that a signature of this approval is made over."""
        return ssh_signature.message(self.digest, self.base)


class Signers(NamedTuple):
    """Keys that may sign approvals, in openssh's format, and where each part was read."""

    lines: bytes
    places: tuple[str, ...]


def path_in(state_dir: str) -> str:
    """Return the path of a run's approval.json."""
    return os.path.join(state_dir, FILE)


def save(state_dir: str, approval: Approval) -> None:
    """Write a run's approval.json."""
    write_json(path_in(state_dir), approval._asdict())


def load(path: str) -> Approval:
    """Return the approval in a file; Refused if it is missing or does not have the form."""
    return parse(read_bytes(path), path)


def parse(data: bytes, path: str) -> Approval:
    """Return the approval in a file's bytes; Refused if they do not have the form.

    One that was made before there is a commit need not say what is beside the plan.
    """
    found = parse_json(data, path)
    names = Approval._fields
    if not isinstance(found, dict) or {*found, "beside"} != set(names):
        raise Refused("invalid", path, f"does not have the fields {', '.join(names)}", _FORM)
    beside = found.get("beside", [])
    listed = isinstance(beside, list) and all(isinstance(file, str) for file in beside)
    approval = Approval(**{**found, "beside": tuple(beside) if listed else ()})
    for name, good in (
        ("digest", _is(approval.digest, _DIGEST)),
        ("base", approval.base == "" or _is(approval.base, _COMMIT)),
        ("word", approval.word in CHANNELS),
        ("who", isinstance(approval.who, str)),
        ("signature", approval.signature is None or isinstance(approval.signature, str)),
        ("commit", approval.commit is None or _is(approval.commit, _COMMIT)),
        ("beside", listed),
    ):
        if not good:
            raise Refused("invalid", f"{path} {name}", "is not a value of this field", _FORM)
    return approval


def note_commit(state_dir: str, given: Approval) -> None:
    """Add the commit and its other files to a run's approval.json; write it where it is missing."""
    known = load(path_in(state_dir)) if os.path.isfile(path_in(state_dir)) else given
    approval = known if known.digest == given.digest else given
    save(state_dir, approval._replace(commit=given.commit, beside=given.beside))


def _is(value: object, form: re.Pattern[str]) -> bool:
    return isinstance(value, str) and form.fullmatch(value) is not None


def allowed_signers(git: Git, commit: str) -> Signers:
    """Return who may sign approvals, by the file in a commit and by the user's own settings."""
    path = load_config(git, commit).allowed_signers
    found = file_at(git, commit, path)
    lines, places = [found or b""], [f"{path} at {commit[:12]}"] if found else []
    own = load_user_config().allowed_signers
    if own is not None:
        try:
            with open(os.path.expanduser(own), "rb") as file:
                lines.append(file.read())
        except OSError as error:
            text = f"cannot be read: {error.strerror}"
            raise Refused("not_found", own, text, "correct [approval] allowed_signers") from None
        places.append(own)
    return Signers(b"\n".join(lines), tuple(places))


def signed_by(approval: Approval, signers: Signers) -> tuple[str, str]:
    """Return the channel and the signer that an approval's signature proves; Refused if none."""
    found = ssh_signature.parse(approval.signature or "")
    if not signers.lines.strip():
        text = "nobody is listed who may sign approvals"
        allowed = "list the key in planning/allowed_signers at the base, or in your own settings"
        raise Refused("not_found", "allowed signers", text, allowed)
    who = ssh_signature.verify(found, approval.message, signers.lines)
    return (SIGNED if found.is_touched else SIGNED_OPEN), who
