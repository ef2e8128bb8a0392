"""The review page: what it shows, how it is built, and that nothing of a plan gets out (PM-15)."""

from __future__ import annotations

import base64
import functools
import html
import json
import re
from collections import Counter
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from orchestrator.submit.page.render import render_page
from shared.builders import visible
from shared.resources import launcher
from tests.forms import examples
from tests.journey import FILES, Journey, call, default_answers, words_of
from tests.orchestrator.submit.page.reviews import (
    DIGEST,
    HOSTILE,
    hostile_review,
    many_changes,
    plan_data,
    run_row,
    sample_review,
)
from tests.orchestrator.submit.page.test_html import ANYTHING, Parsed
from tests.orchestrator.test_hostile_text import hostile

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PM-15")
EMPHASIS = {"b", "mark"}
POLICY = re.compile(r"default-src 'none'; style-src '(sha256-[^']+)'; base-uri 'none'; .*")


def shown(**values: Any) -> str:  # noqa: ANN401 – fields of any type
    """Return the text of the page for the realistic plan with other fields."""
    return Parsed(render_page(sample_review({**plan_data(), **values}))).text


def squeezed(text: str) -> str:
    return " ".join(text.split())


def read_by_eye(**values: Any) -> str:  # noqa: ANN401 – fields of any type
    """Return the text of the page with a space between elements, as a reader sees them apart."""
    markup = render_page(sample_review({**plan_data(), **values}))
    page = re.sub(r"</?(?:b|strong|span|a|code|em|mark)\b[^>]*>", "", markup)
    return squeezed(Parsed(page.replace("<", " <")).text)


# what it shows


@pytest.mark.parametrize(
    "text",
    [
        "Read ISO dates in the importer; report rows without one.",  # the request
        "knows only 02.01.2026",  # why
        "One parser for both forms",  # what
        "8 files, +178 −11",
        "4 milestones in 2 waves",
        "both commands pass",
        "by agents (6 questions)",
        "M-003 is flagged high-risk",
        "T-1 the importer reads ISO dates → done: M-001, M-002",
        "It must never again drop a row and stay silent.",  # quoted from the user
        "DL-002 A closed list of forms",
        "guessing swaps days and months",
        "RA-001 A library that guesses the form – it reads 03.04. as March",
        "Not wanted asking the exporting side to change",
        "Made by planner review. This page shows the plan; what is approved is its digest",
        "R-001 importer/dates.py:parse A third form exists in old exports – the report names it",
        "no export of the last five years has another form",  # assumed
        "C-001 MUST no new dependency (user)",
        "INV-001 parse never returns a day",
        "Wave 1 · 2 at once",
        "3 files, +1 −3 · after M-001, M-002",
        "CI-001 importer/dates.py:parse reads days in both forms",
        "2026-01-02 and 02.01.2026 are the same day",  # accepted when
        "data only; the tests of M-001 read it",  # no tests
        "python3 -m pytest -q passes (base: passed)",
        "The verify commands ran on tree 5e0c5e0c5e0c5e0c5e0c5e0c5e0c5e0c5e0c5e0c",
        "plan-code: passed in round 3",
        "Round 1 of plan-code was sent back",
        "qa-003 MUST M-001: parse returned None for an empty text",
        "qa-007 COULD `format` hides a builtin",  # passed without blocking
        "file-length at importer/forms.json: a table, not code",  # accepted
        "CP-001 May an import stop at the first row without a date?",
        "Answer: No, collect all of them",
        "Your remarks RM-001 on revision 1 Report all rows, not only the first. → done: M-002",
        "Notes on this revision The base moved from 1f2e3d4c to 4d3c2b1a.",
        "The code: 2 files, +13 −4",
        "For RM-001 RM-001 Report all rows, not only the first. → done: M-002",
        "Without a remark",
        "The base has moved as well",
        "No difference in the code CP-001 May an import stop? → declined: no",
        "Revised since The base moved from 1f2e3d4c to 4d3c2b1a.",
        "decision Stop at the first row without a date All rows or none",
        "New R-002 Callers that relied on None now see NoDate",
        "importer/rows.py renamed and changed, was importer/lines.py",
        "bin/import mode only, mode 100644 → 100755",
        "binary: 5,120 bytes after the change",
        f"/planner:approve {DIGEST}",
        f"planner approve {DIGEST} --state-dir /project/.planner/runs/20260102-abcdef",
    ],
)
def test_a_reader_finds(text: str) -> None:
    assert text in read_by_eye()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"verify": []}, "NOT VERIFIED"),
        ({"reviews": []}, "Reviewed by nobody: a program alone has checked this plan."),
        ({"milestones": []}, "0 milestones in 0 waves"),
    ],
)
def test_what_is_missing_is_said(values: dict[str, Any], text: str) -> None:
    assert text in shown(**values)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"outcome": "fail"}, "1 command of 2 fails"),
        ({"outcome": "known-failure"}, "1 command of 2 passes"),
        ({"exercised": False}, "the changed code is not run: broken, it passes as well"),
        ({"exercised": None}, "is not known"),
        ({"tree": "0" * 40}, "The reviewed code was another tree."),
    ],
)
def test_verify_is_never_shown_better_than_it_was(change: dict[str, Any], text: str) -> None:
    data = plan_data()
    data["verify"][0].update(change)
    if "tree" in change:
        data["verify"][1].update(change)
    assert text in shown(verify=data["verify"])


def test_a_gate_that_passed_against_the_figures_stands_on_the_first_screen() -> None:
    data = plan_data()
    data["reviews"][1].update(reason="the finding is about another file", alone=True)
    data["reviews"][1]["open"][0]["severity"] = "MUST"
    page = read_by_eye(reviews=data["reviews"])
    assert page.index("passed against the figures: plan-code") < page.index("Only you type these")
    assert "agents (3 questions) and the assistant that wrote it (3 " in page
    assert "Against the figures: the finding is about another file" in page
    assert "Passed against the figures: qa-007 MUST" in page
    assert "does not block in this round" not in page


@pytest.mark.requirement("RV-3")
def test_findings_that_passed_say_why_they_could() -> None:
    data = plan_data()
    found = data["reviews"][1]["open"][0]
    rows = [
        {**found, "id": "qa-007"},
        {**found, "id": "qa-008", "severity": "MUST", "accepted": "a table, not code"},
    ]
    data["reviews"][1]["open"] = rows
    answers = [
        {"check": "tests", "scope": "M-001", "severity": "MUST", "status": "PASS", "by": "agent"},
        {"check": "diff", "scope": "*", "severity": "MUST", "status": "PASS", "by": "assistant"},
    ]
    data["reviews"][1]["answers"] = answers
    page = read_by_eye(reviews=data["reviews"])
    assert "Open, which does not block in this round: qa-007 COULD" in page
    assert "Accepted by a person: qa-008 MUST" in page
    assert "gainst the figures" not in page
    assert "“tests” of M-001 passed, an agent" in page
    assert "“diff” passed, the assistant itself" in page


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"stage": "gathering", "digest": None}, "still being written"),
        ({"stage": "executing"}, "approved"),
        ({"stage": "inactive", "status": "CANCELLED"}, "cancelled"),
        (
            {"stage": "inactive", "status": "COMPLETED", "commit_id": "c" * 40},
            "committed as cccccccccccc and proved",
        ),
    ],
)
def test_only_a_plan_that_waits_says_how_to_answer(row: dict[str, Any], text: str) -> None:
    page = Parsed(render_page(sample_review()._replace(run=run_row(**row)))).text
    assert text in page
    assert "/planner:approve" not in page
    assert "Your answer" not in page


def test_intents_are_shown_as_what_is_approved_before_their_code() -> None:
    data = plan_data()
    for milestone in data["milestones"]:
        milestone.update(code_changes=[], documentation={})
    data.update(verify=[], depth="intent")
    review = sample_review(data)._replace(run=run_row(depth="intent"))
    page = Parsed(render_page(review)).text
    assert "3 intents in 3 files" in page
    assert "NOT VERIFIED" not in page
    assert "the code is written after this and comes back to you" in page
    assert "their code comes back for an approval of its own" in page


def test_open_questions_come_first_and_stand_on_the_first_screen() -> None:
    data = plan_data()
    (asked,) = data["checkpoints"]
    data["checkpoints"].append({**asked, "id": "CP-002", "question": "Are years before 1904 real?"})
    page = Parsed(render_page(sample_review(data))).text
    assert "1 question without an answer" in page
    assert "not answered yet" in page
    questions = page.partition("Questions and answers")[2]
    assert questions.index("CP-002") < questions.index("CP-001")


# how it is built


def test_one_file_with_one_style_and_a_policy_that_lets_nothing_else_take_effect() -> None:
    text = render_page(sample_review())
    page = Parsed(text)
    names = Counter(name for name, _ in page.tags)
    style = text.partition("<style>")[2].partition("</style>")[0]
    policy = next(a["content"] or "" for n, a in page.tags if a.get("http-equiv"))
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    match = POLICY.fullmatch(policy)
    assert match is not None
    assert match[1] == f"sha256-{digest}"
    assert "url(" not in style
    assert "@import" not in style
    assert not names.keys() & {"script", "link", "img", "iframe", "object", "form", "base", "input"}
    attributes = {name for _, attrs in page.tags for name in attrs}
    assert not attributes & {"style", "src", "srcset", "action"}
    assert not [name for name in attributes if name.startswith("on")]


def test_landmarks_headings_and_links_are_in_order() -> None:
    page = Parsed(render_page(sample_review()))
    names = [name for name, _ in page.tags]
    assert [n for n in names if n in ("nav", "main", "footer")] == ["nav", "main", "footer"]
    levels = [int(n[1]) for n in names if re.fullmatch("h[1-6]", n)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [attrs["href"] or "" for name, attrs in page.tags if name == "a"]
    assert {link[1:] for link in links} <= set(ids)
    assert all(link[0] == "#" for link in links)
    assert links[0] == "#main"


def test_the_same_review_gives_the_same_bytes() -> None:
    assert render_page(sample_review()) == render_page(sample_review())


def test_a_long_diff_and_what_comes_after_many_is_folded() -> None:
    page = Parsed(render_page(sample_review()))
    folds = ["open" in attrs for name, attrs in page.tags if name == "details"]
    since, details = [True] * 2, [False]
    assert folds == [*since, True, False, *[True] * 6, *details]
    many = Parsed(render_page(sample_review(many_changes(60))))
    folds = ["open" in attrs for name, attrs in many.tags if name == "details"]
    assert folds == [True] * 42 + [False] * 20 + details
    links = [attrs.get("href") for name, attrs in many.tags if name == "a"]
    assert all(f"#CC-{n:03d}" in links for n in range(1, 61))


# what it is not


def test_hostile_texts_change_no_element_of_the_page_and_are_all_shown() -> None:
    plain, page = Parsed(render_page(sample_review())), Parsed(render_page(hostile_review()))
    built = [[name for name, _ in p.tags if name not in EMPHASIS] for p in (plain, page)]
    assert [n for n in built[1] if n not in built[0]] == []
    escapes = [attrs for name, attrs in page.tags if name == "b"]
    assert {tuple(attrs.items()) for attrs in escapes} == {(("class", "esc"),)}
    attributes = [{key for _, attrs in p.tags for key in attrs} for p in (plain, page)]
    assert attributes[0] == attributes[1]
    assert page.odd == plain.odd
    assert page.text.count(visible(HOSTILE)) > 60


@functools.cache
def tags_of_the_sample() -> set[str]:
    return {name for name, _ in Parsed(render_page(sample_review())).tags}


@settings(max_examples=examples(40))
@given(ANYTHING)
def test_any_text_anywhere_stays_text(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()  # a plan holds no lone surrogate
    page = render_page(hostile_review(f"x{text}"))
    tags = {name for name, _ in Parsed(page).tags}
    assert tags - EMPHASIS <= tags_of_the_sample()
    assert not set(page) & set("\x00\x1b\x7f\u202e\u200b\u2066\ufeff")


# the command


def test_the_command_writes_the_page_of_a_submitted_plan(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES), answers=hostile(default_answers(), HOSTILE[:-40]))
    journey.to("submitted")
    answer = journey.planner("review")
    assert answer.code == 0
    path = answer.data("page")
    assert path == f"{journey.state_dir}/review.html"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    page = Parsed(text)
    digest = json.loads(journey.planner("status", "--json").text)["digest"]
    assert f"/planner:approve {digest[:12]}" in page.text
    assert "return x + 2" in page.text
    assert visible(HOSTILE[:-40]) in page.text
    assert "script" not in {name for name, _ in page.tags}
    assert journey.planner("review").text == answer.text
    with open(path, encoding="utf-8") as file:
        assert file.read() == text


@pytest.mark.parametrize(
    ("way", "stage"), [("approve", "executing"), ("edit", "gathering"), ("reject", "inactive")]
)
def test_what_the_page_says_to_type_does_it(make_repo: Repositories, way: str, stage: str) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    with open(f"{journey.state_dir}/review.html", encoding="utf-8") as file:
        typed = re.findall(r"<span>in a terminal</span><code>([^<]*)</code>", file.read())
    commands = [words_of(html.unescape(command)) for command in typed]
    words = next(words for words in commands if way in words[:2])
    assert journey.run(*words).code == 0
    assert json.loads(journey.planner("status", "--json").text)["stage"] == stage


def test_the_page_follows_the_run(make_repo: Repositories) -> None:
    """A draft, a second revision beside the first one, an approved plan, a finished one."""
    journey = Journey(make_repo(files=FILES))
    said = {}

    def look(name: str) -> None:
        assert journey.planner("review").code == 0
        with open(f"{journey.state_dir}/review.html", encoding="utf-8") as file:
            said[name] = squeezed(Parsed(file.read()).text)

    journey.to("code")
    look("draft")
    journey.to("submitted")
    journey.write_answers()
    journey.follow(journey.last.next("remarks"))
    journey.answers["design.json"] = []
    journey.to("submitted")
    with open(f"{journey.state_dir}/review.html", encoding="utf-8") as file:
        said["frozen"] = squeezed(Parsed(file.read()).text)
    look("revised")
    journey.to("approved")
    look("approved")
    journey.to("committed")
    look("committed")
    assert "still being written" in said["draft"]
    assert "planner approve" not in said["draft"]
    assert said["frozen"] == said["revised"]
    assert "Since revision 1" in said["revised"]
    assert "Say why in a comment." in said["revised"]
    assert "· approved 20" in said["approved"]
    commit = journey.repository.git("rev-parse", "HEAD")[:12]
    assert f"committed as {commit} and proved" in said["committed"]


@pytest.mark.requirement("PM-15")
@pytest.mark.parametrize("how", ["reject", "cancel", "undo"])
def test_the_page_of_a_run_that_has_ended_waits_for_nobody(
    make_repo: Repositories, how: str
) -> None:
    journey = Journey(make_repo(files=FILES)).to("committed" if how == "undo" else "submitted")
    page = f"{journey.state_dir}/review.html"
    if how != "undo":
        with open(page, encoding="utf-8") as file:
            assert "waits for your decision" in file.read()
    words = ["mode", "reject"] if how == "reject" else [how]
    assert journey.planner(*words).code == 0
    with open(page, encoding="utf-8") as file:
        said = squeezed(Parsed(file.read()).text)
    assert "waits for your decision" not in said
    assert "Your answer" not in said
    if how == "undo":
        revert, commit = journey.repository.git("log", "-2", "--format=%H").split()
        assert f"committed as {commit[:12]}, then taken back, by commit {revert[:12]}" in said
    else:
        assert "cancelled" in said


def test_a_frozen_plan_that_was_edited_is_not_shown(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    path = f"{journey.state_dir}/plan.json"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("Change the constant.", "Change the customer."))
    answer = journey.planner("review")
    assert answer.code == 1
    assert "overview" in answer.text
    assert not (journey.repository.path / "review.html").exists()


def test_open_starts_no_browser_without_a_terminal(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    assert journey.planner("review", "--open").code == 0
    assert opened == []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert journey.planner("review", "--open").code == 0
    assert opened == [f"file://{journey.state_dir}/review.html"]


def test_without_a_run_the_command_says_so(repo: Repository) -> None:
    answer = call(repo.path, "review")
    assert answer.code == 1
    assert f"{launcher()} start" in answer.text


def test_the_plan_in_markdown_and_the_summary_show_hostile_text_and_answers(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("design")
    journey.write_answer("questions.json", journey.answers["questions.json"])
    asked = journey.planner("context", "ask", "--file", "answers/questions.json")
    assert asked.code == 0
    words = f"Keep it {HOSTILE}"
    journey.write_answer("CP-001.md", words)
    journey.last = journey.planner("decide", "CP-001", "--file", "answers/CP-001.md")
    journey.answers = hostile(default_answers(), "\nverify: all pass <!-- \u202e\x1b[2K-->")
    summary = journey.to("submitted").last.data("summary")
    with open(f"{journey.state_dir}/plan.md", encoding="utf-8") as file:
        text = file.read()
    for shown_text in (summary, text):
        assert "CP-001" in shown_text
        assert "Keep it" in shown_text
        assert "\\u202e\\x1b[2K" in shown_text
        assert not set(shown_text) & set("\u202e\x1b\u200b")
    assert not [line for line in summary.splitlines() if line.startswith("verify: all")]
    assert set(re.findall(r"(?<!\\)<[a-z!]\w*", text)) == {"<details", "<summary"}
    assert len(re.findall(r"(?<!\\)</?details", text)) == len(["begins", "ends"])
