"""Promised documentation and planned files: written or dropped, checked by content (RV-6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from quality_reviewer.checks.documented import find_part
from state.models import Plan
from tests.quality_reviewer.checks.conftest import answers, findings

if TYPE_CHECKING:
    from quality_reviewer.checks.subject import Subject
    from tests.quality_reviewer.checks.conftest import Desk, Files

pytestmark = [pytest.mark.requirement("RV-6"), pytest.mark.requirement("PL-24")]

PYTHON = '''\
"""The module."""
# the limit
LIMIT = 3  # seconds


class Parser:
    # built once
    @cached
    def parse(self, text):
        """Return the date."""
        # ISO first, since most are
        return text

    def bare(self):
        return 1
'''
SCRIPT = """\
#!/usr/bin/env node
// The tool.
'use strict';

/**
 * Adds two.
 */
export function add(a) {
  // the callers need two
  return a + 2;
}

function bare() {
  return 1;
}
"""
GUIDE = """\
# Guide

intro

## Use `parse`

how

```
# not a heading
```

### Deeper

more

## Errors

Underlined
----------

text
"""


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("docstring", "Parser.parse", "Return the date."),
        ("docstring", "parse", "Return the date."),
        ("docstring", "dates.Parser.parse", "Return the date."),
        ("docstring", "bare", ""),
        ("docstring", "", "The module.\nReturn the date."),
        ("docstring", "LIMIT", "The module.\nthe limit\nseconds"),
        ("docstring", "absent", None),
        ("module-comment", "", "The module."),
        ("inline-comment", "parse", "built once\nISO first, since most are"),
        ("inline-comment", "bare", ""),
        ("algorithm-block", "parse", "built once\nReturn the date.\nISO first, since most are"),
    ],
)
def test_python_is_read_by_its_definitions(kind: str, name: str, text: str | None) -> None:
    assert find_part("src/dates.py", PYTHON.encode(), kind, name).text == text


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("docstring", "add", "\nAdds two.\n\nthe callers need two"),
        ("docstring", "bare", ""),
        ("docstring", "absent", None),
        ("module-comment", "", "The tool."),
        ("inline-comment", "add", "\nAdds two.\n\nthe callers need two"),
    ],
)
def test_other_languages_are_read_by_the_comments_beside_a_name(
    kind: str, name: str, text: str | None
) -> None:
    found = find_part("src/add.js", SCRIPT.encode(), kind, name).text
    assert (found and found.strip()) == (text and text.strip())


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("Use parse", "how"),
        ("## use `parse`", "### Deeper"),
        ("Deeper", "more"),
        ("underlined", "text"),
        ("Errors", ""),
        ("", "# Guide"),
    ],
)
def test_prose_is_read_by_its_headings(name: str, part: str) -> None:
    text = find_part("GUIDE.md", GUIDE.encode(), "docstring", name).text
    assert text is not None
    assert part in text
    assert ("intro" in text) == (not name)


def test_a_heading_that_is_not_there_is_not_made_up_from_code() -> None:
    found = find_part("GUIDE.md", GUIDE.encode(), "docstring", "not a heading")
    assert found.text is None
    assert found.names == ("Guide", "Use `parse`", "Deeper", "Errors", "Underlined")


def promising(desk: Desk, before: Files, after: Files, *entries: tuple[str, str, str]) -> Subject:
    """Return a plan whose milestone promises entries: list, file, and definition or heading."""
    documentation: dict[str, list[dict[str, str]]] = {}
    for n, (field, file, name) in enumerate(entries, 1):
        entry = {"id": f"DOC-{n:03d}", "file": file, **({"function": name} if name else {})}
        documentation.setdefault(field, []).append(entry)
    return desk.subject(after, before, documentation=documentation)


def test_a_promised_docstring_that_is_written_passes(desk: Desk) -> None:
    subject = promising(
        desk,
        {"a.py": "def f(x):\n    return x\n", "README.md": "# A\n\n## Use\n\nold\n"},
        {"a.py": 'def f(x):\n    """Return x."""\n    return x\n',
         "README.md": "# A\n\n## Use\n\nnew\n"},
        ("docstrings", "a.py", "f(x)"),
        ("docstrings", "README.md", "Use"),
    )  # fmt: skip
    assert [i.status for i in answers("docs-promises-kept", subject)] == ["PASS"]


def test_promised_documentation_that_is_not_written_is_found_with_what_is_there(desk: Desk) -> None:
    """The file is changed, but what the entry names is not documented in it."""
    before: Files = {
        "a.py": 'def f(x):\n    return x\n\n\ndef kept():\n    """Stay."""\n',
        "README.md": "# A\n\n## Use\n\nold\n\n## Other\n\nx\n",
        "same.py": "x = 1\n",
    }
    after: Files = {
        "a.py": 'def f(x):\n    return x + 1\n\n\ndef kept():\n    """Stay."""\n',
        "README.md": "# A\n\n## Use\n\nold\n\n## Other\n\nx, y\n",
    }
    subject = promising(
        desk, before, after,
        ("docstrings", "a.py", "f"),
        ("docstrings", "a.py", "kept"),
        ("docstrings", "a.py", "g"),
        ("docstrings", "README.md", "Use"),
        ("docstrings", "README.md", "Install"),
        ("inline_comments", "a.py", "f"),
        ("docstrings", "same.py", ""),
    )  # fmt: skip
    rows = findings("docs-promises-kept", subject)
    assert [(status, scope) for status, scope, _ in rows] == [
        ("FAIL", file) for file in
        ("a.py", "a.py", "a.py", "README.md", "README.md", "same.py", "a.py")
    ]  # fmt: skip
    said = [text.partition(";")[0].partition(" of M-001 promises ")[::2] for _, _, text in rows]
    absent = "which has no such definition or heading (there: "
    same = "and it is as it was at the base"
    assert said == [
        ("DOC-001", "docstring of f in a.py, and there is none"),
        ("DOC-002", f"docstring of kept in a.py, {same}"),
        ("DOC-003", f"docstring of g in a.py, {absent}f, kept)"),
        ("DOC-004", f"docstring of Use in README.md, {same}"),
        ("DOC-005", f"docstring of Install in README.md, {absent}A, Use, Other)"),
        ("DOC-007", "docstring in same.py, which has no change"),
        ("DOC-006", "inline-comment of f in a.py, and there is none"),
    ]
    assert rows[0][2].endswith("or remove DOC-001 from the plan")


def test_where_the_program_cannot_read_comments_a_promise_is_not_checked(desk: Desk) -> None:
    subject = promising(desk, {}, {"a.xyz": "text\n"}, ("docstrings", "a.xyz", "f"))
    [(status, scope, text)] = findings("docs-promises-kept", subject)
    assert (status, scope) == ("NOT_CHECKED", "a.xyz")
    assert "cannot tell code from comment" in text


def test_a_planned_file_nobody_wrote_is_found_with_the_edit_that_drops_it(desk: Desk) -> None:
    subject = desk.subject(
        {"a.py": "x = 1\n"},
        files=["a.py", "b.py", "test_a.py"],
        tests={"files": ["test_a.py"], "type": "unit", "scenarios": {"normal": ["x"]}},
    )
    rows = findings("code-files-written", subject)
    assert [(status, scope) for status, scope, _ in rows] == [
        ("FAIL", "b.py"), ("FAIL", "test_a.py"),
    ]  # fmt: skip
    for _, file, text in rows:
        edit = json.loads(text.partition("take it off the plan: ")[2])
        assert (edit["op"], edit["id"], edit["version"]) == ("set", "M-001", 1)
        assert file not in edit["fields"]["files"]
    data = subject.plan.model_dump(mode="json")
    data["milestones"][0] |= json.loads(rows[1][2].partition("the plan: ")[2])["fields"]
    dropped = Plan.model_validate(data).milestones[0]
    assert dropped.files == ("a.py", "b.py")
    assert dropped.tests.files == ()
    assert dropped.tests.scenarios.normal == ("x",)


def test_a_file_that_moves_or_waits_for_its_documentation_counts_as_written(desk: Desk) -> None:
    content = "".join(f"line_{n} = {n}\n" for n in range(20))
    moved = desk.subject({"new.py": content, "old.py": None}, {"old.py": content})
    assert not findings("code-files-written", moved)
    waits = desk.subject(
        {"a.py": "x = 1\n"},
        files=["a.py", "README.md"],
        documentation={"docstrings": [{"id": "DOC-001", "file": "README.md"}]},
    )
    assert not findings("code-files-written", waits)
    assert [scope for _, scope, _ in findings("docs-promises-kept", waits)] == ["README.md"]


def test_the_files_of_a_milestone_of_documentation_are_due_with_documentation(desk: Desk) -> None:
    subject = desk.subject(
        {"a.md": "x\n"}, as_docs=True, files=["a.md", "b.md"], is_documentation_only=True
    )
    assert not findings("code-files-written", subject)
    assert [scope for _, scope, _ in findings("docs-files-written", subject)] == ["b.md"]
