"""`planner demo`: the whole way for real, and a host that knows nothing but printed blocks."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

import pytest

from cli.demo.host import Host
from shared.workflow import discover_workflows
from state.errors import Refused

if TYPE_CHECKING:
    from tests.conftest import Golden

ROOT = Path(__file__).resolve().parents[2]
HOST = ROOT / "cli" / "demo" / "host.py"
NOT_COPIED = (".git", ".deps", ".hypothesis", ".*_cache", "__pycache__", "tests")


class Played(NamedTuple):
    """A demo that has been run: its answer, and the folders that it was given."""

    answer: subprocess.CompletedProcess[str]
    home: Path
    temporary: Path
    kept: Path


def play(folder: Path, *options: str) -> Played:
    """Run the demo of a copy of our checkout, every folder with a space, with an empty home."""
    copy = folder / "a checkout" / "planner"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
    (copy / ".deps").symlink_to(ROOT / ".deps")
    home, temporary, elsewhere = (
        folder / "my home",
        folder / "temporary files",
        folder / "else where",
    )
    for made in (home, temporary, elsewhere):
        made.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "PLANNER_PYTHON": sys.executable,
        "PLAN_AGENT_ROLE": "developer",
        "GIT_DIR": str(folder / "nowhere"),
    }
    answer = subprocess.run(
        [str(copy / "bin" / "planner"), "demo", *options],
        cwd=elsewhere,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Played(answer, home, temporary, elsewhere / "kept")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return play(tmp_path_factory.mktemp("demo"), "--keep", "kept", "--json")


def without_chance(text: str) -> str:
    """Return `text` without what differs from one run to the next, in the same width."""
    text = re.sub(r"\b[0-9a-f]{12}…", "0123456789ab…", text)
    text = re.sub(r"…/\d{8}-[0-9a-f]{6}\.json", "…/20260102-abcdef.json", text)
    text = re.sub(r"(?m)^ *\d+\.\d s", "  0.5 s", text)
    return re.sub(r"in \d+\.\d s", "in 9.8 s", text)


@pytest.mark.slow
def test_the_demo_ends_in_a_proof_and_tells_how(played: Played, golden: Golden) -> None:
    answer = played.answer
    assert answer.returncode == 0, answer.stderr
    golden("cli/demo.txt", without_chance(answer.stderr + "\n" + answer.stdout))


@pytest.mark.slow
def test_the_demo_leaves_nothing_behind(played: Played) -> None:
    assert list(played.home.iterdir()) == []
    assert list(played.temporary.iterdir()) == []


@pytest.mark.slow
def test_kept_are_the_repository_and_every_printed_block(kept: Played) -> None:
    result = json.loads(kept.answer.stdout)
    assert kept.answer.returncode == 0
    assert result["proved"]
    assert result["kept"] == str(kept.kept)
    assert result["refused"] == [
        "`python3 -m unittest -q` fails on the captured tree (at the base it passes)"
    ]
    log = subprocess.run(
        ["git", "log", "--format=%an: %s", "-2"],
        cwd=kept.kept / "repository",
        capture_output=True,
        text=True,
        check=True,
    )
    assert log.stdout.splitlines() == [
        "Planner demo: Let durations have days and weeks",
        "Planner demo: Parse and render durations",
    ]
    blocks = sorted((kept.kept / "calls").iterdir())
    assert len(blocks) == result["calls"]
    assert blocks[0].read_text().startswith("host: planner start ")


def test_a_folder_that_is_there_already_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    answer = subprocess.run(
        [str(ROOT / "bin" / "planner"), "demo", "--keep", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    problem = ET.fromstring(answer.stdout)[0]  # noqa: S314 – our own output
    assert answer.returncode == 1
    assert problem.text == (
        "the folder cannot be made: File exists · allowed: a folder that is not there yet"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_host_is_short_and_knows_no_step() -> None:
    source = HOST.read_text()
    workflows = discover_workflows().values()
    names = {w.name for w in workflows} | {s.name for w in workflows for s in w.steps.values()}
    names |= {phase for w in workflows for phase in w.phases()}
    said = {n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Constant)}
    assert len(source.splitlines()) <= 150
    assert not names & said
    assert not [line for line in source.splitlines() if '"number"' in line and "==" in line]


# A host of its own, with a program that prints what the test wants


def make_host(folder: Path, printed: str, code: int = 0) -> tuple[Host, list[str]]:
    """Return a host with nothing recorded, and a command that prints `printed`."""
    (folder / "recorded" / "answers").mkdir(parents=True)
    program = folder / "program"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{printed}\nEND\nexit {code}\n")
    program.chmod(0o755)
    host = Host(str(folder), str(folder / "recorded"), lambda _: None, {"PATH": os.environ["PATH"]})
    return host, [str(program)]


def test_a_refusal_that_nothing_recorded_mends_ends_the_play(tmp_path: Path) -> None:
    host, words = make_host(tmp_path, '<error><problem kind="refused">no</problem></error>', 1)
    assert host.play(words).tag == "error"
    assert len(host.calls) == 1


def test_a_fault_of_the_program_is_not_mended_by_the_host(tmp_path: Path) -> None:
    host, words = make_host(tmp_path, '<error><problem kind="internal">no</problem></error>', 3)
    host.worktree = str(tmp_path / "worktree")
    (tmp_path / "recorded" / "edits" / "1").mkdir(parents=True)
    assert host.play(words).tag == "error"
    assert (len(host.calls), host.attempts) == (1, 0)


def test_a_command_of_a_person_is_run_as_the_person(tmp_path: Path) -> None:
    host, words = make_host(tmp_path, f"<result><person>{tmp_path}/program</person></result>")
    host.play(words)
    assert [call.by for call in host.calls] == ["host", "person"]


def test_blocks_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    host, words = make_host(tmp_path, f"<step><next>{tmp_path}/program</next></step>")
    with pytest.raises(Refused, match="no end after 40 calls"):
        host.play(words)


def test_what_is_no_block_is_our_fault(tmp_path: Path) -> None:
    host, words = make_host(tmp_path, "Traceback", 1)
    with pytest.raises(Refused, match="printed no block"):
        host.play(words)
