"""Signatures of approvals: what they are over, by which key, and whether a person touched it."""

from __future__ import annotations

import base64
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from shared.ssh_signature import NAMESPACE, message_of_form_1, parse, sign, verify
from state.errors import Refused
from tests.shared.software_key import KIND, Key, armored, string

pytestmark = pytest.mark.requirement("PP-7")

DATA = message_of_form_1("d" * 64, "b" * 40)
ANN = "ann@example.com"


@pytest.fixture(scope="module")
def key() -> Key:
    return Key()


@cache
def _plain_pair(kind: str) -> tuple[bytes, str]:
    """Return a key that programs can use, and its public part; in one process the same ones."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "id")
        words = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", str(path)]
        subprocess.run(words, check=True, capture_output=True)
        return path.read_bytes(), path.with_suffix(".pub").read_text()


def plain_line(kind: str = "ed25519") -> str:
    """Return the line that allows the key that programs can use."""
    return f"{ANN} {_plain_pair(kind)[1]}"


def plain_key(folder: Path, kind: str = "ed25519") -> tuple[str, bytes]:
    """Write a key that programs can use; return its file and the line that allows it."""
    path = folder / f"id_{kind}"
    private, public = _plain_pair(kind)
    path.write_bytes(private)
    path.chmod(0o600)
    path.with_suffix(".pub").write_text(public)
    return str(path), plain_line(kind).encode()


def test_a_touched_key_is_known_by_its_signature(key: Key) -> None:
    signature = parse(key.sign(DATA))
    assert (signature.kind, signature.is_touched) == (KIND.decode(), True)
    assert verify(signature, DATA, key.line(ANN).encode()) == ANN


def test_a_key_that_asks_for_no_touch_is_not_touched(key: Key) -> None:
    signature = parse(key.sign(DATA, flags=0))
    assert not signature.is_touched
    assert verify(signature, DATA, key.line(ANN).encode()) == ANN


def test_the_flags_are_part_of_what_is_signed(key: Key) -> None:
    signature = parse(key.sign(DATA, flags=0, claimed=1))
    assert signature.is_touched
    with pytest.raises(Refused):
        verify(signature, DATA, key.line(ANN).encode())


@pytest.mark.parametrize("kind", ["ed25519", "ecdsa", "rsa"])
def test_any_other_key_is_open_to_programs(tmp_path: Path, kind: str) -> None:
    path, line = plain_key(tmp_path, kind)
    signature = sign(path, DATA)
    assert not signature.is_touched
    assert verify(signature, DATA, line) == ANN


def test_a_key_is_named_as_git_names_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, line = plain_key(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert verify(sign("~/id_ed25519", DATA), DATA, line) == ANN
    with pytest.raises(Refused, match="could not sign"):
        sign("key::ssh-ed25519 AAAA", DATA)
    with pytest.raises(Refused, match="could not sign"):
        sign(f"{path}.missing", DATA)


def test_a_signature_over_something_else_does_not_count(key: Key) -> None:
    lines = key.line(ANN).encode()
    signature = parse(key.sign(DATA))
    for other in (
        message_of_form_1("e" * 64, "b" * 40),
        message_of_form_1("d" * 64, "a" * 40),
        b"",
    ):
        with pytest.raises(Refused, match="not one over this digest"):
            verify(signature, other, lines)


@pytest.mark.quick
def test_only_allowed_signers_count_and_only_for_approvals(key: Key) -> None:
    signature = parse(key.sign(DATA))
    lines = key.line(ANN)
    for allowed in ("", Key().line(ANN), lines.replace(ANN, f'{ANN} namespaces="git"')):
        with pytest.raises(Refused):
            verify(signature, DATA, allowed.encode())
    several = Key().line("bob@example.com") + lines.replace(ANN, f'{ANN} namespaces="{NAMESPACE}"')
    assert verify(signature, DATA, several.encode()) == ANN


def test_a_signature_made_for_git_is_none_of_ours(key: Key) -> None:
    with pytest.raises(Refused, match=f"not made for {NAMESPACE}"):
        parse(key.sign(DATA, namespace="git"))


def blob_of(text: str) -> bytes:
    return base64.b64decode("".join(text.splitlines()[1:-1]))


def test_what_does_not_have_the_form_is_refused(key: Key, tmp_path: Path) -> None:
    whole = blob_of(key.sign(DATA))
    plain = blob_of(sign(plain_key(tmp_path)[0], DATA).armored)
    for size in range(0, len(whole), 7):
        with pytest.raises(Refused):
            parse(armored(whole[:size]))
    size = len(string(key.blob)) + 10
    for blob in (
        whole + b"\0", b"SSHSIX" + whole[6:], whole[:9] + b"\2" + whole[10:],
        plain[:10] + string(key.blob) + plain[10 + 55 :], whole[:size] + b"\xff" * 4 + whole[size:],
    ):  # fmt: skip
        with pytest.raises(Refused):
            parse(armored(blob))
    for text in ("", "x", key.sign(DATA) * 2, key.sign(DATA).replace("A", "é", 1), "x" * 20_000,
                 key.sign(DATA).replace("-----BEGIN", "-----BEGIN X")):  # fmt: skip
        with pytest.raises(Refused):
            parse(text)


def test_without_ssh_keygen_its_package_is_named(
    key: Key, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = parse(key.sign(DATA))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refused) as caught:
        verify(signature, DATA, key.line(ANN).encode())
    assert "OpenSSH 8.2" in caught.value.problems[0].allowed
