"""The part of the shell's language that the guard parses, and all that it denies."""

from __future__ import annotations

import pytest

from shared.guard.denial import Denied
from shared.guard.lexer import MAX_CHARS, read
from shared.guard.words import pipelines

VARIABLES = {"HOME": "/home/u", "PWD": "/home/u/it", "USER": "u"}


def words(text: str) -> list[str]:
    (command,) = read(text, VARIABLES)
    return [word.value for word in command.words]


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls -la", ["ls", "-la"]),
        ("  ls   -la \n", ["ls", "-la"]),
        ("cat 'a b' \"c d\"", ["cat", "a b", "c d"]),
        ("cat a'b'\"c\"", ["cat", "abc"]),
        ("cat ''", ["cat", ""]),
        (r"cat a\ b \( \; \*", ["cat", "a b", "(", ";", "*"]),
        (r'echo "a\"b\\c\$d\`e\n"', ["echo", 'a"b\\c$d`e\\n']),
        (r"echo 'a\b$c`d`'", ["echo", r"a\b$c`d`"]),
        ("cat $HOME/x \"$PWD\" '$USER'", ["cat", "/home/u/x", "/home/u/it", "$USER"]),
        ("cat ~ ~/x HEAD~1 a~", ["cat", "/home/u", "/home/u/x", "HEAD~1", "a~"]),
        (
            "git show HEAD@{1} @{u} HEAD^ -5 a=b",
            ["git", "show", "HEAD@{1}", "@{u}", "HEAD^", "-5", "a=b"],
        ),
        ("grep 'x$' \"y$\" z$", ["grep", "x$", "y$", "z$"]),
        ("find . ! -name '*.py' {}", ["find", ".", "!", "-name", "*.py", "{}"]),
        ("[ a = b ]", ["[", "a", "=", "b", "]"]),
        ("echo a#b 'é' a,b +x %y a:b", ["echo", "a#b", "é", "a,b", "+x", "%y", "a:b"]),
    ],
)
def test_words_are_those_that_a_shell_would_pass(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_the_places_of_pattern_characters_are_known() -> None:
    (command,) = read("ls a*b '*' \\* [ab]?", VARIABLES)
    assert [word.globs for word in command.words] == [(), (1,), (), (), (0, 4)]


def test_lists_and_pipelines_are_split_in_order() -> None:
    commands = read("a 1 | b && c || d; e\n\nf;", VARIABLES)
    joined = [(c.joiner, c.words[0].value) for c in commands]
    assert joined == [("", "a"), ("|", "b"), ("&&", "c"), ("||", "d"), (";", "e"), (";", "f")]
    assert pipelines(commands) == ["a 1 | b", "c", "d", "e", "f"]
    assert [c.joiner for c in read("a |\nb &&\n c", VARIABLES)] == ["", "|", "&&"]


def test_redirections_are_told_from_words() -> None:
    (command,) = read("cat < in 2>/dev/null >/dev/null 2>&1 x", VARIABLES)
    assert [w.value for w in command.words] == ["cat", "x"]
    assert [r.form for r in command.redirects] == ["<", "2>", ">", "2>&1"]
    (command,) = read("ls 1>/dev/null", VARIABLES)
    assert [r.form for r in command.redirects] == [">"]


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize(
    "text",
    [
        # nothing, or too much
        "", " ", "\n", ";", "ls ;; ls", "ls |", "| ls", "ls && ", "&& ls", "ls | | ls", "ls &&; ls",
        "x" * (MAX_CHARS + 1),
        # redirections
        "ls >f", "ls >>f", "ls >|f", "ls &>f", "ls >&f", "ls <>f", "ls 3>f", "ls {v}>f", ">f ls",
        ">/dev/null ls", "<in cat", "ls >/dev/nullx", "ls >/dev/null/../f", "ls >/dev/null>f",
        "ls 2>&1>f", "ls>/dev/null", "ls >!f", "ls >'/dev/null'", "ls >/dev/nul\\l", "ls > ~/x",
        "cat <<E\nE", "cat <<<x", "cat <(ls)", "ls >(cat)", "ls 2>&1x", "ls 12>&1",
        "ls a2>/dev/null", "cat <&0", "cat <", "ls >", "ls 2>&12", "ls 1>&2", "ls >/dev/null*",
        # substitution and expansion
        "ls $(id)", "ls `id`", 'ls "$(id)"', 'ls "`id`"', "ls ${x}", "ls ${x@P}", "ls $x",
        'ls "$x"', "ls $((1))", "ls $[1]", "ls $'\\x41'", 'ls $"a"', "ls $HOMEx", "ls $HOME[0]",
        "ls $HOME:h", "ls ${HOME}", "ls $1", "ls $?", 'ls "$HOME:h"', 'ls "$HOME[0]"',
        # braces, patterns, tildes
        "ls {a,b}", "ls {1..3}", "ls @{a,b}", "ls @{a..b}", "ls x{1}", "ls +(a)", "ls @(a|b)",
        "ls ~u", "ls ~+", "ls ''~/x", "ls a=~/x", "ls a:~/x", "ls =ls", "ls ==", "{ ls; }", "ls }",
        # separators
        "ls &", "ls & ls", "ls |& cat", "ls &&& ls", "ls || | cat", "ls # x", "# x\nls",
        "ls\\\n-la", "l\\\ns", "ls\ttouch", "ls\rtouch", "ls\0", "ls\x1b", "ls\u00a0x",
        "ls\u2028x", "ls \u0430", "ls é", "ls 'a\nb'", "ls 'a\tb'", 'ls "a\x07"', "ls '\u202e'",
        "ls '\u200b'", "ls \\é",
        # quotes
        "ls 'a", 'ls "a', "ls a\\", "ls 'a''b'", "(ls)", "f() { ls; }", "ls a(b)", "ls !x",
        "ls !!", "ls x!",
    ],
)  # fmt: skip
def test_all_else_is_denied_with_a_reason_and_what_to_do_instead(text: str) -> None:
    with pytest.raises(Denied) as refusal:
        read(text, VARIABLES)
    assert refusal.value.reason
    assert refusal.value.instead


@pytest.mark.parametrize("home", ["/home/my name", "/home/*", "/home/$x", "", "/a\nb"])
def test_a_variable_that_a_shell_would_split_or_expand_is_refused_outside_quotes(home: str) -> None:
    with pytest.raises(Denied):
        read("ls $HOME", {"HOME": home})


def test_in_quotes_and_after_a_tilde_the_home_may_have_a_space() -> None:
    (command,) = read('ls "$HOME" ~/x', {"HOME": "/home/my name"})
    assert [word.value for word in command.words] == ["ls", "/home/my name", "/home/my name/x"]
