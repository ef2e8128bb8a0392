"""The table of checks: its ids, its document, and that no content of a file crashes one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality_reviewer.checks.registry import CHECKS, Subject, render_table, run_checks
from shared.git.change import Ends, Entry
from shared.git.few_paths import folders_of
from shared.paths import folded
from shared.qr.schema import Review, check_review
from shared.resources import ROOT
from state.models import Change
from state.phases import PLANNING_PHASES
from tests.forms import examples
from tests.quality_reviewer.checks.conftest import make_milestone, make_plan

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from state.phases import Phase


def test_the_document_of_checks_is_the_table(request: pytest.FixtureRequest) -> None:
    path = f"{ROOT}/docs/checks.md"
    if request.config.getoption("--update-golden"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(render_table())
    with open(path, encoding="utf-8") as file:
        assert file.read() == render_table(), "--update-golden writes docs/checks.md again"


def test_every_check_has_an_id_of_its_own_that_begins_with_its_phase() -> None:
    assert len({c.id for c in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert check.id.startswith(check.phase.removeprefix("plan-") + "-")
        assert check.doc.endswith(".")


@pytest.mark.requirement("PL-24")
@pytest.mark.parametrize(
    ("written", "planned"), [("impl-code", "plan-code"), ("impl-docs", "plan-docs")]
)
def test_what_agents_wrote_has_the_checks_of_planned_changes(
    written: Phase, planned: Phase
) -> None:
    found = run_checks(written, Subject(make_plan()))
    full_only = {check.id for check in CHECKS if check.full_only}
    expected = [i for i in run_checks(planned, Subject(make_plan())) if i.check not in full_only]
    assert found
    assert [i._replace(id="") for i in found] == [i._replace(id="") for i in expected]


class Shelf:
    """Trees in memory, by the hash of what they hold."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.trees: dict[str, dict[str, Entry]] = {}

    def put(self, content: bytes) -> str:
        blob = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        self.blobs[blob] = content
        return blob

    def put_tree(self, files: dict[str, bytes]) -> str:
        entries = {path: Entry("100644", self.put(c)) for path, c in files.items()}
        tree = hashlib.sha1(repr(entries).encode(), usedforsecurity=False).hexdigest()
        self.trees[tree] = entries
        return tree

    def entries(self, tree: str) -> dict[str, Entry]:
        return self.trees[tree]

    def alike(self, tree: str, paths: Collection[str]) -> set[str]:
        wanted = {folded(path) for path in {*paths} | folders_of(paths)}
        files = self.trees[tree]
        return {path for path in {*files} | folders_of(files) if folded(path) in wanted}

    def differing(self, old: str, new: str) -> dict[str, Ends]:
        then, now = self.trees[old], self.trees[new]
        paths = sorted({path for path, _ in then.items() ^ now.items()})
        return {path: Ends(then.get(path), now.get(path)) for path in paths}

    def read(self, blob: str) -> bytes:
        return self.blobs[blob]

    def hold(self, blobs: Collection[str]) -> None:
        assert {*blobs} <= {*self.blobs}

    def rebuild(self, base_tree: str, changes: Sequence[Change]) -> str:
        files = {path: self.blobs[e.blob] for path, e in self.trees[base_tree].items()}
        for change in changes:
            if change.after is None:
                del files[change.file]
            else:
                files[change.file] = self.blobs[change.after]
        return self.put_tree(dict(sorted(files.items())))


NAMES = (
    "a.py", "b.json", "c.toml", "d.yaml", "e.md", "f.js", "g.rs", "h.rb", "tool", "tsconfig.json",
    "README", "i.go", "pyproject.toml", "j.sql", "k.html", "l.css", "m.php", "n.hs", "Makefile",
    "setup.cfg", "setup.py", ".python-version",
)  # fmt: skip
PIECES = st.sampled_from(
    [
        b"[a](b.md)", b"```", b"`", b"](", b"<!--", b"-----BEGIN PRIVATE KEY-----", b"<<<<<<< a\n",
        b"=======\n", b">>>>>>> b\n", b"breakpoint()\n", b"def f(:\n", b"{", b"[", b"a: &b *b\n",
        b"\xef\xbb\xbf", b"\0", b"\r", b"#!python3\n", b'"""', b"# coding: utf-7\n", b"\\", b"'",
        b"requires-python = '>=3.99'\n", b"\xed\xa0\x80", b"%YAML 9.9\n", b"? ", b"- ", b"!x ",
        b"\t", b'"\\UFFFFFFFF"', b"1e999999999", b"0x", b"[x]: y\n", b"(%ff)", b"(http://[x)",
        b"/*", b"*/", b"// this was removed\n", b"--", b"-->", b"{-", b"-}", b"# now returns\n",
        b"class C:\n def m(self): pass\n", b"- previously it\n", b".. versionadded::", b'"',
        b"no longer\n", b"#(", b"--[[", b"\x0c", b"\xc2\x85", b"[options]\n",
        b"python_requires=3.99\n",
    ]
)  # fmt: skip
CONTENTS = st.binary(max_size=60) | st.lists(PIECES | st.binary(max_size=3), max_size=12).map(
    b"".join
)
FILES = st.dictionaries(st.sampled_from(NAMES), CONTENTS, max_size=4).map(
    lambda files: dict(sorted(files.items()))
)


def subject_of(before: dict[str, bytes], after: dict[str, bytes], *, as_docs: bool) -> Subject:
    shelf = Shelf()
    changes = [
        Change(
            id=f"CC-{n:03d}",
            file=path,
            patch="",
            before=shelf.put(before[path]) if path in before else None,
            old_mode="100644" if path in before else None,
            after=shelf.put(after[path]) if path in after else None,
            mode="100644" if path in after else None,
        ).model_dump()
        for n, path in enumerate(sorted({*before, *after}), start=1)
        if before.get(path) != after.get(path)
    ]
    parts = {"documentation": {"changes": changes}} if as_docs else {"code_changes": changes}
    plan = make_plan(milestones=[make_milestone(**parts, files=[*NAMES])])
    base_tree = shelf.put_tree(before)
    return Subject(
        plan, base_tree=base_tree, tree=shelf.put_tree(after), code_tree=base_tree, trees=shelf
    )


@pytest.mark.requirement("PL-24")
@settings(max_examples=examples(300))
@given(FILES, FILES, st.booleans())
def test_whatever_files_hold_every_check_answers_with_sound_items(
    before: dict[str, bytes], after: dict[str, bytes], as_docs: bool
) -> None:
    subject = subject_of(before, after, as_docs=as_docs)
    for phase in PLANNING_PHASES:
        items = run_checks(phase, subject)
        assert check_review(Review(phase, 1, items).to_json(), "f") == []
        assert {i.check for i in items} == {c.id for c in CHECKS if c.phase == phase}
        assert not any(i.status == "FAIL" for i in items if i.check.endswith("-rebuild"))


@pytest.mark.requirement("PL-24")
def test_content_is_read_and_never_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    code = f"open({str(trace)!r}, 'w')\n".encode()
    files = {"a.py": code, "d.yaml": b"!!python/object/apply:os.mkdir [%r]" % str(trace).encode()}
    for phase in PLANNING_PHASES:
        run_checks(phase, subject_of({}, files, as_docs=True))
    assert not trace.exists()
