"""What `planner setup` writes, in an empty home: clients load it and run our commands unasked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.resources import ROOT, installed_path
from tests.clients.conftest import CLAUDES, SESSION
from tests.clients.real_clients import (
    Claude,
    Codex,
    Gemini,
    Opencode,
    Vibe,
    environment,
    program,
)

if TYPE_CHECKING:
    from tests.clients.scripted_model import Result
    from tests.conftest import Repository

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("HO-2")]


def set_up(host: str) -> None:
    """Run the second of README's two commands."""
    answer = subprocess.run(
        [f"{ROOT}/bin/planner", "setup", host],
        env={**os.environ, "PLANNER_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr


def commands(host: str, run: str) -> dict[str, str]:
    """Return what a model sends: the first command by the skill's folder, later ones as printed."""
    skill = f"{os.environ['HOME']}/.{host}/skills/planner" if host == "claude" else installed_path()
    launcher = installed_path("bin", "planner")
    return {
        "start": f"{skill}/bin/planner start 'Add a file' --depth full --state-dir {run}",
        "status": f"{launcher} status --state-dir {run}",
        "any text": "for f in *; do echo $f; done",
        "a change": "touch new.py",
        "for a person": f"{launcher} cancel",
    }


def check(results: list[Result], *, any_text: bool = True) -> None:
    """Check the answers to those commands."""
    started, status, text, change, person = (result.text for result in results)
    assert "context-verify" in started
    assert installed_path("bin", "planner") in started
    assert "<result" in status
    assert ("README.md" in text) is any_text, text
    assert "Planning mode (gathering): " in change
    assert "only a person" in person


@pytest.mark.smoke
@pytest.mark.parametrize("name", CLAUDES)
def test_claude_code_loads_the_skill_and_plans_unasked(name: str, repo: Repository) -> None:
    set_up("claude")
    claude = Claude(name, repo.path, SESSION, linked=False)
    run = f"{repo.path}/.planner/runs/one"
    sent = [("Bash", {"command": c, "description": "x"}) for c in commands("claude", run).values()]
    written = [
        ("Write", {"file_path": f"{run}/answers/context.json", "content": "{}"}),
        ("Write", {"file_path": f"{run}/worktree/new.py", "content": "x = 1\n"}),
    ]
    played = claude.play([("Skill", {"skill": "planner"}), *sent, *written])
    skill = f"{claude.home}/.claude/skills/planner"
    assert any(f"Base directory for this skill: {skill}" in text for text in played.heard)
    check(played.results[1:6])
    assert [r.is_error for r in played.results[6:]] == [False, False], played.results[6:]


@pytest.mark.smoke("vibe", "finds the skill")
def test_vibe_loads_the_skill_and_plans_unasked(repo: Repository) -> None:
    set_up("vibe")
    vibe = Vibe("vibe-3.0.2", repo.path)
    settings = Path(vibe.home, ".vibe", "config.toml").read_text(encoding="utf-8")
    run = f"{repo.path}/.planner/runs/one"
    sent = [("bash", {"command": c}) for c in commands("vibe", run).values()]
    played = vibe.play([("skill", {"name": "planner"}), *sent], settings=settings, hooks=False)
    assert any(f"Base directory for this skill: {installed_path()}" in t for t in played.heard)
    check(played.results[1:])


@pytest.mark.smoke
def test_codex_loads_the_skill_and_plans_unasked(repo: Repository) -> None:
    """A command that the rule allows runs outside of codex's sandbox, which forbids `.git`."""
    set_up("codex")
    codex = Codex("codex-0.169.0", repo.path)
    run = f"{repo.path}/.planner/runs/one"
    sent = [("exec_command", {"cmd": c}) for c in commands("codex", run).values()]
    played = codex.play(sent, hooks=False)
    assert any("- planner: Turns a request" in text for text in played.heard)
    check(played.results, any_text=False)


@pytest.mark.smoke("gemini", "finds the skill")
@pytest.mark.requirement("HO-4")
def test_gemini_loads_the_skill_and_plans_unasked(repo: Repository) -> None:
    """Without a terminal it denies whatever it would ask for."""
    gemini = Gemini("gemini-0.61.0", repo.path)
    set_up("gemini")
    run = f"{repo.path}/.planner/runs/one"
    sent = [("run_shell_command", {"command": c}) for c in commands("gemini", run).values()]
    written = [
        ("write_file", {"file_path": path, "content": "{}"})
        for path in (
            f"{run}/answers/context.json",
            f"{run}/worktree/new.py",
            f"{run}/answers/../../../../new.py",
            f"{repo.path}/new.py",
        )
    ]
    played = gemini.play([("activate_skill", {"name": "planner"}), *sent, *written])
    assert "planner start" in played.results[0].text, played.results[0]
    check(played.results[1:6])
    assert [r.is_error for r in played.results[6:]] == [False, False, True, True]


@pytest.mark.smoke("opencode", "finds the skill")
@pytest.mark.requirement("HO-4")
def test_opencode_loads_the_skill_and_plans_unasked(repo: Repository) -> None:
    set_up("opencode")
    opencode = Opencode("opencode-1.18.33", repo.path)
    run = f"{repo.path}/.planner/runs/one"
    sent = [
        ("bash", {"command": c, "description": "x"}) for c in commands("opencode", run).values()
    ]
    written = ("write", {"filePath": f"{run}/answers/context.json", "content": "{}"})
    played = opencode.play([("skill", {"name": "planner"}), *sent, written])
    assert "planner start" in played.results[0].text, played.results[0]
    check(played.results[1:6])
    assert Path(run, "answers", "context.json").read_text(encoding="utf-8") == "{}"


# The rules alone, without the hooks beside them

LAUNCHED = {
    "status --state-dir x": "allow",
    "plan done --phase plan-code": "allow",
    "approve 0123": "forbidden",
    "cancel": "forbidden",
    "setup --remove": "forbidden",
}


@pytest.mark.smoke
@pytest.mark.requirement("HO-4")
@pytest.mark.parametrize(("words", "decision"), LAUNCHED.items())
def test_codex_reads_our_rules_as_they_are_meant(words: str, decision: str) -> None:
    set_up("codex")
    rules = os.path.join(os.environ["HOME"], ".codex", "rules", "planner.rules")
    for launcher in (installed_path("bin", "planner"), _skills_launcher("codex")):
        command = ["execpolicy", "check", "--rules", rules, "--", launcher, *words.split()]
        answer = subprocess.run(
            [program("codex-0.169.0"), *command],
            env=environment(), capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert json.loads(answer.stdout)["decision"] == decision, answer.stdout


@pytest.mark.requirement("HO-4")
def test_gemini_reads_our_rules_as_they_are_meant(repo: Repository) -> None:
    gemini = Gemini("gemini-0.61.0", repo.path)
    set_up("gemini")
    settings = gemini.settings() | {"hooksConfig": {"enabled": False}}
    gemini.write(".gemini/settings.json", json.dumps(settings))
    for launcher in (installed_path("bin", "planner"), _skills_launcher("gemini")):
        sent = [("run_shell_command", {"command": f"{launcher} {words}"}) for words in LAUNCHED]
        sent.append(("run_shell_command", {"command": f"{launcher} status && touch new.py"}))
        played = gemini.play(sent)
        denied = ["denied by policy" in result.text for result in played.results]
        wanted = [decision == "forbidden" for decision in LAUNCHED.values()]
        assert denied == [*wanted, True], played.results


def _skills_launcher(host: str) -> str:
    return os.path.join(os.environ["HOME"], f".{host}", "skills", "planner", "bin", "planner")
