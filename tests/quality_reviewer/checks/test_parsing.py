"""What parses, what does not, and where the answer is that nobody here can tell."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from quality_reviewer.checks.syntax import check_syntax
from tests.quality_reviewer.checks.conftest import answers, findings

if TYPE_CHECKING:
    from tests.quality_reviewer.checks.conftest import Desk

pytestmark = pytest.mark.requirement("PL-24")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.py", b"x = 1\n"),
        ("a.py", b""),
        ("a.py", b"# -*- coding: latin-1 -*-\nx = '\xe9'\n"),
        ("a.py", b"\xef\xbb\xbfx = 1\r\n"),
        ("a.py", rb"x = '\d'" + b"\n"),
        ("bin/tool", b"#!/usr/bin/env python3\nprint(1)\n"),
        ("bin/tool", b"#!/bin/sh\nif true; then :; fi\n"),
        ("bin/tool", b"#!/usr/bin/env python2\nprint 1\n"),
        ("a.json", b'{"a": [1, 2.5, null]}'),
        ("a.json", b"1" * 5000),
        ("a.json", '{"a": "ä"}'.encode("utf-16")),
        ("a.toml", b"[a]\nb = 2026-01-01\n"),
        ("a.toml", b"\xef\xbb\xbfa = 1\n"),
        ("a.yaml", b"a: !Ref b\nc: !vault |\n  x\n---\nd: &e [1]\n"),
        ("a.yml", b""),
        ("tsconfig.json", b'{"a": 1}'),
        ("a.rs", b"fn main( {"),
        ("a.md", b"{{{"),
    ],
)
def test_what_parses_or_has_no_parser_raises_no_doubt(path: str, content: bytes) -> None:
    assert check_syntax(path, content) is None


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("a.py", b"def f(:\n", "line 1: invalid syntax (Python 3."),
        ("a.py", b"x = 1\0\n", "null byte"),
        ("a.py", b"# coding: nonsense\nx = 1\n", "unknown encoding"),
        ("a.py", b"x = '\xff'\n", "(Python 3."),
        ("a.pyi", b"x: int = = 1\n", "line 1"),
        ("bin/tool", b"#!/usr/bin/env python3\nprint(\n", "'(' was never closed"),
        ("a.json", b'{"a": 1,}', "line 1 column"),
        ("a.json", b"", "Expecting value"),
        ("a.json", b"[NaN]", "NaN is not a JSON number"),
        ("a.json", b"\xff\xfe\xff", "decode"),
        ("a.toml", b"a = \n", "Invalid value"),
        ("a.toml", b"a = 1\na = 2\n", "Cannot overwrite a value"),
        ("a.yaml", b"a: [1, 2\n", "line 2"),
        ("a.yaml", b"a: 'x\n", "line 2"),
        ("a.yaml", b"a\0b", ""),
    ],
)
def test_what_does_not_parse_is_certain_and_says_where(
    path: str, content: bytes, said: str
) -> None:
    doubt = check_syntax(path, content)
    assert doubt is not None
    assert doubt.certain
    assert said in doubt.text


@pytest.mark.parametrize(
    ("path", "content", "why"),
    [
        ("tsconfig.base.json", b"{ // why\n}", "comments and trailing commas"),
        (".vscode/settings.json", b"{'a': 1,}", "comments and trailing commas"),
        ("a.jsonc", b"// x\n{}", "comments and trailing commas"),
        ("a.json5", b"{a: 1}", "comments and trailing commas"),
        ("chart/templates/a.yaml", b"{{- if .Values.a }}\na: 1\n{{- end }}\n", "a template"),
        ("{{ name }}/a.py", b"import {{ name }}\n", "its path is a template"),
        ("a.py", b"{% if x %}\nimport a\n{% endif %}\n", "looks like a template"),
        ("a.json", b"version https://git-lfs.github.com/spec/v1\noid x\n", "a pointer to the file"),
        ("tests/fixtures/a.json", b"{", "a sample for tests"),
        ("tests/invalid_dates.toml", b"=", "a sample for tests"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.py", b"-" * 100_000 + b"1", "nested too deeply"),
    ],
)
def test_where_a_no_would_prove_nothing_it_is_no_finding_that_blocks(
    path: str, content: bytes, why: str
) -> None:
    doubt = check_syntax(path, content)
    assert doubt is not None
    assert not doubt.certain
    assert why in doubt.text


def test_a_new_file_that_does_not_parse_is_found(desk: Desk) -> None:
    [(status, scope, text)] = findings("code-parses", desk.subject({"src/a.py": "def f(:\n"}))
    assert (status, scope) == ("FAIL", "src/a.py")
    assert text.startswith("src/a.py does not parse: line 1: invalid syntax (Python 3.")


def test_a_file_that_parsed_at_the_base_and_no_longer_does_is_found(desk: Desk) -> None:
    subject = desk.subject({"a.json": '{"a": }'}, {"a.json": '{"a": 1}'})
    assert [(s, p) for s, p, _ in findings("code-parses", subject)] == [("FAIL", "a.json")]


def test_a_file_that_never_parsed_is_not_checked(desk: Desk) -> None:
    subject = desk.subject({"a.py": "print 2\n"}, {"a.py": "print 1\n"})
    [(status, scope, text)] = findings("code-parses", subject)
    assert (status, scope) == ("NOT_CHECKED", "a.py")
    assert text.endswith("nor did it at the base")


def test_a_project_for_a_newer_python_than_ours_is_not_checked(desk: Desk) -> None:
    newer = f'[project]\nrequires-python = ">=3.{sys.version_info.minor + 1}"\n'
    subject = desk.subject({"a.py": "new syntax here\n"}, {"pyproject.toml": newer})
    [(status, _, text)] = findings("code-parses", subject)
    assert status == "NOT_CHECKED"
    assert f"pyproject.toml asks for Python 3.{sys.version_info.minor + 1}" in text


def test_a_project_for_an_older_python_is_checked_by_ours(desk: Desk) -> None:
    older = '[project]\nrequires-python = ">=3.9"\n'
    subject = desk.subject({"a.py": "new syntax here\n"}, {"pyproject.toml": older})
    assert [s for s, _, _ in findings("code-parses", subject)] == ["FAIL"]


def test_languages_without_a_parser_make_one_item_together(desk: Desk) -> None:
    after: dict[str, str | bytes | None] = {
        "a.rs": "fn main() {}\n",
        "b.rs": "fn b() {}\n",
        "Makefile": "all:\n",
        "a.js": "1\n",
        "notes.md": "# Notes\n",
        "logo.bin": b"\0\1",
        "empty.c": "",
        "ok.py": "a = 1\n",
    }
    assert findings("code-parses", desk.subject(after)) == [
        (
            "NOT_CHECKED",
            "*",
            ("the program cannot parse 1 × .js, 2 × .rs, 1 × Makefile; only verify can tell"),
        )
    ]


def test_deleted_files_and_links_are_not_parsed(desk: Desk) -> None:
    (desk.repo.path / "link.py").symlink_to("not python at all")
    subject = desk.subject({"gone.py": None}, {"gone.py": "def f(:\n"})
    assert [i.status for i in answers("code-parses", subject)] == ["PASS"]
