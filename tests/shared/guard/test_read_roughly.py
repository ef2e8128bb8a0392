"""The simple commands that are found in any shell text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.guard.lexer import read_roughly
from shared.guard.words import UNKNOWN
from tests.effort import within

HOME = {"HOME": "/home/x"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rm x", [["rm", "x"]]),
        ("ls; rm x && cat y | wc\nid &", [["ls"], ["rm", "x"], ["cat", "y"], ["wc"], ["id"]]),
        ("X=1 Y=$(id) mv a b", [["id"], ["mv", "a", "b"]]),
        ('for f in *.py; do rm "$f"; done', [["for", "f", "in", "*.py"], ["rm", UNKNOWN]]),
        ("case $x in\n a) rm b;; *) ls;; esac", [["case", UNKNOWN, "in"], ["rm", "b"], ["ls"]]),
        ("f() { rm x; }; f", [["rm", "x"], ["f"]]),
        ("if ! test -f x; then touch y; fi # rm z", [["test", "-f", "x"], ["touch", "y"]]),
        ("diff <(sort a) <(rm b)", [["sort", "a"], ["rm", "b"], ["diff", UNKNOWN, UNKNOWN]]),
        ("echo `rm q` \"$(mv 'b c')\"", [["rm", "q"], ["mv", "b c"], ["echo", UNKNOWN, UNKNOWN]]),
        ("cat <<EOF\nrm x\nEOF\nls", [["cat"], ["ls"]]),
        ("cat <<-'EOF' | wc\n\trm x\n\tEOF\nls", [["cat"], ["wc"], ["ls"]]),
        ("echo 'rm x' \"rm y\" r\\m $HOME/z", [["echo", "rm x", "rm y", "rm", "/home/x/z"]]),
        ("(cd /t && rm x); ls", [["cd", "/t"], ["rm", "x"], ["ls"]]),
        ("! grep a b", [["grep", "a", "b"]]),
        ("echo $((1 > 2)) ${x:-rm} $'rm'", [["echo", UNKNOWN, UNKNOWN, UNKNOWN]]),
        ("a \\\n b", [["a", "b"]]),
        ("rm x; echo 'not closed", [["rm", "x"]]),
    ],
)  # fmt: skip
def test_commands_are_found_where_bash_has_them(text: str, words: list[list[str]]) -> None:
    assert [found.called for found in read_roughly(text, HOME) if found.called] == words


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("ls > a 2>/dev/null", ["a", "/dev/null"]),
        ("ls &>a; ls &>> b; ls >| c; ls <> d; ls 3>e", ["a", "b", "c", "d", "e"]),
        ("ls 2>&1 >&2 >&- <in <<<here", []),
        ("echo 'a > b' \"> c\" a\\>d # > e", []),
        ("[[ a > b ]] && (( a > b )) && echo $((1 > 2))", []),
        ("cat <<EOF > f\na > b\nEOF", ["f"]),
        ('ls > "$x" > $HOME/y', [UNKNOWN, "/home/x/y"]),
    ],
)  # fmt: skip
def test_the_files_of_output_are_found(text: str, targets: list[str]) -> None:
    assert [t for found in read_roughly(text, HOME) for t in found.written] == targets


@given(st.text(alphabet="$(){}<>'\"`\\\n;|& a#=12-", max_size=300) | st.text(max_size=100))
def test_any_text_is_read_to_an_end(text: str) -> None:
    read_roughly(text, HOME)


@pytest.mark.requirement("PP-6")
@pytest.mark.parametrize(
    "part",
    ["a ", "'a' ", '"$x" ', ">", "<<a\n", "$(", "${", "((", "$'", "\\\n", "`", "a[", "1", "{a",
     "`a` ", "$'\\", "<(", "x=("],
)  # fmt: skip
def test_a_text_of_any_length_is_read_in_a_moment(part: str) -> None:
    text = part * (1_000_000 // len(part))
    with within(20):
        read_roughly(text, HOME)
