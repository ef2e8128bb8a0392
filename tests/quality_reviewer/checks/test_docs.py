"""Each check of plan-docs: no code changes, promises are kept, links lead somewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from quality_reviewer.checks.links import find_links, resolve_link
from quality_reviewer.checks.meaning import compare_meaning
from quality_reviewer.checks.registry import run_checks
from tests.quality_reviewer.checks.conftest import answers, findings

if TYPE_CHECKING:
    from tests.quality_reviewer.checks.conftest import Desk

pytestmark = pytest.mark.requirement("PL-24")

CODE = "def f(x):\n    return x + 1\n"
DOCUMENTED = '"""A module."""\n\n\ndef f(x):\n    """Add one."""\n    # why\n    return (x + 1)\n'


def test_documentation_that_is_only_that_passes_every_check(desk: Desk) -> None:
    subject = desk.subject(
        {"a.py": DOCUMENTED, "README.md": "[a](a.py)\n"}, {"a.py": CODE}, as_docs=True
    )
    items = run_checks("plan-docs", subject)
    assert [i for i in items if i.status != "PASS"] == []
    assert len(items) == 9


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", CODE, DOCUMENTED),
        ("a.py", "class E(Exception):\n    pass\n", 'class E(Exception):\n    """Why."""\n'),
        ("a.py", "def f(): ...\n", 'def f():\n    """Why."""\n'),
        ("a.py", "x = 1\n", 'x = 1\n"""What x is."""\n'),
        ("a.py", "", '"""A package."""\n'),
        ("a.py", "#!/bin/python3\nx = 1\n", "#!/bin/python3\n# why\nx = 1\n"),
        ("a.toml", "a = 1\n", "# why\na = 1\n"),
        ("a.yaml", "a: [1, 2]\n", "# why\na:\n  [1, 2]\n"),
        ("a.yaml", "", "# only a comment\n"),
        ("a.json", '{"a":1}', '{\n  "a": 1\n}\n'),
        ("docs/a.md", "old", "new"),
        ("README", "old", "new"),
        ("CHANGELOG.txt", "old", "new"),
        ("doc.go", "// old\n", "// new\n\n// more\n"),
    ],
)
def test_comments_docstrings_and_prose_mean_the_same(path: str, before: str, after: str) -> None:
    assert compare_meaning(path, before.encode(), after.encode()) == "same"


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.py", "x = 1\n", "x = 2\n"),
        ("a.py", "x = 'a'\n", "x = 'b'\n"),
        ("a.py", "x = 1\n", ""),
        ("a.py", "", "import os\n"),
        ("a.py", "x = 1\n", "x = (\n"),
        ("a.py", "#!/bin/python3\nx = 1\n", "#!/bin/python\nx = 1\n"),
        ("a.py", "x = 1\n", "#!/bin/python\nx = 1\n"),
        ("a.py", "def f():\n    return 1\n", 'def f():\n    """Doc."""\n'),
        ("a.toml", "a = 1\n", "a = 1.0\n"),
        ("a.toml", "a = 1\n", "a = \n"),
        ("a.yaml", "a: 1\n", "a: '1'\n"),
        ("a.yaml", "a: |\n  b\n", "a: |\n  # b\n  b\n"),
        ("a.json", '{"a":1}', '{"a":2}'),
        ("a.json", '{"a":1, "b":2}', '{"b":2, "a":1}'),
    ],
)
def test_anything_else_means_something_other(path: str, before: str, after: str) -> None:
    assert compare_meaning(path, before.encode(), after.encode()) == "other"


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("a.go", "// old\npackage a\n", "// new\npackage a\n"),
        ("a.sh", "# old\n", "#!/bin/sh\n# new\n"),
        ("requirements.txt", "a\n", "b\n"),
        ("page.mdx", "a\n", "b\n"),
        ("a.py", "print 1\n", "print 1 # why\n"),
        ("Makefile", "a\n", "b\n"),
    ],
)
def test_where_no_program_can_tell_the_answer_is_unknown(
    path: str, before: str, after: str
) -> None:
    assert compare_meaning(path, before.encode(), after.encode()) == "unknown"


def test_documentation_that_changes_code_is_found(desk: Desk) -> None:
    subject = desk.subject({"a.py": DOCUMENTED.replace("1", "2")}, {"a.py": CODE}, as_docs=True)
    [(status, scope, text)] = findings("docs-change-no-code", subject)
    assert (status, scope) == ("FAIL", "a.py")
    assert "differs in more than comments and docstrings" in text


def test_documentation_in_a_language_without_parser_is_not_checked(desk: Desk) -> None:
    subject = desk.subject({"a.go": "// new\npackage a\n"}, {"a.go": "package a\n"}, as_docs=True)
    [(status, scope, _)] = findings("docs-change-no-code", subject)
    assert (status, scope) == ("NOT_CHECKED", "a.go")


def test_a_file_made_executable_is_no_documentation(desk: Desk) -> None:
    before = desk.tree({"a.sh": "# x\n"})
    (desk.repo.path / "a.sh").chmod(0o755)
    desk.repo.git("config", "core.fileMode", "true")
    subject = desk.subject({}, as_docs=True)
    assert subject.base_tree is not None
    later = replace(subject, code_tree=before, tree=desk.tree({}))
    [(status, scope, text)] = findings("docs-change-no-code", later)
    assert (status, scope) == ("FAIL", "a.sh")
    assert "changes its kind or mode" in text


def test_code_changed_after_its_gate_is_found_though_no_doc_change_names_it(desk: Desk) -> None:
    subject = desk.subject({"a.py": "x = 1\n"}, {"a.py": "x = 0\n"})
    assert [i.status for i in answers("docs-change-no-code", subject)] == ["PASS"]
    passed = replace(subject, code_tree=subject.tree)
    assert [i.status for i in answers("docs-change-no-code", passed)] == ["PASS"]
    later = replace(passed, tree=desk.tree({"a.py": "# why\nx = 2\n"}))
    assert [(s, p) for s, p, _ in findings("docs-change-no-code", later)] == [("FAIL", "a.py")]


def test_a_milestone_of_documentation_alone_changes_no_code(desk: Desk) -> None:
    subject = desk.subject({"a.py": "x = 2\n"}, {"a.py": "x = 1\n"}, is_documentation_only=True)
    assert [(s, p) for s, p, _ in findings("docs-change-no-code", subject)] == [("FAIL", "a.py")]


LINKED = """\
[here](here.md) [above](../up.md#part) [folder](sub/) [page](sub/page) [self](#x)
![picture](<a b.png> "title") [web](https://example.org/x.md) [mail](mailto:a@example.org)
[encoded](a%20b.png) [made](here.html) [root](/elsewhere) [slot]({{ url }}) `[code](no1.md)`
[ref]: here.md 'title'
[^note]: missing words are a footnote

```
[fenced](no2.md)
```
<!-- [comment](no3.md)
-->

    [indented](no4.md)

- list

    [in list](here.md)
<img src="a b.png"> \\[escaped\\](no5.md)
"""


def test_links_that_lead_somewhere_are_not_found(desk: Desk) -> None:
    after: dict[str, str | bytes | None] = {
        "docs/index.md": LINKED,
        "docs/here.md": "x\n",
        "docs/a b.png": b"\0",
        "docs/sub/page.md": "x\n",
        "up.md": "x\n",
    }
    assert not findings("docs-links-exist", desk.subject(after, as_docs=True))


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("[a](gone.md)", "gone.md"),
        ("![a](img/gone.png 'title')", "img/gone.png"),
        ("[a](../gone(1).md)", "../gone(1).md"),
        ("[a]: gone.md", "gone.md"),
        ("- [a](<gone away.md>)", "gone away.md"),
        ('<a class="x" href="gone.md">a</a>', "gone.md"),
        ("[a](Here.md)", "Here.md"),
        ("> [a](gone.md#part)", "gone.md#part"),
    ],
)
def test_a_link_to_nothing_is_found_with_its_line(desk: Desk, line: str, target: str) -> None:
    after: dict[str, str | bytes | None] = {"docs/a.md": f"# A\n\n{line}\n", "docs/here.md": "x\n"}
    [(status, scope, text)] = findings("docs-links-exist", desk.subject(after, as_docs=True))
    assert (status, scope) == ("FAIL", "docs/a.md")
    assert f"line 3: {target}; fix" in text


def test_a_link_broken_by_this_plans_deletion_is_found(desk: Desk) -> None:
    before: dict[str, str | bytes | None] = {"a.md": "[b](b.md)\n", "b.md": "b\n"}
    subject = desk.subject({"a.md": "[b](b.md) now\n", "b.md": None}, before)
    assert [s for s, _, _ in findings("docs-links-exist", subject)] == ["FAIL"]


def test_a_link_that_was_broken_before_is_not_this_plans(desk: Desk) -> None:
    subject = desk.subject({"a.md": "[b](b.md)\nmore\n"}, {"a.md": "[b](b.md)\n"})
    assert not findings("docs-links-exist", subject)


def test_a_link_out_of_the_repository_is_not_checked(desk: Desk) -> None:
    subject = desk.subject({"README.md": "[issues](../../issues)\n"})
    [(status, _, text)] = findings("docs-links-exist", subject)
    assert status == "NOT_CHECKED"
    assert "../../issues" in text


def test_a_link_through_a_symbolic_link_is_taken_as_there(desk: Desk) -> None:
    (desk.repo.path / "other").symlink_to("..")
    assert not findings("docs-links-exist", desk.subject({"a.md": "[x](other/x.md)\n"}))


def test_links_are_resolved_from_their_files_folder() -> None:
    assert resolve_link("docs/a.md", "../b.md?raw#x") == "b.md"
    assert resolve_link("a.md", "./b/") == "b"
    assert resolve_link("a.md", "#b") is None
    assert resolve_link("a.md", "tel:1") is None
    assert resolve_link("a.md", "../b") == "../b"


def test_a_fence_is_closed_by_its_own_kind_alone() -> None:
    text = "````\n```\n[a](a)\n````\n[b](b)\n~~~\n```\n[c](c)\n~~~\n[d](d)\n"
    assert list(find_links(text)) == [(5, "b"), (10, "d")]
