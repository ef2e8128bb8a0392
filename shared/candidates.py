"""The commands that could verify a run and those that its assistant has chosen, as files (VR-1)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from shared.resources import candidates_path, chosen_commands_path
from state.files import write_json
from state.kept_files import read_kept

if TYPE_CHECKING:
    from collections.abc import Sequence

Rows = list[tuple[str, str]]


class Found(NamedTuple):
    """Candidates, each a command and the file and line that speak for it; what CI runs likewise."""

    candidates: Rows
    ci: Rows
    # Programs that check the project and run no test, each with the file and line that name it.
    checks: Sequence[tuple[str, str]] = ()

    def lines(self) -> str:
        """Return a numbered list of the candidates, and then what CI runs."""
        rows = [
            f"{number}. {command} ({evidence})"
            for number, (command, evidence) in enumerate(self.candidates, start=1)
        ]
        return "\n".join([*rows, *(f"CI: {command} ({evidence})" for command, evidence in self.ci)])


def read_found(state_dir: str) -> Found:
    """Return what was found when the run started; nothing for a run without a record."""
    path = candidates_path(state_dir)
    return read_kept(path, _found) if os.path.exists(path) else Found([], [])


def _found(kept: Any) -> Found:  # noqa: ANN401 – any JSON value
    return Found(*([(str(c), str(e)) for c, e in kept.get(name, [])] for name in Found._fields))


def write_found(state_dir: str, found: Found) -> None:
    """Keep what was found."""
    write_json(candidates_path(state_dir), found._asdict())


class Chosen(NamedTuple):
    """The verify commands of a run that planner.toml does not name, in their order."""

    commands: list[str]
    # The candidates that cannot run on the base, each with what is missing.
    passed_over: Sequence[tuple[str, str]] = ()
    # Whether the assistant left the choice to the program.
    unasked: bool = False


def read_chosen(state_dir: str) -> Chosen:
    """Return what is chosen to verify the run; no commands where nothing is."""
    path = chosen_commands_path(state_dir)
    return read_kept(path, _chosen) if os.path.exists(path) else Chosen([])


def _chosen(kept: Any) -> Chosen:  # noqa: ANN401 – any JSON value
    if isinstance(kept, list):  # from an earlier version
        return Chosen([str(command) for command in kept])
    over = [(command, why) for command, why in kept["passed_over"]]
    return Chosen(kept["commands"], over, unasked=kept["unasked"])


def chosen_commands(state_dir: str) -> list[str]:
    """Return the verify commands that are chosen for the run, in their order."""
    return read_chosen(state_dir).commands


def write_chosen(state_dir: str, chosen: Chosen) -> None:
    """Keep the chosen commands instead of those chosen before."""
    write_json(chosen_commands_path(state_dir), chosen._asdict())
