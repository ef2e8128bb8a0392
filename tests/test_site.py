"""The pages of docs/ as a site, built as strictly as mkdocs can."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import ci_programs

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.requirement("HO-6")


def test_the_site_is_built_and_has_every_page(tmp_path: Path) -> None:
    """Strict: a page that is not in the navigation, or a link that leads nowhere, fails it."""
    site = tmp_path / "site"
    words = ("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site))
    done = ci_programs.run(*words, cwd=ROOT, NO_MKDOCS_2_WARNING="1")
    assert done.returncode == 0, done.stdout + done.stderr
    pages = [p.relative_to(ROOT / "docs") for p in (ROOT / "docs").rglob("*.md")]
    missing = [
        page
        for page in pages
        if page.name != "index.md" and not (site / page.with_suffix("") / "index.html").exists()
    ]
    assert pages
    assert not missing
    start = (site / "index.html").read_text()
    assert (site / "page.png").exists()
    assert "decisions/0001-one-field-for-a-path" in start
    assert not list(site.glob("*.py"))


def test_the_site_asks_no_other_server_for_anything(tmp_path: Path) -> None:
    """Fonts and scripts are its own, so that it can be read without a network."""
    words = ("-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path))
    assert ci_programs.run(*words, cwd=ROOT, NO_MKDOCS_2_WARNING="1").returncode == 0
    start = (tmp_path / "index.html").read_text()
    asking = [line for line in start.splitlines() if 'src="http' in line or "@import" in line]
    assert not asking
    assert "fonts.googleapis" not in start
