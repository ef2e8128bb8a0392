"""Pydantic models of a plan's reasons: decisions, alternatives, constraints, risks, knowledge."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from state.fields import DecisionId, Model, Version


class Decision(Model):
    """A choice with its reasons; `reasoning_chain` is steps joined by `->` or newlines."""

    id: DecisionId
    version: Version = 1
    decision: str
    reasoning_chain: str = ""
    timestamp: str | None = None


class RejectedAlternative(Model):
    """An alternative that was considered and not chosen, and why."""

    id: Annotated[str, Field(pattern=r"^RA-[0-9]{3,15}$")]
    version: Version = 1
    alternative: str
    rejection_reason: str
    decision_ref: DecisionId | None = None


class Constraint(Model):
    """A limit that the plan keeps, and who set it."""

    id: Annotated[str, Field(pattern=r"^C-[0-9]{3,15}$")]
    version: Version = 1
    type: str = ""
    description: str
    source: str = ""


class Risk(Model):
    """What may go wrong and what the plan does about it; `anchor` is a `file:function`."""

    id: Annotated[str, Field(pattern=r"^R-[0-9]{3,15}$")]
    version: Version = 1
    risk: str
    mitigation: str = ""
    anchor: str | None = None
    decision_ref: DecisionId | None = None


class PlanningContext(Model):
    """The reasons of a plan: decisions, rejected alternatives, constraints and risks."""

    decision_log: tuple[Decision, ...] = ()
    rejected_alternatives: tuple[RejectedAlternative, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    known_risks: tuple[Risk, ...] = ()


class Figure(Model):
    """A picture drawn in characters, with its explanation."""

    diagram_ascii: str = ""
    description: str = ""


class Invariant(Model):
    """What must stay true of the code."""

    id: Annotated[str, Field(pattern=r"^INV-[0-9]{3,15}$")]
    version: Version = 1
    text: str


class Tradeoff(Model):
    """A tradeoff: what was given up for what."""

    id: Annotated[str, Field(pattern=r"^TO-[0-9]{3,15}$")]
    version: Version = 1
    text: str


class InvisibleKnowledge(Model):
    """Knowledge that the code alone does not show, such as invariants and tradeoffs."""

    version: Version = 1
    architecture: Figure = Figure()
    data_flow: Figure = Figure()
    structure_rationale: str = ""
    invariants: tuple[Invariant | str, ...] = ()
    tradeoffs: tuple[Tradeoff | str, ...] = ()
