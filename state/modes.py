"""The modes of a milestone: which specialist carries it out, and what both sides are told (PC-5).

The one place for them. Printed steps and the hook read it, so it imports nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from state.plan_table import Milestone


class Mode:
    """One mode: specialist, badge, guidance for who plans and for who carries out, usual tools.

    A mode that does not write needs no files in the plan; what its agent finds out is its result.
    The tools count where a milestone names none of its own.
    """

    __slots__ = ("allowed", "denied", "guidance", "icon", "planner_guidance", "title", "writes")

    def __init__(  # noqa: PLR0913 – a row of the table
        self, title: str, icon: str, planner_guidance: str, guidance: str,
        allowed: tuple[str, ...] = (), denied: tuple[str, ...] = (), *, writes: bool = True,
    ) -> None:  # fmt: skip
        self.title, self.icon = title, icon
        self.planner_guidance, self.guidance = planner_guidance, guidance
        self.allowed, self.denied, self.writes = allowed, denied, writes


MODES = {
    "code": Mode(
        "Implementation Specialist", "⌨", "writes code together with its tests",
        "Write as the code around it is written, with tests that fail without the change.",
    ),
    "test": Mode(
        "Validation Specialist", "✔", "adds tests or coverage; changes no behaviour",
        "Write tests that fail without what they test. Leave other code as it is: a bug that you "
        "find is a failure to hand in.",
    ),
    "research": Mode(
        "Research Strategist", "⌕", "answers a question that later milestones need; plans no files",
        "Read and search; change nothing. Write into `output` what you found, with the files and "
        "lines that show it, and what you could not find out: later agents read only that.",
        denied=("write",), writes=False,
    ),
    "design": Mode(
        "Design Architect", "✎", "decides an approach and writes it into a file of the project",
        "Compare at least two ways with their costs, choose one and say why. Write no code.",
    ),
    "docs": Mode(
        "Documentation Specialist", "☰", "changes README, comments, docstrings or guides only",
        "Describe the code as it is; check each name, command and example. Change no behaviour.",
    ),
    "run": Mode(
        "Execution Specialist", "⚙", "runs commands and reports; plans no files",
        "Run only what the milestone names. Write into `output` each command with its exit code "
        "and the lines that matter; an unexpected exit code is a failure to hand in.",
        denied=("write",), writes=False,
    ),
}  # fmt: skip


def tools_of(milestone: Milestone) -> tuple[set[str], set[str]]:
    """Return which tools the agent of a milestone may use and may not, in lower case.

    No tool in the first set means that all are allowed.
    """
    allowed, denied = milestone.allowed_tools, milestone.denied_tools
    # What is to write a file may write, whatever its mode.
    if not allowed and not denied and not milestone.files:
        mode = MODES[milestone.mode]
        allowed, denied = mode.allowed, mode.denied
    return {one.casefold() for one in allowed}, {one.casefold() for one in denied}
