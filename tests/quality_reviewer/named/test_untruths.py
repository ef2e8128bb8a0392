"""What is said and what the code does otherwise is listed; its true twin is not (SD-1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.quality_reviewer.planned import Said, named, waiting

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = [pytest.mark.requirement("SD-1"), pytest.mark.requirement("SD-4")]

CLIENT = '''"""Fetch pages."""

import time

TIMEOUT_S = 30


def fetch(url, session):
    return session.get(url, timeout=TIMEOUT_S).text
'''
CLIENT_NOW = '''"""Fetch pages."""

import time

TIMEOUT_S = 30
ATTEMPTS = 3


class Unreachable(Exception):
    """No attempt has succeeded."""


def fetch(url, session):
    for attempt in range(ATTEMPTS):
        answer = session.get(url.strip(), timeout=TIMEOUT_S)
        if answer.status_code < 500:
            return answer.text
        time.sleep(2 ** attempt)
    raise Unreachable(url)


def latest(pages):
    return sorted(pages, key=lambda page: page.at, reverse=True)
'''
TESTS = """from client import fetch


def test_a_failing_server_is_tried_again(server):
    assert fetch("u", server(500, 200)) == "body"


def test_the_latest_page_comes_first(pages):
    assert latest(pages)[0].at == 9
"""
BEFORE = {
    "src/client.py": CLIENT,
    "config.toml": "[cache]\nenabled = true\nttl = 600\n",
    "docs/guide.md": "# Guide\n\nPages are fetched.\n",
}
AFTER = {
    "src/client.py": CLIENT_NOW,
    "config.toml": "[cache]\nenabled = true\nttl = 300\n",
    "docs/guide.md": "# Guide\n\nPages are fetched, with 3 attempts.\n",
    "tests/test_client.py": TESTS,
}
Pair = tuple[Said, Said, str]


def task(untrue: str, true: str, sentence: str) -> Pair:
    return Said(task=[untrue]), Said(task=[true]), sentence


def answered(question: str, options: list[str], sentence: str) -> Pair:
    """Return an answer that the code contradicts, the first option, and the second one."""
    untrue, true = (Said(asked=[(question, options, said)]) for said in options[:2])
    return untrue, true, sentence


def decided(untrue: str, true: str, sentence: str) -> Pair:
    return Said(decisions=[("So", untrue)]), Said(decisions=[("So", true)]), sentence


def asked_for(untrue: str, true: str, sentence: str) -> Pair:
    return Said(request=untrue), Said(request=true), sentence


def shown(text: str, line: str, other: str, sentence: str) -> Pair:
    """Return a criterion with a line that shows it not, and one that does."""
    return Said(criteria=[(text, line)]), Said(criteria=[(text, other)]), sentence


TEST = "tests/test_client.py"
FIRST, SECOND = f"{TEST}:5", f"{TEST}:9"
PAIRS: list[Pair] = [
    # Directions.
    task("pages are listed oldest first", "pages are listed newest first", "sorts the other way"),
    task("the same pause between attempts", "each pause doubles between attempts",
         "waits longer each time"),
    task("the cache is off by default", "the cache is on by default", "(enabled = true) is on"),
    task("raise the ttl of the cache", "lower the ttl of the cache", "goes from 600 to 300"),
    task("lower the timeout", "lower the ttl", "(TIMEOUT_S = 30) stays as it was"),
    task("a url is sent as typed", "a url is sent without spaces", "alters it"),
    # What is to be gone, or never to be there.
    task("take `enabled` out of the cache", "`enabled` stays in the cache",
         "config.toml:2 still has enabled"),
    task("rename TIMEOUT_S to LIMIT_S", "rename LIMIT_S to TIMEOUT_S", "still has TIMEOUT_S"),
    task("never sleep in fetch", "never log in fetch", "does (time.sleep(2 ** attempt))"),
    task("use 400, not 500, as a limit", "use 500, not 400, as a limit", "has 500, and no 400"),
    # Options.
    answered("What if the url fails?", ["Return nothing", "Raise an error"], "raise Unreachable"),
    answered("How many attempts?", ["Five", "Three"], "answered “Five”"),
    answered("How long is a page cached?", ["Ten minutes", "Five minutes"], "10 minutes"),
    answered("How are urls cleaned?", ["Keep them", "Strip them"], "the change has strip"),
    # Citations and figures.
    decided("see src/client.py:77", "see src/client.py:18", "that file has 23 lines"),
    decided("`client.retry` loops", "`client.fetch` loops", "src/client.py has no retry"),
    decided("TIMEOUT_S is 60", "TIMEOUT_S is 30", "TIMEOUT_S is 60, and it is 30 at src/client"),
    decided("the timeout is 60 seconds", "the timeout is half a minute, 30 seconds",
            "TIMEOUT_S is 30"),
    decided("src/cache.py holds them", "src/client.py holds them", "names src/cache.py"),
    decided("`fetch_twice` does it", "`fetch` does it", "no touched file holds"),
    # The request's parts.
    asked_for("Try a server again. Highlight urls.", "Try a server again. Raise if none is left.",
              "asks for 'Highlight urls.'"),
    asked_for("- try a server again\n- mail the owner\n", "- try a server again\n- raise\n",
              "asks for 'mail the owner'"),
    asked_for("Try again, and upload the coverage report.", "Try again, and list the latest.",
              "anything of upload"),
    # Remarks.
    (Said(remarks=[("Say in the guide how a cache is purged.", "")]),
     Said(remarks=[("Say in the guide how many attempts there are.", "")]), "says no word"),
    (Said(remarks=[("Sort pages alphabetically.", "")]),
     Said(remarks=[("Sort pages, the latest first.", "")]), "sorts the other way"),
    (Said(remarks=[("Wait 45 seconds at most.", "")]),
     Said(remarks=[("Wait 30 seconds at most.", "")]), "names 45 seconds"),
    # Criteria.
    shown("the latest page comes first", FIRST, SECOND, "shares no word with it"),
    shown("a failing server is tried again", "tests/test_client.py:1", FIRST, "is an import"),
    shown("a server that fails is tried again", "src/client.py:6", FIRST, "no test or run shows"),
    shown("SIGTERM is sent to a failing server", FIRST, "run 1", "(SIGTERM)"),
]  # fmt: skip


def test_an_untruth_is_listed_and_its_true_twin_is_not(
    make_repo: Callable[..., Repository],
) -> None:
    state = waiting(make_repo)
    missed, alarms = [], []
    for pair in PAIRS:
        untrue, twin = (
            [text for text in named(state, BEFORE, AFTER, said._replace(tests=[TEST]))
             if not text.endswith("nobody was asked")]
            for said in pair[:2]
        )  # fmt: skip
        missed += [] if any(pair[2] in text for text in untrue) else [(pair[2], untrue)]
        alarms += twin
    assert missed == []
    assert alarms == []


def test_a_link_of_a_document_leads_to_a_file_beside_it(
    make_repo: Callable[..., Repository],
) -> None:
    state = waiting(make_repo)
    after = {"docs/guide.md": "# Guide\n\nSee [this](other.md) and [that](../src/client.py).\n"}
    assert named(state, BEFORE, after, Said()) == [
        "docs/guide.md links to other.md, which is not there"
    ]
