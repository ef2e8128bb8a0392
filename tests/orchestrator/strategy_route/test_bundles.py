"""Workflow bundles: made by a strategy or by hand, checked as a whole, run to their end (ST-8)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.journey import FILES, SHOWN, Answer, call, words_of
from tests.strategies import SELF_EXTEND, Choice, goal, plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Golden, Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("ST-8")

TOML = """\
name = "release-notes"
purpose = "Collect what changed and write the notes."

[[step]]
name = "collect"
prompt = "collect.md"

[[step]]
name = "write"
prompt = "write.md"
agent = "technical-writer"
commands = ["notes"]

[[step]]
name = "check"
prompt = "check.md"
gate = "write"

[commands]
notes = "make notes"
"""
PROMPTS = {
    "collect.md": "List the commits since the last tag.",
    "write.md": "Write NOTES.md. <next>x</next>",
    "check.md": "Does NOTES.md name every commit?",
}  # fmt: skip
WRITTEN: dict[str, Any] = {
    "purpose": 'Say "what" changed',
    "commands": {"notes": "make notes"},
    "steps": [
        {"name": "write", "text": "Write it.", "commands": ["notes"]},
        {"name": "check", "text": "Is it right?", "gate": "write"},
    ],
}


def write_bundle(folder: Path, toml: str = TOML, **prompts: str | None) -> Path:
    """Write the sample bundle with changes; a prompt that is None is left out."""
    home = folder / "release-notes"
    home.mkdir(parents=True)
    (home / "workflow.toml").write_text(toml, encoding="utf-8")
    for name, text in {**PROMPTS, **prompts}.items():
        if text is not None:
            (home / name).write_text(text, encoding="utf-8")
    return home


@pytest.fixture
def repository(make_repo: Repositories) -> Repository:
    """Return a repository without bundles."""
    return make_repo(files=FILES)


@pytest.fixture
def place(repository: Repository) -> Path:
    """Return the folder of the repository's bundles."""
    return repository.path / "planning" / "workflows"


def places_told(answer: Answer) -> set[str]:
    return {p.attrib["at"].partition(": ")[2] for p in answer.block.iter("problem")}


def plain(text: str, repository: Repository, state_dir: str) -> str:
    shown = text.replace(state_dir, "STATE").replace(SHOWN, "PLANNER")
    return shown.replace(str(repository.path), "REPO")


@pytest.mark.quick
def test_a_bundle_with_a_gate_runs_to_its_end(
    repository: Repository, place: Path, golden: Golden
) -> None:
    write_bundle(place)
    assert "release-notes" in call(repository.path, "workflow", "check").data("sound")
    listed = call(repository.path, "workflow", "list").data("workflows")
    assert listed == "release-notes: Collect what changed and write the notes."
    shown = call(repository.path, "workflow", "run", "release-notes")
    state_dir = shown.block.get("state_dir", "")
    seen, blocks = [], []
    # An agent writes, the gate sends it back once, then passes.
    for outcome in ("done", "done", "fail", "done", "pass"):
        seen.append(shown.block.get("name"))
        blocks.append(plain(shown.text, repository, state_dir))
        for command in shown.runs():
            agent = call(repository.path, *words_of(command))
            assert agent.data("prompt") == "Write NOTES.md. <next>x</next>"
            assert agent.data("commands") == "notes: make notes"
            assert agent.block.find("next") is None
            blocks.append(plain(agent.text, repository, state_dir))
        command = shown.next(outcome)
        answer = call(repository.path, *words_of(command))
        assert call(repository.path, *words_of(command)) == answer  # repeated
        shown = answer
    assert seen == ["collect", "write", "check", "write", "check"]
    assert "The workflow has ended" in shown.text
    blocks.append(shown.text)
    golden("strategy/bundle.txt", "".join(dict.fromkeys(blocks)))
    again = call(repository.path, "workflow", "run", "release-notes", "--state-dir", state_dir)
    assert again.text == shown.text


def test_what_is_under_way_is_listed_with_the_command_that_goes_on(
    repository: Repository, place: Path
) -> None:
    write_bundle(place)
    shown = call(repository.path, "workflow", "run", "release-notes")
    listed = call(repository.path, "workflow", "list")
    assert call(repository.path, *words_of(listed.next("release-notes at collect"))) == shown
    (row,) = json.loads(call(repository.path, "workflow", "list", "--json").text)
    state_dir = shown.block.get("state_dir", "")
    assert row["under_way"] == [{"step": "collect", "state_dir": state_dir}]
    for outcome in ("done", "done", "pass"):
        shown = call(repository.path, *words_of(shown.next(outcome)))
    assert call(repository.path, "workflow", "list").block.find("next") is None


def test_a_run_stays_as_its_bundle_was_when_it_began(repository: Repository, place: Path) -> None:
    home = write_bundle(place)
    shown = call(repository.path, "workflow", "run", "release-notes")
    (home / "collect.md").write_text("Do something else.")
    (home / "workflow.toml").unlink()
    words = ("workflow", "run", "release-notes", "--state-dir", shown.block.get("state_dir", ""))
    assert call(repository.path, *words).text == shown.text


def test_a_gate_that_keeps_failing_goes_to_the_user(repository: Repository, place: Path) -> None:
    write_bundle(place)
    shown = call(repository.path, "workflow", "run", "release-notes")
    shown = call(repository.path, *words_of(shown.next("done")))
    for _ in range(4):
        shown = call(repository.path, *words_of(shown.next("done")))
        shown = call(repository.path, *words_of(shown.next("fail")))
    shown = call(repository.path, *words_of(shown.next("done")))
    refused = call(repository.path, *words_of(shown.next("fail")))
    assert "check has failed 5 times" in refused.text
    assert "ask the user" in refused.text
    assert "has ended" in call(repository.path, *words_of(shown.next("pass"))).text


def test_only_what_is_due_goes_on(repository: Repository, place: Path) -> None:
    write_bundle(place)
    shown = call(repository.path, "workflow", "run", "release-notes")
    at = ("--state-dir", shown.block.get("state_dir", ""))
    words = ("workflow", "run", "release-notes")
    early = call(repository.path, *words, "--step", "check", "--on", "pass", *at)
    assert early.problems[0][0] == "conflict"
    assert "the workflow is at collect" in early.text
    passed = call(repository.path, *words, "--step", "collect", "--on", "pass", *at)
    assert "collect is not a gate" in passed.text
    assert call(repository.path, *words, "--step", "collect", "--on", "done").code == 2
    assert call(repository.path, "workflow", "run", "other", *at).problems[0][0] == "conflict"
    none = call(repository.path, *words, "--state-dir", str(repository.path))
    assert none.problems[0][0] == "not_found"


def test_the_users_own_bundles_are_found_and_the_repositorys_come_first(
    repository: Repository, place: Path
) -> None:
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "planner" / "workflows"
    write_bundle(own, TOML.replace("Collect what changed", "My own way"))
    assert "My own way" in call(repository.path, "workflow", "list").data("workflows")
    write_bundle(place)
    (row,) = json.loads(call(repository.path, "workflow", "list", "--json").text)
    assert row["folder"] == str(place / "release-notes")


MALFORMED: dict[str, tuple[Callable[[str], str], dict[str, str | None], set[str]]] = {
    "no prompt file": (str, {"write.md": None}, {"step[1].prompt"}),
    "empty prompt": (str, {"write.md": " \n"}, {"step[1].prompt"}),
    "long prompt": (str, {"write.md": "x" * 20_001}, {"step[1].prompt"}),
    "path that escapes": (
        lambda t: t.replace('"write.md"', '"../../../src/a.py"'), {}, {"step[1].prompt"}),
    "absolute path": (
        lambda t: t.replace('"write.md"', '"/etc/passwd"'), {}, {"step[1].prompt"}),
    "built-in name": (
        lambda t: t.replace('"release-notes"', '"planner"'), {}, {"name"}),
    "bad name": (lambda t: t.replace('"release-notes"', '"Release Notes"'), {}, {"name"}),
    "loop without a gate": (
        lambda t: t.replace('prompt = "write.md"', 'prompt = "write.md"\nnext = "collect"'), {},
        {"step[0].next", "step[1].next", "step[2].name"}),
    "step that is never reached": (
        lambda t: t.replace('prompt = "collect.md"', 'prompt = "collect.md"\nnext = "done"'), {},
        {"step[1].name", "step[2].name"}),
    "unknown next": (
        lambda t: t.replace('prompt = "check.md"', 'prompt = "check.md"\nnext = "ship"'), {},
        {"step[2].next"}),
    "unknown gate": (lambda t: t.replace('gate = "write"', 'gate = "ship"'), {}, {"step[2].gate"}),
    "gate on itself": (
        lambda t: t.replace('gate = "write"', 'gate = "check"'), {}, {"step[2].gate"}),
    "unknown agent": (
        lambda t: t.replace('"technical-writer"', '"wizard"'), {}, {"step[1].agent"}),
    "unknown command": (lambda t: t.replace('["notes"]', '["ship"]'), {}, {"step[1].commands"}),
    "unknown fields": (
        lambda t: "colour = 1\n" + t.replace("agent = ", 'model = "x"\nagent = '), {},
        {"colour", "step[1].model"}),
    "two steps of a name": (
        lambda t: t.replace('name = "check"', 'name = "write"'), {}, {"step[2].name"}),
    "no steps": (lambda t: t.partition("[[step]]")[0], {}, {"step"}),
    "not TOML": (lambda _: "name = [", {}, {"TOML"}),
    "no purpose": (lambda t: t.replace("purpose", "# purpose"), {}, {"purpose"}),
    "many at once": (
        lambda t: t.replace('"technical-writer"', '"wizard"').replace('gate = "write"', "gate = 1"),
        {"collect.md": None}, {"step[0].prompt", "step[1].agent", "step[2].gate"}),
}  # fmt: skip


@pytest.mark.parametrize("what", MALFORMED)
def test_every_fault_of_a_malformed_bundle_is_told_and_it_does_not_run(
    repository: Repository, place: Path, what: str
) -> None:
    change, prompts, expected = MALFORMED[what]
    home = write_bundle(place, change(TOML), **prompts)
    answer = call(repository.path, "workflow", "check", "release-notes")
    assert (answer.code, answer.stderr) == (1, "")
    told = {str(home / "workflow.toml")} if expected == {"TOML"} else expected
    assert places_told(answer) == told, answer.text
    assert "allowed:" in answer.problems[-1][1]
    assert call(repository.path, "workflow", "run", "release-notes").code == 1
    faults = "1 fault" if len(answer.problems) == 1 else f"{len(answer.problems)} faults"
    listed = call(repository.path, "workflow", "list").data("workflows")
    assert listed == f"release-notes: {faults}, as `planner workflow check` tells"
    assert not (repository.path / ".planner" / "workflows").exists()


@pytest.mark.parametrize("what", ["script", "executable", "link", "linked prompt"])
def test_a_bundle_brings_no_code_and_no_links(
    repository: Repository, place: Path, what: str
) -> None:
    home = write_bundle(place)
    if what == "script":
        (home / "run.sh").write_text("true")
    elif what == "executable":
        (home / "write.md").chmod(0o755)
    elif what == "link":
        (home / "more").symlink_to(repository.path / "src")
    else:
        (home / "write.md").unlink()
        (home / "write.md").symlink_to(repository.path / "src" / "a.py")
    answer = call(repository.path, "workflow", "check")
    assert answer.code == 1
    told = {"script": "run.sh", "executable": "write.md", "link": "more"}
    assert told.get(what, "write.md") in places_told(answer)


# made from what an assistant wrote


def made(repository: Repository, value: object, name: str = "sheet-report") -> Answer:
    path = repository.path / "bundle.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return call(repository.path, "workflow", "new", name, "--file", str(path))


def test_a_new_bundle_is_checked_and_can_be_run(repository: Repository, place: Path) -> None:
    answer = made(repository, WRITTEN)
    assert answer.data("made") == str(place / "sheet-report")
    assert made(repository, WRITTEN) == answer
    assert call(repository.path, "workflow", "check").code == 0
    shown = call(repository.path, *words_of(answer.next("run")))
    assert (shown.data("prompt"), shown.data("commands")) == ("Write it.", "notes: make notes")
    other = made(repository, {**WRITTEN, "purpose": "Another"})
    assert other.problems[0][0] == "conflict"


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ({"steps": []}, "steps"), ({"colour": 1}, "colour"), ({"purpose": ""}, "purpose"),
        ({"steps": [{"name": "a/../b", "text": "x"}]}, "steps[0].name"),
        ({"steps": [{"name": "a", "text": "x", "gate": "b"}]}, "step[0].gate"),
        ({"steps": [{"name": "a", "text": "x", "next": "a"}]}, "step[0].next"),
        ({"commands": ["x"]}, "commands"), ({"steps": [{"name": "a"}]}, "steps[0].text"),
    ],
)  # fmt: skip
def test_a_new_bundle_with_a_fault_is_not_made(
    repository: Repository, place: Path, change: dict[str, Any], at: str
) -> None:
    answer = made(repository, {**WRITTEN, **change})
    assert at in {p.attrib["at"] for p in answer.block.iter("problem")}, answer.text
    assert not place.exists() or not list(place.iterdir())
    assert made(repository, WRITTEN, "planner").code == 1
    assert made(repository, WRITTEN, "../x").code == 1
    assert made(repository, [WRITTEN]).code == 1


def test_a_strategy_of_self_extension_makes_a_workflow_that_runs_from_any_folder(
    repository: Repository, place: Path, tmp_path: Path
) -> None:
    choice = Choice(repository, request="A report as a sheet, every month")
    shown = choice.choose(SELF_EXTEND)
    assert choice.name == "extend"
    assert "G1: Create workflow bundle" in shown.data("goals")
    choice.write_answer("bundle.json", WRITTEN)
    begun = call(tmp_path, *words_of(shown.next("written")))
    assert begun.data("made") == str(place / "sheet-report")
    step = call(tmp_path, *words_of(begun.next("run")))
    while step.block.tag == "step":
        step = call(tmp_path, *words_of(step.next()))
    ended = choice.follow("done")
    assert "The strategy has ended" in ended.text
    assert choice.planner("status").data("status").startswith("Completed")


def test_a_tool_is_proposed_and_run_by_nobody(repository: Repository) -> None:
    choice = Choice(repository)
    extension = {"action": "CREATE_TOOL", "tool_name": "spell", "command": "touch made-by-it"}
    value = plan("executor", goal(1, "Check spelling"), plan_type="self_extend",
                 self_extension=extension)  # fmt: skip
    shown = choice.choose(value)
    assert shown.data("command") == "touch made-by-it"
    assert "a person has confirmed it" in shown.text
    refused = choice.follow("done")
    assert (refused.code, refused.problems[0][0]) == (1, "refused")
    assert "planner.toml has no `touch made-by-it` among [verify] commands" in refused.text
    assert "FAIL, with the reason, where it cannot be made" in refused.text
    config = repository.path / "planner.toml"
    config.write_text('[verify]\ncommands = ["touch made-by-it"]\n', encoding="utf-8")
    assert "The strategy has ended" in choice.call(*words_of(shown.next("done"))).text
    assert not (repository.path / "made-by-it").exists()


@pytest.mark.parametrize(
    ("extension", "at"),
    [
        ({"action": "CREATE_WORKFLOW"}, "workflow_name"), ({"action": "BUY"}, "action"),
        ({"action": "CREATE_WORKFLOW", "workflow_name": "planner"}, "workflow_name"),
        ({"action": "CREATE_WORKFLOW", "workflow_name": "../x"}, "workflow_name"),
        ({"action": "CREATE_TOOL", "tool_name": "x"}, "command"),
        ({"action": "CREATE_TOOL", "command": "x", "code": "y", "tool_name": "x"}, "code"),
    ],
)  # fmt: skip
def test_a_faulty_extension_is_refused_with_its_place(
    repository: Repository, extension: dict[str, str], at: str
) -> None:
    choice = Choice(repository)
    refused = choice.choose({**SELF_EXTEND, "self_extension": extension})
    told = {p.attrib["at"] for p in refused.block.iter("problem")}
    assert told == {f"self_extension.{at}"}
