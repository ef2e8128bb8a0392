"""The lanes of `planner start`, which exclude each other: planning, autonomous, chat, or none."""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from typing import TYPE_CHECKING, Any

import click

from cli.answers import write
from orchestrator.run.ask_first import ask_beside
from orchestrator.run.settings import check_enabled
from shared.builders import Block
from shared.mode.sessions import repository_root
from shared.resources import command, fill, read_prompt
from shared.steps.printing import print_current
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shared.run import State

    Command = Callable[..., Any]

PROMPTS = ("orchestrator", "requirements")
PLANNING = "--planning"
AUTONOMOUS = "--autonomous"
CHAT = "--chat"
LANES = (PLANNING, AUTONOMOUS, CHAT)


def lane_options(start: Command) -> Command:
    """Add the options of the lanes; a command is called only in none of them, from --codepath."""

    @click.option(
        "--planning", is_flag=True, help="Refine requirements first: the requirements lane."
    )
    @click.option("--autonomous", "--auto", is_flag=True, help="Approve in advance, within limits.")
    @click.option("--chat", is_flag=True, help="Answer or find out; change no file.")
    @click.option("--issue", type=click.IntRange(1), help="The text of this issue, by gh or glab.")
    @click.option("--task", metavar="TEXT", help="The same as TEXT; ignored with --planning.")
    @click.option("--codepath", metavar="PATH", help="The folder of the code; else this one.")
    @click.option("--no-git", is_flag=True, help="With --planning: commit and ask nothing of git.")
    @functools.wraps(start)
    def wrapped(*, task: str | None, codepath: str | None, no_git: bool, **given: Any) -> None:  # noqa: ANN401 – what other options give
        flags = {name: given.pop(name.strip("-")) for name in LANES}
        given["request"] = _request(given["request"] or task, given.pop("issue"), codepath)
        lane = _chosen(flags)
        if lane == PLANNING:
            names = ("base", "beside", "agent", "depth", "review", "alone")
            chosen = {name: given[name] for name in names}
            write(start_planning(codepath, given["request"], git=not no_git, **chosen))
            return
        if no_git:
            text = "only the requirements lane (--planning) works without git"
            raise Refused("usage", "--no-git", text, "leave it out, or add --planning")
        with contextlib.chdir(resolved(codepath or os.curdir)):
            config = check_enabled(os.curdir)
            if not config.enable_persistence and given["state_dir"] is None:
                given["state_dir"] = tempfile.mkdtemp(prefix="planner-")
            start(**given, in_advance=lane == AUTONOMOUS, chat=lane == CHAT)

    return wrapped


def _request(text: str | None, issue: int | None, codepath: str | None) -> str | None:
    """Return what is asked for: the text, or that of the issue."""
    if issue is None:
        return text
    if text is not None:
        raise Refused("usage", "--issue", "--issue and TEXT both say what to do", "one of them")
    from orchestrator.ci.code_host import read_issue  # few starts need it

    return read_issue(resolved(codepath or os.curdir), issue)


def _chosen(flags: Mapping[str, bool]) -> str:
    """Return the option of the lane that was chosen, "" for none; Refused if several were."""
    given = [name for name, is_set in flags.items() if is_set]
    if len(given) > 1:
        text = f"{' and '.join(given)} exclude each other"
        raise Refused("usage", given[1], text, f"one of {', '.join(flags)}, or none")
    return given[0] if given else ""


def render_in_advance(state: State) -> str:
    """Return the block in which a person approves a run's plan in advance, within limits."""
    block = Block("result", state_dir=state.state_dir).task(read_prompt(*PROMPTS, "in-advance"))
    block.next("done", state.command("step", state.run.workflow))
    return block.person(state.typed("auto", "on")).render()


def resolved(codepath: str) -> str:
    """Return the folder that --codepath names, `~` expanded; Refused if there is none."""
    real = os.path.realpath(os.path.expanduser(codepath))
    if not os.path.isdir(real):
        text = "does not lead to a folder"
        raise Refused("not_found", codepath, text, "give --codepath the folder of the code")
    return real


def start_planning(
    codepath: str | None,
    task: str | None,
    *,
    git: bool,
    base: str | None,
    beside: bool,
    agent: str | None,
    **chosen: Any,  # noqa: ANN401 – how the plans are made, as options give it
) -> str:
    """Begin the requirements lane and return its prompt; ask for the folder if none is named.

    What to do is written in the requirements, so a task on the command line is ignored. A session
    that plans something else already is asked first.
    """
    further = [] if git else ["--no-git"]
    for name, value in chosen.items():
        further += [f"--{name}"] if value is True else [f"--{name}", value] if value else []
    words = ("start", PLANNING, *further, *([f"--agent={agent}"] if agent else []))
    if codepath is None:
        return _ask_for_folder(os.getcwd(), (*words, *(["--beside"] if beside else [])))
    # Not at the top: the other lanes need nothing of the requirements lane.
    from orchestrator.requirements_lane.startup import Wanted, planned_meanwhile, start_lane

    notes = {
        "--task and TEXT are ignored with --planning: the requirements say what to do": task,
        "--base is ignored with --planning: each plan asks for it where it matters": base,
    }
    note = "\n".join(text for text, given in notes.items() if given)
    folder = resolved(codepath)
    again = () if beside else (*words, "--beside", "--codepath", folder)
    wanted = Wanted(git, note, **chosen, beside=again)
    if (other := planned_meanwhile(folder, wanted, agent)) is not None:
        return ask_beside(other)
    return print_current(start_lane(folder, wanted))


def _ask_for_folder(here: str, words: Sequence[str]) -> str:
    folder = repository_root(here) or here
    words = (*words, "--codepath")
    block = Block("step", workflow="requirements", number=1, of=5, name="startup")
    block.task(fill(read_prompt(*PROMPTS, "ask-folder"), {"command": command(*words)}))
    block.ask(
        "codepath",
        "Which folder is to be worked in?",
        [("here", folder), ("other", "Another folder.")],
    )
    return block.next("here", command(*words, folder)).render()
