"""List the phases in which a plan is made (plan-design …) and carried out (impl-code …)."""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Literal

    Phase = Literal["plan-design", "plan-code", "plan-docs", "impl-code", "impl-docs"]

PHASES: tuple[Phase, ...] = ("plan-design", "plan-code", "plan-docs", "impl-code", "impl-docs")
# Those in which the plan is made; the others follow its approval.
PLANNING_PHASES = PHASES[:3]
# Code and its documentation are written while planning (depth full), or after (depth intent).
CODE_PHASES: tuple[Phase, ...] = ("plan-code", "impl-code")
DOCS_PHASES: tuple[Phase, ...] = ("plan-docs", "impl-docs")
