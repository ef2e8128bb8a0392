"""Compares a command's words with its policy rule: each option, value and operand must be known."""

from __future__ import annotations

import os

from shared.guard.denial import Denied
from shared.guard.kinds import FILES, PATTERNS, check_kind
from shared.guard.policy.rule import ATTACHED, VALUE, parse_operands, parse_options
from shared.guard.words import Word

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.guard.policy.rule import Exact, Options
    from shared.guard.scene import Scene

_PARSED: dict[str, dict[str, tuple[str, str]]] = {}
_HERE = Word(".")


class Matched:
    """The options and operands found in a command, and how many operands stand before a `--`."""

    __slots__ = ("bare", "given", "operands")

    def __init__(self) -> None:
        self.given: set[str] = set()
        self.operands: list[Word] = []
        self.bare: int | None = None


def match_exact(name: str, words: list[Word], rule: Exact, scene: Scene) -> None:
    """Deny a command unless it is a line of its rule and no nearby file changes what it runs."""
    lines = rule.passes.split("\n")
    if " ".join((name, *(word.value for word in words))) not in lines:
        ways = " or ".join(f"`{line}`" for line in lines)
        raise Denied(
            f"`{name}` runs any program that it is given", f"use only {ways}; read files with cat"
        )
    folder = os.path.realpath(scene.folder)
    while rule.unless and folder:
        found = next((f for f in rule.unless.split() if os.path.lexists(f"{folder}/{f}")), None)
        if found:
            at = os.path.join(folder, found)
            reason = f"`{name}` would run what {at} says, which the guard cannot check"
            raise Denied(reason, f"read {at} with cat to see what it would do")
        folder = folder.rpartition("/")[0]


def match_options(name: str, words: list[Word], rule: Options, scene: Scene) -> None:
    """Deny a command unless its policy rule knows each of its options, values and operands."""
    if rule.options not in _PARSED:
        _PARSED[rule.options] = parse_options(rule.options)
    matched = Matched()
    rest = iter(words)
    for word in rest:
        if matched.bare is not None or not word.value.startswith("-") or word.value == "-":
            matched.operands.append(word)
        elif word.value == "--":
            matched.bare = len(matched.operands)
        elif word.value.startswith("--"):
            _take_long(name, word, rest, rule, matched, scene)
        elif not (word.value[1:].isdecimal() and "-#" in _PARSED[rule.options]):
            _take_short(name, word, rest, rule, matched, scene)
    _check_operands(name, rule, matched, scene)


def _take_long(
    name: str, word: Word, rest: Iterator[Word], rule: Options, matched: Matched, scene: Scene
) -> None:
    option, equals, _ = word.value.partition("=")
    mode, kind = _known(name, option, rule)
    if equals:
        if not mode:
            raise Denied(f"`{name} {option}` takes no value", _passing(name, rule))
        _check_value(option, kind, word.after(len(option) + 1), scene, attached=True)
    elif mode == VALUE:
        _check_value(option, kind, next(rest, None), scene)
    matched.given.add(option)


def _take_short(
    name: str, word: Word, rest: Iterator[Word], rule: Options, matched: Matched, scene: Scene
) -> None:
    for at in range(1, len(word.value)):
        option = f"-{word.value[at]}"
        mode, kind = _known(name, option, rule)
        matched.given.add(option)
        value = word.after(at + 1)
        if mode == VALUE:
            attached = bool(value.value)
            _check_value(option, kind, value if attached else next(rest, None), scene)
            return
        if mode == ATTACHED:
            if value.value:
                _check_value(option, kind, value, scene)
            return
        if value.value and not rule.clusters:
            raise Denied(
                f"`{word.value}` is several options in one word",
                "write each option as its own word",
            )


def _known(name: str, option: str, rule: Options) -> tuple[str, str]:
    known = _PARSED[rule.options].get(option)
    if known is None:
        reason = f"`{option}` is not an option of `{name}` that is known to change nothing"
        raise Denied(reason, _passing(name, rule))
    return known


def _passing(name: str, rule: Options) -> str:
    options = " ".join(_PARSED[rule.options])
    return f"use `{name}` only with {options}" if options else f"use `{name}` without options"


def _check_value(
    option: str, kind: str, word: Word | None, scene: Scene, *, attached: bool = False
) -> None:
    if word is None:
        if kind == "rev":  # git takes HEAD
            return
        raise Denied(f"`{option}` needs a value", "add the value")
    if word.globs and not (attached and kind in PATTERNS):
        raise Denied(f"the shell would expand the value of `{option}`", "put it in single quotes")
    _check_input(option, scene, waits=kind in FILES and word.value == "-")
    check_kind(kind, word, scene)


def _check_operands(name: str, rule: Options, matched: Matched, scene: Scene) -> None:
    single, further, needed = parse_operands(rule.operands)
    if not matched.given.isdisjoint(rule.instead_of_first.split()):
        single = single[1:]
    least = len([kind for kind in single if not kind.endswith("?")]) + needed
    count = len(matched.operands)
    if count < least or (count > len(single) and not further):
        wrong = "lacks an argument" if count < least else "has too many arguments"
        raise Denied(f"`{name}` {wrong}", f"use `{name}` with: {rule.operands or 'no argument'}")
    kinds = single + [further] * (count - len(single))
    if count and not _given_one(rule.operands_need, matched):
        reason = f"`{name}` with a name creates something unless an option tells `{name}` to list"
        raise Denied(reason, f"use `{name} {rule.operands_need.split()[0]}`")
    deep, named = rule.recursive is not None and _given_one(rule.recursive, matched), False
    for at, (kind, word) in enumerate(zip(kinds, matched.operands, strict=False)):
        _check_glob(word, at, len(single), rule, matched)
        exact = kind.rstrip("?")
        check_kind("tree" if deep and exact == "file" else exact, word, scene)
        named = named or exact in FILES
        _check_input(name, scene, waits=word.value == "-" and exact in FILES)
    if deep and not named:
        check_kind("tree", _HERE, scene)
    unless = rule.stdin_unless
    waits = unless is not None and not named and matched.given.isdisjoint(unless.split())
    _check_input(name, scene, waits=waits)


def _given_one(options: str, matched: Matched) -> bool:
    return not options or not matched.given.isdisjoint(options.split())


def _check_input(name: str, scene: Scene, *, waits: bool) -> None:
    if waits and not scene.fed:
        raise Denied(f"`{name}` would wait for input that never comes", "name the file to read")


def _check_glob(word: Word, at: int, single: int, rule: Options, matched: Matched) -> None:
    """Deny a shell pattern that could expand to an option, or to several files instead of one."""
    if not word.globs:
        return
    if at < single:
        raise Denied(
            f"`{word.raw}` can expand to several files",
            "name the file, or put the text in single quotes",
        )
    safe = rule.glob_safe or word.globs[0] > 0 or (matched.bare is not None and at >= matched.bare)
    if not safe:
        raise Denied(
            f"`{word.raw}` can expand to a file name that is read as an option",
            f"write `./{word.raw}`, or put it after `--`",
        )
