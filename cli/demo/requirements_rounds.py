"""`planner demo --requirements`: two rounds of the requirements lane on the sample."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from cli.demo.host import Player
from cli.demo.recorded import RECORDED
from cli.demo.telling import listed
from shared import resources
from shared.requirements_record import HISTORY

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from cli.demo.driver import Answer

RECORDED_ROUNDS = os.path.join(RECORDED, "requirements")
ROUNDS = 2
_WRITING, _REVIEW = "new-requirements", "requirements-review"


class Refiner(Player):
    """The demo's assistant in the lane; its user and reviewing agent edit the requirements."""

    def follow(self, answer: Answer) -> list[str]:
        """Do what a printed block asks for; where requirements are to be written, the user does.

        When the user has no more requirements, they are finished and nothing is next.
        """
        if answer.name != _WRITING or self.requirements("user"):
            return super().follow(answer)
        self.call(shlex.split(answer.next("finished")), self.name)
        return []

    def send(self, dispatch: Element) -> bool:
        """Start the agents that a printed block asks for; one that reviews edits the file."""
        done = super().send(dispatch)
        if any(_REVIEW in (run.text or "") for run in dispatch.findall("run")):
            self.requirements(dispatch.get("agent", ""))
        return done

    def requirements(self, who: str) -> bool:
        """Make somebody's next recorded edits of the requirements; return whether there are any."""
        folder = os.path.join(self.stage.folder, resources.PLANNING_FOLDER)
        names = self.stage.recorded.edit(who, folder)
        if names:
            self.say(f"         {who} writes {listed(names)}")
        return bool(names)


def rounds_report(repository: str, host: Player) -> dict[str, Any]:
    """Return what two rounds have left: the history, the files, the commits' messages."""
    folder = os.path.join(repository, resources.PLANNING_FOLDER)
    with open(os.path.join(folder, HISTORY), encoding="utf-8") as file:
        history = file.read()
    notes = [c.data("note") for c in host.calls]
    messages = [c.data("message") for c in host.calls]
    proofs = [note for note in notes if "exactly as the plan" in note]
    return {
        "proved": len(proofs) == ROUNDS,
        "history": history,
        "files": sorted(os.listdir(folder)),
        "messages": [message for message in messages if message],
        "calls": len(host.calls),
        "agents": len(host.agents),
        "person": sum(call.by == "person" for call in host.calls),
    }


def render(result: dict[str, Any]) -> str:
    """Return the closing summary of two rounds, written for a newcomer."""
    head = "Proved" if result["proved"] else "NOT proved"
    calls = f"{result['agents']} agents, {result['calls']} calls, {result['person']}"
    parts = [
        f"{head}: {ROUNDS} rounds in {result['seconds']} s, {calls} of them yours to type.",
        f"planning/{HISTORY}:\n\n{_indented(result['history'])}",
        f"planning/ holds {', '.join(result['files'])}.",
        f"The last commit:\n\n{_indented(result['messages'][-1])}" if result["messages"] else "",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _indented(text: str) -> str:
    return "".join(f"  {line}".rstrip() + "\n" for line in text.rstrip("\n").split("\n"))
