"""Words that tell how a text came to be: how well they are told, where they are looked for."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pytest

from quality_reviewer.checks.comments import find_comments
from quality_reviewer.checks.temporal import find_temporal
from tests.quality_reviewer.checks.conftest import findings

if TYPE_CHECKING:
    from tests.quality_reviewer.checks.conftest import Desk

pytestmark = pytest.mark.requirement("PL-24")

LABELLED = os.path.join(os.path.dirname(__file__), "wording.txt")
LEAST = 0.9


class Row(NamedTuple):
    """A labelled comment: whether it is temporal, the ending of its file, the line of it."""

    temporal: bool
    ending: str
    line: str


def rows() -> list[Row]:
    """Return the labelled lines: `T` or `-`, an ending, the comment."""
    with open(LABELLED, encoding="utf-8") as file:
        parts = [line.rstrip("\n").split(" ", 2) for line in file]
    return [Row(label == "T", ending, line) for label, ending, line in parts]


def thirds() -> dict[str, list[Row]]:
    """Return the lines to tune on and, of each label, every third line, held out."""
    halves = [[r for r in rows() if r.temporal is temporal] for temporal in (True, False)]
    return {
        "tuned": [r for half in halves for n, r in enumerate(half, start=1) if n % 3],
        "held out": [r for half in halves for n, r in enumerate(half, start=1) if not n % 3],
    }


def is_found(row: Row) -> bool:
    comments = find_comments(f"a.{row.ending}", row.line.encode())
    assert comments, row
    return any(find_temporal(comments))


def test_the_labelled_set_is_large_and_each_line_stands_in_it_once() -> None:
    labelled = rows()
    assert len({r.line for r in labelled}) == len(labelled) >= 220
    assert 0.35 <= sum(r.temporal for r in labelled) / len(labelled) <= 0.45


@pytest.mark.parametrize("part", ["tuned", "held out"])
def test_temporal_wording_is_told_from_what_happens_in_a_run(part: str) -> None:
    answers = [(row.temporal, is_found(row)) for row in thirds()[part]]
    hits = answers.count((True, True))
    precision = hits / (hits + answers.count((False, True)))
    recall = hits / (hits + answers.count((True, False)))
    print(f"{part}: precision {precision:.3f}, recall {recall:.3f} of {len(answers)} lines")
    assert precision >= LEAST
    assert recall >= LEAST


def test_an_added_comment_is_found_with_its_line_and_words(desk: Desk) -> None:
    subject = desk.subject({"a.py": "x = 1\n# Previously this was\n# two.\nx = 2\n"})
    [(status, scope, text)] = findings("code-comments-timeless", subject)
    assert (status, scope) == ("FAIL", "a.py")
    assert text.startswith(
        "a.py, line 2: “Previously this”: these words tell how the text came to be; "
    )


def test_words_that_lines_divide_are_found(desk: Desk) -> None:
    subject = desk.subject({"a.js": "/* The list is no\n * longer used. */\n"})
    [(_, _, text)] = findings("code-comments-timeless", subject)
    assert "line 1: “is no longer used”" in text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", 'x = \'# now returns None\'\ny = """\n# The loop was removed.\n"""\n'),
        ("a.py", "def now_returns_none(previously_this): ...\n"),
        ("a.py", '# The message is `it was 20`, or "this is no longer used".\n'),
        ("a.py", "x = 1  # the value is no\ny = 2  # longer used strings come first\n"),
        ("a.py", '"""Docs.\n\n.. versionchanged:: 3.2\n   Now returns None.\n"""\n'),
        ("a.py", "# Drops entries of a file once this\n# is no longer used.\n"),
        ("a.js", "const s = '// Now returns null'; const t = `\n// this was removed\n`;\n"),
        ("a.ts", 'const u = "http://x/"; // the page\n'),
        ("a.sh", 'echo "$# this was removed" ${#a}\n'),
        ("a.java", 'String s = """\n  // Now uses it\n""";\n'),
        ("a.rs", 'let s = r#"// Now uses "x""#;\n'),
        ("a.html", "<p>Now uses less</p>\n"),
        ("a.json", '{"a": "// Now uses less"}\n'),
        ("a.md", "The parser now returns None.\n"),
        ("a.bin", "\0# Now uses less\n"),
    ],
)
def test_strings_code_and_quotations_are_left_alone(desk: Desk, path: str, text: str) -> None:
    assert not findings("code-comments-timeless", desk.subject({path: text}))


def test_a_comment_that_was_there_already_is_left_alone(desk: Desk) -> None:
    line = "# The parser now returns None.\n"
    assert not findings(
        "code-comments-timeless", desk.subject({"a.py": f"x = 1\n{line}"}, {"a.py": line})
    )


def test_a_language_that_nobody_knows_here_is_not_checked(desk: Desk) -> None:
    subject = desk.subject({"a.zzz": "# Now uses less\n", "b.zzz": "x\n", "c.txt": "x\n"})
    [(status, scope, text)] = findings("code-comments-timeless", subject)
    assert (status, scope) == ("NOT_CHECKED", "*")
    assert "2 × .zzz" in text


def test_many_places_make_one_finding_with_the_first_ten(desk: Desk) -> None:
    text = "x = 1  # this was removed\n" * 12
    [(_, _, found)] = findings("code-comments-timeless", desk.subject({"a.py": text}))
    assert found.count("line ") == 10
    assert "; 2 more: " in found


PROSE = "# Dates\n\nThe parser now\nreturns None.\n\n- Previously it raised.\n"


@pytest.mark.parametrize("as_docs", [True, False])
def test_added_prose_is_found_in_documentation_and_in_code_changes(
    desk: Desk, as_docs: bool
) -> None:
    subject = desk.subject({"README.md": PROSE}, as_docs=as_docs)
    [(status, scope, text)] = findings("docs-wording-timeless", subject)
    assert (status, scope) == ("FAIL", "README.md")
    assert "line 3: “now returns”; line 6: “Previously it”" in text


@pytest.mark.parametrize(
    "path", ["CHANGELOG.md", "docs/changes/news.md", "docs/decisions/1.md", "UPGRADING.md"]
)
def test_files_about_what_changed_may_say_so(desk: Desk, path: str) -> None:
    assert not findings("docs-wording-timeless", desk.subject({path: PROSE}, as_docs=True))


@pytest.mark.parametrize(
    "text",
    [
        "```\n# The parser now returns None.\n```\n",
        "Run `it now returns None`.\n",
        "Now run the tests.\n\nYou can now open the page.\n",
        "Text.\n<!--\nIt was decided.\n-->\n",
        "# Dates\n## Release notes\n### 1.0\nIt now returns None.\n## Use\nCall it.\n",
    ],
)
def test_code_and_instructions_in_prose_are_left_alone(desk: Desk, text: str) -> None:
    assert not findings("docs-wording-timeless", desk.subject({"a.md": text}, as_docs=True))


def test_the_section_after_one_about_changes_is_looked_at(desk: Desk) -> None:
    text = "## History\nIt now returns None.\n# Use\nIt now raises.\n"
    [(_, _, found)] = findings("docs-wording-timeless", desk.subject({"a.md": text}))
    assert found.startswith("a.md, line 4: “now raises”: ")


def test_comments_of_documentation_changes_are_found(desk: Desk) -> None:
    subject = desk.subject({"a.py": '"""Now returns None."""\n'}, as_docs=True)
    [(_, scope, text)] = findings("docs-wording-timeless", subject)
    assert scope == "a.py"
    assert "line 1: “Now returns”" in text
    assert not findings("code-comments-timeless", subject)


def test_only_what_was_written_after_the_code_counts_as_documentation(desk: Desk) -> None:
    subject = desk.subject({"a.py": "# Now returns None.\nx = 1\n"})
    assert not findings("docs-wording-timeless", replace(subject, code_tree=subject.tree))
    [(_, scope, _)] = findings(
        "docs-wording-timeless", replace(subject, code_tree=subject.base_tree)
    )
    assert scope == "a.py"


def test_links_to_files_and_submodules_have_no_comments(desk: Desk) -> None:
    subject = desk.subject({"b.py": "x = 1\n"})
    (desk.repo.path / "a.py").symlink_to("b.py")
    later = replace(subject, code_tree=subject.tree, tree=desk.tree({}))
    assert not findings("docs-wording-timeless", later)


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", "'''Doc.\n\n more'''\nx()  # y", [(1, "Doc."), (2, ""), (3, "more"), (4, "y")]),
        ("a.go", "/* one\n * two\n */\nx() // y", [(1, "one"), (2, "two"), (3, ""), (4, "y")]),
        ("a.sql", "-- one\nSELECT '--' /* two */", [(1, "one"), (2, "two")]),
        ("a.lua", "--[[ one\ntwo ]]", [(1, "one"), (2, "two")]),
        ("a.hs", "{- one -}\nx -- two", [(1, "one"), (2, "two")]),
        ("a.html", "<a href='#x'>\n<!-- one -->", [(2, "one")]),
        ("a.css", "a { color: #fff } /* one */", [(1, "one")]),
        ("a.php", "#[Attribute]\n# one\n// two", [(2, "one"), (3, "two")]),
        ("Makefile", "# one\r\nx:\r\n\techo # two\r\n", [(1, "one"), (3, "two")]),
        ("Dockerfile", "# one\n", [(1, "one")]),
        ("a.c", "/* never\nclosed", [(1, "never"), (2, "closed")]),
        ("tool", "#!/bin/python3\nx = '#'  # one\n", [(1, "!/bin/python3"), (2, "one")]),
        ("a.py", "print 1 # no Python\n", []),
    ],
)  # fmt: skip
def test_comments_are_found_line_by_line(
    path: str, text: str, expected: list[tuple[int, str]]
) -> None:
    found = find_comments(path, text.encode()) or []
    assert [(comment.number, comment.text) for comment in found] == expected
