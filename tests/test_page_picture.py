"""README's picture is the review page of the demo's plan, as it waits for an approval."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.demo.command import PLANNER, _stage
from cli.demo.host import Call, Player
from cli.demo.recorded import RECORDED
from tests.browser import open_browser

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "page.png"
WIDTH, HEIGHT = 1100, 606  # as far as the text to type in a chat


class Photographer(Player):
    """The demo's assistant, who takes a picture of the page before anybody approves."""

    def call(self, words: Sequence[str], by: str) -> Call:
        """Run a command; before the approval, draw the page that waits for it."""
        if by == "person":
            [page] = Path(self.stage.folder).glob(".planner/runs/*/review.html")
            with open_browser() as browser:
                browser.show(page, width=WIDTH, height=HEIGHT)
                browser.settle()
                browser.picture(PICTURE)
        return super().call(words, by)


@pytest.mark.requirement("HO-6")
def test_the_readme_begins_with_a_picture_of_the_page(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """`--update-golden` plays the demo and draws it again, where a browser is installed."""
    if request.config.getoption("--update-golden"):
        host = Photographer(_stage(str(tmp_path), RECORDED), lambda _: None)
        asked = (Path(RECORDED) / "request.txt").read_text().strip()
        host.play([PLANNER, "start", asked, "--review", "full"])
    data = PICTURE.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", data[16:24]) == (WIDTH, HEIGHT)
    assert len(data) < 150_000
    before_the_first_title = (ROOT / "README.md").read_text().partition("\n## ")[0]
    assert "](docs/page.png)" in before_the_first_title
