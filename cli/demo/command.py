"""`planner demo`: a whole run on a sample repository, in which a script plays the assistant."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from cli.answers import write
from cli.demo import requirements_rounds
from cli.demo.host import Player, Stage
from cli.demo.recorded import RECORDED, Recorded
from cli.demo.telling import first_words, short_command
from cli.options import json_option
from shared import resources
from shared.clients import known
from shared.git.command import user_environment
from shared.git.repository import init_repository
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cli.demo.driver import Answer

PLANNER = os.path.join(resources.ROOT, "bin", "planner")
# Neither the user's git settings nor the role of a caller apply to the sample.
OWN_ENVIRONMENT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
SETTINGS = """
[user]
	name = Planner demo
	email = demo@example.invalid
[commit]
	gpgSign = false
"""


@click.command("demo")
@click.option(
    "--depth",
    type=click.Choice(["full", "intent"]),
    default="full",
    help="What is approved first: the bytes, or the intents.",
)
@click.option("--keep", metavar="DIR", help="Work in this new folder and leave it there.")
@click.option(
    "--requirements", is_flag=True, help="Play two rounds of the requirements lane instead."
)
@json_option
@click.pass_context
def demo_command(
    ctx: click.Context, depth: str, keep: str | None, *, requirements: bool, as_json: bool
) -> None:
    """Play a whole run on a bundled sample, in seconds.

    It has agents, a failing check, reviews, approval and proof. With `--depth intent` agents write
    at once what is approved; one fails and is tried again.

    Your own repositories are not touched. Exit 0 when the commit is proved.

    Example: planner demo --keep /tmp/look-round
    """
    with _folder(keep) as folder:
        result = play_rounds(folder) if requirements else play(folder, depth)
    result["kept"] = keep and folder
    shown = requirements_rounds.render(result) if requirements else render(result)
    write(json.dumps(result, indent=2) + "\n" if as_json else shown)
    ctx.exit(0 if result["proved"] else 1)


def play(folder: str, depth: str = "full") -> dict[str, Any]:
    """Make the sample repository in `folder`, play a whole run there, return the run's result."""
    recorded = RECORDED if depth == "full" else os.path.join(RECORDED, depth)
    started = time.monotonic()
    host = Player(_stage(folder, recorded), _say)
    with open(os.path.join(recorded, "request.txt"), encoding="utf-8") as file:
        request = file.read().strip()
    chosen = ["--depth", depth] if depth != "full" else []
    last = host.play([PLANNER, "start", request, "--review", "full", *chosen])
    proved = bool(last.data("proof")) and _is_valid(host, last)
    _keep_blocks(host, os.path.join(folder, "calls"))
    return {"proved": proved, "request": request, **_report(host, last),
            "seconds": round(time.monotonic() - started, 1)}  # fmt: skip


def play_rounds(folder: str) -> dict[str, Any]:
    """Make the sample repository in `folder`, play two rounds of the lane, return the result.

    The last round ends where the user has no more requirements.
    """
    started = time.monotonic()
    host = requirements_rounds.Refiner(_stage(folder, requirements_rounds.RECORDED_ROUNDS), _say)
    host.play([PLANNER, "start", "--planning", "--codepath", host.stage.folder])
    _keep_blocks(host, os.path.join(folder, "calls"))
    seconds = round(time.monotonic() - started, 1)
    return {**requirements_rounds.rounds_report(host.stage.folder, host), "seconds": seconds}


def _stage(folder: str, recorded: str) -> Stage:
    """Make the sample repository in `folder` and return what all players of the demo share."""
    repository = os.path.join(folder, "repository")
    make_sample(repository)
    # The sample has its own planning mode, so that the session that plays it may go on writing.
    ours = ("PLAN_", *known.SESSION_VARIABLES, *known.MARKS)
    env = {k: v for k, v in user_environment().items() if not k.startswith(ours)}
    env["XDG_STATE_HOME"] = os.path.join(folder, "state")
    return Stage(repository, Recorded(recorded), env | OWN_ENVIRONMENT)


def make_sample(repository: str) -> None:
    """Make a git repository with one sample commit, under the demo's name, not the user's."""
    unwanted = shutil.ignore_patterns("__pycache__")
    shutil.copytree(os.path.join(RECORDED, "repo"), repository, ignore=unwanted)
    options = ("--template=", "--initial-branch=main")
    git = init_repository(repository, OWN_ENVIRONMENT, *options)
    with open(os.path.join(git.git_dir, "config"), "a", encoding="utf-8") as file:
        file.write(SETTINGS)
    git.run("add", "--all")
    git.run("commit", "--quiet", "--message", "Render durations, sizes, counts and lists")


def render(result: dict[str, Any]) -> str:
    """Return the demo's closing summary, written for a newcomer."""
    head = "Proved" if result["proved"] else "NOT proved"
    calls = f"{result['agents']} agents, {result['calls']} calls, {result['person']}"
    rows = [("request", result["request"])]
    rows += [("asked", text) for text in result["asked"]]
    rows += [("refused", text) for text in result["refused"]]
    rows += [("sent back", text) for text in result["failed"]]
    rows += [("at once", f"{count} agents") for count in result["at_once"]]
    rows += [("blocked", f"{text}; tried again") for text in result["blocked"]]
    if result["proved"]:
        if result["failed"]:
            rows.append(("fixed", "both; then every check and every reviewer passed it"))
        rows += [
            ("frozen", f"as digest {result['digest'][:12]}…"),
            ("approved", f"by {result['approved']}"),
            ("commit", f"{result['commit'][:12]}… on the sample's branch"),
            ("proved", f"commit = plan, blob by blob, in {len(result['files'])} files"),
        ]
    lines = [f"  {name:<9} {text}" for name, text in rows]
    head += f" in {result['seconds']} s: {calls} of them yours to type."
    return "\n".join([head, "", *lines, "", _where(result)])


def _where(result: dict[str, Any]) -> str:
    kept = result["kept"]
    if not kept:
        return "The sample is removed again. To look round in it: planner demo --keep DIR\n"
    runs = os.path.join(kept, "repository", resources.PLANNER_FOLDER, "runs", "*")
    plan = resources.rendered_plan_path(runs)
    rows = ("blocks", f"{kept}/calls"), ("plan", plan), ("commit", f"git -C {kept}/repository show")
    return "".join(f"  {name:<9} {text}\n" for name, text in rows)


def _report(host: Player, last: Answer) -> dict[str, Any]:
    typed = [c for c in host.calls if c.by == "person"]
    return {
        "digest": last.block.get("digest", ""),
        "commit": last.block.get("commit", ""),
        "asked": [text for call in host.calls for text in _questions(host, call)],
        "refused": [first_words(text) for call in host.calls for _, text in call.problems],
        "failed": list(dict.fromkeys(text for call in host.calls for text in _findings(call))),
        "at_once": _waves(host.calls),
        "blocked": list(dict.fromkeys(text for call in host.calls for text in _blocked(call))),
        "approved": short_command(typed[-1].words) if typed else "",
        "files": [line.rpartition(": ")[0] for line in last.data("proof").splitlines()],
        "agents": len(host.agents),
        "calls": len(host.calls),
        "person": len(typed),
    }


def _questions(host: Player, asked: Answer) -> list[str]:
    """Return the questions to the user in a printed block, with the recorded answers."""
    picked = host.stage.recorded.choices
    return [
        f"{ask.findtext('question')} → {option.text}"
        for ask in asked.block.findall("ask")
        for option in ask.findall("option")
        if option.text in picked
    ]


def _waves(calls: Sequence[Answer]) -> list[int]:
    """Return how many agents each wave of milestones had that had more than one."""
    counts = [len(call.runs()) for call in calls if call.name == "impl-execute"]
    return [count for count in counts if count > 1]


def _blocked(answer: Answer) -> list[str]:
    """Return the blocked milestones in a printed block, each with the reason."""
    ways = {following.get("on", "") for following in answer.block.findall("next")}
    lines = answer.data("waiting").splitlines()
    return [line for line in lines if f"retry {line.partition(':')[0]}" in ways]


def _findings(answer: Answer) -> list[str]:
    """Return the review findings that a work step has to fix, each with its scope."""
    lines = answer.data("findings").splitlines()
    # An indented line belongs to the finding above it.
    return [line.partition(" FAIL ")[2] for line in lines if not line.startswith(" ")]


def _is_valid(host: Player, last: Answer) -> bool:
    """Return whether the CI validation command finds that the commit matches the plan exactly."""
    commit = ["--repo", host.stage.folder, "--commit", last.block.get("commit", "")]
    return host.call([PLANNER, "validate", *commit, "--require", "exact"], "host").code == 0


def _keep_blocks(host: Player, folder: str) -> None:
    os.mkdir(folder)
    for number, call in enumerate(host.calls, 1):
        with open(os.path.join(folder, f"{number:02}.txt"), "wb") as file:
            file.write(f"{call.by}: {short_command(call.words)}\n\n{call.text}".encode())


@contextmanager
def _folder(keep: str | None) -> Iterator[str]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="planner-demo-") as folder:
            yield os.path.realpath(folder)
        return
    try:
        os.makedirs(keep)
    except OSError as error:
        text = f"the folder cannot be made: {error.strerror}"
        raise Refused(
            "refused", "--keep", text, "give `--keep` a folder that does not exist yet"
        ) from None
    yield os.path.realpath(keep)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(["demo", *sys.argv[1:]]))
