"""Who makes a commit and with which key, as it is approved, and as git has stored it (CM-4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from shared.git.identity import as_stored, identities
from shared.git.signing import LIMIT_S, asks_programs, form_of, is_by, is_same_key, key_named
from state.errors import AGAIN, Problem

if TYPE_CHECKING:
    from shared.git.history import Stored
    from shared.git.repository import Repository

# What the program of a signature says of its key: its fingerprint, and of openpgp its owner's.
_VALID = re.compile(r"^\[GNUPG:\] VALIDSIG (.*)$", re.MULTILINE)
_FINGERPRINT = re.compile(r"\b[0-9A-F]{40,}\b")
_BY_ID = re.compile(r"(?:openpgp|x509) (?:0x)?([0-9A-Fa-f]{8,40})!?")
_WAY = (
    "have git name the same again – its settings, or the variables that a client sets for its "
    "shell: then in a terminal of the user's own –, and run the same command again"
)


class People(NamedTuple):
    """Author and committer as `Name <address>`, and the key as `key_named` gives it.

    An empty name stands for anybody: git could not name one when the approval was given.
    """

    author: str
    committer: str
    signing: str | None

    def differences(self, stored: Stored) -> dict[str, str]:
        """Return in words, by field, how people and signature of a commit differ from these."""
        made = People(as_stored(stored.author), as_stored(stored.committer), None)
        found = self._other_names(made, "names")
        if not is_by(stored.signature, self.signing):
            form = form_of(stored.signature)
            signed = f"a signature of {form}" if form else "no signature"
            if form and form == (self.signing or "").partition(" ")[0]:
                signed = f"a signature of {form} by another key"
            found["signing"] = f"has {signed}, and the approval names {_key(self.signing)}"
        return found

    def not_as(self, now: People) -> dict[str, str]:
        """Return in words, by field, how what git names `now` differs from these."""
        found = self._other_names(now, "would name")
        if not is_same_key(self.signing, now.signing):
            how = f"be signed with the key {now.signing}" if now.signing else "not be signed"
            found["signing"] = f"would {how}, and the approval names {_key(self.signing)}"
        return found

    def _other_names(self, other: People, names: str) -> dict[str, str]:
        pairs = {
            "author": (self.author, other.author),
            "committer": (self.committer, other.committer),
        }
        return {
            field: f"{names} {theirs or 'nobody'} as {field}, and the approval {approved}"
            for field, (approved, theirs) in pairs.items()
            if approved not in ("", theirs)
        }


def _key(signing: str | None) -> str:
    return f"the key {signing}" if signing else "none"


def people_here(repo: Repository) -> People:
    """Return who git says would make a commit now, and with which key."""
    return People(*identities(repo.git), key_named(repo))


def check_people(repo: Repository, people: People | None) -> list[Problem]:
    """Return a problem if git would now name other people, or another key, than these."""
    return _problems(people.not_as(people_here(repo)) if people else {}, "the commit", _WAY)


def check_signed(repo: Repository, people: People | None, stored: Stored) -> list[Problem]:
    """Return a problem if a commit that has just been made has other people, or another key."""
    if people is None:
        return []
    differs = people.differences(stored)
    if "signing" not in differs and not _is_by_id(repo, stored, people.signing or ""):
        differs["signing"] = f"is signed by another key than {people.signing}, which is approved"
    way = f"find the hook or program that names another, {_WAY}"
    return _problems(differs, "the commit as it came out, to which no branch was moved,", way)


def _problems(differs: dict[str, str], what: str, way: str) -> list[Problem]:
    text = f"{what} {'; it '.join(differs.values())}"
    return [Problem("refused", "git commit", text, way, AGAIN)] if differs else []


def _is_by_id(repo: Repository, stored: Stored, signing: str) -> bool:
    """Return False where git's own check shows that a key other than that of this id has signed."""
    named = _BY_ID.fullmatch(signing)
    if named is None or not asks_programs(repo):
        return True
    words = ("verify-commit", "--raw", stored.commit)
    done = repo.git.as_set_up().attempt(*words, limit_s=LIMIT_S)
    found = _VALID.search(done.stderr.decode("utf-8", "replace"))
    prints = _FINGERPRINT.findall(found[1]) if found else []
    return not prints or any(one.endswith(named[1].upper()) for one in prints)
