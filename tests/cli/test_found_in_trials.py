"""What trials found wrong or untrue in commands, each with what it says or does now."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.main import MODULES
from orchestrator.submit.page.render import read_facts, render_page
from shared.resources import ROOT
from shared.run import open_state
from tests.forms import part
from tests.journey import FILES, LAUNCHER, VERIFIED, Answer, Journey, call, way_out, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


def at(make_repo: Repositories, point: str) -> Journey:
    return Journey(make_repo("project", FILES)).to(point)


def run(*words: str, cwd: Path | str = ROOT, **env: str) -> Answer:
    done = subprocess.run(
        words, cwd=cwd, env={**os.environ, **env}, stdin=subprocess.DEVNULL, capture_output=True,
        check=False,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def without_packages(*words: str) -> Answer:
    """Run this Python as one that has no package installed, from the checkout."""
    return run(sys.executable, "-S", *words, PYTHONPATH="")


def test_each_command_also_runs_by_hand_as_a_module() -> None:
    modules = sorted(set(MODULES.values()) - {"cli.ro", "cli.main"})
    for module in part(modules, 5):
        answer = without_packages("-m", module, "--help")
        assert answer.code == 0, (module, answer)
        assert "Usage: planner" in answer.text, module


def test_a_plan_is_validated_by_hand(make_repo: Repositories) -> None:
    plan = f"{at(make_repo, 'submitted').state_dir}/plan.json"
    answer = without_packages("-m", "cli.validate", plan)
    assert answer.block.get("files") == "1", answer


@pytest.mark.requirement("VR-4")
def test_a_caller_that_has_closed_a_stream_gets_its_verification(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED})).to("code")
    journey.edit_worktree(journey.edits)
    verify = f"{LAUNCHER} plan verify --state-dir {journey.state_dir}"
    answer = run("sh", "-c", f"exec {verify} <&-", cwd=journey.repository.path)
    assert (answer.code, answer.stderr) == (0, ""), answer
    assert "pass (base: " in answer.data("verify")
    assert run("sh", "-c", f"exec {LAUNCHER} --version >&-").code == 0


# plan validate


def valid_plan(make_repo: Repositories) -> dict[str, object]:
    plan: dict[str, object] = json.loads(
        Path(at(make_repo, "design").state_dir, "plan.json").read_text()
    )
    return plan


@pytest.mark.requirement("PL-30")
@pytest.mark.parametrize("moment", ["yesterday", "", "2026-13", "12:00", "2026-01-01T00:00:00Z!"])
def test_a_moment_that_is_none_is_a_finding(
    make_repo: Repositories, tmp_path: Path, moment: str
) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({**valid_plan(make_repo), "created_at": moment}))
    answer = call(tmp_path, "validate", str(file))
    assert answer.code == 1
    assert "created_at" in answer.text


@pytest.mark.requirement("PL-30")
def test_a_plan_that_another_program_froze_has_one_finding(
    make_repo: Repositories, tmp_path: Path
) -> None:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({**valid_plan(make_repo), "frozen_at": "2026-01-01T00:00:00Z"}))
    answer = call(tmp_path, "validate", str(file))
    assert answer.code == 1
    assert len(answer.problems) == 1
    assert "only partly frozen: digest, seals not set" in answer.text


@pytest.mark.requirement("PL-30")
def test_a_missing_file_or_a_folder_is_misuse(tmp_path: Path) -> None:
    for name in ("missing.json", "."):
        answer = call(tmp_path, "validate", name)
        assert (answer.code, answer.problems[0][0]) == (2, "usage"), answer.text


# a plan that was edited after it was submitted


@pytest.mark.requirement("PL-15")
def test_an_edited_plan_is_never_shown_beside_the_digest_that_was_submitted(
    make_repo: Repositories,
) -> None:
    journey = at(make_repo, "submitted")
    path = Path(journey.state_dir, "plan.json")
    frozen = path.read_bytes()
    path.write_bytes(frozen.replace(b"Change the constant", b"Change the consonant"))
    approve = words_of(journey.last.person())
    shows = [["plan", *words.split()] for words in ("show overview", "diff", "list decisions")]
    written = Path(journey.state_dir, "plan.md").read_bytes()
    for words in (["step", "executor"], ["status"], approve, *shows, ["plan", "render"]):
        refused = journey.run(*words)
        assert refused.code == 1, refused.text
        assert "consonant" not in refused.text
        assert "the plan was edited after it was " in refused.text
        assert words_of(way_out(refused.problems[-1][1]))[0] == "repair"
    assert Path(journey.state_dir, "plan.md").read_bytes() == written
    repaired = journey.planner("repair")
    assert "again as it was frozen" in repaired.text
    assert path.read_bytes() == frozen
    journey.to("committed")


# entities


@pytest.mark.requirement("PL-11")
def test_params_of_an_intent_are_given_as_json(make_repo: Repositories) -> None:
    journey = at(make_repo, "design")
    assert (
        journey.planner("plan", "add", "milestone", "--name", "X", "--file", "src/a.py").code == 0
    )
    words = ("--milestone", "M-001", "--file", "src/a.py", "--behavior", "adds")
    added = journey.planner("plan", "add", "intent", *words, "--params", '{"x": [1, "a"]}')
    assert added.code == 0, added.text
    shown = json.loads(journey.planner("plan", "show", "CI-001", "--json").text)
    assert shown[0]["params"] == {"x": [1, "a"]}
    wrong = journey.planner("plan", "add", "intent", *words, "--params", "{x}")
    assert (wrong.code, wrong.problems[0][0]) == (1, "invalid")


# a rename


@pytest.mark.requirement("PL-29")
def test_summary_and_proof_name_both_paths_of_a_rename(make_repo: Repositories) -> None:
    lines = "".join(f"LINE_{n} = {n}\n" for n in range(20))
    journey = Journey(make_repo("project", {**FILES, "src/old.py": lines}))
    design = json.dumps(journey.answers["design.json"]).replace("src/a.py", "src/new.py")
    journey.answers["design.json"] = json.loads(design)
    journey.edits = {"tests/test_a.py": "import new\n", "src/new.py": lines}
    journey.to("code")
    assert journey.planner("tree", "rm", "src/old.py").code == 0
    journey.to("submitted")
    assert "src/old.py → src/new.py" in journey.last.data("summary")
    journey.to("committed")
    assert "src/old.py → src/new.py: " in journey.last.data("proof")


# the review page


@pytest.mark.requirement("PM-15")
def test_the_review_page_follows_the_run(make_repo: Repositories) -> None:
    journey = at(make_repo, "submitted")
    page = Path(journey.state_dir, "review.html")
    waits = "waits for your decision"
    assert waits in page.read_text()
    assert journey.planner("plan", "revise").code == 0
    digest = json.loads(Path(journey.state_dir, "plan.r1.json").read_text())["digest"]
    assert waits not in page.read_text()
    assert digest not in page.read_text()
    journey.last = journey.planner("step", "planner")
    journey.answers["design.json"] = []
    journey.to("submitted")
    assert waits in page.read_text()
    journey.to("approved")
    assert waits not in page.read_text()
    journey.to("committed")
    assert waits not in page.read_text()
    commit = journey.repository.git("rev-parse", "HEAD")[:12]
    assert f"committed as {commit} and proved" in page.read_text()
    state = open_state(journey.state_dir, "/")
    assert page.read_text() == render_page(read_facts(state))


# light plans


@pytest.mark.requirement("PM-1")
def test_remarks_on_a_light_plan_keep_its_reason(make_repo: Repositories) -> None:
    project = make_repo("project", FILES)
    call(project.path, "mode", "enter", "--reason", "Because of X")
    plan = {"summary": "Do it.", "steps": [
        {"description": "Edit", "tools": ["Edit"], "risk": "low"}]}  # fmt: skip
    file = project.path / ".planner" / "answers" / "light.json"
    file.write_text(json.dumps(plan))
    submitted = call(project.path, "mode", "submit", "--file", "answers/light.json")
    assert submitted.code == 0, submitted.text
    for words in ("First this.", "Then that."):
        call(project.path, "mode", "edit", words)
        call(project.path, "mode", "submit", "--file", "answers/light.json")
    status = json.loads(call(project.path, "mode", "status", "--json").text)
    assert status["reason"] == "Because of X"
    assert status["remarks"] == ["First this.", "Then that."]


# two at once


@pytest.mark.requirement("PL-1")
def test_two_starts_at_once_are_one_run(make_repo: Repositories) -> None:
    project = make_repo("project", FILES)
    words = [LAUNCHER, "start", "Make f add two", "--depth", "full"]
    started = [
        subprocess.Popen(words, cwd=project.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    said = [process.communicate()[0].decode() for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], said
    assert len(set(said)) == 1
    assert len(list((project.path / ".planner" / "runs").iterdir())) == 1


@pytest.mark.requirement("PM-1")
def test_a_run_beside_a_cancelled_one_is_not_lost(make_repo: Repositories) -> None:
    first = Journey(make_repo("project", FILES), "First").to("design")
    second = Journey(first.repository, "Second").to("design")
    assert second.planner("cancel").code == 0
    status = json.loads(call(first.repository.path, "mode", "status", "--json").text)
    assert status["state_dir"] == first.state_dir


# step scripts


def test_a_step_script_takes_a_number_alone_and_its_help_names_the_options() -> None:
    number = without_packages("-m", "orchestrator.planner", "4")
    assert number.problems[0][0] != "usage", number.text
    told = without_packages("-m", "orchestrator.planner", "--help").text
    assert "--step N" in told
    assert "--request TEXT" in told
    assert run(LAUNCHER, "step", "planner", "--help").text == told


@pytest.mark.parametrize("name", ["planner", "executor", "requirements", "strategy"])
def test_a_workflow_starts_by_the_path_of_its_script_from_any_folder(
    name: str, tmp_path: Path
) -> None:
    path = os.path.join(ROOT, "orchestrator", f"{name}.py")
    done = subprocess.run(
        [sys.executable, "-S", path, "--help"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "--step N" in done.stdout


def test_a_python_that_is_too_old_is_told_so() -> None:
    code = (
        "import sys, runpy; sys.version_info = (3, 10, 9, 'final', 0); "
        "sys.argv = ['planner', '--step', '3']; sys.path.insert(0, '.'); "
        "runpy.run_module('orchestrator.planner', run_name='__main__')"
    )
    answer = run(sys.executable, "-S", "-c", code)
    assert answer.code == 2, answer
    assert "this is Python 3.10" in answer.text
    assert "Traceback" not in answer.stderr


@pytest.mark.long
def test_the_demo_proves_its_commit_where_an_assistant_runs_it(tmp_path: Path) -> None:
    del tmp_path
    answer = run(LAUNCHER, "demo", CLAUDECODE="1", AI_AGENT="x")
    assert answer.code == 0, answer
    assert "Proved" in answer.text or "proved" in answer.text


@pytest.mark.requirement("PC-10")
@pytest.mark.parametrize("words", ["events --after", "auto on --files"])
def test_a_number_beyond_64_bits_is_refused_in_words(make_repo: Repositories, words: str) -> None:
    journey = at(make_repo, "context")
    for number in (1 << 63, 10**30):
        answer = journey.planner(*words.split(), str(number))
        assert answer.code in (1, 2), answer.text
        assert "fault of the planner" not in answer.text
