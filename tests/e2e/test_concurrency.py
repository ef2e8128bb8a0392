"""Many processes change one plan at once: nothing is lost, nothing is done twice (PL-11, 90).

Sixteen processes make twelve changes each; in the short form eight make five.
"""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from state.database import Database
from state.store import load_plan
from state.validator import check_plan
from tests.e2e.drive import Host
from tests.forms import LONG
from tests.kills import all_at_once

if TYPE_CHECKING:
    from tests.conftest import Repository
    from tests.journey import Answer

pytestmark = [pytest.mark.requirement("PL-11"), pytest.mark.slow]

PROCESSES, CHANGES = (16, 12) if LONG else (8, 5)
MOST_TRIES = 200


class Worker:
    """One caller that makes its changes one after the other, and knows what must come of them."""

    def __init__(self, number: int, host: Host) -> None:
        self.number = number
        self.host = host
        self.added: list[str] = []
        self.removed: list[str] = []
        self.expected: dict[str, tuple[str, int]] = {}
        self.titles: list[tuple[int, str]] = []

    def work(self) -> Worker:
        """Make the changes; return what is known then, for another process."""
        # A quarter of the workers fight for one entity as well; every lost round is one more start.
        last = self.set if self.number % 4 else self.set_title
        kinds = (self.add, self.set, self.add, self.remove, last)
        for change in range(CHANGES):
            kinds[(change + self.number) % len(kinds)](f"{self.number}-{change}")
        del self.host
        return self

    def add(self, text: str) -> None:
        (line,) = applied(self.host.planner("plan", "add", "risk", "--risk", text))
        _, entity, version = line.split()
        assert version == "v1"
        self.added.append(entity)
        self.expected[entity] = (text, 1)

    def set(self, text: str) -> None:
        if not self.expected:
            self.add(text)
            return
        entity, (_, version) = next(reversed(self.expected.items()))
        words = ("plan", "set", entity, "--version", str(version), "--risk", text)
        assert applied(self.host.planner(*words)) == [f"set {entity} v{version + 1}"]
        self.expected[entity] = (text, version + 1)

    def remove(self, text: str) -> None:
        if not self.expected:
            self.add(text)
            return
        entity, (_, version) = self.expected.popitem()
        words = ("plan", "remove", entity, "--version", str(version))
        assert applied(self.host.planner(*words)) == [f"remove {entity} v{version}"]
        self.removed.append(entity)

    def set_title(self, text: str) -> None:
        """Set what all workers set, with the version that the last refusal showed."""
        version = 1
        for _ in range(MOST_TRIES):
            words = ("plan", "set", "overview", "--version", str(version), "--title", text)
            block = self.host.planner(*words)
            if block.code == 0:
                self.titles.append((version + 1, text))
                return
            (problem,) = block.block
            assert problem.get("kind") == "conflict", block.text
            found = re.search(r"allowed: version (\d+)", problem.text or "")
            assert found is not None, block.text
            version = int(found.group(1))
        raise AssertionError("the version was stale every time")


def applied(block: Answer) -> list[str]:
    assert block.code == 0, block.text
    return block.data("applied").splitlines()


def test_changes_of_many_processes_are_all_stored_with_ids_of_their_own(
    project: Repository,
) -> None:
    host = Host(project.path)
    host.to("design")
    workers = all_at_once([Worker(number, host).work for number in range(PROCESSES)])

    plan = load_plan(f"{host.state_dir}/plan.json")
    found = {r.id: (r.risk, r.version) for r in plan.planning_context.known_risks}
    expected: dict[str, Any] = {}
    for worker in workers:
        expected |= worker.expected
    added = [entity for worker in workers for entity in worker.added]
    assert found == expected
    assert sorted(added) == [f"R-{n:03d}" for n in range(1, len(added) + 1)]
    assert plan.counters["R"] == len(added)

    titles = sorted(title for worker in workers for title in worker.titles)
    assert [version for version, _ in titles] == list(range(2, len(titles) + 2))
    assert (plan.overview.version, plan.overview.title) == titles[-1]

    made = sum(len(w.added) + len(w.removed) + len(w.titles) for w in workers)
    sets = sum(version - 1 for w in workers for _, version in w.expected.values())
    assert made + sets <= PROCESSES * CHANGES
    assert made >= PROCESSES * CHANGES // 2
    assert check_plan(plan) == []
    assert not [n for n in os.listdir(host.state_dir) if n.endswith(".planner-tmp")]
    database = Database(str(project.path / ".planner" / "planner.db"))
    assert database.check() == []
    database.close()


@pytest.mark.requirement("PL-12")
def test_the_same_batch_from_many_processes_at_once_is_done_once(project: Repository) -> None:
    """A batch that is repeated after a lost answer, or sent twice, is not done again."""
    host = Host(project.path)
    host.to("design")
    edits = [{"op": "add", "kind": "risk", "fields": {"risk": str(n)}} for n in range(3)]
    host.write_answer("batch.json", edits)
    words = ("plan", "batch", "--file", "answers/batch.json")
    blocks = all_at_once([partial(host.planner, *words)] * 6)
    assert {block.text for block in blocks} == {blocks[0].text}
    assert applied(blocks[0]) == ["add R-001 v1", "add R-002 v1", "add R-003 v1"]
    plan = load_plan(f"{host.state_dir}/plan.json")
    assert [r.risk for r in plan.planning_context.known_risks] == ["0", "1", "2"]
