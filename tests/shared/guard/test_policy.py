"""The policy tables: every rule is complete, and loosening any column lets something through."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.guard.decide import decide
from shared.guard.kinds import KINDS
from shared.guard.own import understand
from shared.guard.policy import COMMANDS
from shared.guard.policy.git import GIT
from shared.guard.policy.refused import FAMILIES, REFUSED
from shared.guard.policy.rule import Exact, Options, Special, parse_operands, parse_options
from tests.shared.guard.corpus.corpus import must_be_denied
from tests.shared.guard.scene import PROJECT, build

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from shared.guard.policy.rule import Rule

TABLE: dict[str, Rule] = {**COMMANDS, **{f"git {name}": rule for name, rule in GIT.items()}}
LISTED = {name: rule for name, rule in TABLE.items() if isinstance(rule, Options)}
EXACT = {name: rule for name, rule in COMMANDS.items() if isinstance(rule, Exact)}
SPECIAL = [name for name, rule in COMMANDS.items() if isinstance(rule, Special)]
GOOD = {
    "file": "a.txt", "plain": "a.txt", "binary": "a.txt",
    "path": "a.txt", "text": "a", "name": "a", "count": "1",
    "step": "1", "stamp": "+%F", "rev": "HEAD", "revtree": "HEAD", "setting": "user.name",
    "sed": "1p", "awk": "'{print $1}'", "jq": ".",
}  # fmt: skip
BAD = {
    "file": "~/.ssh/id_rsa", "plain": "..", "binary": "@a.txt",
    "path": "~/.ssh", "name": "'a b'", "count": "x",
    "step": "0", "stamp": "0101", "rev": "HEAD:.env", "revtree": "~",
    "setting": "http.x.extraheader", "sed": "'w p'", "jq": "env", "awk": "'BEGIN{system(\"id\")}'",
}  # fmt: skip
# Options that write or run something, by command.
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
    """Return a folder with the files that the tests name, in a home with keys."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USER", "u")
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id_rsa").write_text("key")
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "a.txt").write_text("a\n")
    return str(tmp_path / "it")


def good_operands(rule: Options) -> list[str]:
    single, further, needed = parse_operands(rule.operands)
    kinds = [kind for kind in single if not kind.endswith("?")] + [further] * needed
    return [good(kind) for kind in kinds]


def good(kind: str) -> str:
    return kind.split("|", maxsplit=1)[0] if "|" in kind else GOOD[kind]


def plainest(name: str, rule: Options) -> str:
    """Return the shortest line with which the command passes."""
    line = " ".join([name, *good_operands(rule)])
    reads = rule.stdin_unless is not None and not {"a.txt"} & {*good_operands(rule)}
    return f"ls | {line}" if reads else line


def hostile(name: str, rule: Options) -> Iterator[tuple[str, str]]:
    """Yield a column of the rule, and a command that must be denied because of that column."""
    single, further, _ = parse_operands(rule.operands)
    before = good_operands(rule)
    yield "options", f"{plainest(name, rule)} --no-such-option"
    kinds = [kind.rstrip("?") for kind in single] + [further] * bool(further)
    listing = f" {rule.operands_need.split()[0]}" if rule.operands_need else ""
    for at, kind in enumerate(kinds):
        bad = "no-such-word" if "|" in kind else BAD.get(kind)
        if bad:
            front = [good(k) for k in kinds[:at]]
            yield "operands", " ".join([f"ls | {name}{listing}", *front, bad])
    if not further:
        yield "operands", " ".join([f"ls | {name}{listing}", *before, *["a.txt"] * 9])
    if rule.stdin_unless is not None:
        yield "stdin_unless", " ".join([name, *(o for o in before if o != "a.txt")])
    if rule.recursive is not None:
        deep = rule.recursive.split()[0] if rule.recursive else ""
        yield (
            "recursive",
            " ".join([name, deep, *(before[:1] if "text" in single else []), "/", "/"]),
        )
    if rule.operands_need:
        yield "operands_need", f"{name} a"
    if rule.clusters is False and len(rule.options.split()) > 1:
        yield "clusters", f"{plainest(name, rule)} -{'Zq' * 3}"


def copy_of(rule: Options) -> Options:
    copy = Options(rule.reason, passes=rule.passes, denied=rule.denied, builtin=rule.builtin)
    for name in Options.__slots__:
        setattr(copy, name, getattr(rule, name))
    return copy


def loosened(rule: Options, column: str) -> Options:
    """Return the rule without the restriction that one of its columns makes."""
    copy = copy_of(rule)
    loose = {"operands": "text*", "stdin_unless": None, "recursive": None, "operands_need": ""}
    if column == "options":
        copy.options += " --no-such-option"
    else:
        setattr(copy, column, loose[column])
    return copy


def accepts_all_of(line: str) -> Options:
    """Return a rule that accepts every word of `line`, whatever command it is for."""
    words = [word for word in line.split()[1:] if word.startswith("-") and word != "-"]
    long = {word.partition("=")[0] for word in words if word.startswith("--")}
    short = {f"-{letter}" for word in words if word[:2] != "--" for letter in word[1:]}
    options = " ".join([*(f"{option}?=text" for option in long), *short])
    operands = "path*" if "*" in line else "text*"
    return Options("accepts all", options, operands, passes="", denied="", glob_safe=True)


def replace(monkeypatch: pytest.MonkeyPatch, name: str, rule: Rule) -> None:
    """Put `rule` in the place of the rule for `name`."""
    own = name.removeprefix("git ")
    if own == name:
        monkeypatch.setitem(COMMANDS, name, rule)
    else:
        assert isinstance(rule, Options)
        monkeypatch.setitem(GIT, own, rule)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with keys and a project with a history, for the rules' examples."""
    home = tmp_path_factory.mktemp("home")
    build(home, bait=False)
    return home


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize("name", TABLE)
def test_the_examples_of_a_rule_are_decided_as_the_rule_says(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A denied example passes once its rule accepts all words: it is this rule that denies."""
    monkeypatch.setenv("HOME", str(home))
    rule, project = TABLE[name], str(home / PROJECT)
    for line in rule.passes.split("\n"):
        answer = decide(line, cwd=project)
        assert answer.allowed, (line, answer.reason)
    for line in rule.denied.split("\n"):
        assert not decide(line, cwd=project).allowed, line
        with monkeypatch.context() as inside:
            replace(inside, name, accepts_all_of(line))
            assert decide(line, cwd=project).allowed is (name != "cd"), line
    for line in f"{rule.passes}\n{rule.denied}".split("\n"):
        commands = (" ".join(w.value for w in c.words) for c in understand(line, project))
        assert any(f"{text} ".startswith(f"{name} ") for text in commands), line


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
    for column in {column for column, _ in lines}:
        replace(monkeypatch, name, loosened(rule, column))
        assert [line for c, line in lines if c == column and decide(line, cwd=project).allowed], (
            f"{column} restricts nothing: {lines}"
        )
        replace(monkeypatch, name, rule)


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize("name", DANGEROUS)
def test_the_corpus_notices_an_option_that_writes_or_runs_something(
    name: str, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = LISTED[name]
    denied = [c.text for c in must_be_denied() if name.split(maxsplit=1)[0] in c.text]
    wider = copy_of(rule)
    wider.options += f" {DANGEROUS[name]}"
    replace(monkeypatch, name, wider)
    assert [line for line in denied if decide(line, cwd=project).allowed]


@pytest.mark.parametrize("name", SPECIAL)
def test_the_corpus_notices_a_command_whose_words_are_not_judged(
    name: str, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in ("echo", "cd"):
        pytest.skip(f"{name} takes any text, or is judged by where it stands")
    denied = [c.text for c in must_be_denied() if f"{name} " in c.text]
    monkeypatch.setitem(COMMANDS, name, COMMANDS["echo"])
    assert [line for line in denied if decide(line, cwd=project).allowed]


@pytest.mark.parametrize("name", EXACT)
def test_a_program_is_asked_for_its_version_and_nothing_else(
    name: str, project: str, tmp_path: Path
) -> None:
    rule = EXACT[name]
    for line in rule.passes.split("\n"):
        assert decide(line, cwd=project).allowed
        assert not decide(f"{line} x", cwd=project).allowed
    for words in ("", " x", " -c x", " run", " --help-all"):
        assert not decide(f"{name}{words}", cwd=project).allowed
    for file in rule.unless.split():
        (tmp_path / file).touch()
        answer = decide(line, cwd=project)
        assert not answer.allowed
        assert file in answer.reason
        (tmp_path / file).unlink()


def test_every_kind_that_a_rule_names_is_known() -> None:
    for name, rule in LISTED.items():
        single, further, _ = parse_operands(rule.operands)
        kinds = {kind.rstrip("?") for kind in single} | ({further} if further else set())
        kinds |= {kind for mode, kind in parse_options(rule.options).values() if mode}
        assert {kind for kind in kinds if "|" not in kind} <= KINDS, name


def test_every_option_stands_once_in_its_rule() -> None:
    for name, rule in LISTED.items():
        words = rule.options.split()
        assert len(parse_options(rule.options)) == len(words), name


def test_every_rule_has_a_reason_and_every_refusal_says_what_to_do_instead() -> None:
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
