from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from developer.verify.process import Runner, hides_failure
from shared.resources import quote
from shared.sandbox import is_available
from tests.developer.verify.conftest import DEADLINE_S, Site, gone, until

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("PL-34")


def test_the_time_limit_ends_the_whole_group(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    runner = Runner(str(tmp_path), str(tmp_path / "tmp"), 0.5)
    log = str(tmp_path / "log")
    ended = runner.run("(trap '' TERM; echo $$ > child; cat fifo) & cat fifo", log)
    assert ended.out_of_time
    assert ended.code == 124
    assert "time limit" in ended.tail()
    assert gone(int((tmp_path / "child").read_text()))


@pytest.mark.requirement("VR-3")
@pytest.mark.parametrize(
    ("command", "hides"),
    [
        ("pytest a && pytest b", False),
        ("pytest a; pytest b", True),
        ("pytest a || true", True),
        ("pytest a\npytest b", True),
        ("pytest a & pytest b", True),
        ("for f in a b; do pytest $f; done", True),
        ("cd a && pytest -k 'a or b; c' 2>&1;\n", False),
        ("set -e; pytest a; pytest b", False),
        ("python3 - <<E\nx; y\nE", False),
        ("python3 - <<E\nx\nE\nls", True),
        ("pytest a &", True),
        ("pytest a &> log # b; c", False),
        ("pytest $(ls a; ls b)", True),
        ("pytest 'a", False),
    ],
)
def test_a_command_that_hides_the_failure_of_a_part_is_known(command: str, *, hides: bool) -> None:
    assert hides_failure(command, pipes=False) is hides


def test_a_pipeline_hides_a_failure_where_the_shell_does_not_tell() -> None:
    assert hides_failure("pytest | tail", pipes=True)
    assert not hides_failure("pytest | tail", pipes=False)


def test_what_a_command_leaves_in_the_background_is_ended(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    runner = Runner(str(tmp_path), str(tmp_path / "tmp"), DEADLINE_S)
    ended = runner.run("cat fifo & echo $! > child", str(tmp_path / "log"))
    assert ended.passed
    until(lambda: gone(int((tmp_path / "child").read_text())))


def test_commands_see_no_git_or_planner_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GIT_DIR", "PLANNER_PYTHON", "PLAN_AGENT_ROLE"):
        monkeypatch.setenv(name, "x")
    runner = Runner(str(tmp_path), str(tmp_path / "tmp"), DEADLINE_S)
    log = tmp_path / "log"
    assert runner.run("env; test ! -t 0; cat; echo in $TMPDIR > $TMPDIR/x", str(log)).passed
    text = log.read_text()
    found = [line for line in text.splitlines() if line.startswith(("GIT_", "PLAN"))]
    assert found == [f"GIT_CEILING_DIRECTORIES={tmp_path.parent}"]
    assert f"TMPDIR={tmp_path / 'tmp'}" in text
    assert not (tmp_path / "tmp").exists()


@pytest.mark.skipif(not is_available(), reason="this kernel has no Landlock")
def test_commands_write_in_the_worktree_and_where_the_configuration_says(site: Site) -> None:
    mine = site.repo.path / "mine"
    cache = site.repo.path / "cache"
    cache.mkdir()
    job = site.job(f"echo x > {quote(str(mine))}", "echo x > ../../repo/cache/x", write=["cache"])
    answer = site.done(job)
    denied, allowed = answer.results
    assert "[verify] write" in answer.notes[0]
    assert not mine.exists()
    assert "ermission denied" in denied.tail
    assert (denied.baseline, denied.outcome) == ("fail", "known-failure")
    assert (cache / "x").exists()
    assert allowed.outcome == "pass"


def test_output_that_is_no_text_is_shown_as_far_as_it_is(site: Site) -> None:
    job = site.job(r"printf 'caf\351 \033[31mred\033[0m\n'; exit 1")
    assert site.done(job).results[0].tail == "caf\ufffd red"


def test_only_the_end_of_a_long_output_is_shown(site: Site) -> None:
    job = site.job("yes line | head -n 100000; echo the end; exit 1")
    tail = site.done(job).results[0].tail
    assert len(tail) <= 3000
    assert tail.endswith("the end")
