"""The tables of steps: what they hold, how they are found, what they refuse."""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator import executor, planner
from shared import resources
from shared.resources import ROOT
from shared.run import open_state
from shared.steps.entry_points import MODULES, discover_workflows, find_workflow
from shared.steps.workflow import Step, Workflow
from state.errors import Refused
from tests.journey import FILES, Journey, call, words_of

ROLES = ("architect", "developer", "technical_writer", "quality_reviewer")

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]


@pytest.mark.requirement("PL-2")
def test_the_planner_has_its_eleven_steps_in_order() -> None:
    assert [(n, s.name, s.kind, s.agent, s.on_fail) for n, s in planner.STEPS.items()] == [
        (1, "plan-init", "init", None, None),
        (2, "context-verify", "verify", None, None),
        (3, "plan-design-execute", "execute", "architect", None),
        (4, "plan-design-qr", "qr", None, None),
        (5, "plan-design-qr-gate", "gate", None, 3),
        (6, "plan-code-execute", "execute", "developer", None),
        (7, "plan-code-qr", "qr", None, None),
        (8, "plan-code-qr-gate", "gate", None, 6),
        (9, "plan-docs-execute", "execute", "technical-writer", None),
        (10, "plan-docs-qr", "qr", None, None),
        (11, "plan-docs-qr-gate", "gate", None, 9),
    ]
    assert planner.WORKFLOW.phases("full") == ["plan-design", "plan-code", "plan-docs"]
    assert planner.WORKFLOW.phases("intent") == ["plan-design"]


@pytest.mark.requirement("PL-3")
def test_the_executor_has_its_nine_steps_in_order() -> None:
    assert [(n, s.name, s.kind, s.agent, s.on_fail) for n, s in executor.STEPS.items()] == [
        (1, "init", "person", None, None),
        (2, "load-verify", "program", None, None),
        (3, "impl-execute", "execute", "developer", None),
        (4, "impl-code-qr", "qr", None, None),
        (5, "impl-code-qr-gate", "gate", None, 3),
        (6, "impl-docs-execute", "execute", "technical-writer", None),
        (7, "impl-docs-qr", "qr", None, None),
        (8, "impl-docs-qr-gate", "gate", None, 6),
        (9, "reconcile", "reconcile", None, None),
    ]
    assert executor.WORKFLOW.phases("full") == ["impl-code", "impl-docs"]


@pytest.mark.requirement("PL-6")
def test_a_step_is_frozen() -> None:
    step = planner.STEPS[3]
    for name in Step._fields:
        with pytest.raises(AttributeError):
            setattr(step, name, None)
    with pytest.raises(AttributeError):
        setattr(step, "colour", "red")  # noqa: B010 – mypy knows that there is none


@pytest.mark.requirement("PL-6")
def test_a_table_stands_on_one_screen_at_the_top_of_its_module() -> None:
    for workflow in (planner, executor):
        tree = ast.parse(Path(str(workflow.__file__)).read_text(encoding="utf-8"))
        table = next(
            node
            for node in tree.body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "STEPS"
        )
        assert (table.end_lineno or 999) <= 50
        assert not any(isinstance(node, ast.FunctionDef) for node in tree.body)


@pytest.mark.requirement("PL-5")
def test_every_entry_point_defines_exactly_one_workflow_and_all_are_found() -> None:
    defining = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for path in Path(ROOT).glob("[!.]*/**/*.py")
        if re.search(r"^\w+ = Workflow\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert defining == set(MODULES.values())
    found = discover_workflows()
    assert list(found) == list(MODULES)
    for module in defining:
        names = vars(sys.modules[module])
        assert [n for n, v in names.items() if isinstance(v, Workflow)] == ["WORKFLOW"]
    assert {"planner", "executor"} <= set(found)
    for name, workflow in found.items():
        assert workflow.name == name
        assert workflow.purpose.endswith(".")
        assert list(workflow.steps) == list(range(1, len(workflow.steps) + 1))
        assert find_workflow(name) is workflow


@pytest.mark.requirement("PL-4")
def test_every_script_of_an_agent_is_a_workflow_with_its_own_steps() -> None:
    scripts = (
        "architect.plan_design", "developer.plan_code", "developer.exec_implement",
        "technical_writer.plan_docs", "technical_writer.exec_docs",
        "quality_reviewer.plan_design_qr", "quality_reviewer.plan_code_qr",
        "quality_reviewer.plan_docs_qr", "quality_reviewer.impl_code_qr",
        "quality_reviewer.impl_docs_qr", "quality_reviewer.exec_reconcile",
    )  # fmt: skip
    names = {module: name for name, module in MODULES.items()}
    tables = [find_workflow(names[script]).steps for script in scripts]
    assert all(tables)
    assert len({id(table) for table in tables}) == len(scripts)
    assert all(find_workflow(names[script]).serves for script in scripts)


@pytest.mark.parametrize("name", ["", "os", "../cli/main", "planner.py", "PLANNER", "__init__"])
def test_only_a_workflows_own_name_finds_it(name: str) -> None:
    with pytest.raises(Refused, match="there is no workflow"):
        find_workflow(name)


@pytest.mark.requirement("PL-2")
def test_steps_before_the_current_one_say_so_and_pass_on(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    for number in range(1, 6):
        answer = journey.planner("step", "planner", str(number))
        assert answer.block.findtext("task") == "This step is done; go on."
        follow = words_of(answer.next())
        assert follow[:2] == ["step", "planner"]
    assert journey.planner("step", "planner", "6").text == journey.last.text


@pytest.mark.requirement("PL-1")
@pytest.mark.parametrize("end", ["completed", "cancelled", "cancelled and applied"])
def test_a_run_that_has_ended_names_no_next_command_at_any_step_of_any_workflow(
    make_repo: Repositories, end: str
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.to({"completed": "committed", "cancelled": "code"}.get(end, "applied"))
    if end != "completed":
        assert journey.planner("cancel").code == 0
    run = open_state(journey.state_dir, os.sep).run
    assert run.status == ("COMPLETED" if end == "completed" else "CANCELLED")
    for name, workflow in discover_workflows().items():
        for number in (None, *workflow.steps):
            words = ("step", name, *([str(number)] if number else []))
            for more in ((), ("--again",)):
                answer = journey.planner(*words, *more)
                named = (name, number, more, answer.text)
                assert not list(answer.block.iter("next")), named
                if answer.code:
                    assert answer.problems[0][0] == "conflict", named
                elif not more:
                    assert "Nothing is left to do" in (answer.block.findtext("task") or ""), named


@pytest.mark.requirement("PL-1", "PL-2")
def test_step_one_starts_a_run_and_finds_it_again(make_repo: Repositories, tmp_path: Path) -> None:
    repository = make_repo(files=FILES)
    state_dir = str(tmp_path / "anywhere" / "run")
    argv = ("step", "planner", "1", "--request", "Do it", "--state-dir", state_dir)
    started = call(repository.path, *argv)
    assert started.code == 0, started.text
    assert started.block.get("state_dir") == state_dir
    assert started.block.get("number") == "2"
    with open(f"{state_dir}/plan.json", "rb") as file:
        plan = file.read()
    again = call(repository.path, *argv)
    assert words_of(again.next())[:2] == ["step", "planner"]
    assert call(tmp_path, "start", "--state-dir", state_dir) == started
    with open(f"{state_dir}/plan.json", "rb") as file:
        assert file.read() == plan
    assert os.path.isfile(f"{state_dir}/planner.db")


def test_the_same_request_finds_the_run_that_it_started(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    started = call(repository.path, "start", "Do it")
    assert call(repository.path, "start", " Do it\n") == started
    assert call(repository.path, "start", "Do more").block.get("state_dir") != (
        started.block.get("state_dir")
    )


@pytest.mark.requirement("PL-8")
def test_only_one_module_writes_the_names_of_the_files_of_a_run() -> None:
    """The host of the demo is not asked: it plays another program."""
    names = re.compile(r'"(plan\.json|plan\.md|context\.json|config\.json|planner\.db|worktree)"')
    allowed = {"shared/resources.py"}
    for folder in ("shared", "cli", "orchestrator", *ROLES):
        for path in sorted(Path(ROOT, folder).rglob("*.py")):
            place = str(path.relative_to(ROOT))
            joined = [
                line
                for line in path.read_text(encoding="utf-8").splitlines()
                if names.search(line) and "os.path.join" in line
            ]
            if place not in allowed and not place.startswith("cli/demo/"):
                assert not joined, place


@pytest.mark.requirement("PL-8")
def test_every_path_lies_in_the_state_directory() -> None:
    paths = [
        resources.plan_path("/s"), resources.rendered_plan_path("/s"),
        resources.superseded_plan_path("/s", 2), resources.get_context_path("/s"),
        resources.review_path("/s", "plan-code"), resources.answer_path("/s", "a.json"),
        resources.worktree_path("/s"), resources.vault_path("/s"), resources.journal_path("/s"),
        resources.run_config_path("/s"), resources.scene_path("/s"), resources.lock_path("/s"),
    ]  # fmt: skip
    assert len(set(paths)) == len(paths)
    assert all(path.startswith("/s/") for path in paths)
    assert resources.database_path("/r/.planner/runs/x") == "/r/.planner/planner.db"
    assert resources.database_path("/elsewhere/x") == "/elsewhere/x/planner.db"


def test_step_help_names_the_workflows_and_their_steps(tmp_path: Path) -> None:
    listed = call(tmp_path, "step", "--help")
    assert listed.code == 0
    assert "planner      Turn a request into a frozen plan." in listed.text


@pytest.mark.parametrize(
    ("template", "slots"),
    [("{{a}}", {}), ("a", {"a": "x"}), ("{{a", {"a": "x"}), ("{{a}} {{b}}", {"a": "x"})],
)
def test_a_slot_without_a_value_and_a_value_without_a_slot_are_errors(
    template: str, slots: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match="slot"):
        resources.fill(template, slots)


def test_a_value_cannot_bring_a_slot_in() -> None:
    values = {"a": "{{b}}", "b": "{{a}}"}
    assert resources.fill("{{a}} {{b}} {{a}}", values) == "{{b}} {{a}} {{b}}"
