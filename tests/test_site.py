"""The pages of docs/ as a site, built as strictly as mkdocs can."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import ci_programs

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.requirement("HO-6")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site; a page outside the navigation or a dead link fails here."""
    folder = tmp_path_factory.mktemp("site")
    words = ("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder))
    done = ci_programs.run(*words, cwd=ROOT, NO_MKDOCS_2_WARNING="1")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_has_every_page_and_leads_to_it(site: Path) -> None:
    pages = [p.relative_to(ROOT / "docs") for p in (ROOT / "docs").rglob("*.md")]
    start = (site / "index.html").read_text()
    named = [page.with_suffix("") for page in pages if page.name != "index.md"]
    assert named
    assert not [page for page in named if not (site / page / "index.html").exists()]
    assert not [page for page in named if f'href="{page}/"' not in start]
    assert (site / "page.png").exists()


def test_the_site_asks_no_other_server_for_anything(site: Path) -> None:
    """Fonts and scripts are its own, so that it can be read without a network."""
    for page in ("index.html", "ci/index.html"):
        text = (site / page).read_text()
        asking = re.findall(r"<(?:script|link|img)[^>]*(?:src|href)=.?(https?:[^ >]*)", text)
        assert not asking
        assert "fonts.googleapis" not in text
