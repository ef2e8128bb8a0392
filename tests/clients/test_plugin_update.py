"""The plugin of Claude Code from a git address: installed, set up and updated."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.resources import installed_path, launcher_text
from tests.clients.conftest import CLAUDES, OTHER, SESSION
from tests.clients.real_clients import Claude
from tests.clients.test_manifests import run
from tests.journey import FILES
from tests.own_repository import make_own_repository

if TYPE_CHECKING:
    from tests.clients.conftest import Repositories

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("HO-1", "HO-3")]

ADDRESS = "https://git.example/planner.git"  # which git replaces by a folder
NEXT = "99.0.0"


def loaded_from(claude: Claude) -> str:
    """Return the folder from which the client loads the plugin now."""
    path = claude.home / ".claude" / "plugins" / "installed_plugins.json"
    (one,) = json.loads(path.read_text(encoding="utf-8"))["plugins"]["planner@planner"]
    return str(one["installPath"])


def set_up(folder: str) -> None:
    """Run the setup in the plugin's folder."""
    subprocess.run(
        [f"{folder}/bin/planner", "setup", "claude"], check=True, capture_output=True,
        env={**os.environ, "PLANNER_PYTHON": sys.executable},
    )  # fmt: skip


def check_start(claude: Claude) -> None:
    """Start a run as SKILL.md says: nothing is asked, hooks hold, and the launcher is named."""
    folder = loaded_from(claude)
    start = f"{folder}/bin/planner start 'Add a file' --depth full"
    tried = [("Bash", {"command": c, "description": "x"}) for c in (start, "touch new.py")]
    played = claude.play([("Skill", {"skill": "planner:planner"}), *tried])
    assert any(f"Base directory for this skill: {folder}\n" in text for text in played.heard)
    started, touched = played.of("Bash")
    assert "context-verify" in started.text, started
    assert installed_path("bin", "planner") in started.text
    assert "Planning mode (gathering): " in touched.text
    launcher = Path(installed_path("bin", "planner")).read_text(encoding="utf-8")
    assert launcher == launcher_text(f"{folder}/bin/planner")


@pytest.mark.parametrize("name", CLAUDES)
def test_an_update_keeps_rules_hooks_and_packages(
    name: str, make_repo: Repositories, tmp_path: Path
) -> None:
    source = make_own_repository(tmp_path / "source")
    claude = Claude(name, make_repo("first", files=FILES).path, SESSION, linked=False)
    instead = ["git", "config", "--global", f"url.{source}.insteadOf", ADDRESS]
    subprocess.run(instead, check=True)
    run(name, "plugin", "marketplace", "add", ADDRESS)
    run(name, "plugin", "install", "planner@planner")
    old = loaded_from(claude)
    set_up(old)
    check_start(claude)
    settings = claude.home / ".claude" / "settings.json"
    packages = Path(os.environ["XDG_CACHE_HOME"], "planner", "packages")
    before, kept = json.loads(settings.read_text()), sorted(packages.iterdir())

    manifest = source / ".claude-plugin" / "plugin.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": NEXT}))
    subprocess.run(["git", "commit", "-qam", "Next"], cwd=source, check=True)
    run(name, "plugin", "marketplace", "update", "planner")
    run(name, "plugin", "update", "planner@planner")
    new = loaded_from(claude)
    assert new.endswith(f"/{NEXT}")
    assert json.loads(settings.read_text()) == before

    set_up(new)
    after = json.loads(settings.read_text())
    assert after == json.loads(json.dumps(before).replace(f"{old}/", f"{new}/"))
    again = Claude(name, make_repo("second", files=FILES).path, OTHER, linked=False)
    check_start(again)
    assert sorted(packages.iterdir()) == kept
