"""A remark's lines are found again in a later revision, or said to be gone: never elsewhere."""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from orchestrator.submit.carried import (
    Compared,
    Found,
    Text,
    compared,
    find_again,
    find_quoted,
)
from state.models import Change
from tests.forms import SEED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

pytestmark = pytest.mark.requirement("LP-3")

PAIRS = 200
# Lines that any function may have, and of which a program is full.
COMMON = ("", "}", "    return result", "    pass", "    if x:", "", "    try:", "        continue")


@dataclass(frozen=True)
class Line:
    """A line that is the same one however it is moved or set, by its number."""

    number: int
    text: str


def git_says(folder: Path, old: Sequence[str], new: Sequence[str]) -> Compared:
    """Return what git's own comparison says of two texts."""
    for name, lines in (("old", old), ("new", new)):
        folder.joinpath(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = ["git", "diff", "--no-index", "--no-color", "old", "new"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    _, at, hunks = done.stdout.partition("\n@@")
    patch = f"{at[1:]}{hunks}"
    same = {"before": "a" * 40, "after": ("b" if patch else "a") * 40}
    change = Change(id="CC-001", file="new", old_file="old", patch=patch, **same)
    return compared(change, len(old), len(new))


class Program:
    """Two revisions of a file, the later made of the earlier by what people and tools do."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)  # noqa: S311 – the same cases each time
        self.count = 0
        self.old = [one for _ in range(self.draw.randint(2, 9)) for one in self.function()]
        self.new = [*self.old]
        self.other: list[Line] = []
        for _ in range(self.draw.randint(1, 4)):
            self.draw.choice([
                self.insert, self.delete, self.rewrite, self.move, self.format, self.copy_common,
                self.move_to_other_file,
            ])()  # fmt: skip

    def line(self, text: str = "") -> Line:
        self.count += 1
        return Line(
            self.count, text or f"    value_{self.count} = call_{self.draw.randint(1, 9)}()"
        )

    def common(self) -> Line:
        self.count += 1
        return Line(self.count, self.draw.choice(COMMON))

    def function(self) -> list[Line]:
        head = self.line(f"def name_{self.count}(x):")
        body = [
            self.draw.choice((self.line, self.common))() for _ in range(self.draw.randint(1, 8))
        ]
        return [head, *body, self.common()]

    def part(self) -> slice:
        at = self.draw.randrange(len(self.new) + 1)
        return slice(at, at + self.draw.randint(1, 6))

    def insert(self) -> None:
        at = self.part().start
        self.new[at:at] = self.function()

    def delete(self) -> None:
        del self.new[self.part()]

    def rewrite(self) -> None:
        part = self.part()
        self.new[part] = [self.line() for _ in self.new[part]]

    def move(self) -> None:
        part = self.part()
        moved = self.new[part]
        del self.new[part]
        at = self.part().start
        self.new[at:at] = moved

    def format(self) -> None:
        part = self.part()
        self.new[part] = [
            Line(one.number, f"  {one.text.replace('(', ' ( ')}") if one.text else one
            for one in self.new[part]
        ]

    def copy_common(self) -> None:
        at = self.part().start
        self.new[at:at] = [self.common() for _ in range(3)]

    def move_to_other_file(self) -> None:
        part = self.part()
        self.other += self.new[part]
        del self.new[part]

    def texts(self, folder: Path) -> list[Text]:
        """Return both files of the later revision, as git compares them with the earlier one."""
        old, new = texts_of(self.old), texts_of(self.new)
        said = git_says(folder, old, new)
        other = frozenset(range(1, len(self.other) + 1))
        return [
            Text("a.py", new, said.added, said.kept),
            Text("b.py", texts_of(self.other), other),
        ]

    def now(self, found: Found) -> list[Line]:
        return (self.new if found.file == "a.py" else self.other)[found.line - 1 : found.end]


def texts_of(lines: Iterable[Line]) -> list[str]:
    return [one.text for one in lines]


def beside(lines: Sequence[Line], one: Line) -> tuple[Line | None, Line | None]:
    """Return the lines before and after one."""
    at = lines.index(one)
    return lines[at - 1] if at else None, lines[at + 1] if at + 1 < len(lines) else None


def is_alike(old: Sequence[Line], one: Line, lines: Sequence[Line], now: Line) -> bool:
    """Return whether a person would take another line for this one, which is gone.

    Its text is the same, and beside it stands a line that stood there, or both neighbours say what
    they said.
    """
    pairs = list(zip(beside(old, one), beside(lines, now), strict=True))
    same = any(was and is_now and was.number == is_now.number for was, is_now in pairs)
    texts = [["".join(near.text.split()) if near else "" for near in pair] for pair in pairs]
    return same or all(was == is_now for was, is_now in texts)


def test_over_200_pairs_no_line_is_found_in_a_wrong_place_and_few_are_lost(tmp_path: Path) -> None:
    """Each line of each pair is looked for. One that stands where it stood, or was moved, is there.

    A line that was deleted may be taken for one that no person could tell from it (`is_alike`).
    """
    wrong, there, lost = [], 0, 0
    for seed in range(SEED, SEED + PAIRS):
        program = Program(seed)
        texts = program.texts(tmp_path)
        left = {one.number for one in (*program.new, *program.other)}
        for number, one in enumerate(program.old, start=1):
            found = find_again(texts_of(program.old), number, number, texts)
            is_telling = len(one.text.strip()) > 6 and one.text not in COMMON
            there += one.number in left and is_telling
            lost += one.number in left and is_telling and found is None
            if found is None:
                continue
            [now] = program.now(found)
            lines = program.new if found.file == "a.py" else program.other
            if now.number != one.number and not is_alike(program.old, one, lines, now):
                wrong.append((seed, number, one, now))
    assert wrong == []
    assert there > 1000
    assert lost <= there // 10


def found(old: str, new: str, line: int, end: int = 0) -> tuple[int, int] | None:
    """Return where lines of one text are in another, in which all lines are new ones."""
    text = Text("a.py", new.split(), frozenset(range(1, len(new.split()) + 1)))
    at = find_again(old.split(), line, end or line, [text])
    return (at.line, at.end) if at else None


@pytest.mark.parametrize(
    ("old", "new", "line", "place"),
    [
        ("alpha beta gamma", "new alpha beta gamma", 2, (3, 3)),
        # Beside it is nothing that was there.
        ("alpha beta gamma", "new beta other", 2, None),
        # Two would do.
        ("alpha beta gamma", "alpha beta gamma alpha beta gamma", 2, None),
        ("alpha } beta gamma", "} alpha } beta other", 2, (3, 3)),
        ("alpha } beta", "} alpha new } beta", 2, None),
        # A bracket says nothing of the bracket beside it.
        ("( } )", "new ( } )", 2, None),
        ("alpha beta gamma", "", 2, None),
        ("say('x') beta gamma", 'say("x") beta other', 1, (1, 1)),
    ],
)
def test_a_line_that_was_moved_is_known_by_its_text_and_its_neighbours(
    old: str, new: str, line: int, place: tuple[int, int] | None
) -> None:
    assert found(old, new, line) == place


def test_lines_that_are_no_longer_together_are_gone(tmp_path: Path) -> None:
    old = ["first_one", "second_two", "third_three", "fourth_four"]
    new = ["first_one", "second_two", "between", "third_three", "fourth_four"]
    said = git_says(tmp_path, old, new)
    text = Text("a.py", new, said.added, said.kept)
    assert find_again(old, 1, 2, [text]) == Found("a.py", 1, 2)
    assert find_again(old, 3, 4, [text]) == Found("a.py", 4, 5)
    assert find_again(old, 2, 3, [text]) is None


def test_what_git_keeps_between_the_hunks_of_a_patch_keeps_its_number(tmp_path: Path) -> None:
    old = [f"line_{n}" for n in range(40)]
    new = ["first", *old[:20], *old[21:], "last"]
    said = git_says(tmp_path, old, new)
    assert said.added == {1, 41}
    assert said.kept == {n: n + 1 for n in range(1, 21)} | {n: n for n in range(22, 41)}


@pytest.mark.parametrize(
    ("before", "quote", "after", "place"),
    [
        (["b1", "b2"], ["quoted"], ["after"], (3, 3)),
        (["b1"], ["quoted"], ["after"], None),  # nowhere in this order
        (["b2"], ["quoted"], [], (3, 3)),
        ([], ["}"], [], None),
        ([], ["twice_there"], [], None),
    ],
)
def test_lines_of_which_only_a_quote_is_left_are_found_where_all_of_it_stands_once(
    before: list[str], quote: list[str], after: list[str], place: tuple[int, int] | None
) -> None:
    lines = ["b1", "b2", "quoted", "after", "twice_there", "}", "twice_there"]
    assert find_quoted(before, quote, after, lines) == place


def test_in_a_file_of_50_000_equal_lines_none_is_found_and_nothing_hangs() -> None:
    size = 50_000
    text = Text("a.py", ["same line"] * size, frozenset(range(1, size + 1)))
    assert find_again(["same line"] * size, 25_000, 25_000, [text]) is None
