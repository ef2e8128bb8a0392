"""Whether git can sign with the key that it names is known before the commit (PL-29)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from shared.git.signing import _secret_key

if TYPE_CHECKING:
    from pathlib import Path

    from shared.git.repository import Repository

pytestmark = pytest.mark.requirement("PL-29")


@pytest.mark.parametrize(
    ("listed", "code", "is_there"),
    [
        ("sec:u:255:22:", 0, True),
        ("uid:u\ncrs:", 0, True),
        ("pub:u:255:22:", 0, False),
        ("uid:sec:", 0, False),
        ("sec:u:255:22:", 2, False),
    ],
)
def test_the_program_is_asked_for_the_secret_part_of_the_key(
    tmp_path: Path, listed: str, code: int, *, is_there: bool
) -> None:
    program, asked = tmp_path / "program", tmp_path / "asked"
    text = f'#!/bin/sh\nprintf "%s\\n" "$@" >{asked}\necho "{listed}"\nexit {code}\n'
    program.write_text(text)
    program.chmod(0o755)
    nowhere = cast("Repository", None)
    assert _secret_key(nowhere, str(program), "0xABC") == is_there
    words = ["--batch", "--with-colons", "--list-secret-keys", "0xABC"]
    assert asked.read_text().splitlines() == words


def test_a_program_that_is_not_there_has_no_key() -> None:
    assert not _secret_key(cast("Repository", None), "/no/such/program", "0xABC")
