"""Tells in which order a person reads changed files: code, tests, documentation, generated files.

What counts as generated is read from `.gitattributes` at the base, as a plan could else fold away
what it wants to be overlooked; without a word there, lock files and minified ones do, by name.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from typing import TYPE_CHECKING

from shared.git.few_paths import fill_index, tree_and_rules
from shared.test_files import is_test
from state.changes import plan_changes
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from shared.git.command import Git
    from shared.run import State
    from state.models import Plan

CODE, TESTS, DOCUMENTS, GENERATED = KINDS = ("Code", "Tests", "Documentation", "Generated")
_RULES = ".gitattributes"
_MARK = "linguist-generated"
_IS_MARKED = {b"set": True, b"true": True, b"unset": False, b"false": False}
_BY_PROGRAM = re.compile(
    r"(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?"
    r"|Cargo\.lock|poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock"
    r"|go\.sum|flake\.lock|mix\.lock|pubspec\.lock|Package\.resolved)$"
    r"|\.min\.(?:js|css|mjs)$|\.(?:js|css|mjs)\.map$"
)
_FOR_PEOPLE = re.compile(
    r"\.(?:md|markdown|rst|adoc|asciidoc|txt)$"
    r"|(?:^|/)(?:README|CHANGELOG|CHANGES|LICENSE|NOTICE|AUTHORS)$",
    re.IGNORECASE,
)


def kind_of(file: str, tests: Collection[str], marked: Mapping[str, bool]) -> str:
    """Return which of KINDS a changed file is; `tests` are the files that a milestone says are."""
    if marked.get(file, _BY_PROGRAM.search(file) is not None):
        return GENERATED
    if is_test(file, tests):
        return TESTS
    return DOCUMENTS if _FOR_PEOPLE.search(file) else CODE


def marked_at_base(state: State, plan: Plan) -> dict[str, bool]:
    """Return which changed files the base's attributes call generated, and which they call not."""
    files = [change.file for change in plan_changes(plan)]
    if plan.base is None or not files:
        return {}
    with contextlib.suppress(Refused):
        return _marked(state.repository.git, plan.base.tree, files)
    return {}


def _marked(git: Git, tree: str, files: Collection[str]) -> dict[str, bool]:
    there = tree_and_rules(git, tree, files)
    rules = {p: e for p, e in there.items() if os.path.basename(p) == _RULES}
    names = [entry.blob for entry in rules.values()]
    if not any(_MARK.encode() in found.content for found in git.objects(names)):
        return {}
    with tempfile.TemporaryDirectory(prefix="planner-attributes-") as folder:
        on = git.on_index(os.path.join(folder, "index"))
        fill_index(on, rules, {}, "")
        asked = "".join(f"{file}\0" for file in files).encode()
        said = on.run("check-attr", "-z", "--stdin", "--cached", _MARK, stdin=asked).split(b"\0")
    rows = zip(said[0::3], said[2::3], strict=False)
    return {os.fsdecode(name): _IS_MARKED[value] for name, value in rows if value in _IS_MARKED}
