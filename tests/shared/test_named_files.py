"""Files that a command is given by name: regular ones without secrets, or an error."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shared.named_files import MOST_BYTES, read_answer
from state.errors import Refused, value_text
from tests.flips import flipping

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_is_found_in_the_state_directory_before_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    file = tmp_path / "answers" / "reason.md"
    file.write_text("x", encoding="utf-8")
    assert read_answer(str(tmp_path), "answers/reason.md").path == os.path.realpath(file)
    assert read_answer("/nowhere", str(file)).text() == "x"


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("name", [".env", ".netrc", "server.key"])
def test_a_secret_is_refused_under_its_own_name_and_by_a_link(
    tmp_path: Path, name: str, linked: bool
) -> None:
    named = secret = tmp_path / name
    secret.write_text("TOKEN=x", encoding="utf-8")
    if linked:
        named = tmp_path / "reason.md"
        named.symlink_to(secret)
    with pytest.raises(Refused, match="key, a password or a token"):
        read_answer(str(tmp_path), named.name)


def test_what_lies_where_secrets_are_kept_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".azure").mkdir()
    (tmp_path / ".azure" / "plain.json").write_text("{}", encoding="utf-8")
    with pytest.raises(Refused, match="key, a password or a token"):
        read_answer(str(tmp_path), ".azure/plain.json")


def test_pipes_folders_devices_and_huge_files_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "device").symlink_to("/dev/zero")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    for name in ("pipe", "folder", "device", "huge"):
        with pytest.raises(Refused) as caught:
            read_answer(str(tmp_path), name)
        assert caught.value.problems[0].allowed


def test_a_message_shows_a_short_value_and_only_the_kind_of_a_longer_one() -> None:
    assert value_text("done") == "'done'"
    assert value_text("s" * 60) == "a text of 62 characters"
    assert "hidden" not in value_text({"token": "hidden"})


@pytest.mark.requirement("PP-9")
def test_a_folder_that_becomes_a_link_at_any_moment_shows_no_secret(tmp_path: Path) -> None:
    folder, secrets = tmp_path / "answers", tmp_path / "outside"
    for place, name in ((folder, "x.md"), (secrets, "id_rsa")):
        place.mkdir()
        (place / name).write_text("harmless" if place is folder else "a key", encoding="utf-8")
    (secrets / "x.md").symlink_to("id_rsa")
    read, refused = 0, 0
    with flipping(folder, secrets, lambda: read and refused) as numbers:
        for _ in numbers:
            try:
                assert read_answer(str(tmp_path), "answers/x.md").text() == "harmless"
                read += 1
            except Refused:
                refused += 1
    assert read
    assert refused
