"""Follows what refusals print, as a host does that knows nothing else, until a run has ended.

A stop is a refusal that names no way; a cycle is one that comes again by its own ways.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tests.journey import LAUNCHER, SHOWN, Answer, Journey, way_out, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    # A pattern of the words by which a refusal asks a person, and what the person then does.
    Act = tuple[str, Callable[[Journey, re.Match[str]], object]]


def _git(journey: Journey, found: re.Match[str]) -> None:
    journey.repository.git(*shlex.split(found[1]))


def _commit(journey: Journey, found: re.Match[str]) -> None:
    if os.path.lexists(journey.repository.path / found[1]):  # git adds nothing that is not there
        journey.repository.git("add", "--", found[1])
    journey.repository.git("commit", "--quiet", "--message", "My own work", "--", found[1])


def _unstage(journey: Journey, found: re.Match[str]) -> None:
    journey.repository.git("reset", "--quiet", "--", found[1])


def _to_a_branch(journey: Journey, _: re.Match[str]) -> None:
    journey.repository.git("switch", "--quiet", "main")


def _remove_lock(_: Journey, found: re.Match[str]) -> None:
    Path(found[1]).unlink(missing_ok=True)


# What a person does whom a refusal asks, by its words.
ACTS: tuple[Act, ...] = (
    (r"to (?:stash|take the removal back): git ([^·\n]+?)(?= ·|\n|</)", _git),
    (r'at="([^"]+)">the plan was made on work of yours', _commit),
    (r'kind="locked" at="([^"]+/\.git/[^"]+\.lock)"', _remove_lock),
    (r'at="([^"]+)">is staged as ', _unstage),
    (r"HEAD is detached|not on a branch|on no branch", _to_a_branch),
)

ENDED = ("COMPLETED", "CANCELLED")
AGAIN = "the same command again"
MOST_REFUSALS = 12
MOST_BLOCKS = 40
_COMMAND = re.compile(rf"{re.escape(SHOWN)} [^·;`\n]+")
_READS = ("step", "status", "config", "queue", "workflow", "mode status", "audit", "help")


class Walk:
    """One way through refusals; `taken` are the commands of the ways out, in order.

    Where a refusal prints several commands, `choices` says which is run, the first by default;
    `open_choices` tells afterwards how many there were each time. `acts` are what a person does
    whom a refusal asks; each is done once for the same words.
    """

    def __init__(
        self, journey: Journey, acts: Sequence[Act] = (), choices: Sequence[int] = ()
    ) -> None:
        self.journey, self.acts, self.choices = journey, (*ACTS, *acts), choices
        self.done: set[tuple[str, str]] = set()
        self.taken: list[list[str]] = []
        self.changed = False  # whether a command was accepted, so that the state may be another
        self.open_choices: list[int] = []
        self.seen: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()

    def to_the_end(self) -> None:
        """Do what the blocks ask, and lead out of each refusal, until the run has ended."""
        for _ in range(MOST_BLOCKS):
            if self.status()["status"] in ENDED:
                return
            self.one_block()
        raise AssertionError(f"the run has not ended: {self.journey.last.text}\n{self.taken}")

    def one_block(self) -> None:
        """Do what the present block asks, questions of it first; lead out if that is refused."""
        if self._answer_questions():
            self.go_on()
            return
        block = self.journey.last
        try:
            answer = self.journey.advance()
        except FileNotFoundError:  # the developer's tools find no folder to write in
            answer = self.journey.follow(block.next())
        if is_refusal(answer):
            self.lead_out(list(self.journey.calls[-1]), answer)
            self.go_on()

    def _answer_questions(self) -> bool:
        """Run the first printed answer to each question of the block; False if it has none.

        A block that starts agents has them at work first: its questions do not hold them.
        """
        block = self.journey.last
        ways = [(n.get("on", ""), n.text or "") for n in block.block.iter("next")]
        asked = [one.get("id", "") for one in block.block.iter("ask")] if not block.runs() else []
        answers = [
            next((command for on, command in ways if on.startswith(f"{name} ")), "")
            for name in asked
        ]
        for words in map(words_of, filter(None, answers)):
            answer = self.run(words)
            if is_refusal(answer):
                self.lead_out(words, answer)
        return any(answers)

    def lead_out(self, words: list[str], answer: Answer) -> Answer:
        """Run what a refusal of `words` prints, until a command is not refused; return its answer.

        A command whose input is refused with what is allowed, and no command, is given up: the
        block that the host had before says what to do. One that is to be run again, in words
        alone, is given up if that changes nothing.
        """
        again: Answer | None = None
        while is_refusal(answer) and (again is None or answer.problems != again.problems):
            assert answer.code in {1, 2}, f"{words}: {answer.text}{answer.stderr}"
            refusal = (tuple(words), tuple(text for _, text in answer.problems))
            acted = self._act(answer)
            assert acted or refusal not in self.seen, f"a cycle: {self.taken} {refusal}"
            self.seen.add(refusal)
            assert len(self.seen) < MOST_REFUSALS, f"too long: {self.taken} {refusal}"
            ways = [w for w in ways_of(answer) if w != words or w not in self.taken]
            if not ways and not acted and again is None and AGAIN in answer.text:
                again, ways = answer, [words]
            if not ways and not acted:
                assert has_allowed(answer) or self.taken, f"a stop: {refusal}"
                return answer
            if ways and (chosen := self._chosen(ways)) != words:
                words = chosen
            elif not acted:
                self._do_the_work()  # the same command: what the block asks for is done first
            self.taken.append(words)
            answer = self.run(words)
        return answer

    def run(self, words: list[str]) -> Answer:
        """Run a printed command, its placeholders filled in."""
        if words[:2] == ["exec", "accept"] and "--reason" not in words:
            words = [*words, "--reason", "It is mine."]
        if words[:2] in (["plan", "revise"], ["mode", "edit"]):
            self.journey.answers["design.json"] = []  # the plan has its milestones
        self.journey.write_answer("reason.md", "The user has read it and wants it so.")
        answer = self.journey.run(*words)
        self.changed = self.changed or not is_refusal(answer)
        return answer

    def go_on(self) -> None:
        """Have the host print the step that is due."""
        if (following := self.status()["next"]) is not None:
            self.journey.last = self.journey.run(*words_of(following))

    def status(self) -> dict[str, str | None]:
        """Return the run's status."""
        answer = self.journey.planner("status", "--json")
        assert answer.code == 0, answer.text
        found: dict[str, str | None] = json.loads(answer.text)
        return found

    def _do_the_work(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.journey.do_the_work()

    def _act(self, answer: Answer) -> bool:
        for asked, deed in self.acts:
            if (found := re.search(asked, answer.text)) and (asked, found[0]) not in self.done:
                self.done.add((asked, found[0]))
                deed(self.journey, found)
                return True
        return False

    def _chosen(self, ways: list[list[str]]) -> list[str]:
        number = len(self.open_choices)
        self.open_choices.append(len(ways))
        return ways[self.choices[number] if number < len(self.choices) else 0]


def is_refusal(answer: Answer) -> bool:
    """Return whether a command was refused, rather than having found something wrong."""
    return answer.text.startswith(("<error", '<result partial="true"'))


def ways_of(answer: Answer) -> list[list[str]]:
    """Return the words of each command that a refusal prints, those to retry first."""
    texts = [text for _, text in answer.problems]
    found = [*filter(None, map(way_out, texts))]
    found += [command for text in texts for command in _COMMAND.findall(text)]
    every = [shlex.split(command.strip()) for command in found]
    known = [words[1:] for words in every if words[:1] == [LAUNCHER]]
    return [words for number, words in enumerate(known) if words not in known[:number]]


def has_allowed(answer: Answer) -> bool:
    """Return whether each problem says what is allowed, or is about one's own words alone."""
    return all("allowed: " in text for _, text in answer.problems)


def only_reads(words: Sequence[str]) -> bool:
    """Return whether a printed command changes nothing, so that the run stays where it was."""
    return "--help" in words or " ".join(words).startswith(_READS)


def more_choices(made: Sequence[int], there_were: Sequence[int], depth: int) -> Iterator[list[int]]:
    """Yield the choices that differ from those made in their last place, at most `depth` long."""
    for number in range(len(made), min(depth, len(there_were))):
        for other in range(1, there_were[number]):
            yield [*made, *[0] * (number - len(made)), other]
