"""Define what the models of plan.json share: base class, id patterns, number types, literals."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from state.phases import PHASES
from state.plain_json import LARGEST_INTEGER

if TYPE_CHECKING:
    from state.phases import Phase as Phase  # noqa: PLC0414 – exported
else:
    Phase = Literal[PHASES]

# To find plugins pydantic would search every installed package, for a tenth of the time that an
# edit of the plan takes. We have none, and what somebody else installed is not to run here.
_loader = ModuleType("pydantic.plugin._loader")
setattr(_loader, "get_plugins", tuple)  # noqa: B010 – a module has no such attribute to assign to
sys.modules.setdefault(_loader.__name__, _loader)

DecisionId = Annotated[str, Field(pattern=r"^DL-[0-9]{3,15}$")]
MilestoneId = Annotated[str, Field(pattern=r"^M-[0-9]{3,15}$")]
IntentId = Annotated[str, Field(pattern=r"^CI-[0-9]{3,15}$")]
CheckpointId = Annotated[str, Field(pattern=r"^CP-[0-9]{3,15}$")]
RemarkId = Annotated[str, Field(pattern=r"^RM-[0-9]{3,15}$")]
ObjectId = Annotated[str, Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]
FileMode = Literal["100644", "100755", "120000"]
Severity = Literal["MUST", "SHOULD", "COULD"]
TaskOrigin = Literal["request", "strategy", "requirements"]
# Strict, so that "3", 3.0 and true are refused here as the published JSON Schema refuses them.
Natural = Annotated[int, Field(strict=True, ge=0, le=LARGEST_INTEGER)]
Count = Annotated[int, Field(strict=True, ge=1, le=LARGEST_INTEGER)]
Version = Count
Number = Annotated[int, Field(strict=True, ge=0, le=LARGEST_INTEGER)]


class Model(BaseModel):
    """The base class of all parts of a plan: immutable, no field that the schema does not name."""

    # Deferred: the plan's validator holds those of its parts, and most are never used alone.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def overlap(one: str, other: str) -> bool:
    """Return whether two places in the plan's JSON are the same or one contains the other."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and long[len(short) : len(short) + 1] in ("", ".", "[")
