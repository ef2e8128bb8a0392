"""Every command at every point of a run: where it is refused, what is printed leads on.

In the short form tests/e2e/machine.py draws from these commands.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey
from tests.kills import Kept
from tests.ways_out import Walk, is_refusal, more_choices, only_reads

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

COMMANDS = """\
auto off
auto on
config confirm 0123456789ab
context add-quote The\\ user\\ said\\ so.
decide CP-001 a
decide CP-001 --file answers/missing.md
context ask --file answers/broken.json
context ask --file answers/questions.json
context set --file answers/broken.json
context set --file answers/context.json
context set --file answers/missing.json
decide CP-001 a
events --follow
exec accept --file src/a.py --reason mine
exec apply
exec ask --milestone M-001 --attempt 1 --file answers/questions.json
exec commit
exec deviate M-001 --file ../out --reason why
exec deviate M-001 --file src/b.py --reason why
exec deviate M-009 --file src/b.py --reason why
exec done --milestone M-001 --attempt 1 --file answers/missing.json
exec done --milestone M-001 --attempt 1 --file answers/questions.json
exec limited M-001
exec next
exec reconcile --file answers/questions.json
exec run
approve 000000000000
approve 00
mode edit Once\\ more
mode edit --
mode enter Another\\ plan
mode rebase
mode reject --reason no
mode step 1 done
mode step 1 start
mode submit
pause
plan add decision --decision A
plan add decision --decision A --reasoning-chain a\\ ->\\ b
plan add intent --milestone M-009 --file src/a.py --behavior x
plan add milestone --name X --file ../out
plan add milestone --name X --version 3
plan batch --file answers/broken.json
plan batch --file answers/context.json
plan batch --file answers/missing.json
plan capture
plan check --phase plan-code
plan check --phase plan-docs
plan diff M-009
plan done --phase impl-code
plan done --phase impl-docs
plan done --phase plan-code
plan done --phase plan-design
plan done --phase plan-docs
plan freeze
plan import answers/design.json
plan import answers/missing.json
plan list nothing
plan remove CI-009 --version 1
plan remove M-001 --version 1
plan revise
plan set M-001 --version 99 --name X
plan set M-009 --version 1 --name X
plan show M-009
plan verify
plan verify --use 7
prune --older-than soon
qr accept qs-001 --phase plan-code --reason mine
qr add --phase plan-code --file answers/broken.json
qr gate --phase plan-code --verdict pass
qr gate --phase plan-design --verdict fail
qr list --phase plan-code
qr set qa-001 --phase plan-code --status FAIL --finding x
qr set --phase plan-code --file answers/broken.json
queue next
queue remove Q-009
recall
requirements complete
requirements history
requirements refine
requirements startup --yes
resume
resume --take-over
retry M-001
retry M-009
review
runnable
start Another --depth deep
start Another --base head --state-dir nowhere
step executor
step executor 9
step nothing
step planner 11
step planner 99
step requirements
strategy context --file answers/missing.md
strategy set --file answers/broken.json
strategy show
strategy verdict --file answers/broken.json
template save A
template use missing
tree chmod +x nowhere
tree chmod =x src/a.py
tree mv nowhere there
tree mv src/a.py README.md
tree mv src src/inside
tree rm ../out
tree restore nowhere
tree rm nowhere
tree run nothing
undo
validate
validate missing.json
validate --commit nowhere
validate --range a..b
workflow check nothing
workflow run nothing
"""
PLACED = ("queue", "recall", "requirements", "template", "validate", "workflow", "prune", "start")
POINTS = ("context", "design", "code", "submitted", "approved", "applied", "committed", "paused",
          "cancelled", "writing")  # fmt: skip
MOST_CHOICES = 2


def at(make_repo: Callable[..., Repository], point: str) -> Journey:
    """Return a run at a point, with a file of answers that no command understands."""
    journey = Journey(make_repo("project", {**FILES, "src/b.py": "b = 1\n"}))
    if point == "writing":
        journey.start("--depth", "intent")
        journey.to("writing")
    elif point in {"paused", "cancelled"}:
        journey.to("code" if point == "paused" else "approved")
        assert journey.planner("pause" if point == "paused" else "cancel").code == 0
    else:
        journey.to(point)
    journey.write_answer("broken.json", "{nothing")
    journey.write_answer("questions.json", journey.answers["questions.json"])
    return journey


def words_at(journey: Journey, line: str) -> list[str]:
    """Return the words of a command of the table, for the run where it takes one."""
    words = shlex.split(line)
    if words[0] in PLACED or "--state-dir" in words:
        return words
    return [*words, "--state-dir", journey.state_dir]


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.requirement("PL-31")
@pytest.mark.parametrize("point", POINTS)
def test_a_command_at_the_wrong_moment_is_refused_with_a_way_that_leads_on(
    make_repo: Callable[..., Repository], point: str
) -> None:
    """Every choice among the printed ways is taken; each way that is accepted is followed once."""
    journey = at(make_repo, point)
    kept, block, answers = Kept(journey.repository), journey.last, journey.answers
    wrong: list[str] = []
    followed: set[str] = set()
    for line in COMMANDS.splitlines():
        every: list[list[int]] = [[]]
        for choices in every:
            journey.last, journey.answers = block, {**answers}
            walk = Walk(journey, choices=choices)
            try:
                follow(walk, words_at(journey, line), followed)
            except AssertionError as error:
                wrong.append(f"{line}: {str(error)[:1500]}")
            every += more_choices(choices, walk.open_choices, MOST_CHOICES)
            if walk.changed:
                kept.restore()
    assert not wrong, "\n\n".join(wrong)


def follow(walk: Walk, words: list[str], followed: set[str]) -> None:
    """Run a command; if it is refused, follow what it prints until it is accepted, or to the end.

    To the end goes the first walk that is accepted by a command that changes something.
    """
    answer = walk.run(words)
    if not is_refusal(answer) or is_refusal(walk.lead_out(words, answer)):
        return
    last = walk.taken[-1]
    if not only_reads(last) and " ".join(last) not in followed:
        followed.add(" ".join(last))
        walk.go_on()
        walk.to_the_end()
