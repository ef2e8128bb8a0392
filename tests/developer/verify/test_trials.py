"""What a verification says of what it does, and of how a command ended (PL-34)."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import pytest

from developer.verify.confined import Confined
from developer.verify.in_place import InPlace
from developer.verify.job import Job
from developer.verify.process import Ended, Stopped
from developer.verify.worker import AtBase, _result
from shared.config import Config
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.requirement("PL-34")

DEEDS: dict[str, Callable[[InPlace], object]] = {
    "at the base": InPlace.base,
    "on the change": lambda trials: trials.change("tree"),
    "with the changed files broken": lambda trials: trials.exercised("tree", ["a.py"]),
    "on the base with the change's tests": lambda trials: trials.without("tree", ["test_a.py"]),
}


def job(folder: Path) -> Job:
    config = Config.from_json({"verify": ["make test"]})
    return Job(str(folder), str(folder), str(folder), "base", "tree of the base", config)


@pytest.mark.parametrize("what", DEEDS)
def test_what_is_run_is_said_before_it_runs_and_ends_there_if_it_shall(
    tmp_path: Path, what: str
) -> None:
    lines = []

    def say(line: str) -> bool:
        lines.append(line)
        raise Stopped

    with pytest.raises(Stopped):
        DEEDS[what](InPlace(job(tmp_path), say))
    assert lines == [f"1 command {what}: make test"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("code", "at_base", "output", "outcome"),
    [
        (0, AtBase("pass"), "", "pass"),
        (0, AtBase("fail"), "", "pass"),
        (1, AtBase("pass"), "", "fail"),
        (1, AtBase("not-run"), "", "fail"),
        (1, AtBase("fail"), "", "known-failure"),
        (1, AtBase("fail", (3, 1)), "2 failed, 2 passed in 0.1s", "fail"),
        (1, AtBase("fail", (3, 1)), "1 failed, 3 passed in 0.1s", "known-failure"),
        (1, AtBase("fail", None), "2 failed, 2 passed in 0.1s", "known-failure"),
    ],
)
def test_a_failure_is_known_where_the_base_fails_too_with_as_many_tests(
    tmp_path: Path, code: int, at_base: AtBase, output: str, outcome: str
) -> None:
    log = tmp_path / "log"
    log.write_text(output)
    ended = Ended("make test", code, 1.0, str(log))
    found = _result(job(tmp_path), ended, at_base, "tree", None, "place")
    assert (found.outcome, found.baseline) == (outcome, at_base.outcome)


def test_without_a_place_a_refused_hook_does_not_run(tmp_path: Path) -> None:
    refused = Refused("refused", "hooks", "no person has confirmed them")
    mark = tmp_path / "ran"
    with pytest.raises(Refused) as found, tempfile.TemporaryFile() as output:
        Confined(refused=refused)._outside(
            ["touch", str(mark)], str(tmp_path), {}, str(tmp_path), output
        )
    assert found.value is refused
    assert not mark.exists()
