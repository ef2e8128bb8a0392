"""What a person sees in a terminal, and what assistants and pipes get of the same command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.text import json_of, text_of
from shared.builders import Block, error_block
from shared.commands import COMMANDS
from shared.resources import PROGRAM, ROOT, launcher, launcher_text, quote
from state.errors import Problem
from tests.journey import FILES, SHOWN, Journey, call
from tests.orchestrator.every_step import normalised
from tests.terminal import started, typed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Golden, Repository

    Repositories = Callable[..., Repository]

TAG = re.compile(r"</?[a-z]+[ />]|CDATA|\]\]>")
# What a command is given where its words alone are not enough to get beyond its usage.
GIVEN = {
    "start": ("Make g add two", "--depth", "full"), "approve": ("0" * 12,), "decide": ("CP-1", "a"),
    "retry": ("M-001",), "queue add": ("Make g add two",), "queue remove": ("Q-001",),
    "template save": ("one",), "template use": ("one",), "setup": ("--dry-run",),
    "plan add": ("milestone", "--name", "x"), "plan set": ("M-001", "--version", "9"),
    "plan remove": ("M-001", "--version", "9"), "plan check": ("--phase", "plan-code"),
    "plan done": ("--phase", "plan-code"), "plan list": ("milestones",), "plan import": ("none",),
    "qr list": ("--phase", "plan-code"), "guard check": ("git log -1",), "mode enter": ("Look",),
    "recall": ("why",), "config confirm": ("0" * 12,), "validate": ("none.json",),
}  # fmt: skip
# What has a form of its own everywhere; a step's block is checked apart, as `ro` has its command's.
OWN_FORM = {"plan diff", "plan schema", "export", "help", "demo", "step"}
GOLDEN = {
    "status": ("status",),
    "plan-show": ("plan", "show", "M-001", "CI-001"),
    "plan-list": ("plan", "list", "intents"),
    "refused": ("plan", "show", "M-009"),
    "usage": ("plan", "shwo"),
}


@pytest.fixture
def submitted(make_repo: Repositories) -> Journey:
    """Return a run whose plan waits for its person."""
    return Journey(make_repo(files=FILES)).to("submitted")


@pytest.mark.requirement("HO-5")
def test_every_command_prints_text_on_a_terminal_and_a_block_into_a_pipe(
    submitted: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    folder = submitted.repository.path
    for name in (*(n for n in COMMANDS if n not in {*OWN_FORM, "cancel"}), "cancel"):
        words = (*name.split(), *GIVEN.get(name, ()))
        seen = typed(folder, *words)
        assert seen.text.strip(), name
        assert not TAG.search(seen.text), f"{name}: {seen.text}"
        assert call(folder, *words).block.tag in ("step", "result", "error"), name


@pytest.mark.requirement("HO-5")
@pytest.mark.parametrize("name", GOLDEN)
def test_the_text_of_a_command_and_its_block_are_as_they_should(
    submitted: Journey, golden: Golden, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text = typed(submitted.repository.path, *GOLDEN[name]).text
    block = call(submitted.repository.path, *GOLDEN[name]).text
    golden(f"people/{name}.txt", normalised(text, submitted))
    golden(f"people/{name}.xml", normalised(block, submitted))


@pytest.mark.requirement("HO-5")
def test_a_step_script_prints_its_block_on_a_terminal_too(submitted: Journey) -> None:
    seen = started(submitted.repository.path, PROGRAM, "step", "executor")
    assert seen.block.get("workflow") == "executor"


@pytest.mark.requirement("HO-5")
def test_the_diff_of_a_plan_is_a_patch_that_git_applies_byte_for_byte(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.edits["src/a.py"] = b"# coding: latin-1\n# \xe9\ndef f(x):\r\n    return x + 2"
    folder = journey.to("submitted").repository.path
    script = f"'{PROGRAM}' plan diff | git apply && '{PROGRAM}' plan diff M-001 | git apply -R"
    subprocess.run(["sh", "-c", script], cwd=folder, check=True)
    assert not journey.repository.git("status", "--porcelain", "-uno")
    subprocess.run(["sh", "-c", f"'{PROGRAM}' plan diff | git apply"], cwd=folder, check=True)
    assert (folder / "src/a.py").read_bytes() == journey.edits["src/a.py"]
    assert "f(1) == 3" in (folder / "tests/test_a.py").read_text()


@pytest.mark.requirement("HO-5")
def test_a_patch_on_a_terminal_cannot_steer_it(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.edits["src/a.py"] = "def f(x):\n    return x + 2  # \x1b[2J \u202e\n"
    folder = journey.to("submitted").repository.path
    seen = started(folder, PROGRAM, "plan", "diff").text
    assert "\x1b[32m+    return x + 2  # \\x1b[2J \\u202e\x1b[0m" in seen
    plain = started(folder, PROGRAM, "plan", "diff", NO_COLOR="1").text
    assert "\x1b" not in plain
    assert "+    return x + 2  # \\x1b[2J" in plain


@pytest.mark.requirement("HO-5")
def test_a_plan_is_shown_as_markdown_on_a_terminal_and_where_it_is_asked_for(
    submitted: Journey,
) -> None:
    folder = submitted.repository.path
    text = (Path(submitted.state_dir) / "plan.md").read_text(encoding="utf-8")
    shown = typed(folder, "plan", "show").text
    assert call(folder, "plan", "show", "--md").text == shown
    # What plan.md folds has a heading here.
    folds = ("<details>", "</details>")
    kept = [line for line in text.splitlines() if line and not line.startswith(folds)]
    assert [line for line in kept if line not in shown.splitlines()] == []
    assert "<details>" not in shown
    assert "## Details" in shown
    assert "# CI-001 src/a.py: adds two" in call(folder, "plan", "show", "CI-001", "--md").text
    assert call(folder, "plan", "show").block.tag == "result"


@pytest.mark.requirement("HO-5")
def test_status_says_in_words_where_the_run_is_and_who_has_to_go_on(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    folder = journey.repository.path
    said = []
    for point in ("context", "design", "code", "submitted"):
        journey.to(point)
        said.append(json.loads(call(folder, "status", "--json").text)["words"])
    call(folder, "cancel")
    said.append(json.loads(journey.planner("status", "--json").text)["words"])
    # How many steps lie on the path is for the tests of the path to say.
    assert [re.sub(r"step \d of \d", "step N", words) for words in said] == [
        "Understanding the task, step N – waits for the assistant",
        "Designing, step N – waits for the assistant",
        "Writing the code, step N – waits for the assistant",
        "Submitted for approval, step N – waits for you",
        "Cancelled",
    ]


@pytest.mark.requirement("HO-5")
def test_who_is_run_by_an_assistant_gets_blocks_in_a_terminal_too(
    submitted: Journey, tmp_path: Path
) -> None:
    folder = submitted.repository.path
    program = tmp_path / "planner"
    program.write_text(launcher_text(PROGRAM))
    program.chmod(0o755)
    assert started(folder, str(program), "status").block.tag == "result"
    assert started(folder, PROGRAM, "status", CLAUDECODE="1").block.tag == "result"
    assert started(folder, PROGRAM, "status", AI_AGENT="x").block.tag == "result"
    assert "waits for you" in started(folder, PROGRAM, "status").text
    # A person copies the launcher's path from a block, for what only a person may run.
    assert not TAG.search(started(folder, str(program), "approve", "0" * 12).text)
    assert not TAG.search(started(folder, str(program), "status", "--format", "text").text)


@pytest.mark.requirement("HO-5")
def test_a_person_is_shown_commands_that_answer_with_text(
    submitted: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(submitted.repository.path, "setup", "claude", "--yes")
    block = call(submitted.repository.path, "status")
    assert block.next().split()[0] != PROGRAM
    rule = f'+    "Bash({launcher()} *)",'
    assert rule in text_of(Block("result").data("changes", rule).render())
    monkeypatch.setenv("NO_COLOR", "1")
    seen = typed(submitted.repository.path, "status").text
    assert f"    {quote(PROGRAM)} review --open" in seen
    assert block.next().split()[0] not in seen


@pytest.mark.requirement("HO-5")
def test_a_form_may_be_chosen_for_every_command(submitted: Journey) -> None:
    folder = submitted.repository.path
    text = call(folder, "status", "--format", "text").text
    assert "waits for you" in text
    assert not TAG.search(text)
    assert call(folder, "--format", "text", "status").text == text
    assert typed(folder, "status", "--format=xml").block.tag == "result"
    own = json.loads(call(folder, "status", "--format", "json").text)
    assert own == json.loads(call(folder, "status", "--json").text)
    block = json.loads(call(folder, "resume", "--format", "json").text)["step"]
    assert block["workflow"] == "executor"
    assert block["person"][0]["text"].startswith(quote(PROGRAM))
    refused = json.loads(call(folder, "plan", "show", "M-009", "--format", "json").text)
    assert refused["error"]["problem"][0]["kind"] == "not_found"
    assert call(folder, "plan", "diff", "--format", "xml").block.tag == "result"
    assert call(folder, "plan", "add", "milestone", "--format", "yaml").code == 2


@pytest.mark.requirement("HO-5")
def test_long_lines_of_prose_are_wrapped_at_the_width_but_no_command_and_no_code() -> None:
    code = f"```\n{'code ' * 20}\n```"
    block = Block("result").task(f"- {'word ' * 20}\n{quote(PROGRAM)} {'word ' * 20}\n{code}")
    lines = text_of(
        block.next("done", f"{quote(PROGRAM)} {'word ' * 20}").render(), 60
    ).splitlines()
    assert lines[:2] == [f"- {'word ' * 11}".rstrip(), f"  {'word ' * 9}".rstrip()]
    assert len([line for line in lines if len(line) > 60]) == 3


@pytest.mark.requirement("HO-5")
def test_text_has_a_line_for_each_part_of_a_problem() -> None:
    problem = Problem("not_found", "M-009", "there is none", "M-001, M-002", "planner plan show")
    assert text_of(error_block([problem])) == (
        "Not found: there is none\n  Where: M-009\n  Allowed: M-001, M-002\n  Run:\n"
        f"    {SHOWN} plan show\n"
    )


@pytest.mark.requirement("HO-5")
def test_text_of_a_step_has_every_part_and_commands_on_lines_of_their_own() -> None:
    block = Block("step", workflow="planner", number=4, of=11, path="3 of 6", name="review")
    block.task("Start them.").rules("Not yourself.").data("question <b>", "]]> & <x>")
    block.dispatch("reviewer", ["planner a", "planner b && c"], parallel=True, model="small")
    block.ask("CP-001", "Which?", [("a", "This <one>")], multi=True)
    block.next("done", "planner go").next("fail", "planner back").person("planner approve 1")
    assert text_of(block.render()) == (
        "planner · review · step 3 of 6\n\nStart them.\n\nRules\nNot yourself.\n\n"
        "Question <b>: ]]> & <x>\n\n"
        "Agents to start (reviewer with small, all at once):\n    planner a\n    planner b && c\n\n"
        "Question CP-001: Which? (one or more)\n  a: This <one>\n\n"
        "Next:\n    planner go\n\nNext, fail:\n    planner back\n\n"
        "For you to type:\n    planner approve 1\n"
    )


@pytest.mark.requirement("HO-5")
def test_rows_with_tabs_are_a_table_and_all_else_stays_as_it_is() -> None:
    rows = Block("result").data("rows", "a\tlonger\nlonger\tb").data("code", "a\tb\nc")
    assert text_of(rows.render()) == "Rows:\n  a       longer\n  longer  b\n\nCode:\n  a\tb\n  c\n"


@pytest.mark.requirement("HO-5")
def test_what_a_block_holds_is_the_same_in_json() -> None:
    block = Block("result", stage="x").data("a", "]]> <b>").next("done", "planner status")
    assert json.loads(json_of(block.render())) == {
        "result": {
            "stage": "x",
            "data": [{"name": "a", "text": "]]> <b>"}],
            "next": [{"on": "done", "text": "planner status"}],
        }
    }


@pytest.mark.requirement("HO-5")
def test_what_does_without_click_prints_text_on_a_terminal_too(tmp_path: Path) -> None:
    refused = started(tmp_path, PROGRAM, "ro", "wrong", NO_COLOR="1").text
    assert not TAG.search(refused)
    assert "\n  Run:\n    " in refused
    assert started(tmp_path, PROGRAM, "ro", "wrong", CLAUDECODE="1").block.tag == "error"
    without = started(tmp_path, PROGRAM, "status", PLANNER_PYTHON="/none")
    assert without.code == 2
    assert without.text.startswith("No Python interpreter was found.")
    hosted = started(tmp_path, PROGRAM, "status", PLANNER_HOST="1", PLANNER_PYTHON="/none")
    assert hosted.block.tag == "error"


OLD_PYTHON = """\
#!/bin/sh
shift 4  # the options of the launcher
exec "{python}" -I -S -c "import runpy, sys
sys.version_info = (3, 9, 18, 'final', 0)
runpy.run_path(sys.argv[1], run_name='__main__')" "$@"
"""


@pytest.mark.requirement("HO-5")
def test_a_python_that_is_too_old_is_one_line_on_a_terminal(tmp_path: Path) -> None:
    """The version is set by hand, since an old Python is not everywhere."""
    old = tmp_path / "old-python"
    old.write_text(OLD_PYTHON.format(python=sys.executable), encoding="utf-8")
    old.chmod(0o755)
    told = started(tmp_path, PROGRAM, "setup", width=200, PLANNER_PYTHON=str(old))
    assert told.code == 2
    assert told.text == (
        "This is Python 3.9. Needed is Python 3.11 or newer as python3 on PATH, or its absolute "
        "path in PLANNER_PYTHON.\n"
    )
    hosted = started(tmp_path, PROGRAM, "setup", PLANNER_HOST="1", PLANNER_PYTHON=str(old))
    assert hosted.block.tag == "error"


@pytest.mark.requirement("HO-5")
def test_the_version_is_that_of_the_manifest(tmp_path: Path) -> None:
    manifest = json.loads((Path(ROOT) / ".claude-plugin" / "plugin.json").read_text())
    assert call(tmp_path, "--version").text == f"planner {manifest['version']}\n"


@pytest.mark.requirement("HO-5")
def test_a_shell_completes_commands_and_options(tmp_path: Path) -> None:
    def completed(*words: str) -> list[str]:
        env = {
            **os.environ, "_PLANNER_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(("planner", *words)), "COMP_CWORD": str(len(words)),
        }  # fmt: skip
        ran = subprocess.run(
            [PROGRAM], env=env, cwd=tmp_path, capture_output=True, text=True, check=True
        )
        return [line.partition(",")[2] for line in ran.stdout.splitlines()]

    assert completed("plan", "sh") == ["show"]
    assert completed("status", "--fo") == ["--format"]
    assert completed("status", "--format", "t") == ["text"]


@pytest.mark.requirement("HO-5")
def test_the_program_says_how_to_set_up_completion(tmp_path: Path) -> None:
    script = f'eval "$(_PLANNER_COMPLETE=bash_source {quote(PROGRAM)})"; complete -p planner'
    ran = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "_planner_completion" in ran.stdout
