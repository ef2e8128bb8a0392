"""A patch is read with its numbers, and nothing of it goes unseen."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.submit.page.facts import edited_files
from shared.patch import Line, read_patch, size
from state.models import Change
from tests.orchestrator.submit.page.reviews import change, plan_data, plan_of

PATCH = """\
diff --git a/a.py b/a.py
index {}..{} 100644
--- a/a.py
+++ b/a.py
@@ -7,3 +7,4 @@ def f(x):
 same
-old
+new
+more
 diff --git a/no b/header
""".format("1" * 40, "2" * 40)


def changed(**values: Any) -> Change:  # noqa: ANN401 – fields of any type
    known = {
        "id": "CC-001", "file": "a.py", "old_mode": "100644", "mode": "100644",
        "before": "1" * 40, "after": "2" * 40, "patch": PATCH,
    }  # fmt: skip
    return Change.model_validate({**known, **values})


def test_lines_carry_their_numbers_in_both_files() -> None:
    assert read_patch(changed()) == [
        Line("@", 7, 7, "def f(x):"),
        Line(" ", 7, 7, "same"),
        Line("-", 8, None, "old"),
        Line("+", None, 8, "new"),
        Line("+", None, 9, "more"),
        Line(" ", 9, 10, "diff --git a/no b/header"),
    ]
    assert size(read_patch(changed())) == (2, 1)


def test_what_the_head_of_a_change_does_not_say_is_shown() -> None:
    sly = PATCH.replace("index 1", "old mode 100755\nindex 1") + "diff --git a/x b/x\n+sly\n"
    said = [line.text for line in read_patch(changed(patch=sly)) if line.kind == "!"]
    assert said == ["old mode 100755", "diff --git a/x b/x", "+sly"]


@given(st.text(st.sampled_from("@-+ \\1,\nab"), max_size=60), st.booleans())
def test_every_line_of_any_patch_is_shown(text: str, encoded: bool) -> None:
    values = {"patch": base64.b64encode(text.encode()).decode(), "encoding": "base64"}
    lines = read_patch(changed(**(values if encoded else {"patch": text})))
    shown = "\n".join(line.text for line in lines)
    for line in text.split("\n"):
        if not line.startswith("@@"):
            assert line.lstrip("+- \\").strip() in shown


def test_a_patch_that_is_not_utf8_shows_its_other_bytes() -> None:
    raw = b"@@ -1 +1 @@\n-caf\xe9\n+coffee\n"
    patch = base64.b64encode(raw).decode()
    lines = read_patch(changed(patch=patch, encoding="base64"))
    assert [line.text for line in lines] == ["", "caf\\xe9", "coffee"]
    broken = read_patch(changed(patch="no base64!", encoding="base64"))
    assert "no base64!" in [line.text for line in broken]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "literal 5120\nzcmZQzU|\n\nliteral 0\nHcmV?d00001\n\n",
            "binary: 5,120 bytes after the change",
        ),
        ("delta 12\nTcmZ\n\ndelta 9\nQcmV\n\n", "binary: changed by 12 bytes"),
    ],
)
def test_binary_content_is_named_with_its_size(body: str, said: str) -> None:
    lines = read_patch(changed(patch=f"GIT binary patch\n{body}"))
    assert lines == [Line("!", None, None, said)]
    sly = read_patch(changed(patch=f"GIT binary patch\n{body}+ sly\n"))
    assert sly[-1].text == "+ sly"


def test_an_older_change_without_a_patch_shows_its_diff() -> None:
    lines = read_patch(changed(patch=None, diff="@@ -1 +1 @@\n-a\n+b\n"))
    assert [line.kind for line in lines] == ["@", "-", "+"]


def test_each_kind_of_change_has_its_name() -> None:
    found = {f.change.file: (f.what, f.notes) for f in edited_files(plan_of(plan_data()))}
    assert found["importer/dates.py"] == ("changed", [])
    assert found["docs/import.png"] == ("new", ["binary"])
    assert found["importer/rows.py"] == ("renamed and changed", ["was importer/lines.py"])
    assert found["importer/legacy.py"] == ("deleted", [])
    assert found["bin/import"] == ("mode only", ["mode 100644 → 100755"])


@pytest.mark.parametrize(
    ("values", "what", "notes"),
    [
        ({"old_mode": None, "before": None, "mode": "100755"}, "new", ["executable"]),
        ({"old_mode": None, "before": None, "mode": "120000"}, "new", ["symbolic link"]),
        ({"mode": "120000"}, "changed", ["a file becomes a link"]),
        ({"old_mode": "120000"}, "changed", ["a link becomes a file"]),
        ({"old_file": "b.py", "after": "1" * 40}, "renamed", ["was b.py"]),
        ({"patch": "@@ -1 +1 @@\n-a\n+a\u200b\u202e\r\n"}, "changed",
         ["2 invisible characters, shown as escapes"]),
    ],
)  # fmt: skip
def test_links_modes_and_hidden_characters_are_named(
    values: dict[str, Any], what: str, notes: list[str]
) -> None:
    data = plan_data()
    made = changed(**{"patch": "", **values}).model_dump()
    data["milestones"] = [{**data["milestones"][0], "code_intents": [], "code_changes": [made]}]
    file = edited_files(plan_of(data))[0]
    assert (file.what, file.notes) == (what, notes)


def test_git_s_own_patches_leave_nothing_over() -> None:
    made = Change.model_validate(change(1, "a b.py", "x\n", "y\n"))
    assert [line.kind for line in read_patch(made)] == ["@", "-", "+"]
