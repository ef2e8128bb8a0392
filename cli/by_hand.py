"""Provide the dependencies of a command that is run by hand, as `python -m cli.plan`."""

from __future__ import annotations

import sys

from cli import answers
from shared.builders import error_block
from shared.dependencies import ensure
from state.errors import Refused


def provide() -> None:
    """Put the planner's packages on the path; end with what is wrong where that fails."""
    try:
        ensure()
    except Refused as refusal:
        answers.choose(sys.argv[1:])
        answers.write(error_block(refusal.problems, refusal.kept))
        raise SystemExit(1) from None
