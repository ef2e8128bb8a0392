"""The quick reader of JSON reads what `json` reads, and refuses what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.resources import ROOT
from state.quick_json import read_json

if TYPE_CHECKING:
    from pathlib import Path

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(value=VALUES, ascii_only=st.booleans(), space=st.sampled_from(["", " ", "\n", "\r\n\t"]))
def test_what_json_has_written_is_read_the_same(
    tmp_path_factory: pytest.TempPathFactory, value: object, ascii_only: bool, space: str
) -> None:
    file = tmp_path_factory.mktemp("json") / "a"
    text = space + json.dumps(value, ensure_ascii=ascii_only) + space
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        expected = json.loads(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            read_json(str(file))
        return
    assert read_json(str(file)) == expected


@pytest.mark.parametrize(
    "text", ["", "{", "[1,]", "nul", "{} x", "'a'", '{"a" 1}', '"\n"', "\N{NO-BREAK SPACE}1", "[1"]
)
def test_what_is_not_json_is_a_value_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "a").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError):  # noqa: PT011 – of json, or of ours
        read_json(str(tmp_path / "a"))


@pytest.mark.parametrize("kind", ["link", "endless", "fifo", "folder", "huge"])
def test_what_may_never_end_is_not_read(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "a"
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "huge":
        file.write_text("1")
        os.truncate(file, 1 << 40)
    else:
        (tmp_path / "b").write_text("1")
        file.symlink_to("/dev/zero" if kind == "endless" else "b")
    with pytest.raises((OSError, ValueError)):
        read_json(str(file))


def test_reading_imports_no_regular_expressions(tmp_path: Path) -> None:
    (tmp_path / "a").write_text('{"a": [1.5, "b"]}', encoding="utf-8")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from state.quick_json import read_json;"
        "assert read_json(sys.argv[2]) == {'a': [1.5, 'b']}; print('re' in sys.modules)"
    )
    command = [sys.executable, "-I", "-S", "-c", program, ROOT, str(tmp_path / "a")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"
