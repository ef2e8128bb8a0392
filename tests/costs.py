"""pytest plugin: what tests cost in processor seconds, those of the processes they start included.

`--costs` prints the most costly tests and the sums by room. `--write-durations` keeps the costs in
durations.json, from which `--quick` takes the cheap tests: what is not in that file costs less than
`CHEAP_S`, or is newer than it and runs. A test marked `quick` runs there whatever it costs: it goes
through much of the product that nothing cheap reaches. What several tests share, a fixture of a
module or session, is a cost of each of them in equal parts: whichever runs first has it made. If
some are too dear for `--quick`, the others bear their parts there. Works in one process and under
xdist.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections import Counter, defaultdict
from statistics import mean
from typing import TYPE_CHECKING

import pytest

from state.files import write_atomic
from tests.forms import LONG

if TYPE_CHECKING:
    from collections.abc import Generator

DURATIONS = os.path.join(os.path.dirname(__file__), "durations.json")
CHEAP_S = 0.05
# A test that waits leaves its processor to others, and yet makes `--quick` take longer.
WAITING = 0.2
MARK = "quick"
# In the long form what costs as much begins first: last, it would keep one worker, others idle.
FIRST_S = 2.0
MOST = 10
_KEY = "costs"

Durations = dict[str, dict[str, float]]  # file → function → seconds of one case


class Costs:
    """Measures each test, and collects what the workers have measured."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}  # test → processor seconds
        self.clock_s: dict[str, float] = {}  # test → seconds by the clock
        self._shared: dict[str, float] = {}  # fixture → processor seconds, of all workers
        self._users: dict[str, list[str]] = defaultdict(list)  # fixture → tests that have it made
        self._began = (0.0, 0.0)
        self._made: dict[str, float] = {}  # what was made for the test that runs, and is shared

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Begin to measure, before the fixtures of the test are made."""
        self._began = (processor_s(), time.monotonic())
        self._made = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object]
    ) -> Generator[None, object, object]:
        """Measure what a fixture costs that more than one test uses."""
        began_s, inner_s = processor_s(), sum(self._made.values())
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                inner_s = sum(self._made.values()) - inner_s
                self._made[_name(fixturedef)] = processor_s() - began_s - inner_s

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Add to a test's last report what it has cost; the report also reaches the controller."""
        report = yield
        if call.when == "teardown":
            own_s = processor_s() - self._began[0] - sum(self._made.values())
            costs = [own_s, time.monotonic() - self._began[1], self._made, _shared_by(item)]
            report.user_properties.append((_KEY, costs))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what a test has cost."""
        for key, value in report.user_properties:
            if key == _KEY and isinstance(value, list):
                self.spent[report.nodeid], self.clock_s[report.nodeid], made, shared = value
                for name, cost in made.items():
                    self._shared[name] = self._shared.get(name, 0) + cost
                for name in shared:
                    self._users[name].append(report.nodeid)

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        """Print and keep what was asked for."""
        if config.getoption("--costs"):
            terminalreporter.section("processor seconds")
            for line in lines(self._with_shared({*self.spent})):
                terminalreporter.line(line)
        if config.getoption("--write-durations"):
            known = renewed(load_durations(), self._chosen_costs(), str(config.rootpath))
            text = json.dumps(known, indent=1, sort_keys=True) + "\n"
            write_atomic(DURATIONS, text.encode())

    def _with_shared(self, users: set[str]) -> dict[str, float]:
        """Return what these tests cost if they alone run, with a part of what they share."""
        costs = {user: self.spent[user] for user in users}
        for name, cost in self._shared.items():
            sharing = [user for user in self._users[name] if user in users]
            for user in sharing:
                costs[user] += cost / len(sharing)
        return costs

    def _chosen_costs(self) -> dict[str, float]:
        """Return what each test costs with those that are not dearer, and with its waiting."""
        found: dict[str, float] = {}
        left = {*self.spent}
        while left:
            costs = self._with_shared(left)
            found |= {name: max(s, WAITING * self.clock_s[name]) for name, s in costs.items()}
            dear = durations_of({name: found[name] for name in left})
            cheap = {name for name in left if not _is_listed(name, dear)}
            if cheap == left:
                break
            left = cheap
        return found


def _name(fixture: pytest.FixtureDef[object]) -> str:
    return f"{fixture.baseid}::{fixture.argname}"


def _shared_by(item: pytest.Item) -> list[str]:
    """Return the names of the fixtures that a test shares with others."""
    used = item._fixtureinfo.name2fixturedefs if isinstance(item, pytest.Function) else {}
    return [_name(one[-1]) for one in used.values() if one[-1].scope != "function"]


def processor_s() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def lines(spent: dict[str, float]) -> list[str]:
    """Return the most costly tests, a line each, and one line with the sums by room."""
    rooms: Counter[str] = Counter()
    for name, cost in spent.items():
        rooms[room_of(name)] += round(1000 * cost)
    costly = sorted(spent.items(), key=lambda one: -one[1])[:MOST]
    sums = " · ".join(
        f"{room} {thousandths / 1000:.0f}" for room, thousandths in rooms.most_common()
    )
    return [*(f"{cost:7.1f}  {name}" for name, cost in costly), sums]


def room_of(name: str) -> str:
    """Return the folder below tests/ in which a test lies; `tests` for one in none."""
    folders = name.partition("::")[0].split("/")
    return folders[1] if len(folders) > 2 else folders[0]


def durations_of(spent: dict[str, float]) -> Durations:
    """Return the functions whose cases cost `CHEAP_S` or more on the average."""
    cases: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name, cost in spent.items():
        file, _, function = name.partition("::")
        cases[file, function.partition("[")[0]].append(cost)
    found: Durations = {}
    for (file, function), costs in cases.items():
        if mean(costs) >= CHEAP_S:
            found.setdefault(file, {})[function] = round(mean(costs), 1)
    return found


def _is_listed(test: str, durations: Durations) -> bool:
    path, _, function = test.partition("::")
    return function.partition("[")[0] in durations.get(path, {})


def _dear(test: str, durations: Durations) -> float:
    """Return what a case of a test's function costs in the short form if it is dear, else 0."""
    path, _, function = test.partition("::")
    cost = durations.get(path, {}).get(function.partition("[")[0], 0)
    return cost if cost >= FIRST_S else 0


def renewed(known: Durations, spent: dict[str, float], root: str) -> Durations:
    """Return the durations that are known after a run of some tests, or of all.

    What it did not run stays as it was, in the files that are still there.
    """
    functions = {name.partition("[")[0] for name in spent}
    found = durations_of(spent)
    for file, costs in known.items():
        left = {name: s for name, s in costs.items() if f"{file}::{name}" not in functions}
        if left and os.path.exists(os.path.join(root, file)):
            found[file] = left | found.get(file, {})
    return found


def load_durations() -> Durations:
    """Return the durations that are known; none where the file is missing."""
    if not os.path.exists(DURATIONS):
        return {}
    with open(DURATIONS, encoding="utf-8") as file:
        durations: Durations = json.load(file)
    return durations


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    parser.addoption("--costs", action="store_true", help="print what tests have cost")
    parser.addoption("--write-durations", action="store_true", help="keep it in durations.json")
    parser.addoption("--quick", action="store_true", help="run the cheap tests of durations.json")


def pytest_configure(config: pytest.Config) -> None:
    """Measure where a run asks for it; refuse to choose the cheap tests where none are known."""
    if config.getoption("--quick") and not os.path.exists(DURATIONS):
        raise pytest.UsageError(f"{DURATIONS} is missing: bin/test --long writes it")
    if config.getoption("--costs") or config.getoption("--write-durations"):
        config.pluginmanager.register(Costs(), "measured-costs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not cheap, if `--quick` asks for it; the long form begins with the dear."""
    durations = load_durations()
    if LONG:
        items.sort(key=lambda item: -_dear(item.nodeid, durations))
    if not config.getoption("--quick"):
        return
    costly = [
        item
        for item in items
        if _is_listed(item.nodeid, durations) and not item.get_closest_marker(MARK)
    ]
    config.hook.pytest_deselected(items=costly)
    left = set(costly)
    items[:] = [item for item in items if item not in left]
