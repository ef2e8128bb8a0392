"""Signs an approval with ssh-keygen and checks such a signature (PP-7).

What kind of key signed, and whether a person touched it, is read from the signature itself: the
format is openssh's PROTOCOL.sshsig, and PROTOCOL.u2f for keys in hardware (`sk-…`).
"""

from __future__ import annotations

import base64
import binascii
import os
import subprocess
from tempfile import TemporaryDirectory
from typing import NamedTuple

from state.errors import Refused

NAMESPACE = "planner-approval"
LONGEST = 16 * 1024
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_MAGIC, _VERSION = b"SSHSIG", 1
_WIDTH = 70
_NUMBER = 4
# Keys in hardware, by the name of their type; their signatures end with flags and a counter.
_HARDWARE = (b"sk-ssh-ed25519@openssh.com", b"sk-ecdsa-sha2-nistp256@openssh.com")
_TOUCHED = 0x01
_LITERAL = ("key::", "ssh-", "sk-", "ecdsa-")
_AGAIN = "ask for a new signature: planner approve DIGEST --sign"


class Signature(NamedTuple):
    """A signature in openssh's form."""

    armored: str
    kind: str
    # Whether its key shows that a person touched it.
    is_touched: bool


def message_of_form_1(digest: str, base: str) -> bytes:
    """Return the bytes that form 1 of an approval signs: the plan's digest and its base."""
    return f"{NAMESPACE}\ndigest {digest}\nbase {base}\n".encode()


def parse(armored: str) -> Signature:
    """Return a signature of our namespace; Refused (`invalid`) if it is anything else."""
    if len(armored) > LONGEST:
        raise _invalid("is longer than a signature can be")
    lines = armored.strip().splitlines()
    if len(lines) < 3 or (lines[0], lines[-1]) != (_BEGIN, _END):  # noqa: PLR2004 – with one between
        raise _invalid("is not an SSH signature")
    try:
        blob = base64.b64decode("".join(lines[1:-1]), validate=True)
    except (binascii.Error, ValueError):
        raise _invalid("is not an SSH signature in base64") from None
    text = base64.b64encode(blob).decode()
    parts = [text[n : n + _WIDTH] for n in range(0, len(text), _WIDTH)]
    # Written anew, so that ssh-keygen checks the very bytes that were read here.
    return _read(blob, "\n".join([_BEGIN, *parts, _END, ""]))


def _read(blob: bytes, armored: str) -> Signature:
    if not blob.startswith(_MAGIC + _VERSION.to_bytes(_NUMBER)):
        raise _invalid("is not an SSH signature of version 1")
    (key, namespace, _, _, signature), rest = _strings(blob[len(_MAGIC) + _NUMBER :], 5)
    if namespace != NAMESPACE.encode() or rest:
        raise _invalid(f"is not made for {NAMESPACE}")
    (kind,), _ = _strings(key, 1)
    (made_by, _), rest = _strings(signature, 2)
    touched = False
    if kind in _HARDWARE:
        if made_by != kind or len(rest) != 1 + _NUMBER:
            raise _invalid("does not have the form of its key")
        touched = bool(rest[0] & _TOUCHED)
    return Signature(armored, kind.decode("ascii", "replace"), touched)


def _strings(data: bytes, count: int) -> tuple[list[bytes], bytes]:
    """Return the first strings, each after its length, and the bytes after them."""
    found = []
    for _ in range(count):
        size = int.from_bytes(data[:_NUMBER])
        if len(data) < _NUMBER + size:
            raise _invalid("ends too soon")
        found.append(data[_NUMBER : _NUMBER + size])
        data = data[_NUMBER + size :]
    return found, data


def sign(key: str, data: bytes) -> Signature:
    """Sign with a key: a file, or as git's user.signingkey names one.

    What ssh-keygen asks of the user, such as to touch the key, goes to their terminal.
    """
    with TemporaryDirectory(prefix="planner-") as folder:
        words = ["-f", os.path.expanduser(key)]
        if key.startswith(_LITERAL):
            path = os.path.join(folder, "key.pub")
            with open(path, "w", encoding="utf-8") as file:
                file.write(key.removeprefix("key::") + "\n")
            words = ["-f", path, "-U"]
        done = _run("sign", *words, "-n", NAMESPACE, data=data, heard=True)
    if done.returncode:
        text = "ssh-keygen could not sign with this key; it says why above"
        raise Refused("refused", key, text, "name the file of your key by --key FILE")
    return parse(done.stdout.decode("ascii", "replace"))


def verify(signature: Signature, data: bytes, signers: bytes) -> str:
    """Return which of the allowed signers has signed `data`; Refused if it was none of them."""
    with TemporaryDirectory(prefix="planner-") as folder:
        allowed, path = (os.path.join(folder, name) for name in ("allowed", "signature"))
        with open(allowed, "wb") as file:
            file.write(signers + b"\n")
        with open(path, "w", encoding="ascii") as file:
            file.write(signature.armored)
        found = _run("find-principals", "-s", path, "-f", allowed)
        for who in os.fsdecode(found.stdout).splitlines() if found.returncode == 0 else ():
            words = ("-f", allowed, "-I", who, "-n", NAMESPACE, "-s", path)
            if _run("verify", *words, data=data).returncode == 0:
                return who
    if found.returncode == 0:
        text = "the signature is not one over this digest and base by a key that may sign approvals"
        raise Refused("refused", "signature", text, _AGAIN)
    text = f"the {signature.kind} key that signed is not among the allowed signers"
    raise Refused("refused", "signature", text, "have the key listed there, then sign again")


def _run(
    verb: str, *words: str, data: bytes = b"", heard: bool = False
) -> subprocess.CompletedProcess[bytes]:
    said = None if heard else subprocess.PIPE
    command = ["ssh-keygen", "-Y", verb, *words]
    try:
        return subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=said, check=False)
    except OSError as error:
        text = f"ssh-keygen could not be run: {error.strerror}"
        raise Refused("not_found", "ssh-keygen", text, "install OpenSSH 8.2 or newer") from None


def _invalid(text: str) -> Refused:
    return Refused("invalid", "signature", f"the signature {text}", _AGAIN)
