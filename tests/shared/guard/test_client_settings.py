"""What a client's own settings hold that a changed shell text must take care of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.clients import client_of
from shared.guard.shell import read_settings
from shared.resources import ROOT, launcher
from tests.effort import within
from tests.hook_entries import hooks_of

if TYPE_CHECKING:
    from shared.clients import Settings

pytestmark = pytest.mark.requirement("PP-4")

HOOK = {"matcher": "Bash", "hooks": [{"type": "command", "command": "rewrite"}]}
PLACES = (
    "{home}/.claude/settings.json", "{home}/.claude/settings.local.json",
    "{project}/.claude/settings.json", "{project}/.claude/settings.local.json",
)  # fmt: skip


@pytest.fixture
def home() -> Path:
    return Path(os.environ["HOME"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path


def write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def claude(project: Path, mode: str = "default") -> Settings:
    return read_settings(client_of("claude"), (str(project),), mode)


def test_without_settings_there_are_no_rules(project: Path) -> None:
    found = claude(project)
    assert (found.rules, found.others, found.allowed) == (False, False, False)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["deny", "ask"])
@pytest.mark.parametrize(
    "rule", ["Bash(git push:*)", "Bash", "Read(private/**)", "Edit(x)", "*", "Unheard"]
)
def test_a_rule_that_may_concern_the_shell_is_seen_wherever_it_is(
    home: Path, project: Path, place: str, kind: str, rule: str
) -> None:
    path = Path(place.format(home=home, project=project))
    write(path, {"permissions": {"allow": ["Bash"], kind: ["WebFetch(domain:x)", rule]}})
    assert claude(project).rules


@pytest.mark.parametrize("rules", [[], ["WebFetch", "mcp__x__y", "Agent(Explore)", "Skill(x)"]])
def test_rules_for_other_tools_are_none_for_the_shell(
    home: Path, project: Path, rules: list[str]
) -> None:
    write(home / ".claude/settings.json", {"permissions": {"deny": rules, "ask": rules}})
    assert not claude(project).rules


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "content",
    ["{", "[]", "null", '"x"', '{"permissions": []}', '{"permissions": {"deny": [1]}}',
     '{"permissions": {"deny": {"Bash": 1}, "ask": null}}', '{"hooks": []}', "[" * 100_000,
     " " * 1_000_001, "\x00"],
)  # fmt: skip
def test_a_settings_file_that_cannot_be_read_counts_as_one_with_a_rule(
    home: Path, project: Path, place: str, content: str
) -> None:
    write(Path(place.format(home=home, project=project)), content)
    assert claude(project).rules


def test_a_folder_in_place_of_a_settings_file_counts_as_a_rule(home: Path, project: Path) -> None:
    (home / ".claude" / "settings.json").mkdir(parents=True)
    assert claude(project).rules


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_settings_file_without_the_right_to_read_counts_as_a_rule(
    home: Path, project: Path
) -> None:
    write(home / ".claude/settings.json", {})
    (home / ".claude/settings.json").chmod(0)
    assert claude(project).rules


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("matcher", ["Bash", "", "*", "Edit|Bash", ".*", "B.sh"])
def test_another_hook_before_the_shell_is_seen(
    home: Path, project: Path, place: str, matcher: str
) -> None:
    path = Path(place.format(home=home, project=project))
    write(path, {"hooks": {"PreToolUse": [{**HOOK, "matcher": matcher}]}})
    assert claude(project).others


def test_a_hook_before_other_tools_or_of_another_event_is_none(home: Path, project: Path) -> None:
    hooks = {"PreToolUse": [{**HOOK, "matcher": "Edit|Write"}], "PostToolUse": [HOOK]}
    write(home / ".claude/settings.json", {"hooks": hooks})
    assert not claude(project).others


@pytest.mark.parametrize("kind", ["skills", "agents"])
def test_a_hook_of_another_skill_or_agent_is_seen_and_ours_is_none(
    home: Path, project: Path, kind: str
) -> None:
    skills = home / ".claude" / "skills"
    skills.mkdir(parents=True)
    (skills / "planner").symlink_to(ROOT)
    write(skills / "quiet" / "SKILL.md", "---\nname: quiet\n---\n")
    assert not claude(project).others
    other = {
        "skills": home / ".claude/skills/other/hooks/hooks.json",
        "agents": project / ".claude/agents/other.md",
    }[kind]
    write(other, {"hooks": {"PreToolUse": [HOOK]}})
    assert claude(project).others


def test_a_hook_of_an_installed_plugin_is_seen(home: Path, project: Path) -> None:
    plugin = home / "plugin"
    installed = {"plugins": {"p@m": [{"installPath": str(plugin)}]}}
    write(home / ".claude/plugins/installed_plugins.json", installed)
    write(home / ".claude/settings.json", {"enabledPlugins": {"p@m": True}})
    write(plugin / "hooks/hooks.json", {"hooks": {"PostToolUse": [HOOK]}})
    assert not claude(project).others
    write(plugin / "hooks/hooks.json", {"hooks": {"PreToolUse": [HOOK]}})
    assert claude(project).others
    write(plugin / "hooks/hooks.json", {})
    write(plugin / ".claude-plugin/plugin.json", {"hooks": "./elsewhere.json"})
    assert claude(project).others
    write(home / ".claude/settings.json", {"enabledPlugins": {"p@m": False}})
    assert not claude(project).others


def test_more_skills_than_are_looked_at_count_as_a_hook(home: Path, project: Path) -> None:
    for number in range(101):
        (home / ".claude" / "skills" / str(number)).mkdir(parents=True)
    assert claude(project).others


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [(f"Bash({launcher()} *)", True), (f"Bash({launcher()}:*)", True), ("Bash", True),
     ("Bash(git log:*)", False), ("Bash(/elsewhere/bin/planner *)", False)],
)  # fmt: skip
def test_whether_our_launcher_may_run_is_seen(
    home: Path, project: Path, rule: str, *, allowed: bool
) -> None:
    write(home / ".claude/settings.json", {"permissions": {"allow": [rule]}})
    assert claude(project).allowed is allowed


def test_a_client_that_asks_nothing_lets_our_launcher_run(project: Path) -> None:
    assert claude(project, "bypassPermissions").allowed


ASK_IT = """
import sys
sys.path.insert(0, sys.argv[1])
from shared.clients import client_of
from shared.guard.shell import read_settings
found = read_settings(client_of("claude"), (sys.argv[2],))
print(found.rules, found.others)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="only Linux shows a command line")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "False False"),
        (["--disallowedTools", "Bash(rm:*)"], "True False"),
        (["--disallowed-tools=Bash"], "True False"),
        (["--settings", '{"permissions": {"ask": ["Bash(ls:*)"]}}'], "True False"),
        (["--settings", "{broken"], "True False"),
        (["--settings", "{folder}/absent.json"], "True False"),
        (["--settings", '{"hooks": {"PreToolUse": [{"matcher": "Bash"}]}}'], "False True"),
        (["--plugin-dir", "{folder}/plugin"], "False True"),
        (["--settings", "{}", "--model", "x"], "False False"),
    ],
)
def test_what_the_clients_command_line_says_is_seen(
    project: Path, options: list[str], said: str
) -> None:
    write(project / "plugin/hooks/hooks.json", {"hooks": {"PreToolUse": [HOOK]}})
    options = [option.replace("{folder}", str(project)) for option in options]
    hook = ["sh", "-c", '"$@"; exit', "sh", sys.executable, "-c", ASK_IT, ROOT, str(project)]
    client = f"import subprocess; raise SystemExit(subprocess.run({hook!r}).returncode)"
    done = subprocess.run(
        [sys.executable, "-c", client, *options, "last"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == said


# vibe


def vibe(project: Path) -> Settings:
    return read_settings(client_of("vibe"), (str(project),))


@pytest.mark.parametrize("place", ["{home}/.vibe/config.toml", "{project}/.vibe/config.toml"])
def test_vibes_lists_are_seen(home: Path, project: Path, place: str) -> None:
    path = Path(place.format(home=home, project=project))
    write(path, f'[tools.bash]\nallowlist = ["{launcher()}", "false"]\n')
    assert (vibe(project).rules, vibe(project).allowed) == (False, True)
    write(path, '[tools.bash]\ndenylist = ["git push"]\n')
    assert (vibe(project).rules, vibe(project).allowed) == (True, False)


def test_another_hook_of_vibe_is_seen(home: Path, project: Path) -> None:
    write(home / ".vibe/hooks.toml", hooks_of("vibe"))
    assert not vibe(project).others
    other = "[[hooks]]\nname = 'other'\ntype = 'pre_tool'\ncommand = 'rewrite'\n"
    write(project / ".vibe/hooks.toml", other)
    assert vibe(project).others


def test_codex_takes_no_changed_text(project: Path) -> None:
    assert read_settings(client_of("codex"), (str(project),)).others


def test_it_takes_no_longer_the_more_there_is(home: Path, project: Path) -> None:
    for number in range(5_000):
        (home / ".claude" / "agents" / str(number)).mkdir(parents=True)
    write(home / ".claude/settings.json", " " * 50_000_000)
    with within(20):
        claude(project)


# Gemini and opencode


def judged(host: str, project: Path) -> tuple[bool, bool, bool]:
    found = read_settings(client_of(host), (str(project),))
    return found.rules, found.others, found.allowed


OURS_ONLY = (False, False, True)  # neither rules nor others, and our launcher is allowed


def gemini_with_ours(home: Path) -> None:
    write(home / ".gemini/settings.json", hooks_of("gemini"))
    write(home / ".gemini/policies/planner.toml", f'commandPrefix = ["{launcher()}"]')


@pytest.mark.requirement("HO-4")
def test_geminis_settings_with_ours_alone_hold_no_rule(home: Path, project: Path) -> None:
    assert judged("gemini", project) == (False, False, False)
    gemini_with_ours(home)
    assert judged("gemini", project) == OURS_ONLY


@pytest.mark.requirement("HO-4")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("settings.json", '{"tools": {"exclude": ["run_shell_command(git push)"]}}'),
        ("settings.json", '{"excludeTools": ["x"]}'),
        ("settings.json", '{"tools": {"core": ["read_file"]}}'),
        ("settings.json", ""),
        ("policies/mine.toml", '[[rule]]\ntoolName = "*"\n'),
    ],
)
@pytest.mark.parametrize("inside", ["home", "project"])
def test_geminis_rules_are_seen(
    home: Path, project: Path, inside: str, name: str, content: str
) -> None:
    gemini_with_ours(home)
    write({"home": home, "project": project}[inside] / ".gemini" / name, content)
    assert judged("gemini", project)[0]


@pytest.mark.requirement("HO-4")
@pytest.mark.parametrize(
    "name", [".gemini/settings.json", ".gemini/extensions/other/hooks/hooks.json"]
)
def test_geminis_other_hooks_are_seen(home: Path, project: Path, name: str) -> None:
    write(home / name, {"hooks": {"BeforeTool": [HOOK]}})
    assert judged("gemini", project)[1]


@pytest.mark.requirement("HO-4")
def test_opencodes_settings_with_our_plugin_alone_hold_no_rule(home: Path, project: Path) -> None:
    assert judged("opencode", project) == OURS_ONLY
    plugins = home / ".config" / "opencode" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "planner.js").symlink_to(Path(ROOT, "hooks", "opencode.js"))
    write(project / "opencode.json", {"model": "x"})
    assert judged("opencode", project) == OURS_ONLY


@pytest.mark.requirement("HO-4")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("opencode.json", '{"permission": {"bash": "ask"}}'),
        ("opencode.jsonc", '{ /* mine */ "agent": {"build": {"tools": {"bash": false}}}}'),
        ("opencode.json", ""),
        ("agent/build.md", "---\npermission:\n  bash: ask\n---\n"),
    ],
)
@pytest.mark.parametrize("inside", [".config/opencode", ".opencode"])
def test_opencodes_rules_are_seen(
    home: Path, project: Path, inside: str, name: str, content: str
) -> None:
    write((home if "config" in inside else project) / inside / name, content)
    assert judged("opencode", project)[0]


@pytest.mark.requirement("HO-4")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        (".opencode/plugins/other.ts", 'export default { "tool.execute.before": x }'),
        ("opencode.json", '{"plugin": ["some-package"]}'),
    ],
)
def test_opencodes_other_plugins_are_seen(project: Path, name: str, content: str) -> None:
    write(project / name, content)
    assert judged("opencode", project)[1]
