"""Begin a review of new requirements, and check what the reviewing agent has left (RL-6)."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from orchestrator.requirements import after
from orchestrator.requirements_lane import history
from orchestrator.requirements_lane.opening import at_work
from orchestrator.requirements_lane.transition import append, carry_out, prepend, remove
from orchestrator.requirements_text import decode_requirements
from shared.requirements_record import (
    COMMIT_MESSAGE,
    CURRENT,
    NEW,
    ORIGINAL,
    SUMMARY,
    TODO,
    WORKFLOW,
    write_lane,
)
from shared.resources import answer_path
from state.errors import AGAIN, Problem, Refused

if TYPE_CHECKING:
    from shared.requirements_record import Lane
    from shared.run import State


def refine(state: State, *, rewrite: bool = False) -> None:
    """Begin the review of the new requirements; the file is marked as the user's own words.

    With `rewrite` the review that has begun may write them anew, as the user has asked.
    """
    with at_work(state, "requirements refine") as facts:
        to = after(state.run.step, "refine", state.state_dir)
        if to is None:
            if rewrite and not facts.rewrite:
                facts.rewrite = True
                write_lane(state.state_dir, facts)
            return
        path = facts.path(NEW)
        text = _written(facts)
        history.read_text(facts)
        operations = []
        mark = f"{ORIGINAL}\n\n"
        if ORIGINAL not in text and CURRENT not in text:
            operations.append(prepend(path, mark))
            text = mark + text
        if facts.has(TODO):
            operations.append(remove(facts, facts.path(TODO)))
        operations.append(append(facts, history.refining()))
        # What the round before has answered must not be taken for an answer of this one.
        answers = (answer_path(state.state_dir, name) for name in (SUMMARY, COMMIT_MESSAGE))
        operations += [remove(facts, path) for path in answers if facts.files.exists(path)]
        facts.begin_round()
        facts.told = ""
        facts.review = _digest(text)
        facts.rewrite = rewrite
        carry_out(state, facts, "refine", operations, to)


def _written(facts: Lane) -> str:
    path = facts.path(NEW)
    if not facts.has(NEW):
        allowed = "ask the user to write their requirements to this file"
        raise Refused("not_found", path, "there is no such file", allowed, AGAIN)
    text = decode_requirements(facts.read(NEW), path)
    if not text.replace(ORIGINAL, "").strip():
        allowed = "ask the user to write their requirements to this file"
        raise Refused("invalid", path, "the file holds no requirements", allowed, AGAIN)
    return text


def _digest(text: str) -> str:
    return sha256(text.replace("\ufeff", "").encode()).hexdigest()


def accept(state: State, *, unchanged: bool = False) -> None:
    """Check that the review has left requirements that can be implemented, for the user to read.

    `unchanged` says that it has found nothing to change in what an earlier one has left.
    """
    with at_work(state, "requirements accept") as facts:
        if after(state.run.step, "yes", state.state_dir) is None:
            return
        facts.reviewed_as_is = unchanged
        problems = problems_of(state, facts)
        if problems:
            raise Refused.of(problems)
        facts.reviewed = True
        write_lane(state.state_dir, facts)


def problems_of(state: State, facts: Lane) -> list[Problem]:
    """Return why the reviewed requirements cannot be implemented as they are, if they cannot."""
    path = facts.path(NEW)
    text = _written(facts)
    lines = [line.strip() for line in text.split("\n")]
    retry = state.command("step", WORKFLOW)
    problems = []
    if CURRENT not in lines:
        said = f"the heading {CURRENT} does not stand alone on a line; the review has not ended"
        allowed = "have the review done, or ask the user (`requirements accept --no` starts over)"
        problems.append(Problem("invalid", path, said, allowed, retry))
    elif ORIGINAL in lines[: lines.index(CURRENT)]:
        said = f"the heading {CURRENT} stands below {ORIGINAL}, where all is ignored"
        problems.append(Problem("invalid", path, said, "put it in front of the file", retry))
    if _digest(text) == facts.review and not facts.reviewed_as_is:
        said = "the file is as it was when the review began, so a heading in it is an old one"
        allowed = "have the review done first; --unchanged where it has found nothing to change"
        problems.append(Problem("conflict", path, said, allowed, retry))
    return problems


def decline(state: State) -> None:
    """Go back to new requirements, as the user does not accept the reviewed ones yet."""
    with at_work(state, "requirements accept") as facts:
        to = after(state.run.step, "no", state.state_dir)
        if to is not None:
            carry_out(state, facts, "decline", [], to)
