"""An approval as a file, and what it proves by itself (PP-7).

`approval.json` travels with a plan: its signature can be checked in any clone, and every other word
in it is only what somebody has written.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from shared import resources, ssh_signature
from shared.config import file_at, load_config
from shared.git.people import People
from shared.user_config import load_user_config
from state.channels import CHANNELS, SIGNED, SIGNED_OPEN, UNPROVEN_CHANNEL
from state.errors import Problem, Refused
from state.files import parse_json, read_bytes, write_json
from state.freeze import canonical
from state.kept_files import damaged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.git.command import Git
    from state.database import Database, Run

FILE = resources.APPROVAL
FORM = 2
# What a signature covers; form 1 had no more than the first two.
_SIGNED = ("form", "digest", "base", "tree", "beside", "author", "committer", "signing")
_OF_FORM_1 = ("digest", "base", "word", "who", "signature", "commit", "beside")
NOT_COVERED = "the tree to come, files beside the plan, author, committer and signing key"
_DIGEST = re.compile("[0-9a-f]{64}")
_COMMIT = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_TEXT = re.compile("[^\ud800-\udfff]*")  # what RFC 8785 has bytes for
_WRITTEN = "the file as `planner approve` wrote it into the run's state directory"
# How an approval is proven: a signature by ssh-keygen, or the client's word that it was typed.
SSH, TYPED = "ssh", "typed"
_MEMBERS = {SSH: {"kind", "signature"}, TYPED: {"kind"}}
# What the audit says of an approval that was given on another machine, whose people it names.
SENT = "sent as a file"


class Approval(NamedTuple):
    """One approval: what is approved, by what channel and whom, and what shows it."""

    digest: str
    # The commit that the plan starts from; "" outside of git.
    base: str
    # Of the commit to come on that base, with the copies of the plan in it; None if not known.
    tree: str | None = None
    # Paths that the commit adds beside the plan; one that ends in `/` is a folder with all in it.
    beside: tuple[str, ...] = ()
    # `Name <address>`, "" if git could not name one.
    author: str = ""
    committer: str = ""
    # The key that the commit is to be signed with, None if it is not to be signed.
    signing: str | None = None
    # The rest is not covered by the signature.
    word: str = UNPROVEN_CHANNEL
    who: str = ""
    # `kind`, and of ssh the `signature`; None where nothing shows it.
    proof: Mapping[str, str] | None = None
    # The plan's commit, and the files that the user has agreed to commit with it.
    commit: str | None = None
    staged: tuple[str, ...] = ()
    form: int = FORM

    @property
    def signature(self) -> str | None:
        """The signature in openssh's form, None if the approval is not signed."""
        return self.proof["signature"] if self.proof and self.proof["kind"] == SSH else None

    @property
    def message(self) -> bytes:
        """The bytes that a signature of this approval is made over."""
        if self.form == 1:
            return ssh_signature.message_of_form_1(self.digest, self.base)
        return canonical({name: _json(getattr(self, name)) for name in _SIGNED})

    @property
    def people(self) -> People | None:
        """Who is approved to commit, and with which key; None in form 1, which does not say it."""
        return None if self.form == 1 else People(self.author, self.committer, self.signing)

    def lets_stand(self, path: str) -> bool:
        """Return whether the commit adds a path beside the plan, by what is approved."""
        return any(
            path == one or (one.endswith("/") and path.startswith(one)) for one in self.beside
        )

    def with_signature(self, signature: str) -> Approval:
        """Return it with a signature as its proof."""
        return self._replace(proof={"kind": SSH, "signature": signature})


def _json(value: object) -> object:
    return [*value] if isinstance(value, tuple) else value


class Signers(NamedTuple):
    """Keys that may sign approvals, in openssh's format, and where each part was read."""

    lines: bytes
    places: tuple[str, ...]


def path_in(state_dir: str) -> str:
    """Return the path of a run's approval.json."""
    return resources.approval_path(state_dir)


def save(state_dir: str, approval: Approval) -> None:
    """Write a run's approval.json, in the form in which it was signed."""
    data = {name: _json(value) for name, value in approval._asdict().items()}
    if approval.form == 1:
        data |= {"signature": approval.signature, "beside": data["staged"]}
        data = {name: data[name] for name in _OF_FORM_1}
    write_json(path_in(state_dir), data)


def load(path: str) -> Approval:
    """Return the approval in a file; Refused if it is missing or does not have the form."""
    return parse(read_bytes(path), path)


def of_run(state_dir: str) -> Approval:
    """Return a run's own approval; Refused, with the repair as the way out, where it is damaged."""
    path = path_in(state_dir)
    try:
        return load(path)
    except Refused as refusal:
        if refusal.problems[0].kind != "invalid":
            raise
        raise damaged(path, refusal.problems[0].problem) from None


def parse(data: bytes, path: str) -> Approval:
    """Return the approval in a file's bytes; Refused if they do not have the form.

    Form 1 has a `signature` in place of a proof, and in `beside` what nothing covers. One that was
    made before there is a commit need not say what is beside the plan.
    """
    found = parse_json(data, path)
    if not isinstance(found, dict):
        raise Refused("invalid", path, "is not an object of JSON", _WRITTEN)
    if "form" not in found:
        found = _of_form_1(found, path)
    elif found["form"] != FORM:
        text = f"has the form {found['form']}, and this planner knows 1 and {FORM}"
        raise Refused("invalid", path, text, "a newer planner")
    names = Approval._fields
    if {*found} != {*names}:
        raise Refused("invalid", path, f"does not have the fields {', '.join(names)}", _WRITTEN)
    wrong = _wrong(found)
    if wrong:
        text = "is not a value of this field"
        raise Refused.of([Problem("invalid", f"{path} {n}", text, _WRITTEN) for n in wrong])
    lists = {name: tuple(found[name]) for name in ("beside", "staged")}
    return Approval(**{**found, **lists})


def _of_form_1(found: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the members of form 2 for those of form 1."""
    if {*found, "beside"} != {*_OF_FORM_1}:
        text = f"does not have the fields {', '.join(Approval._fields)}"
        raise Refused("invalid", path, text, _WRITTEN)
    signature = found["signature"]
    proof = None if signature is None else {"kind": SSH, "signature": signature}
    bare = Approval(found["digest"], found["base"], form=1)._asdict()
    kept = {name: found[name] for name in ("word", "who", "commit")}
    return {**bare, **kept, "proof": proof, "beside": [], "staged": found.get("beside", [])}


def _wrong(found: Mapping[str, Any]) -> list[str]:
    """Return the fields whose value is none that the field has."""
    texts, ids = ("author", "committer", "who"), ("tree", "commit")
    checks = {
        "form": type(found["form"]) is int,
        "digest": _is(found["digest"], _DIGEST),
        "base": found["base"] == "" or _is(found["base"], _COMMIT),
        **{name: found[name] is None or _is(found[name], _COMMIT) for name in ids},
        **{name: _are_texts(found[name]) for name in ("beside", "staged")},
        **{name: _is(found[name], _TEXT) for name in texts},
        "signing": found["signing"] is None or _is(found["signing"], _TEXT),
        "word": isinstance(found["word"], str) and found["word"] in CHANNELS,
        "proof": found["proof"] is None or _is_proof(found["proof"]),
    }
    return [name for name, good in checks.items() if not good]


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(_is(one, _TEXT) for one in value)


def _is_proof(value: object) -> bool:
    if not isinstance(value, dict) or not _are_texts([*value.values()]):
        return False
    return {*value} == _MEMBERS.get(value.get("kind", ""))


def note_commit(state_dir: str, given: Approval) -> None:
    """Add the commit and its staged files to a run's approval.json; write it if it is missing."""
    known = of_run(state_dir) if os.path.isfile(path_in(state_dir)) else given
    approval = known if known.digest == given.digest else given
    save(state_dir, approval._replace(commit=given.commit, staged=given.staged))


def is_sent(database: Database, run: Run) -> bool:
    """Return whether a run's last approval was given on another machine, and taken from a file."""
    rows = [row["detail"] for row in database.audit_rows(run) if row["action"] == "approve"]
    return bool(rows) and rows[-1].endswith(f"({SENT})")


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
