"""Which files git settings lead to, that the place has to show or to clean (PP-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.place.secrets import git_settings

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("PP-2")

SETTINGS = """\
[include]
	path = more
[includeIf "gitdir:x"] path = "~/other"
[credential]
	path = no-file-of-settings
	helper = store
[core]
	excludesFile = "~/ignored"
	hooksPath=hooks
	editor = vi
[Include]
	Path = /etc/third
"""


def test_settings_lead_to_those_they_include_and_to_the_files_that_they_name(
    tmp_path: Path,
) -> None:
    config, more = tmp_path / "config", tmp_path / "more"
    config.write_text(SETTINGS)
    more.write_text('[remote "a"]\n\turl = https://me:secret@host/a\n')
    paths = [str(config), str(tmp_path / "missing")]
    found = git_settings(paths, "/home/me")
    assert paths[2:] == [str(more), "/home/me/other", "/etc/third"]
    assert [*found] == [str(config), str(more)]
    named = ["/home/me/ignored", f"{tmp_path}/hooks"]
    assert found[str(config)] == (SETTINGS.encode(), False, named)
    text, is_cleaned, _ = found[str(more)]
    assert is_cleaned
    assert b"secret" not in text
