"""Says why a line of a test file shows nothing: it is not run, or nothing there can fail (RV-7)."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from quality_reviewer import python_tests
from quality_reviewer.enclosing import chain
from quality_reviewer.python_tests import NOTHING_ASSERTED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SCRIPTS = (".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts")
_CASE = re.compile(r"\s*(?:x|f)?(?:it|test|specify)\b[\w.]*(?:\(|`|\.each)")
_ONLY = re.compile(r"\s*(?:it|test|describe|suite|context)\.only\b|\s*f(?:it|describe)\(")
_OFF = re.compile(
    r"\s*(?:x(?:it|test|describe|specify)\(|(?:it|test|describe|suite|context|specify)"
    r"\.(?:skip|todo|fails|failing)\b)|\s*(?:it|test|describe)\(.*\{ ?(?:skip|todo): true"
)
_NEVER = re.compile(r"\s*if \(?\s*(?:false|0)\s*\)?\s*\{")
_IMPORT = re.compile(r"\s*(?:import\b|package\b|use |#include|(?:const|let|var) .*\brequire\()")
_CHECKS = re.compile(
    r"expect|assert|should|throw|reject|verif|check|fail|\bt\.\w+|toBe|cy\.|snapshot|ensure|equal"
    r"|\bis\.|require\.|cmp\.|panic",
    re.IGNORECASE,
)
_SAME = re.compile(
    r"\bexpect\((?P<got>[^()]+|\w+\([^()]*\))\)\.to\w+\(\s*(?P=got)\s*\)"
    r"|\bassert(?:\.ok)?\(\s*(?:true|1)\s*[,)]"
    r"|\bassert\.\w*[eE]qual\(\s*(?P<one>[^,]+?)\s*,\s*(?P=one)\s*[,)]"
)
_EXPECTS = re.compile(r"\bexpect\(|\bassert\b")
_BARE = re.compile(r"\bexpect\((?:[^()]|\([^()]*\))*\)\s*;?\s*$")
_GO_TEST = re.compile(r"func (?:\([^)]*\) )?((?:Test|Benchmark|Fuzz|Example)(?:[^a-z(]\w*)?)\(")
_GO_FUNC = re.compile(r"func (?:\([^)]*\) )?(\w+)\(")
_GO_OFF = re.compile(r"\s*t\.Skip(?:Now|f)?\(")
_GO_IMPORT = re.compile(r'\s*(?:import\b|package\b|(?:\w+ )?"[\w./-]+"$)')
_GO_CHECKS = re.compile(r"\bt\.(?:Error|Fatal|Fail)|require\.|assert|check|expect|must|verify"
                        r"|cmp\.|is\.|panic|// Output:|want\b", re.IGNORECASE)  # fmt: skip


def why_idle(file: str, lines: Sequence[str], number: int, commands: Sequence[str]) -> str:
    """Return why line `number` of a test file shows nothing, or ''; in doubt that is ''.

    `commands` are those that run the tests: what they name runs, what they leave out does not.
    """
    if not 0 < number <= len(lines):
        return ""
    left_out = [c for c in commands if _leaves_out(c, file)]
    if commands and len(left_out) == len(commands):
        return f"stands in a file that `{left_out[0]}` leaves out"
    ending = os.path.splitext(file)[1]
    if ending == ".py":
        is_started = any(re.search(rf"\bpython[\d.]*\s+{re.escape(file)}", c) for c in commands)
        return python_tests.why_idle(file, lines, number, is_started=is_started)
    if ending in _SCRIPTS:
        return next(_of_script(lines, number), "")
    return next(_of_go(file, lines, number), "") if ending == ".go" else ""


def _leaves_out(command: str, file: str) -> bool:
    named = re.findall(r"--(?:ignore|deselect|exclude)[= ](\S+)", command)
    return any(f"{file}/".startswith(f"{one.rstrip('/')}/") for one in named)


def _of_script(lines: Sequence[str], number: int) -> Iterator[str]:
    """Yield why a line of JavaScript or TypeScript shows nothing."""
    at, line = [*chain(lines, number - 1)], lines[number - 1]
    heads = [lines[n] for n in at]
    if any(map(_OFF.match, heads)):
        yield "is of a test that is skipped"
    if any(map(_NEVER.match, heads)):
        yield "stands under a condition that is never true"
    if any(map(_ONLY.match, lines)) and not any(map(_ONLY.match, heads)):
        yield "is not run, since another test of the file is marked `only`"
    if _IMPORT.match(line) and not line[:1].isspace():
        yield "is an import"
    if _SAME.search(line):
        yield "is an assertion that cannot fail"
    block = next((_block(lines, n) for n in at if _CASE.match(lines[n])), [])
    checks = [t for t in block[1:] or block if _CHECKS.search(t)]
    called = {w for t in block for w in re.findall(r"(\w+)\(", t)}
    helps = any(re.match(rf"\s*(?:async )?(?:function {w}\b|(?:const|let) {w} =)", t)
                for w in called for t in lines)  # fmt: skip
    if len(block) > 1 and not checks and not helps:
        yield f"is of a test that {NOTHING_ASSERTED}"
    if checks and all(_EXPECTS.search(t) and _is_empty(t) for t in checks):
        yield "is of a test whose assertions cannot fail"


def _is_empty(line: str) -> bool:
    return bool(_SAME.search(line) or _BARE.search(line))


def _of_go(file: str, lines: Sequence[str], number: int) -> Iterator[str]:
    """Yield why a line of Go shows nothing."""
    if not file.endswith("_test.go"):
        yield "stands in a file that `go test` does not collect by its name"
    if any(re.match(r"//go:build ignore|// \+build ignore", t) for t in lines[:5]):
        yield "stands in a file that is left out of the build"
    at = next((n for n in range(number - 1, -1, -1) if _GO_FUNC.match(lines[n])), number - 1)
    head = _GO_FUNC.match(lines[at])
    if head is None or any(t.startswith("}") for t in lines[at : number - 1]):
        if _GO_IMPORT.match(lines[number - 1]):
            yield "is an import"
        return
    block, name = _block(lines, at), head[1]
    body = [t for t in block[1:] if t.strip()]
    if body and _GO_OFF.match(body[0]):
        yield f"is of {name}, which is skipped"
    is_used = any(re.search(rf"\b{name}\b", t) for n, t in enumerate(lines) if n != at)
    if not _GO_TEST.match(head.string):
        if not is_used and not head.string.startswith("func ("):
            yield f"stands in {name}, which `go test` does not run"
        return
    called = {w for t in body for w in re.findall(r"(\w+)\(", t)}
    helped = any(m[1] in called for m in map(_GO_FUNC.match, lines) if m)
    if body and not helped and not any(map(_GO_CHECKS.search, block)):
        yield f"is of {name}, which {NOTHING_ASSERTED}"


def _block(lines: Sequence[str], head: int) -> list[str]:
    """Return a head with all that is indented more than it."""
    depth, end = len(lines[head]) - len(lines[head].lstrip()), head + 1
    while end < len(lines) and (
        not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > depth
    ):
        end += 1
    return [*lines[head:end]]
