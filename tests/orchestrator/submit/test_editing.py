"""A person writes remarks between a plan's lines in their editor; none of their words is lost."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.submit.review_file import read_back, rows_of, text_of
from shared.resources import ROOT
from state.errors import Refused
from state.files import write_atomic
from state.store import load_plan
from tests.journey import FILES, Answer, Journey
from tests.terminal import started

if TYPE_CHECKING:
    from collections.abc import Callable

    from state.models import Plan
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("LP-4")

LINE = ">             2 +     return x + 2"


class Terminal:
    """A standard input that a person sits at."""

    @staticmethod
    def isatty() -> bool:
        return True


@pytest.fixture
def submitted(make_repo: Repositories) -> Journey:
    return Journey(make_repo(files=FILES)).to("submitted")


@pytest.fixture
def edit(
    submitted: Journey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Answer]:
    """Return what runs `review --edit` with an editor: a Python text on `text`, the file's."""

    def run(script: str, ending: str = "") -> Answer:
        program = tmp_path / "editor.py"
        program.write_text(
            "import os, sys\npath = sys.argv[1]\ntext = open(path).read()\n"
            f"{script}\nopen(path, 'w').write(text)\n{ending}\n"
        )
        monkeypatch.setattr(sys, "stdin", Terminal())
        for name in ("VISUAL", "EDITOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("GIT_EDITOR", f"{sys.executable} {program}")
        return submitted.planner("review", "--edit")

    return run


def plan_of(journey: Journey) -> Plan:
    return load_plan(f"{journey.state_dir}/plan.json")


def draft_of(journey: Journey) -> Path:
    [path] = Path(journey.state_dir, "answers").glob("review-*.diff")
    return path


def below(line: str, words: str) -> str:
    """Return an editor that writes words below a line of the plan."""
    both = f"{line}\n{words}"
    return f"assert {line!r} in text\ntext = text.replace({line!r}, {both!r}, 1)"


def test_words_below_lines_are_remarks_on_them_and_open_the_next_revision(
    submitted: Journey, edit: Callable[..., Answer]
) -> None:
    digest = plan_of(submitted).digest
    answer = edit(
        "\n".join(
            [
                "text = 'Short, please.\\nM-001: Split it.\\n' + text + 'And thanks.\\n'",
                below(LINE, "\nName the number.\n\nTwo is magic.\n"),
                below(">      2        -     return x + 1", "It was one."),
                below("> M-001 Add two", "Two of them."),
                below("> src/a.py (changed, +1 −1)", "Who calls it?"),
            ]
        )
    )
    assert answer.code == 0, answer.text
    assert answer.block.get("number") == "3"
    found = [(one.text, one.anchor) for one in plan_of(submitted).user_remarks]
    places = [(text, (a.entity or a.file, a.side, a.line) if a else None) for text, a in found]
    assert places == [
        ("Short, please.", None),
        ("Split it.", ("M-001", "new", 0)),
        ("Two of them.", ("M-001", "new", 0)),
        ("Who calls it?", ("src/a.py", "new", 0)),
        ("It was one.", ("src/a.py", "old", 2)),
        ("Name the number.\n\nTwo is magic.", ("src/a.py", "new", 2)),
        ("And thanks.", None),
    ]
    assert {a.revision_digest for _, a in found if a} == {digest}
    assert not [*Path(submitted.state_dir, "answers").glob("review-*.diff")]


def test_a_real_terminal_is_the_editors(submitted: Journey, tmp_path: Path) -> None:
    script = tmp_path / "ed it"
    script.write_text(
        f"#!/bin/sh\ntest -t 0 && test -t 1 && sed -i 's/^{LINE}$/&\\nName it./' \"$1\"\n"
    )
    script.chmod(0o755)
    seen = started(
        submitted.repository.path, f"{ROOT}/bin/planner", "review", "--edit",
        GIT_EDITOR="", VISUAL=f"'{script}'", EDITOR="false",
    )  # fmt: skip
    assert seen.code == 0, seen.text
    assert [one.text for one in plan_of(submitted).user_remarks] == ["Name it."]


def test_without_a_word_nothing_is_changed(submitted: Journey, edit: Callable[..., Answer]) -> None:
    answer = edit("text = text.replace('\\n', '  \\r\\n') + '\\n\\n'")
    assert answer.code == 0
    assert "No remark was written, and nothing is changed." in answer.text
    assert plan_of(submitted).frozen_at
    assert edit("").code == 0


def refused(submitted: Journey, answer: Answer, said: str) -> None:
    """Check that nothing is sent, and that the words are where it says."""
    assert answer.code == 1
    text = answer.problems[0][1]
    assert said in text
    assert f"your words are in {draft_of(submitted)}, which the same command opens again" in text
    assert plan_of(submitted).frozen_at
    assert "Name it." in draft_of(submitted).read_text()


@pytest.mark.parametrize(
    ("script", "ending", "said"),
    [
        ("", "os.kill(os.getpid(), 9)", "ended by signal 9"),
        ("", "sys.exit(3)", "ended with exit code 3"),
        ("text = text[: len(text) // 3 * 2]", "", "the file ends before the plan does"),
        ("text = text.replace('> the end', '> an end')", "", "was changed or taken out"),
        ("text = text.replace('x + 1', 'x + 9')", "", "was changed or taken out"),
        ("text = text.replace('> M-001 Add two\\n', '')", "", "was changed or taken out"),
        ("text += '> my own words\\n'", "", "is not the plan's, and begins with"),
    ],
)
def test_what_is_in_the_way_is_said_and_the_words_are_kept(
    submitted: Journey, edit: Callable[..., Answer], script: str, ending: str, said: str
) -> None:
    early = below("> T-1 f adds two", "Name it.")
    answer = edit(f"{early}\n{script}", ending)
    if "ends before" in said and "was changed" in answer.text:
        said = "was changed or taken out"  # it was cut in the middle of a line
    refused(submitted, answer, said)


def test_a_draft_is_opened_again_with_its_words_and_sent(
    submitted: Journey, edit: Callable[..., Answer]
) -> None:
    refused(submitted, edit(below(LINE, "Name it."), "sys.exit(1)"), "exit code 1")
    assert edit("assert 'Name it.' in text").code == 0
    assert [one.text for one in plan_of(submitted).user_remarks] == ["Name it."]


def test_where_the_run_was_revised_meanwhile_the_remarks_are_on_what_was_read(
    submitted: Journey, edit: Callable[..., Answer]
) -> None:
    digest = plan_of(submitted).digest
    submitted.write_answer("remarks.md", "Say why.")
    words = f"plan revise --state-dir {submitted.state_dir} --file answers/remarks.md"
    command = f"{ROOT}/bin/planner {words}"
    answer = edit(below(LINE, "Name it."), f"assert os.system({command!r}) == 0")
    assert answer.code == 0, answer.text
    first, second = plan_of(submitted).user_remarks
    assert (first.text, second.text) == ("Say why.", "Name it.")
    assert second.anchor
    assert second.anchor.revision_digest == digest


def test_where_the_run_has_ended_meanwhile_the_words_are_kept(
    submitted: Journey, edit: Callable[..., Answer]
) -> None:
    command = f"{ROOT}/bin/planner cancel --state-dir {submitted.state_dir}"
    answer = edit(below(LINE, "Name it."), f"os.system({command!r})")
    assert answer.code == 1
    assert "the run is" in answer.problems[0][1]
    assert "your words are in" in answer.problems[0][1]
    assert "Name it." in draft_of(submitted).read_text()


def test_on_a_full_disk_the_words_are_kept(
    submitted: Journey, edit: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: str, data: bytes) -> None:
        if path.endswith(".md"):
            raise Refused("refused", path, "the disk is full", "free space")
        write_atomic(path, data)

    monkeypatch.setattr("orchestrator.submit.editing.write_atomic", full)
    refused(submitted, edit(below(LINE, "Name it.")), "the disk is full")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({}, "no editor is named"),
        ({"EDITOR": "/nowhere/vi"}, "the editor cannot be started: No such file or directory"),
        ({"VISUAL": "'open"}, "the command in it cannot be read: No closing quotation"),
    ],
)
def test_without_an_editor_nothing_is_sent(
    submitted: Journey, monkeypatch: pytest.MonkeyPatch, names: dict[str, str], said: str
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal())
    for name in ("GIT_EDITOR", "VISUAL", "EDITOR"):
        monkeypatch.setenv(name, names.get(name, " "))
    assert said in submitted.planner("review", "--edit").problems[0][1]


def test_no_editor_is_opened_where_nobody_sits(
    submitted: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(os.devnull, encoding="utf-8") as nobody:
        monkeypatch.setattr(sys, "stdin", nobody)
        answer = submitted.planner("review", "--edit")
    assert "an editor needs a terminal" in answer.problems[0][1]


def test_a_plan_that_is_not_submitted_is_not_opened(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setenv("EDITOR", "false")
    assert "is not frozen" in journey.planner("review", "--edit").problems[0][1]


def test_odd_names_and_texts_come_back_as_they_are(make_repo: Repositories) -> None:
    odd = ["M-001", "a: b.txt", "- x", "`y`", "\x1b[2J\u202e\n.txt", '"q"', " z"]
    journey = Journey(make_repo(files=FILES))
    milestone = journey.answers["design.json"][2]["fields"]
    milestone["files"] += odd
    journey.answers["design.json"] += [
        {"op": "add", "kind": "intent", "fields": {
            "milestone": "$m", "file": name, "behavior": "is there"}}
        for name in odd
    ]  # fmt: skip
    journey.edits |= dict.fromkeys(odd, "\x1b[31mred\r\n> quoted\n")
    journey.to("submitted")
    rows = rows_of(plan_of(journey))
    text = text_of(rows)
    assert not {"\x1b", "\u202e", "\r"} & {*text}
    assert read_back(rows, text) == ""
    lines = [
        line
        for row in rows
        for line in ([row.line, f"Of {row.place}."] if row.place.endswith(":1") else [row.line])
    ]
    journey.write_answer("remarks.md", read_back(rows, "\n".join(lines)))
    assert journey.planner("plan", "revise", "--file", "answers/remarks.md").code == 0
    found = [one.anchor for one in plan_of(journey).user_remarks]
    named = [(a.file, a.line) for a in found if a]
    assert {(name, 1) for name in odd} <= {*named}
    assert len(named) == len(found)
