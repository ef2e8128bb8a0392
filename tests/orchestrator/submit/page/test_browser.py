"""The review page in a real browser: silent, narrow, light and dark, by keyboard, and large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from orchestrator.submit.page.render import render_page
from tests.browser import open_browser
from tests.orchestrator.submit.page.reviews import (
    cited,
    hostile_review,
    many_changes,
    sample_review,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from orchestrator.submit.page.facts import Facts
    from tests.browser import Browser

pytestmark = pytest.mark.requirement("PM-15")

LONGEST_LOAD_S = 60.0  # a second where nothing else runs
LOWEST_CONTRAST = 4.5
# The lowest contrast of any text that is shown, and where: alpha is laid over what is behind.
CONTRAST = """(() => {
  const parse = c => { const n = c.match(/[\\d.]+/g).map(Number); return [...n, 1].slice(0, 4); };
  const over = (t, b) => [0, 1, 2].map(i => t[i] * t[3] + b[i] * (1 - t[3])).concat(1);
  const light = c => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => {
    const v = c[i] / 255;
    return sum + w * (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  const behind = e => e ? over(parse(getComputedStyle(e).backgroundColor), behind(e.parentElement))
                        : [255, 255, 255, 1];
  let lowest = [21, ''];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !e.checkVisibility()) continue;
    const back = behind(e), text = over(parse(getComputedStyle(e).color), back);
    const [a, b] = [light(text), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < lowest[0]) lowest = [ratio, e.outerHTML.slice(0, 120)];
  }
  return lowest;
})()"""
FOCUSED = """(() => {
  const e = document.activeElement, box = e.getBoundingClientRect(), style = getComputedStyle(e);
  return {name: e.tagName, id: e.id, href: e.getAttribute('href'), text: e.textContent.slice(0, 40),
          seen: box.left >= 0 && box.right <= innerWidth && box.width > 0,
          ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2};
})()"""
TAB, ENTER, SPACE = ("Tab", 9), ("Enter", 13), (" ", 32)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return a browser for all tests of this module."""
    with open_browser() as found:
        yield found


@pytest.fixture(autouse=True)
def _silence(browser: Browser) -> None:
    browser.messages.clear()


def written(folder: Path, review: Facts) -> Path:
    path = folder / "review.html"
    path.write_text(render_page(review), encoding="utf-8")
    return path


def test_a_script_would_have_been_noticed(browser: Browser, tmp_path: Path) -> None:
    """Else the next test could not fail."""
    path = tmp_path / "page.html"
    path.write_text("<script>window.hacked = 1; console.log('x')</script>")
    browser.show(path)
    assert browser.run("window.hacked") == 1
    assert len(browser.messages) >= 2


def test_nothing_of_a_hostile_plan_runs_or_loads(browser: Browser, tmp_path: Path) -> None:
    path = written(tmp_path, hostile_review())
    browser.show(path)
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.messages == []
    assert browser.run("window.hacked === undefined")
    assert browser.run("location.href") == path.as_uri()
    assert browser.run("performance.getEntriesByType('resource').length") == 0
    assert (
        browser.run("[document.scripts.length, document.images.length, frames.length]") == [0] * 3
    )
    assert "<script>" in browser.run("document.body.innerText")


def test_the_policy_stops_what_would_get_into_the_page(browser: Browser, tmp_path: Path) -> None:
    path = written(tmp_path, sample_review())
    injected = "<script>window.hacked = 1</script><style>body { display: none }</style>"
    path.write_text(path.read_text().replace("<main", f"{injected}<img src=x><main", 1))
    browser.show(path)
    assert browser.run("window.hacked === undefined")
    assert browser.run("getComputedStyle(document.body).display") != "none"
    assert sum("Content Security Policy" in m for m in browser.messages) >= 3


@pytest.mark.parametrize("width", [320, 360, 768, 1280])
@pytest.mark.parametrize("name", ["sample", "hostile", "many"])
def test_the_page_never_scrolls_sideways(
    browser: Browser, tmp_path: Path, name: str, width: int
) -> None:
    made: dict[str, Callable[[], Facts]] = {
        "sample": sample_review,
        "hostile": lambda: hostile_review("w" * 300),
        "many": lambda: sample_review(many_changes(20)),
    }
    browser.show(written(tmp_path, made[name]()), width=width)
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.messages == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_has_enough_contrast(browser: Browser, tmp_path: Path, *, dark: bool) -> None:
    browser.show(written(tmp_path, hostile_review("\u202e")), dark=dark)
    browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    ratio, where = browser.run(CONTRAST)
    assert ratio >= LOWEST_CONTRAST, where
    paper = browser.run("getComputedStyle(document.body).backgroundColor")
    assert (max(int(n) for n in paper[4:-1].split(",")) < 64) == dark


def test_what_decides_stands_on_the_first_screen(browser: Browser, tmp_path: Path) -> None:
    browser.show(written(tmp_path, sample_review()), width=1280, height=800)
    low = browser.run(
        "[...document.querySelectorAll('.first, .typed code')].slice(0, 2)"
        ".map(e => e.getBoundingClientRect().bottom)"
    )
    assert max(low) <= 800


def test_the_keyboard_goes_through_the_page_in_order(browser: Browser, tmp_path: Path) -> None:
    browser.show(written(tmp_path, sample_review()))
    browser.press(*TAB)
    first = browser.run(FOCUSED)
    assert (first["href"], first["seen"], first["ring"]) == ("#main", True, True)
    browser.press(*ENTER)
    assert browser.run(FOCUSED)["id"] == "main"
    browser.press(*TAB)
    assert browser.run("document.getElementById('main').contains(document.activeElement)")
    browser.show(tmp_path / "review.html")
    order = browser.run(
        "[...document.querySelectorAll('a, summary')].filter(e => e.checkVisibility())"
        ".map(e => e.textContent.slice(0, 40))"
    )
    seen = []
    for _ in order:
        browser.press(*TAB)
        found = browser.run(FOCUSED)
        assert found["seen"], found
        assert found["ring"], found
        seen.append(found["text"])
    assert seen == order


def test_folds_open_by_keyboard_and_by_a_link_to_what_they_hold(
    browser: Browser, tmp_path: Path
) -> None:
    browser.show(written(tmp_path, sample_review()))
    folded = "document.querySelector('details:not([open])')"
    browser.run(f"window.fold = {folded}; fold.querySelector('summary').focus()")
    browser.press(*ENTER)
    assert browser.run("fold.open")
    browser.press(*ENTER)
    assert not browser.run("fold.open")
    target = browser.run("fold.querySelector('div').id")
    browser.run(f"document.querySelector('.files a[href=\"#{target}\"]').focus()")
    browser.press(*ENTER)
    browser.settle()
    assert browser.run("fold.open")
    assert 0 <= browser.run("fold.getBoundingClientRect().top") < 800


@pytest.mark.requirement("LP-2")
def test_a_row_is_reached_by_its_anchor_also_in_a_folded_file(
    browser: Browser, tmp_path: Path
) -> None:
    path = written(tmp_path, sample_review())
    browser.show(path)
    row = browser.run("[...document.querySelectorAll('details:not([open]) tr[id]')].at(-1).id")
    browser.run(f"location.hash = '{row}'")
    browser.settle()
    found = f"document.getElementById('{row}')"
    assert browser.run(f"{found}.closest('details').open")
    assert 0 <= browser.run(f"{found}.getBoundingClientRect().top") < 800
    assert browser.run(f"getComputedStyle({found}).outlineStyle") == "solid"


@pytest.mark.requirement("LP-2")
def test_the_row_that_shows_a_criterion_is_one_key_away(browser: Browser, tmp_path: Path) -> None:
    browser.show(written(tmp_path, sample_review(cited())))
    link = "document.querySelector('#M-001').closest('article').querySelector('dd a[href^=\"#f\"]')"
    browser.run(f"{link}.focus()")
    target = browser.run(f"{link}.getAttribute('href')")
    browser.press(*ENTER)
    browser.settle()
    assert browser.run("location.hash") == target
    assert 0 <= browser.run("document.querySelector(':target').getBoundingClientRect().top") < 800


def test_a_print_holds_what_is_folded_and_no_way_round(browser: Browser, tmp_path: Path) -> None:
    browser.show(written(tmp_path, sample_review()), width=800)
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.run("getComputedStyle(document.querySelector('nav')).display") == "none"
    inside = "document.querySelector('details:not([open]) > div').getBoundingClientRect().height"
    assert browser.run(inside) > 1_000


def test_two_hundred_changes_load_and_every_one_is_reached(
    browser: Browser, tmp_path: Path
) -> None:
    path = written(tmp_path, sample_review(many_changes(200)))
    seconds = browser.show(path)
    assert seconds < LONGEST_LOAD_S
    assert path.stat().st_size < 3_000_000
    for number in (1, 77, 200):
        name = f"CC-{number:03d}"
        browser.run(f"document.querySelector('.files a[href=\"#{name}\"]').click()")
        browser.settle()
        top = browser.run(f"document.getElementById('{name}').getBoundingClientRect().top")
        assert 0 <= top < 800, name
    assert browser.messages == []
