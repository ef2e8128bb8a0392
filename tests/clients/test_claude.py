"""Claude Code while a session of it plans: what is denied, what passes, what the model reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.clients.rig import Claude
    from tests.journey import Journey

pytestmark = [pytest.mark.slow, pytest.mark.requirement("PM-4")]


def test_a_file_of_the_user_is_not_written(claude: Claude, planning: Journey) -> None:
    file = planning.repository.path / "new.py"
    played = claude.play(
        [("Write", {"file_path": str(file), "content": "x"})], "--allowedTools", "Write"
    )
    assert played.only.is_error
    assert "Planning mode (gathering)" in played.only.text
    assert not file.exists()
