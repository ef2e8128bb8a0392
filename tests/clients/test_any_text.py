"""Any shell text while a real client's session plans: it runs in the place, or is asked about."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from shared.place.level import level
from shared.resources import installed_path
from tests.clients.real_clients import Codex, Gemini, Opencode, Vibe
from tests.clients.scripted_model import TASK
from tests.clients.test_claude import agent, bash
from tests.clients.test_setup import set_up
from tests.journey import LAUNCHER

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.clients.real_clients import Claude, Played
    from tests.clients.scripted_model import Turn
    from tests.journey import Journey

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("PP-4")]

# A loop is more than the parser reads, and the file is there in the place alone.
LOOP = "for f in one two; do echo $f | python3 -c 'print(input() * 2)'; done; ls /run/planner-place"
WRITES = "python3 -c \"open('made', 'w').write('x')\"; cat made; rm -rf \"$(mktemp -d)\"; exit 3"
RULE = "Bash(git push:*)"
HOOK = """#!{python}
import json, sys
given = json.load(sys.stdin)["tool_input"]
given["command"] = "echo replaced; " + given["command"]
changed = {{"hookEventName": "PreToolUse", "updatedInput": given}}
print(json.dumps({{"hookSpecificOutput": changed}}))
"""
VIBE_HOOK = """#!{python}
import json, sys
given = json.load(sys.stdin)["tool_input"]
given["command"] = "echo replaced; " + given["command"]
print(json.dumps({{"hook_specific_output": {{"tool_input": given}}}}))
"""


@pytest.fixture(autouse=True)
def _held(run: Journey) -> None:
    if not level(str(run.repository.path)).holds:
        pytest.skip("the place does not hold here")


def ran_in_the_place(text: str) -> bool:
    return "oneone" in text and "twotwo" in text and "/run/planner-place" in text


def test_a_text_that_no_parser_reads_runs_in_the_place(claude: Claude, planning: Journey) -> None:
    root = planning.repository.path
    played = claude.play([bash(LOOP), bash(WRITES), bash("cat README.md | head -2")])
    looped, wrote, read = played.results
    assert ran_in_the_place(looped.text), looped
    assert not looped.is_error
    assert "Exit code 3" in wrote.text
    assert "not kept: made; edit in" in wrote.text
    assert not (root / "made").exists()
    assert "# Sample" in read.text


@pytest.mark.usefixtures("planning")
def test_a_text_of_a_sub_agent_runs_in_the_place(claude: Claude) -> None:
    claude.permit("Agent")
    played = claude.play([agent("try it")], sub=[bash(LOOP)])
    (looped,) = [r for r in played.results if r.agent]
    assert ran_in_the_place(looped.text), looped


@pytest.mark.usefixtures("planning")
@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_with_a_rule_of_the_user_a_text_that_it_could_not_match_is_asked_about(
    claude: Claude, kind: str
) -> None:
    """Without a terminal nobody answers, and the model reads what would have been asked."""
    claude.permit("Bash", **{kind: [RULE]})
    asked, simple = claude.play([bash(LOOP), bash("ls src; wc -l README.md")]).results
    assert asked.is_error
    assert LOOP in asked.text
    assert not simple.is_error, simple


@pytest.mark.usefixtures("planning")
@pytest.mark.parametrize(
    ("kind", "rule", "text"),
    [("deny", "Bash(wc:*)", "ls src && wc -l README.md || true"),
     ("ask", "Bash(wc:*)", "cat README.md | wc -l; ls"),
     ("deny", "Read(private/**)", "ls; tail -1 private/key.txt")],
)  # fmt: skip
def test_a_rule_finds_its_command_in_a_compound_one(
    claude: Claude, kind: str, rule: str, text: str
) -> None:
    claude.permit("Bash", **{kind: [rule]})
    ruled, other = claude.play([bash(text), bash("head -1 README.md; ls src")]).results
    assert ruled.is_error, ruled
    assert "hidden" not in ruled.text
    assert not other.is_error, other


def answered(played: Played) -> str:
    return "\n".join(result.text for result in played.results)


@pytest.mark.usefixtures("planning")
def test_who_is_asked_sees_the_whole_text_and_what_they_allow_runs_in_the_place(
    claude: Claude,
) -> None:
    claude.permit(deny=[RULE])
    played = claude.type("go\r", "\r", turns=[bash(LOOP)], quiet_s=8)
    assert ran_in_the_place(answered(played)), (answered(played), played.stdout[-3000:])
    shown = played.stdout.replace("\x1b[1C", " ")
    assert "print(input()" in shown


@pytest.mark.usefixtures("planning")
def test_a_text_that_another_hook_would_replace_does_not_run(
    claude: Claude, tmp_path_factory: pytest.TempPathFactory
) -> None:
    hook = tmp_path_factory.mktemp("hook") / "rewrite"
    hook.write_text(HOOK.format(python=sys.executable), encoding="utf-8")
    hook.chmod(0o755)
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": str(hook)}]}
    settings = {"permissions": {"allow": ["Bash"]}, "hooks": {"PreToolUse": [entry]}}
    claude.write(".claude/settings.json", json.dumps(settings))
    looped, wrote = claude.play([bash(LOOP), bash("echo made > made")]).results
    assert f"{LAUNCHER} ro --file " in looped.text
    assert "Planning mode" in wrote.text


@pytest.mark.requirement("PP-6", "PM-13")
def test_the_chain_that_made_the_guard_slow_and_then_approved_is_denied(
    claude: Claude, waiting: Journey, digest: str
) -> None:
    for number in range(2_900):
        (waiting.repository.path / f"{number}.txt").touch()
    claude.permit("Bash")
    approve = f"env -u CLAUDECODE -u AI_AGENT script -qec '{LAUNCHER} approve {digest}' /dev/null"
    slow = f"cat{' *' * 1_992} >/dev/null"
    tried = [bash(f"{slow}; {approve}"), bash(approve), bash(f'sh -c "{slow}"; {approve}')]
    for result in claude.play(tried).results:
        assert result.is_error
        assert "Planning mode (submitted): " in result.text
    status = json.loads(waiting.planner("status", "--json").text)
    assert status["stage"] == "submitted"


def test_vibe_runs_any_text_in_the_place(run: Journey) -> None:
    run.to("code")
    vibe = Vibe("vibe-3.0.2", run.repository.path)
    free = f'[tools.bash]\nallowlist = ["{LAUNCHER}", "false"]\n'
    texts = [("bash", {"command": text}) for text in (LOOP, WRITES)]
    looped, wrote = vibe.play(texts, settings=free).results
    assert ran_in_the_place(looped.text), looped
    assert "not kept: made" in wrote.text
    assert not (run.repository.path / "made").exists()
    ruled = vibe.play(texts[:1], settings=f'{free}denylist = ["git push"]\n').only
    assert "simple commands" in ruled.text


TOLD = f"{TASK}try it"
SPAWN = f'return await tools.agents.spawn({{name: "helper", message: "{TOLD}"}})'


def gemini_agent(path: Path) -> Played:
    client = Gemini("gemini-0.61.0", path)
    client.add_hooks()
    given = {"agent_name": "generalist", "prompt": TOLD}
    sub = [("run_shell_command", {"command": LOOP})]
    return client.play([("invoke_agent", given), "done"], "--yolo", sub=sub)


def opencode_agent(path: Path) -> Played:
    client = Opencode("opencode-1.18.33", path)
    client.add_hooks()
    given = {"description": "try", "prompt": TOLD, "subagent_type": "general"}
    sub = [("bash", {"command": LOOP, "description": "x"})]
    return client.play([("task", given), "done"], sub=sub)


def vibe_agent(path: Path) -> Played:
    turns: list[Turn] = [("run_typescript", {"code": SPAWN}), ("wait", {}), "done"]
    client = Vibe("vibe-3.0.2", path)
    return client.play(turns, "--auto-approve", sub=[("bash", {"command": LOOP})])


@pytest.mark.requirement("HO-4")
@pytest.mark.parametrize("play", [gemini_agent, opencode_agent, vibe_agent])
def test_a_text_of_another_clients_sub_agent_runs_in_the_place(
    play: Callable[[Path], Played], run: Journey
) -> None:
    run.to("code")
    played = play(run.repository.path)
    (looped,) = [result for result in played.results if result.agent]
    assert ran_in_the_place(looped.text), looped


def test_a_text_that_another_hook_of_vibe_would_replace_does_not_run(
    run: Journey, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run.to("code")
    hook = tmp_path_factory.mktemp("hook") / "rewrite"
    hook.write_text(VIBE_HOOK.format(python=sys.executable), encoding="utf-8")
    hook.chmod(0o755)
    other = f'[[hooks]]\nname = "other"\ntype = "pre_tool"\ncommand = "{hook}"\n'
    texts = [("bash", {"command": text}) for text in (LOOP, "echo made > made", "wc -l README.md")]
    vibe = Vibe("vibe-3.0.2", run.repository.path)
    looped, wrote, read = vibe.play(texts, "--auto-approve", other_hooks=other).results
    assert f"{LAUNCHER} ro --file " in looped.text
    assert "Planning mode" in wrote.text
    assert "Planning mode" not in read.text


CODEX = {"danger-full-access": True, "workspace-write": False}


@pytest.mark.parametrize("sandbox", CODEX)
def test_codex_runs_any_text_by_a_file_unless_its_own_sandbox_forbids_the_place(
    run: Journey, sandbox: str
) -> None:
    """In its sandbox the parser decides, and the refusal says why."""
    run.to("code")
    codex = Codex("codex-0.169.0", run.repository.path)
    file = f"{run.state_dir}/answers/command.sh"
    lines = ["*** Begin Patch", f"*** Add File: {file}", f"+{LOOP}", "*** End Patch"]
    patch = "apply_patch <<'EOF'\n{}\nEOF".format("\n".join(lines))
    commands = [LOOP, patch, f"{LAUNCHER} ro --file {file}"]
    turns = [("exec_command", {"cmd": command}) for command in commands]
    denied, _, ran = codex.play(turns, sandbox=sandbox).results
    assert f"{LAUNCHER} ro --file {file}" in denied.text
    assert ran_in_the_place(ran.text) is CODEX[sandbox], ran
    assert ("may run only in the place, and here" in ran.text) is not CODEX[sandbox], ran


def test_codex_as_setup_leaves_it_runs_any_text_by_a_file_in_the_place(run: Journey) -> None:
    """The rule lets our program run outside of codex's sandbox, which would forbid the place."""
    run.to("code")
    set_up("codex")
    codex = Codex("codex-0.169.0", run.repository.path)
    file = f"{run.state_dir}/answers/command.sh"
    lines = ["*** Begin Patch", f"*** Add File: {file}", f"+{LOOP}", "*** End Patch"]
    patch = "apply_patch <<'EOF'\n{}\nEOF".format("\n".join(lines))
    launcher = installed_path("bin", "planner")
    turns = [
        ("exec_command", {"cmd": text}) for text in (LOOP, patch, f"{launcher} ro --file {file}")
    ]
    denied, _, ran = codex.play(turns, hooks=False).results
    assert f"ro --file {file}" in denied.text
    assert ran_in_the_place(ran.text), ran
