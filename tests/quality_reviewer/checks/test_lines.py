"""Secrets, conflict markers and debug leftovers, in added lines only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from quality_reviewer.checks.lines import added_lines
from tests.quality_reviewer.checks.conftest import findings

if TYPE_CHECKING:
    from tests.quality_reviewer.checks.conftest import Desk

pytestmark = pytest.mark.requirement("PL-24")

# Put together here, so that no scanner takes this file for a leak.
RANDOM = "q7Zt3KfW9sLx2VbN8mRd4HcY6gPj5TaE1uDoXkSiBnMwQrFvCzGyJhUlAeIpO0tq7Zt3KfW9sLx2VbN8mRd4HcY6g"
BASE32 = "Q7ZT3KFW6SLX2VBN"
SECRETS = [
    "AK" + "IA" + BASE32,
    "AS" + "IA" + BASE32,
    "gh" + "p_" + RANDOM[:36],
    "github" + "_pat_" + RANDOM[:22] + "_" + RANDOM[:59],
    "gl" + "pat-" + RANDOM[:20],
    "xo" + "xb-123456789012-" + RANDOM[:24],
    "https://hooks.slack" + ".com/services/T0123ABCD/B0123ABCD/" + RANDOM[:24],
    "AI" + "za" + RANDOM[:35],
    "GOC" + "SPX-" + RANDOM[:28],
    "sk" + "_live_" + RANDOM[:24],
    "np" + "m_" + RANDOM[:36],
    "pypi-" + "AgEIcHlwaS5vcmc" + RANDOM[:60],
    "sk-" + "ant-api03-" + RANDOM[:90],
]
KEY = "-----BEGIN {}PRIVATE " + "KEY-----"


@pytest.mark.parametrize("secret", SECRETS)
def test_a_token_of_a_known_form_is_found_and_not_repeated(desk: Desk, secret: str) -> None:
    subject = desk.subject({"conf.py": f"a = 1\ntoken = '{secret}'\n"})
    [(status, scope, text)] = findings("code-no-secrets", subject)
    assert (status, scope) == ("FAIL", "conf.py")
    assert text.startswith("conf.py, line 2: ")
    assert secret not in text
    assert secret[12:] not in text


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("join", ["\n", "\\n", '\\n"\n    "', "\r\n", "\n    "])
def test_a_private_key_is_found_however_it_is_written(desk: Desk, kind: str, join: str) -> None:
    block = KEY.format(kind) + join + RANDOM[:64]
    [(_, scope, text)] = findings("code-no-secrets", desk.subject({"k.txt": f"x\n{block}\n"}))
    assert scope == "k.txt"
    assert text.startswith("k.txt, line 2: private key;")


@pytest.mark.parametrize(
    "text",
    [
        "AK" + "IAIOSFODNN7EXAMPLE",
        "AK" + "IA" + "X" * 16,
        "gh" + "p_" + "x" * 36,
        "gh" + "p_" + "0" * 36,
        KEY.format("RSA ") + "\n",
        "if line == '" + KEY.format("") + "':\n    return True",
        "-----BEGIN PUBLIC " + "KEY-----\n" + RANDOM[:64],
        "-----BEGIN CERTIFICATE-----\n" + RANDOM[:64],
        "sha256-" + RANDOM,
        "commit 0123456789abcdef0123456789abcdef01234567",
        "password = 'hunter2'",
        "x" + "AK" + "IA" + BASE32 + "z",
    ],
)
def test_placeholders_hashes_and_code_about_keys_are_no_secrets(desk: Desk, text: str) -> None:
    assert not findings("code-no-secrets", desk.subject({"a.txt": f"{text}\n"}))


def test_a_secret_that_was_there_already_is_not_this_plans(desk: Desk) -> None:
    line = f"token = '{SECRETS[0]}'\n"
    before: dict[str, str | bytes | None] = {"a.py": f"x = 1\n{line}y = 2\n"}
    after: dict[str, str | bytes | None] = {"a.py": f"{line}x = 1\ny = 3\n"}
    assert not findings("code-no-secrets", desk.subject(after, before))


def test_a_secret_in_a_file_that_git_shows_as_binary_is_found(desk: Desk) -> None:
    after: dict[str, str | bytes | None] = {
        "data.lock": f"{SECRETS[0]}\n",
        ".gitattributes": "*.lock -diff\n",
    }
    assert [scope for _, scope, _ in findings("code-no-secrets", desk.subject(after))] == [
        "data.lock"
    ]


def test_documentation_is_looked_at_for_secrets_as_well(desk: Desk) -> None:
    subject = desk.subject({"a.md": f"{SECRETS[2]}\n"}, as_docs=True)
    assert [scope for _, scope, _ in findings("docs-no-secrets", subject)] == ["a.md"]


def test_many_places_in_one_file_make_one_finding_with_the_first_ten(desk: Desk) -> None:
    text = "".join(f"{n} {SECRETS[0]}\n" for n in range(12))
    [(_, _, found)] = findings("code-no-secrets", desk.subject({"a.txt": text}))
    assert "line 10: " in found
    assert "; 2 more; " in found
    assert "line 11: " not in found


MERGE = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> topic\nd\n"


@pytest.mark.parametrize(
    "text", [MERGE, MERGE.replace("\n", "\r\n"), MERGE.replace("=======", "||||||| x\n=======")]
)
def test_an_unfinished_merge_is_found(desk: Desk, text: str) -> None:
    [(status, scope, found)] = findings("code-no-merge-markers", desk.subject({"a.py": text}))
    assert (status, scope) == ("FAIL", "a.py")
    assert found.startswith("a.py, line 2: conflict markers, up to line ")


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=======\n\ntext\n",
        "<<<<<<< HEAD\n",
        ">>>>>>> a\n=======\n<<<<<<< b\n",
        "    <<<<<<< HEAD\n    =======\n    >>>>>>> b\n",
        "<<<<<<<< x\n========\n>>>>>>>> y\n",
    ],
)
def test_underlines_and_single_markers_are_no_merge(desk: Desk, text: str) -> None:
    assert not findings("code-no-merge-markers", desk.subject({"a.rst": text}))


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("a.py", "breakpoint()"),
        ("a.py", "import pdb; pdb.set_trace()"),
        ("a.py", "if x: ipdb.set_trace()  # look"),
        ("a.js", "  debugger;"),
        ("a.tsx", "debugger; // here"),
        ("a.rb", "  binding.pry"),
        ("a.rb", "require 'pry'; binding.pry"),
        ("a.rs", "    let x = dbg!(y);"),
        ("a.py", 'print("debug")'),
        ("a.py", "print('DEBUG:', x)"),
        ("a.py", 'print(f"debug: {x}")'),
        ("a.py", "if x: print('>>> here', x)"),
        ("a.py", "print('XXX')"),
        ("a.js", "  console.log('debug', x);"),
        ("a.ts", "console.log(`DEBUG: ${x}`)"),
        ("a.go", '\tfmt.Println("got here")'),
        ("a.rs", '    println!("debug: {}", x);'),
        ("a.java", '  System.out.println("xxx");'),
        ("a.rb", "  puts 'here'"),
    ],
)
def test_a_debug_leftover_is_found_with_its_line(desk: Desk, file: str, line: str) -> None:
    subject = desk.subject({file: f"\n{line}\n"})
    [(status, scope, text)] = findings("code-no-debug-leftovers", subject)
    assert (status, scope) == ("FAIL", file)
    assert text.startswith(f"{file}, line 2: ")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.py", '"""\nbreakpoint()\n"""\n'),
        ("a.py", "# breakpoint()\nx = 'pdb.set_trace()'\n"),
        ("a.py", "from ours import breakpoint\nbreakpoint()\n"),
        ("a.py", "def breakpoint(): ...\nbreakpoint()\n"),
        ("a.py", "self.breakpoint()\ntracer.set_trace()\n"),
        ("a.js", "// debugger;\nconst debuggerOn = true;\nconsole.log(1)\n"),
        ("a.rb", "# binding.pry\n"),
        ("a.rs", '// dbg!(x)\nprintln!("dbg!(x)");\n'),
        ("a.md", "debugger;\nbreakpoint()\n"),
        ("a.py", "print('debug mode is on')\nprint('Debugging is off:', x)\nprint(debug)\n"),
        ("a.py", 'print(f"here {path}")\nprint("heresy", "debug")\nlog.debug("debug")\n'),
        ("a.py", 'from ours import print\nprint("debug")\n'),
        ("a.js", "console.log('debug mode is on');\n// console.log('debug')\nlog('debug');\n"),
        ("a.go", 'fmt.Println("debugger attached")\nlog.Debug("debug")\n'),
        ("a.md", "print('debug')\n"),
    ],
)
def test_words_about_debugging_are_no_leftovers(desk: Desk, file: str, text: str) -> None:
    assert not findings("code-no-debug-leftovers", desk.subject({file: text}))


def test_a_leftover_that_was_there_already_is_not_this_plans(desk: Desk) -> None:
    subject = desk.subject({"a.py": "x = 2\nbreakpoint()\n"}, {"a.py": "x = 1\nbreakpoint()\n"})
    assert not findings("code-no-debug-leftovers", subject)


def test_a_line_is_added_as_often_as_it_is_new() -> None:
    lines = added_lines(b"a\nb\n", b"b\na\r\nb\nc")
    assert [(line.number, line.text) for line in lines] == [(3, b"b"), (4, b"c")]
    assert added_lines(b"", b"") == []
