"""SSH keys in software that sign as a key in hardware does, with and without a touch.

The form of `sk-ssh-ed25519` is openssh's PROTOCOL.u2f, the signature RFC 8032's. No device is at
hand in tests; ssh-keygen checks these as it checks real ones.
"""

from __future__ import annotations

import base64
import hashlib
import os

KIND = b"sk-ssh-ed25519@openssh.com"
APPLICATION = b"ssh:"
NAMESPACE = "planner-approval"

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

Point = tuple[int, int]


def _x_of(y: int) -> int:
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P)
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    return _P - x if x % 2 else x


_BASE: Point = (_x_of(_BASE_Y), _BASE_Y)


def _add(one: Point, other: Point) -> Point:
    (x1, y1), (x2, y2) = one, other
    product = _D * x1 * x2 * y1 * y2
    x3 = (x1 * y2 + x2 * y1) * pow(1 + product, -1, _P)
    y3 = (y1 * y2 + x1 * x2) * pow(1 - product, -1, _P)
    return x3 % _P, y3 % _P


def _times(point: Point, number: int) -> Point:
    found: Point = (0, 1)
    while number:
        if number & 1:
            found = _add(found, point)
        point, number = _add(point, point), number >> 1
    return found


def _packed(point: Point) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def string(data: bytes) -> bytes:
    """Return bytes as openssh writes a string: after their length."""
    return len(data).to_bytes(4) + data


def armored(blob: bytes) -> str:
    """Return a signature's bytes as its text."""
    text = base64.b64encode(blob).decode()
    lines = [text[n : n + 70] for n in range(0, len(text), 70)]
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""])


class Key:
    """An ed25519 key that claims to be in hardware."""

    def __init__(self, seed: bytes = b"") -> None:
        """With a seed it is the same key each time, as what begins with it can be kept."""
        digest = hashlib.sha512(seed or os.urandom(32)).digest()
        low = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8)
        self._number, self._prefix = low | 1 << 254, digest[32:]
        self._point = _packed(_times(_BASE, self._number))
        self.blob = string(KIND) + string(self._point) + string(APPLICATION)

    def line(self, who: str) -> str:
        """Return the line that allows the key to sign for somebody."""
        return f"{who} {KIND.decode()} {base64.b64encode(self.blob).decode()}\n"

    def sign(
        self,
        message: bytes,
        *,
        flags: int = 1,
        namespace: str = NAMESPACE,
        claimed: int | None = None,
    ) -> str:
        """Return the signature over a message; `claimed` are flags other than those signed."""
        hashed = hashlib.sha512(message).digest()
        outer = b"SSHSIG" + string(namespace.encode()) + string(b"") + string(b"sha512")
        outer += string(hashed)
        counter = (7).to_bytes(4)
        signed = hashlib.sha256(APPLICATION).digest() + bytes([flags]) + counter
        raw = self._ed25519(signed + hashlib.sha256(outer).digest())
        shown = bytes([flags if claimed is None else claimed])
        made = string(string(KIND) + string(raw) + shown + counter)
        head = b"SSHSIG" + (1).to_bytes(4) + string(self.blob) + string(namespace.encode())
        return armored(head + string(b"") + string(b"sha512") + made)

    def _ed25519(self, data: bytes) -> bytes:
        nonce = int.from_bytes(hashlib.sha512(self._prefix + data).digest(), "little") % _ORDER
        first = _packed(_times(_BASE, nonce))
        hashed = hashlib.sha512(first + self._point + data).digest()
        challenge = int.from_bytes(hashed, "little") % _ORDER
        return first + ((nonce + challenge * self._number) % _ORDER).to_bytes(32, "little")
