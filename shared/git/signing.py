"""Find out whether git could sign a commit, without signing anything."""

from __future__ import annotations

import base64
import os
import re
import shutil
from typing import TYPE_CHECKING

from shared.git.command import user_environment
from shared.git.limited import OUT_OF_TIME, run_for
from state.errors import AGAIN, Problem

if TYPE_CHECKING:
    from shared.git.repository import Repository

_PROGRAMS = {"openpgp": "gpg", "x509": "gpgsm", "ssh": "ssh-keygen"}
# Others, of a password manager or without keys of their own, are asked nothing before they sign.
_TELL_THEIR_KEYS = frozenset({*_PROGRAMS.values(), "gpg2"})
_OFF = "switch signing off for this repository: git config commit.gpgSign false"
_WAY = f"set up the key, or start the agent that holds it; or {_OFF}"
LIMIT_S = 20.0
MOST_OF_A_KEY = 1 << 15
# The name in the first line of a signature, with git's name of its form.
_FORMS = {"SSH SIGNATURE": "ssh", "PGP SIGNATURE": "openpgp", "PGP MESSAGE": "openpgp",
          "SIGNED MESSAGE": "x509"}  # fmt: skip
_WRITTEN_OUT = re.compile(r"ssh (?:key::)?(?:ssh|sk|ecdsa)-\S+ ([A-Za-z0-9+/=]+)")
_PUBLIC = re.compile(r"(?:ssh|sk|ecdsa)-(?!\S*-cert-)\S+ [A-Za-z0-9+/=]+")


class _OutOfTimeError(Exception):
    """A program that was asked for its keys had not ended within the limit."""


def is_signed(repo: Repository) -> bool:
    """Return whether the user's git settings ask for signed commits."""
    return repo.git.is_on("commit.gpgSign", default=False)


def key_named(repo: Repository) -> str | None:
    """Return the key that commits are to be signed with, None if they are not to be signed.

    Its form as git names it, and the key of the user's settings, written out where they name a
    file of ssh; the form alone where the committer's own key is looked for.
    """
    if not is_signed(repo):
        return None
    settings = repo.git.settings()
    form, key = settings.get("gpg.format", "openpgp"), settings.get("user.signingkey", "")
    key = _public_in(repo, key) or key if form == "ssh" else key
    return f"{form} {key}".strip()


def _public_in(repo: Repository, key: str) -> str:
    """Return the public half of a key that is a file, or has one beside it; "" if it has none."""
    path = os.path.join(repo.root, os.path.expanduser(key or "."))
    path += "" if path.endswith(".pub") else ".pub"
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            found = _PUBLIC.match(file.read(MOST_OF_A_KEY))
    except OSError:
        return ""
    return found[0] if found else ""


def is_same_key(approved: str | None, now: str | None) -> bool:
    """Return whether two keys as `key_named` gives them may be one.

    A file and a key that is written out are compared by their form alone.
    """
    one, other = (_WRITTEN_OUT.match(key or "") for key in (approved, now))
    if one and other:
        return one[1] == other[1]
    if one or other:
        return (approved or "").partition(" ")[0] == (now or "").partition(" ")[0]
    return approved == now


def form_of(signature: str) -> str:
    """Return git's name for the form of a commit's signature, "" where it has none."""
    name = signature.partition("\n")[0].removeprefix("-----BEGIN ").removesuffix("-----")
    return _FORMS.get(name, "unknown form") if signature else ""


def is_by(signature: str, key: str | None) -> bool:
    """Return whether a commit's signature may be by a key as `key_named` gives it.

    Its form has to be the same, and the key itself where it is one of ssh that is written out.
    """
    if (key or "").partition(" ")[0] != form_of(signature):
        return False
    written = _WRITTEN_OUT.match(key or "")
    if written is None:
        return True
    try:
        public = base64.b64decode(written[1])
        data = base64.b64decode("".join(signature.strip().split("\n")[1:-1]))
    except ValueError:
        return False
    return data.startswith(b"SSHSIG" + (1).to_bytes(4) + len(public).to_bytes(4) + public)


def signing_program(repo: Repository) -> str:
    """Return the program by which git signs, as its settings name it."""
    form = _setting(repo, "gpg.format") or "openpgp"
    program = _setting(repo, f"gpg.{form}.program") or (
        _setting(repo, "gpg.program") if form == "openpgp" else ""
    )
    return os.path.expanduser(program or _PROGRAMS.get(form, form))


def asks_programs(repo: Repository) -> bool:
    """Return whether git's signing program is one that may be asked about keys."""
    return os.path.basename(signing_program(repo)) in _TELL_THEIR_KEYS


def check_signing(repo: Repository) -> list[Problem]:
    """Return a problem if commits are to be signed and the program or the key is not there."""
    if not is_signed(repo):
        return []
    form, program = _setting(repo, "gpg.format") or "openpgp", signing_program(repo)
    if shutil.which(program) is None:
        text = f"git is to sign commits with the program {program}, which is not there"
        return [Problem("refused", "commit.gpgSign", text, f"install it, or: {_WAY}", AGAIN)]
    if os.path.basename(program) not in _TELL_THEIR_KEYS:
        return []
    key = _setting(repo, "user.signingKey")
    try:
        found = _ssh_key(repo, key) if form == "ssh" else _secret_key(repo, program, key)
    except _OutOfTimeError as error:
        text = f"git is to sign commits, but {error} had not said after {LIMIT_S:.0f} s which keys "
        text += "it has, so it was ended"
        way = f"end what it waits for, or {_OFF}"
        return [Problem("refused", "commit.gpgSign", text, way, AGAIN)]
    if found:
        return []
    named = f"the key {key}" if key else "any key for the committer"
    text = f"git is to sign commits, but {program} has no secret part of {named}"
    if form == "ssh":
        named = f"the key {key}" if key else "user.signingKey"
        text = f"git is to sign commits by ssh, but {named} is not there"
    return [Problem("refused", "user.signingKey", text, _WAY, AGAIN)]


def _setting(repo: Repository, key: str) -> str:
    words = ("config", "--type=path", key) if key.endswith("program") else ("config", key)
    return os.fsdecode(repo.git.attempt(*words).stdout).strip()


def _ssh_key(repo: Repository, key: str) -> bool:
    """Return whether the key that git names for ssh is a file, or held by the agent."""
    if not key:
        return bool(_setting(repo, "gpg.ssh.defaultKeyCommand"))
    literal = key.removeprefix("key::")
    if key.startswith(("key::", "ssh-", "sk-", "ecdsa-")):
        return _in_agent(literal)
    path = os.path.join(repo.root, os.path.expanduser(key))
    if not os.path.isfile(path):
        return False
    if not path.endswith(".pub") or os.path.isfile(path.removesuffix(".pub")):
        return True
    with open(path, encoding="utf-8", errors="replace") as file:
        return _in_agent(file.read())


def _in_agent(public: str) -> bool:
    kind_and_key = " ".join(public.split()[:2])
    return bool(kind_and_key) and _prints(["ssh-add", "-L"], re.escape(kind_and_key))


def _secret_key(repo: Repository, program: str, key: str) -> bool:
    """Return whether the program knows the secret part of a key, by default the committer's."""
    if not key:
        ident = repo.git.text("var", "GIT_COMMITTER_IDENT")
        key = re.sub(r" \d+ [+-]\d+$", "", ident)
    words = [program, "--batch", "--with-colons", "--list-secret-keys", key]
    return _prints(words, r"^(sec|crs):")


def _prints(words: list[str], pattern: str) -> bool:
    """Return whether a program ends well and prints this; _OutOfTimeError if it does not end."""
    try:
        done = run_for(LIMIT_S, words, os.sep, user_environment(), b"")
    except OSError:
        return False
    if done.returncode == OUT_OF_TIME:
        raise _OutOfTimeError(words[0])
    said = done.stdout.decode("utf-8", "replace")
    return done.returncode == 0 and bool(re.search(pattern, said, re.MULTILINE))
