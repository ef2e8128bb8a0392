"""Shell commands of agents that write milestones change files of their own worktree alone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.guard.permissions import refusal_while_planning
from shared.place.level import Level
from shared.resources import launcher
from tests.forms import part
from tests.journey import shell
from tests.orchestrator.execute.waves import milestone_agent, writing
from tests.place import need_place
from tests.shared.guard.client import SESSION, Client
from tests.shared.guard.test_milestones import Agent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository
    from tests.journey import Journey

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PM-4", "PP-4")
FILE = "src/m1_1.py"


@pytest.fixture
def journey(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run of the session whose first two milestones are being written."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    return writing(make_repo)


@pytest.fixture
def agent(journey: Journey) -> Agent:
    """The agent that writes M-001."""
    found = Agent(journey, "a1")
    assert found.begins(journey, "M-001") == {}
    return found


@pytest.fixture
def held(journey: Journey, monkeypatch: pytest.MonkeyPatch) -> None:
    """The place holds."""
    del journey  # it comes first, since it is walked anew once a part of the product is replaced
    monkeypatch.setattr("shared.guard.shell.level", lambda _: Level("namespaces"))


def tree_of(journey: Journey, name: str) -> Path:
    return Path(journey.state_dir, "milestones", name)


def text_of(agent: Client, command: str) -> str:
    """Return the text that the client runs in place of a command, which must pass."""
    decided = agent.asks("Bash", command=command)["hookSpecificOutput"]
    assert decided.get("permissionDecision") != "deny", decided
    return str(decided["updatedInput"]["command"])


@pytest.mark.parametrize(
    "command",
    ["rm {tree}/{file}", "cd {tree} && rm {file}", "cd {tree} && git rm -q {file}",
     "git -C {tree} rm -q {file}"],
)  # fmt: skip
def test_an_agent_removes_a_file_of_its_worktree(
    journey: Journey, agent: Agent, command: str
) -> None:
    need_place()
    tree = tree_of(journey, "M-001")
    done = shell(text_of(agent, command.format(tree=tree, file=FILE)), agent.cwd)
    assert (done.code, (tree / FILE).exists()) == (0, False), done
    assert (journey.repository.path / FILE).exists()


@pytest.mark.parametrize("command", ["mv {file} {new}", "git mv {file} {new}"])
def test_an_agent_renames_a_file_of_its_worktree(
    journey: Journey, agent: Agent, command: str
) -> None:
    need_place()
    tree = tree_of(journey, "M-001")
    text = f"cd {tree} && {command.format(file=FILE, new='src/new.py')}"
    done = shell(text_of(agent, text), agent.cwd)
    assert (done.code, (tree / FILE).exists(), (tree / "src/new.py").exists()) == (0, False, True)


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(
    "command",
    part([
        "rm {other}/src/m2_1.py", "rm {run}/src/m1_1.py", "mv src/m1_1.py a.py",
        "git rm src/m1_1.py", "git commit -m x", "echo x > src/new.py", "vim src/m1_1.py",
        "git -C {other} rm src/m2_1.py", "mv {own}/src/m1_1.py {other}/src/a.py",
    ], 3),
)  # fmt: skip
def test_an_agent_is_told_to_write_in_its_own_worktree_alone(
    journey: Journey, agent: Agent, command: str
) -> None:
    own, other = tree_of(journey, "M-001"), tree_of(journey, "M-002")
    run = f"{journey.state_dir}/worktree"
    said = agent.denial("Bash", command=command.format(own=own, other=other, run=run))
    assert f"change files under {own} only; other agents write the rest" in said
    assert "into the plan" not in said


@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("verb", ["add .", "commit -m x", "stash", "reset --hard"])
def test_what_only_changes_gits_own_records_of_a_worktree_is_not_needed(
    journey: Journey, agent: Agent, verb: str
) -> None:
    said = agent.denial("Bash", command=f"cd {tree_of(journey, 'M-001')} && git {verb}")
    assert "into the plan" not in said


@pytest.mark.usefixtures("held")
def test_the_main_assistant_may_change_files_in_each_worktree_and_is_told_where(
    journey: Journey,
) -> None:
    client = Client(journey.repository.path)
    for tree in ("worktree", "milestones/M-001", "milestones/M-002"):
        text_of(client, f"rm -r {journey.state_dir}/{tree}/src")
    said = client.denial("Bash", command="rm src/m1_1.py")
    assert f"change files under {journey.state_dir}/milestones only" in said
    written = client.denial("Write", file_path=f"{journey.repository.path}/src/new.py")
    assert f"under {journey.state_dir}/milestones/" in written


def test_a_text_in_a_file_is_judged_as_one_that_the_hook_has_seen(journey: Journey) -> None:
    need_place()
    journey.write_answer("command.sh", f"rm {tree_of(journey, 'M-001')}/{FILE}\n")
    ro = f"{launcher()} ro --file answers/command.sh"
    assert shell(ro, journey.repository.path).code == 0
    assert not (tree_of(journey, "M-001") / FILE).exists()
    journey.write_answer("command.sh", "rm src/m1_1.py\n")
    ((_, said),) = shell(ro, journey.repository.path).problems
    assert f"change files under {journey.state_dir}/milestones only" in said


@pytest.mark.requirement("PP-2")
def test_where_the_place_does_not_hold_a_denial_names_a_command_that_does_it(
    journey: Journey, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.guard.shell.level", lambda _: Level("none"))
    tree = tree_of(journey, "M-001")
    said = agent.denial("Bash", command=f"rm {tree}/{FILE}")
    assert "`planner tree rm`" in said
    assert "`--milestone ID`" in said
    words = ["tree", "mv", "--milestone", "M-001", FILE, "src/new.py"]
    folder = os.path.dirname(journey.state_dir)
    assert refusal_while_planning(words, agent.cwd, journey.state_dir, folder) is None
    assert journey.planner(*words).code == 0
    assert journey.planner("tree", "chmod", "--milestone", "M-001", "+x", "src/new.py").code == 0
    assert os.access(tree / "src/new.py", os.X_OK)
    assert journey.planner("tree", "rm", "--milestone", "M-001", "src/new.py").code == 0
    assert not (tree / "src/new.py").exists()
    assert Path(journey.state_dir, "worktree", FILE).exists()
    refused = journey.planner("tree", "rm", "--milestone", "M-003", FILE)
    assert "M-001, M-002" in refused.problems[0][1]


def test_what_a_command_on_a_milestone_writes_in_vain_is_to_be_written_in_its_worktree(
    journey: Journey,
) -> None:
    need_place()
    assert "own tools" in (milestone_agent(journey, "M-001").block.findtext("task") or "")
    ran = journey.planner("tree", "run", "--milestone", "M-001", "echo x > src/new.py")
    assert f"edit in {tree_of(journey, 'M-001')}" in ran.data("not kept")
