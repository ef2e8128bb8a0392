"""Commands on several plans: the queue, templates of it, figures of all runs."""

from __future__ import annotations

import json
import os
import sys

import click

from cli.answers import write
from cli.options import agent_option, json_option
from orchestrator.queue import enqueue, templates, waiting
from orchestrator.run.ask_first import ask_beside, planned_by_session
from orchestrator.run.settings import check_enabled
from orchestrator.run.start import render_start, start_run
from orchestrator.upkeep import stats
from shared import resources
from shared.builders import Block, json_text
from shared.mode.sessions import agent_name, repository_root
from shared.mode.where import open_database
from state.errors import Refused


@click.group("queue")
def queue_command() -> None:
    """Queue plans that start one after another."""


@queue_command.command("add")
@click.argument("request", metavar="TEXT")
@click.option("--priority", type=click.IntRange(-99, 99), default=0, help="Higher starts first.")
@click.option("--after", multiple=True, metavar="ID", help="A plan to be completed before.")
def add(request: str, priority: int, after: tuple[str, ...]) -> None:
    """Add a request to the queue.

    Example: planner queue add "Parse ISO dates" --priority 5 --after Q-001
    """
    name = enqueue.add(os.getcwd(), request, priority, after)
    block = Block("result").data("queued", name)
    write(block.next("start", resources.command("queue", "next")).render())


@queue_command.command("list")
@json_option
def list_queue(*, as_json: bool) -> None:
    """Show the queue: the next plan first, with the status of those that have begun.

    Example: planner queue list --json
    """
    found = waiting.places(open_database(os.getcwd()))
    if as_json:
        write(json.dumps([place.to_json() for place in found], indent=2) + "\n")
    else:
        write(Block("result").data("queue", "\n".join(p.line() for p in found) or "empty").render())


@queue_command.command("next")
@click.option("--beside", is_flag=True, help="Begin it although this session plans already.")
@agent_option
def next_of_queue(agent: str | None, *, beside: bool) -> None:
    """Start the next plan of the queue; while one of it is under way, print where that is.

    One that another session works on stays with that session.

    Example: planner queue next
    """
    folder = os.getcwd()
    root = repository_root(folder) or folder
    check_enabled(folder)
    place = waiting.following(open_database(folder), agent_name(agent, root))
    state_dir = place.run.state_dir if place.run else None
    home = state_dir or os.path.join(root, resources.PLANNER_FOLDER)
    words = ("queue", "next", "--beside", *([f"--agent={agent}"] if agent else []))
    if not beside and (other := planned_by_session(home, root, agent)):
        write(ask_beside(other._replace(beside=words)))
        return
    write(render_start(start_run(folder, place.row.request, state_dir, agent=agent)))


@queue_command.command("remove")
@click.argument("name", metavar="ID")
def remove(name: str) -> None:
    """Take a request off the queue; those after it wait for it no longer, and its run goes on.

    Example: planner queue remove Q-002
    """
    freed = enqueue.remove(open_database(os.getcwd()), name)
    block = Block("result").data("removed", name)
    write(block.data("wait for it no longer", "\n".join(freed)).render())


@click.group("template")
def template_command() -> None:
    """Keep several plans to queue them again, in any repository."""


@template_command.command("save")
@click.argument("name", metavar="NAME")
@click.option("--slot", multiple=True, metavar="SLOT=TEXT", help="What differs the next time.")
def save(name: str, slot: tuple[str, ...]) -> None:
    """Keep what waits in the queue as a template; each TEXT of a slot is asked for when it is used.

    Example: planner template save release --slot version=1.2
    """
    path = templates.save(open_database(os.getcwd()), name, _pairs("--slot", slot))
    write(Block("result").data("saved", path).render())


@template_command.command("list")
@json_option
def list_templates(*, as_json: bool) -> None:
    """Show your templates with their plans.

    Example: planner template list
    """
    found = {name: templates.load(name) for name in templates.names()}
    if as_json:
        write(json_text(found) + "\n")
        return
    block = Block("result")
    if not found:
        block.data("templates", "none")
    for name, entries in found.items():
        block.data(name, "\n".join(entry["request"] for entry in entries))
    write(block.render())


@template_command.command("use")
@click.argument("name", metavar="NAME")
@click.option("--set", "values", multiple=True, metavar="SLOT=TEXT", help="What a slot becomes.")
def use(name: str, values: tuple[str, ...]) -> None:
    """Add the plans of a template to the queue, all or none.

    Example: planner template use release --set version=1.3
    """
    names = templates.use(os.getcwd(), name, _pairs("--set", values))
    block = Block("result").data("queued", "\n".join(names))
    write(block.next("start", resources.command("queue", "next")).render())


@click.command("stats")
@json_option
def stats_command(*, as_json: bool) -> None:
    """Show figures of all runs here: results, times, tokens.

    How they ended, how long they took, reviews, agents and tokens.

    Example: planner stats --json
    """
    found = stats.stats_of(open_database(os.getcwd()))
    text = json.dumps(found, indent=2) + "\n"
    write(text if as_json else Block("result").data("stats", stats.render_stats(found)).render())


def _pairs(option: str, given: tuple[str, ...]) -> dict[str, str]:
    """Return the slots that an option names with their texts; Refused unless each has both."""
    pairs = [one.partition("=") for one in given]
    if len({name for name, _, _ in pairs}) < len(pairs) or not all(n and t for n, _, t in pairs):
        text = f"{', '.join(given)} is not a text for each slot"
        raise Refused("usage", option, text, f"{option} version=1.2, once for each slot")
    return {name: text for name, _, text in pairs}


if __name__ == "__main__":
    from cli.main import main

    sys.exit(main(sys.argv[1:]))
