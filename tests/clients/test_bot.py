"""The bot that follows printed blocks, without a client: what it does where it is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shared.builders import error_block
from state.errors import Problem
from tests.clients.bot import Bot

START = "/opt/planner/bin/planner step planner"
OTHERS = ("/opt/planner/bin/planner approve " + "0" * 64, "git switch main")


def refusal(way: str) -> str:
    """Return the block of a refusal whose way out is this command."""
    return error_block([Problem("refused", "it", "is not for you", "ask", way)])


@pytest.mark.smoke
@pytest.mark.requirement("SD-7")
@pytest.mark.parametrize("way", OTHERS)
def test_a_way_out_that_is_not_for_an_assistant_ends_its_turn(way: str, tmp_path: Path) -> None:
    bot = Bot("vibe", START, str(tmp_path / "bot.json"))
    asked = [bot.turn("", 0, "plan it"), bot.turn("", 1, "")]
    assert asked[1] == bot.tools.shell(START)
    refused = refusal(way)
    assert f": {way}" in refused
    said = bot.turn("", 2, refused)
    assert isinstance(said, str)
    assert said.startswith("! <error")


@pytest.mark.smoke
@pytest.mark.requirement("SD-7")
@pytest.mark.parametrize("way", OTHERS)
def test_one_that_a_block_names_as_next_is_not_run(way: str, tmp_path: Path) -> None:
    bot = Bot("vibe", START, str(tmp_path / "bot.json"))
    for said, heard in enumerate(("plan it", "")):
        bot.turn("", said, heard)
    with pytest.raises(AssertionError, match="only a person or the user"):
        bot.turn("", 2, f'<step name="x"><next>{way}</next></step>{refusal(way)}')


@pytest.mark.smoke
def test_the_program_that_runs_a_client_needs_only_the_standard_library() -> None:
    """It runs outside of our environment: on a bare machine no package of the lock is found."""
    program = Path(__file__).with_name("run_client.py")
    program_text = f"import runpy; runpy.run_path({str(program)!r}, run_name='imported')"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program_text], check=False, stderr=subprocess.PIPE
    )
    assert (done.returncode, done.stderr) == (0, b"")
