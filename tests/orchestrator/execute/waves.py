"""Runs at depth intent whose approved milestones are about to be written, for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared.run import open_state
from state.files import read_json, write_json
from tests.journey import words_of
from tests.larger_tasks import larger

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shared.run import State
    from tests.conftest import Repository
    from tests.journey import Answer, Journey

    Repositories = Callable[..., Repository]

NEW = "def f(x):\n    return x + 2\n"


def intents(
    make_repo: Repositories, after: Sequence[Sequence[int]] = ((), ()), **fields: Any  # noqa: ANN401
) -> Journey:  # fmt: skip
    """Return a run with intents to approve; `after` has what each milestone depends on.

    `fields` are put into the first milestone.
    """
    journey = larger(make_repo, "waves", [1] * len(after), {})
    journey.review = "full"
    edits = journey.answers["design.json"]
    milestones = [e["fields"] for e in edits if e.get("kind") == "milestone"]
    for milestone, numbers in zip(milestones, after, strict=True):
        milestone["depends_on"] = [f"$m{n}" for n in numbers]
    milestones[0].update(fields)
    journey.start("--depth", "intent")
    return journey


def at_once(journey: Journey, most: int) -> None:
    """Let as many agents of the run work at once."""
    path = f"{journey.state_dir}/config.json"
    config = read_json(path)
    config["config"]["max_parallel_steps"] = most
    write_json(path, config)


def writing(
    make_repo: Repositories, after: Sequence[Sequence[int]] = ((), ()), **fields: Any  # noqa: ANN401
) -> Journey:  # fmt: skip
    """Return a run whose first wave of agents has been started, at most two at once."""
    journey = intents(make_repo, after, **fields)
    at_once(journey, 2)
    return journey.to("writing")


def opened(journey: Journey) -> State:
    """Open the run as a command does."""
    return open_state(journey.state_dir, "/")


def milestone_agent(journey: Journey, name: str) -> Answer:
    """Return what the agent of a milestone reads."""
    return journey.planner("step", "exec-implement", "--milestone", name)


def hand_in(journey: Journey, name: str, files: dict[str, str], **result: Any) -> Answer:  # noqa: ANN401
    """Be the agent of a milestone that writes files and hands in; return the answer."""
    task = milestone_agent(journey, name)
    journey.edit_worktree(dict(files), f"milestones/{name}")
    journey.write_answer(task.reads(), result or {"status": "success", "output": "done"})
    return journey.call(*words_of(task.next("done")))


def status_of(journey: Journey) -> dict[str, str]:
    """Return the status of each milestone."""
    state = opened(journey)
    return {name: row.status for name, row in state.database.progress(state.run).items()}
