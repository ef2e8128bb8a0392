"""The table of commands: whole, and so tight that loosening any column lets something through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.guard.decide import decide
from shared.guard.kinds import KINDS
from shared.guard.policy import COMMANDS
from shared.guard.policy.git import GIT
from shared.guard.policy.refused import FAMILIES, REFUSED
from shared.guard.policy.rule import Rule, parse_operands, parse_options
from tests.shared.guard.corpus.corpus import must_be_denied

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping
    from pathlib import Path

TABLE = {**COMMANDS, **{f"git {name}": rule for name, rule in GIT.items()}}
LISTED = {name: rule for name, rule in TABLE.items() if not rule.whole and not rule.exact}
GOOD = {
    "file": "a.txt", "binary": "a.txt", "path": "a.txt", "text": "a", "name": "a", "count": "1",
    "step": "1", "stamp": "+%F", "rev": "HEAD", "revtree": "HEAD", "setting": "user.name",
    "sed": "1p", "awk": "'{print $1}'", "jq": ".",
}  # fmt: skip
BAD = {
    "file": "~/.ssh/id_rsa", "binary": "@a.txt", "path": "~/.ssh", "name": "'a b'", "count": "x",
    "step": "0", "stamp": "0101", "rev": "HEAD:.env", "revtree": "~",
    "setting": "http.x.extraheader", "sed": "'w p'", "jq": "env", "awk": "'BEGIN{system(\"id\")}'",
}  # fmt: skip
# Options that write or run something, by the command that has them.
DANGEROUS = {
    "sort": "-o:text --output=text --compress-program=text -T:text --files0-from=text",
    "tail": "-f -F --follow", "tree": "-o:text -R", "date": "-s:text --set=text",
    "rg": "--pre=text --hostname-bin=text -z --search-zip",
    "fd": "-x:text -X:text --exec=text --exec-batch=text",
    "sed": "-i --in-place -f:text", "awk": "-f:text -i:text", "xxd": "-r",
    "git log": "--output=text -O:text --ext-diff --textconv --show-signature",
    "git show": "--output=text --ext-diff", "git diff": "--output=text --ext-diff --textconv",
    "git grep": "-O?text --open-files-in-pager?=text --textconv",
    "git branch": "-d -D -m -M -c -f -u:text --edit-description --unset-upstream",
    "git config": "--unset --add --edit -e", "git cat-file": "--textconv --filters --batch",
}  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a folder with what the lines below name, in a home with keys."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USER", "u")
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa").write_text("key")
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "a.txt").write_text("a\n")
    return str(tmp_path / "it")


def good_operands(rule: Rule) -> list[str]:
    single, further, needed = parse_operands(rule.operands)
    kinds = [kind for kind in single if not kind.endswith("?")] + [further] * needed
    return [good(kind) for kind in kinds]


def good(kind: str) -> str:
    return kind.split("|", maxsplit=1)[0] if "|" in kind else GOOD[kind]


def plainest(name: str, rule: Rule) -> str:
    """Return the command with as little as it takes."""
    line = " ".join([name, *good_operands(rule)])
    reads = rule.needs_input is not None and not {"a.txt"} & {*good_operands(rule)}
    return f"ls | {line}" if reads else line


def hostile(name: str, rule: Rule) -> Iterator[tuple[str, str]]:
    """Yield the column that matters and a command that must be denied because of it."""
    single, further, _ = parse_operands(rule.operands)
    before = good_operands(rule)
    yield "options", f"{plainest(name, rule)} --no-such-option"
    kinds = [kind.rstrip("?") for kind in single] + [further] * bool(further)
    listing = f" {rule.with_operands.split()[0]}" if rule.with_operands else ""
    for at, kind in enumerate(kinds):
        bad = "no-such-word" if "|" in kind else BAD.get(kind)
        if bad:
            front = [good(k) for k in kinds[:at]]
            yield "operands", " ".join([f"ls | {name}{listing}", *front, bad])
    if not further:
        yield "operands", " ".join([f"ls | {name}{listing}", *before, *["a.txt"] * 9])
    if rule.needs_input is not None:
        yield "needs_input", " ".join([name, *(o for o in before if o != "a.txt")])
    if rule.tree is not None:
        deep = rule.tree.split()[0] if rule.tree else ""
        yield "tree", " ".join([name, deep, *(before[:1] if "text" in single else []), "/", "/"])
    if rule.with_operands:
        yield "with_operands", f"{name} a"
    if rule.clusters is False and len(rule.options.split()) > 1:
        yield "clusters", f"{plainest(name, rule)} -{'Zq' * 3}"


def loosened(rule: Rule, column: str) -> Rule:
    """Return the rule without what one column of it holds back."""
    copy = Rule(rule.reason)
    for name in Rule.__slots__:
        setattr(copy, name, getattr(rule, name))
    loose = {"operands": "text*", "needs_input": None, "tree": None, "with_operands": ""}
    if column == "options":
        copy.options += " --no-such-option"
    else:
        setattr(copy, column, loose[column])
    return copy


def table_of(name: str) -> tuple[MutableMapping[str, Rule], str]:
    own = name.removeprefix("git ")
    return (GIT, own) if own != name else (COMMANDS, name)


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize("name", LISTED)
def test_a_command_passes_in_its_plainest_form(name: str, project: str) -> None:
    answer = decide(plainest(name, LISTED[name]), cwd=project)
    assert answer.allowed, answer.reason


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize("name", LISTED)
def test_loosening_any_column_of_a_rule_lets_a_command_through_that_it_denies(
    name: str, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = LISTED[name]
    lines = [line for line in hostile(name, rule) if line[0] != "clusters"]
    assert not [line for _, line in lines if decide(line, cwd=project).allowed]
    table, own = table_of(name)
    for column in {column for column, _ in lines}:
        monkeypatch.setitem(table, own, loosened(rule, column))
        assert [line for c, line in lines if c == column and decide(line, cwd=project).allowed], (
            f"{column} holds nothing back: {lines}"
        )
        monkeypatch.setitem(table, own, rule)


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize("name", DANGEROUS)
def test_the_corpus_notices_an_option_that_writes_or_runs_something(
    name: str, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = LISTED[name]
    denied = [c.text for c in must_be_denied() if name.split(maxsplit=1)[0] in c.text]
    table, own = table_of(name)
    wider = Rule(rule.reason)
    for slot in Rule.__slots__:
        setattr(wider, slot, getattr(rule, slot))
    wider.options += f" {DANGEROUS[name]}"
    monkeypatch.setitem(table, own, wider)
    assert [line for line in denied if decide(line, cwd=project).allowed]


@pytest.mark.parametrize("name", [name for name, rule in COMMANDS.items() if rule.whole])
def test_the_corpus_notices_a_command_whose_words_are_not_judged(
    name: str, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in ("echo", "cd"):
        pytest.skip(f"{name} takes any text, or is judged by where it stands")
    denied = [c.text for c in must_be_denied() if f"{name} " in c.text]
    monkeypatch.setitem(COMMANDS, name, Rule("prints its words", whole="text"))
    assert [line for line in denied if decide(line, cwd=project).allowed]


@pytest.mark.parametrize("name", [name for name, rule in COMMANDS.items() if rule.exact])
def test_a_program_is_asked_for_its_version_and_nothing_else(
    name: str, project: str, tmp_path: Path
) -> None:
    rule = COMMANDS[name]
    for way in rule.exact.split("\n"):
        assert decide(f"{name} {way}", cwd=project).allowed
        assert not decide(f"{name} {way} x", cwd=project).allowed
    for words in ("", " x", " -c x", " run", " --help-all"):
        assert not decide(f"{name}{words}", cwd=project).allowed
    for file in rule.unless.split():
        (tmp_path / file).touch()
        answer = decide(f"{name} {way}", cwd=project)
        assert not answer.allowed
        assert file in answer.reason
        (tmp_path / file).unlink()


def test_every_kind_that_the_table_names_is_one() -> None:
    for name, rule in TABLE.items():
        single, further, _ = parse_operands(rule.operands)
        kinds = {kind.rstrip("?") for kind in single} | ({further} if further else set())
        kinds |= {kind for mode, kind in parse_options(rule.options).values() if mode}
        assert {kind for kind in kinds if "|" not in kind} <= KINDS, name


def test_every_option_stands_once_in_its_rule() -> None:
    for name, rule in TABLE.items():
        words = rule.options.split()
        assert len(parse_options(rule.options)) == len(words), name


def test_every_rule_has_a_reason_and_every_refusal_a_way_out() -> None:
    assert not [name for name, rule in TABLE.items() if not rule.reason]
    assert all(names and reason and instead for names, reason, instead in FAMILIES)
    assert not COMMANDS.keys() & REFUSED.keys()


@pytest.mark.parametrize("name", REFUSED)
def test_a_known_writer_is_refused_with_its_reason(name: str, project: str) -> None:
    answer = decide(f"{name} x", cwd=project)
    assert not answer.allowed
    assert answer.instead


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize(
    "command",
    [
        "cat a.txt", "ls", "find . -name '*.txt'", "grep a a.txt", "head a.txt", "tail a.txt",
        "tree", "wc a.txt", "diff a.txt a.txt", "file a.txt", "stat a.txt",
    ],
)  # fmt: skip
def test_what_the_planning_mode_was_written_for_passes(command: str, project: str) -> None:
    assert decide(command, cwd=project).allowed
