"""The manifests by which clients install us: they agree, and none loads another's hooks."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = (
    ".claude-plugin/plugin.json", ".codex-plugin/plugin.json", ".cursor-plugin/plugin.json",
    "gemini-extension.json",
)  # fmt: skip

pytestmark = pytest.mark.requirement("HO-1")


def manifest(name: str) -> Any:  # noqa: ANN401 – JSON
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PLUGINS)
def test_each_has_the_name_and_the_version_of_the_project(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = manifest(name)
    for key in ("name", "version", "description"):
        assert found[key] == project[key]


@pytest.mark.parametrize("name", PLUGINS)
def test_each_path_that_one_names_is_there(name: str) -> None:
    named = {k: v for k, v in manifest(name).items() if k in ("skills", "hooks", "contextFileName")}
    assert named
    assert all((ROOT / path).exists() for path in named.values())


def test_the_marketplace_offers_this_folder() -> None:
    market = manifest(".claude-plugin/marketplace.json")
    assert [(p["name"], p["source"]) for p in market["plugins"]] == [("planner", "./")]


def test_no_hooks_lie_where_every_client_looks_for_its_own() -> None:
    """Claude Code, codex, Cursor and Gemini all read this path, each in its own form."""
    assert not (ROOT / "hooks" / "hooks.json").exists()
    assert {name for name in PLUGINS if "hooks" in manifest(name)} == {PLUGINS[0]}


def test_no_skill_lies_where_claude_code_would_list_it_a_second_time() -> None:
    assert not (ROOT / "skills").exists()


def test_the_skill_for_plugins_of_codex_and_cursor_has_the_same_head() -> None:
    both = [ROOT / "SKILL.md", ROOT / "clients" / "skills" / "planner" / "SKILL.md"]
    heads = [path.read_text(encoding="utf-8").split("---\n")[1] for path in both]
    assert heads[0] == heads[1]
    assert (both[1].parent / "../../../SKILL.md").resolve() == both[0]
