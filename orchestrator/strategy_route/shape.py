"""Check the shape of JSON that a model wrote, and keep every fault with its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from shared import named_files
from state.errors import Problem, Refused, kind_of_value, value_text
from state.validator import check_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    Json = dict[str, Any]

MOST_BYTES = 256 << 10
_MOST_SHOWN = 60


class Shape:
    """The faults found so far in one JSON document."""

    def __init__(self, name: str) -> None:
        self.name = name
        # In the order they were found.
        self.problems: list[Problem] = []

    def add(self, at: str, problem: str, allowed: str) -> None:
        """Keep one fault."""
        self.problems.append(Problem("invalid", at, problem, allowed))

    def wrong(self, at: str, value: object, allowed: str, *, missing: bool = False) -> None:
        """Keep the fault that a value is missing or of another kind."""
        self.add(at, "it is missing" if missing else f"this is {kind_of_value(value)}", allowed)

    def storable(self, value: object) -> None:
        """Keep a fault for each text or number that cannot be stored as JSON."""
        for problem in check_value(self.name, value):
            problem.at = problem.at.removeprefix(f"{self.name}.")
            self.problems.append(problem)

    def only(self, value: Json, known: Sequence[str], at: str, *, why: str = "") -> None:
        """Keep a fault for each field that is not known."""
        for name in value:
            if name not in known:
                text = "there is no such field" + (f": {why}" if why else "")
                self.add(f"{at}{name[:_MOST_SHOWN]}", text, ", ".join(known))

    def text(self, value: Json, name: str, at: str, *, needed: bool = True) -> None:
        """Keep a fault for a text that is missing where it is needed, empty, or not text."""
        if name not in value:
            if needed:
                self.add(f"{at}{name}", "it is missing", "a text")
        elif not isinstance(value[name], str):
            self.wrong(f"{at}{name}", value[name], "a text")
        elif not value[name].strip():
            self.add(f"{at}{name}", "it is empty", "a text")

    def texts(self, value: Json, name: str, at: str, *, needed: bool = True) -> None:
        """Keep a fault for what is not a list of texts, and for each entry that is not text."""
        if name not in value:
            if needed:
                self.add(f"{at}{name}", "it is missing", 'a list of texts: ["…"]')
            return
        if not isinstance(value[name], list):
            self.wrong(f"{at}{name}", value[name], 'a list of texts: ["…"]')
            return
        for number, one in enumerate(value[name]):
            if not isinstance(one, str) or not one.strip():
                problem = "it is empty" if isinstance(one, str) else f"this is {kind_of_value(one)}"
                self.add(f"{at}{name}[{number}]", problem, "a text")

    def one_of(self, value: Json, name: str, allowed: Sequence[str], at: str) -> None:
        """Keep a fault for a value that is missing or not one of a few."""
        listed = ", ".join(allowed)
        if name not in value:
            self.add(f"{at}{name}", "it is missing", listed)
        elif not isinstance(value[name], str) or value[name] not in allowed:
            self.add(f"{at}{name}", f"{value_text(value[name])} is not possible here", listed)

    def refuse(self) -> None:
        """Raise Refused with all faults, if there are any."""
        if self.problems:
            raise Refused.of(self.problems)


def size_of(value: object) -> int:
    """Return how many characters a JSON value has when it is written without spaces."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def read_answer(state_dir: str, path: str) -> Any:  # noqa: ANN401 – any JSON value
    """Return the JSON value of a file among the answers; Refused if it is too large or not JSON."""
    found = named_files.read_answer(state_dir, path)
    if len(found.data) > MOST_BYTES:
        text = f"the file has {len(found.data)} bytes; at most {MOST_BYTES} are read"
        raise Refused("invalid", path, text, "write a shorter one")
    return found.json()
