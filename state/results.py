"""Pydantic models of what a plan records: verify commands' results, reviews, last edits."""

from __future__ import annotations

from typing import Literal

from pydantic import StrictBool

from state.fields import Count, Model, Number, ObjectId, Phase, Severity


class VerifyResult(Model):
    """The result of a verify command; `exercised` is false if it passes on broken files too."""

    command: str
    # Of the same command on the base.
    baseline: Literal["pass", "fail", "not-run"]
    # `known-failure` fails on the base as well.
    outcome: Literal["pass", "fail", "known-failure"]
    # The tree that the command ran on.
    tree: ObjectId
    exercised: StrictBool | None = None
    # Whether the change's tests pass on the base's code as well; None where that is not known.
    green_without: StrictBool | None = None
    # In the place, with the project's own environment, or in the scratch worktree.
    where: Literal["place", "worktree"] = "worktree"
    seconds: Count | None = None
    # The project's own, one of the candidates that were found, or a command of the assistant.
    chosen_by: Literal["project", "candidate", "assistant"] = "project"
    # Tests, where the runner's own summary says how many.
    passed: Number | None = None
    failed: Number | None = None
    # The same of its run on the base.
    base_passed: Number | None = None
    base_failed: Number | None = None
    # Commands found before it that cannot run on the base, each with what is missing.
    passed_over: tuple[str, ...] = ()
    # What was missing where it could run neither on the base nor on the change; else ''.
    lacks: str = ""


class OpenItem(Model):
    """A point of a review that failed but did not block the plan."""

    id: str
    check: str
    severity: Severity
    finding: str
    # The reason why a person accepted it; '' where nobody did.
    accepted: str = ""


class Answer(Model):
    """A question of a review and who answered it: an agent started for it, or the host itself."""

    check: str
    scope: str
    severity: Severity
    status: Literal["PASS", "FAIL"]
    by: Literal["agent", "assistant"]
    # What a PASS named to show it; of acceptance criteria a line for each.
    evidence: str = ""
    # What the reviewer tells the person: an exception, a limit, a doubt.
    note: str = ""


class Unasked(Model):
    """A question that a review left out, of what, and why; without `scopes` of the whole plan."""

    check: str
    scopes: tuple[str, ...] = ()
    reason: str
    # The plan leads to this question, and only the limit of a small plan leaves it out.
    triggered: StrictBool = False


class Unproven(Model):
    """Something said in a plan that its change does not bear out, as the program found (SD-1)."""

    # The statement's or entry's id; else the field of the plan that says it, or `request`.
    id: str
    # One plain sentence that can be read alone.
    text: str


class Outcome(Model):
    """How a phase such as plan-code passed; `tree` is the git tree of its code, null before code.

    `review` says how much review was due, `judged` which kinds of questions were answered,
    `answers` each question with who answered it, and `unasked` which were left out. `alone` is
    read, and never written: it says for plans without `answers` that the host answered some.
    """

    phase: Phase
    iteration: Count
    # Who decided: a script where nothing blocked and nobody was due, or the reviewers' verdicts.
    by: Literal["script", "reviewer", "host", "person"]
    review: Literal["full", "small", "none"] = "none"
    judged: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()
    unasked: tuple[Unasked, ...] = ()
    alone: StrictBool = False
    tree: ObjectId | None = None
    # Why the verdict differs from the computed one.
    reason: str = ""
    open: tuple[OpenItem, ...] = ()


class Operation(Model):
    """The last batch of edits, kept so that repeating it after a crash changes nothing more."""

    # The caller's name for the batch.
    id: str
    # Of each edit: what it did, the id, the new version.
    applied: tuple[tuple[str, str, Count], ...]
