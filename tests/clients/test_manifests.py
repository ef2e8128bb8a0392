"""Our manifests, read and installed by the real clients; what setup writes, as they list it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.resources import ROOT
from tests.clients.conftest import CLAUDES, SESSION
from tests.clients.real_clients import Claude, Codex, environment, program
from tests.clients.test_setup import set_up

if TYPE_CHECKING:
    from tests.conftest import Repository

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("HO-1")]

GEMINI, OPENCODE, SKILLS = "gemini-0.61.0", "opencode-1.18.33", "skills-ref-0.1.1"


# As a person who agrees to whatever is asked, however often.
AGREEING = 'yes | exec unshare --net --map-root-user "$@"'


def run(name: str, *words: str, cwd: Path | None = None) -> str:
    """Run a client's own command without a network and return all that it printed."""
    answer = subprocess.run(
        ["sh", "-c", AGREEING, "sh", program(name), *words],
        env=environment(GEMINI_API_KEY="test-key", ANTHROPIC_API_KEY="test-key"),
        cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=120, check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stdout
    return answer.stdout


@pytest.mark.parametrize("name", CLAUDES)
def test_claude_code_installs_the_plugin_with_its_hooks(name: str, repo: Repository) -> None:
    assert "Validation passed" in run(name, "plugin", "validate", ROOT)
    run(name, "plugin", "marketplace", "add", ROOT)
    run(name, "plugin", "install", "planner@planner")
    claude = Claude(name, repo.path, SESSION, linked=False)
    settings = claude.home / ".claude" / "settings.json"
    allowed = json.loads(settings.read_text()) | {"permissions": {"allow": ["Bash"]}}
    settings.write_text(json.dumps(allowed))
    start = f"{ROOT}/bin/planner start 'Add a file' --depth full"
    played = claude.play(
        [
            ("Skill", {"skill": "planner:planner"}),
            ("Bash", {"command": start, "description": "x"}),
            ("Bash", {"command": "touch new.py", "description": "x"}),
        ]
    )
    # A marketplace that is a folder is read in place.
    assert any(f"Base directory for this skill: {ROOT}\n" in text for text in played.heard)
    assert "context-verify" in played.results[1].text
    assert "Planning mode (gathering): " in played.results[2].text


def test_codex_installs_the_plugin_and_none_of_claude_codes_hooks(repo: Repository) -> None:
    codex = Codex("codex-0.169.0", repo.path)
    run("codex-0.169.0", "plugin", "marketplace", "add", ROOT)
    run("codex-0.169.0", "plugin", "add", "planner@planner")
    codex.CONFIG += Path(codex.home, ".codex", "config.toml").read_text(encoding="utf-8")
    folder = Path(os.environ["XDG_STATE_HOME"], "planner", "sessions")
    folder.mkdir(parents=True)
    (folder / "a-session").write_text("")  # a guard that ran would now deny
    played = codex.play([("exec_command", {"cmd": "touch new.py"})], hooks=False)
    assert any("- planner:planner: Turns a request" in text for text in played.heard)
    assert (repo.path / "new.py").exists(), played.results


def test_gemini_takes_the_extension_without_hooks() -> None:
    assert "successfully validated" in run(GEMINI, "extensions", "validate", ROOT)
    run(GEMINI, "extensions", "link", ROOT)
    listed = run(GEMINI, "extensions", "list")
    assert f"{ROOT}/GEMINI.md" in listed
    assert "ook" not in listed.partition("Context files")[2]


@pytest.mark.smoke
def test_the_skill_is_valid_and_under_its_own_name(tmp_path: Path) -> None:
    for folder in (tmp_path / "planner", tmp_path / "other" / "planner"):
        folder.parent.mkdir(exist_ok=True)
    (tmp_path / "planner").symlink_to(ROOT)
    (tmp_path / "other" / "planner").symlink_to(Path(ROOT, "clients", "skills", "planner"))
    for folder in (tmp_path / "planner", tmp_path / "other" / "planner"):
        assert "Valid skill" in run(SKILLS, "validate", str(folder))


@pytest.mark.requirement("HO-2")
def test_gemini_and_opencode_list_the_skill_that_setup_has_linked(repo: Repository) -> None:
    set_up("gemini")
    set_up("opencode")
    listed = run(GEMINI, "skills", "list", cwd=repo.path)
    assert ".gemini/skills/planner/SKILL.md" in listed
    # The rules beside it are read, too: a file that it cannot read is said.
    assert "olicy" not in listed
    found = json.loads(run(OPENCODE, "debug", "skill", cwd=repo.path))
    ours = [skill["location"] for skill in found if skill["name"] == "planner"]
    assert [Path(path).resolve() for path in ours] == [
        Path(os.environ["XDG_DATA_HOME"], "planner", "SKILL.md").resolve()
    ]
