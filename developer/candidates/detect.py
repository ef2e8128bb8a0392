"""Finds a run's candidates for verify commands when it starts, and keeps what is chosen (VR-1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from developer.candidates.checks import checks
from developer.candidates.ci import WORDS, ci_lines
from developer.candidates.found import Project
from developer.candidates.others import (
    compiled_candidates,
    javascript_candidates,
    target_candidates,
)
from developer.candidates.python import python_candidates
from developer.verify.background import forget_result, has_result
from shared.candidates import (
    Chosen,
    Found,
    read_chosen,
    read_found,
    write_chosen,
    write_found,
)
from shared.named_files import read_answer
from shared.place.level import level
from shared.tree_runs import proving
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from developer.verify.job import Done
    from shared.run import State

MOST, MOST_OF_CI = 8, 6
_SHOWN_CHARS = 160
_MOST_COMMANDS, _LONGEST = 10, 2_000
# A candidate that reads the code and runs no test.
_ONLY_READS = re.compile(r"\b(?:ruff|mypy|lint|type-?check)\b")


def candidates(files: str, root: str) -> Found:
    """Return the candidates of the project in `files`, whose environments are in `root`."""
    project = Project(files, root)
    found: dict[str, str] = {}
    for kind in (python_candidates, javascript_candidates, compiled_candidates, target_candidates):
        for one in kind(project):
            found.setdefault(one.command, one.evidence)
    ci: dict[str, str] = {}
    lines = [*ci_lines(project)]
    for line in lines:
        tests = any(word in line.command for word in WORDS)
        if tests and line.command not in found and len(line.command) <= _SHOWN_CHARS:
            ci.setdefault(line.command, line.evidence)
    return Found([*found.items()][:MOST], [*ci.items()][:MOST_OF_CI], [*checks(project, lines)])


def detect(state_dir: str, worktree: str, repository: str, *, verified: bool = False) -> None:
    """Find the candidates of a run that begins; its steps print them.

    Where planner.toml says what has `verified` none is needed, only what else checks the project.
    """
    project = Project(worktree, repository)
    others = Found([], [], [*checks(project, ci_lines(project))]) if verified else None
    write_found(state_dir, others or candidates(worktree, repository))


def choose(state: State, numbers: Sequence[int], path: str | None) -> None:
    """Have the run verified by candidates, named by number from 1, and by the commands of a file.

    They take the place of what was chosen before. Refused for a number that no candidate has.
    The caller holds the run's lock.
    """
    file = read_answer(state.state_dir, path) if path else None
    commands = commands_in(file.text(), file.path) if file else []
    known = [command for command, _ in read_found(state.state_dir).candidates]
    wrong = [number for number in numbers if not 1 <= number <= len(known)]
    if wrong:
        rows = (f"{n}: {command}" for n, command in enumerate(known, start=1))
        allowed = ", ".join(rows) or "none was found; name commands by --command-file"
        text = "there is no candidate with this number"
        raise Refused("not_found", f"--use {wrong[0]}", text, allowed)
    chosen = [*dict.fromkeys([*(known[n - 1] for n in numbers), *commands])]
    if len(chosen) > _MOST_COMMANDS or any(len(c) > _LONGEST for c in chosen):
        text = f"at most {_MOST_COMMANDS} commands of {_LONGEST} characters can be chosen"
        raise Refused("invalid", "plan verify", text, "choose fewer or shorter commands")
    _keep(state, Chosen(chosen))


def adopt(state: State, tree: str) -> None:
    """Have the run verified by the first candidate, where its assistant has chosen nothing.

    Without candidates by what it ran with success on the git tree `tree`, which is the change's.
    Without a place by nothing: a person has to confirm commands there. The caller holds the run's
    lock.
    """
    chosen = read_chosen(state.state_dir)
    again = chosen.unasked and not has_result(state.state_dir)
    if state.config["config"]["verify"] or (chosen.commands and not again):
        return
    if again:  # the user may have made an environment since
        detect(state.state_dir, state.worktree, state.run.repository)
    if level(state.run.repository).holds:
        found = [command for command, _ in read_found(state.state_dir).candidates[:1]]
        if commands := found or proving(state.state_dir, tree):
            _keep(state, Chosen(commands, unasked=True))


def pass_over(state: State, done: Done) -> bool:
    """Take the next command for a candidate that can run neither on base nor change; else False.

    The next is another candidate that runs tests, then what the assistant ran with success; where
    none is left, the first candidate stays. What the assistant has chosen itself stays too. The
    caller holds the run's lock.
    """
    chosen = read_chosen(state.state_dir)
    lacking = {r.command: r.lacks for r in done.results if r.lacks and r.chosen_by == "candidate"}
    if not (chosen.unasked and lacking):
        return False
    over = dict(chosen.passed_over) | lacking
    found = [command for command, _ in read_found(state.state_dir).candidates]
    following = (
        [c for c in found if c not in over and not _ONLY_READS.search(c)][:1]
        or [c for c in proving(state.state_dir, done.tree) if c not in over]
        or found[:1]
    )
    if following == chosen.commands:
        return False
    rows = [(command, why) for command, why in over.items() if command not in following]
    _keep(state, Chosen(following, rows, unasked=True))
    return True


def refuse_unable(state: State, done: Done, again: str) -> None:
    """Refuse a verification in which nothing could run and which nobody has chosen (SD-6).

    `again` hands the change in as it is, unverified, since it chooses the first candidate. The next
    call runs all again, since the user may have installed what was missing.
    """
    unable = [r for r in done.results if r.lacks]
    if not read_chosen(state.state_dir).unasked or not unable or len(unable) < len(done.results):
        return
    rows = [f"`{r.command}`: {r.lacks}" for r in unable]
    rows += [f"`{command}`: {why}" for command, why in read_chosen(state.state_dir).passed_over]
    text = f"nothing can run here that verifies this change, on the base neither: {'; '.join(rows)}"
    ways = (
        "ask the user to install what is missing, then run the same command; or name commands of "
    )
    ways += "your own that prove it, one a line, by `--command-file answers/verify.txt` (they have "
    ways += "no network, and see an environment in the repository: `.venv/bin/python -m pytest`), "
    ways += "or another candidate by `--use N`. Only if none of this can be, `--use 1` hands it in "
    ways += "NOT VERIFIED, which the user reads"
    forget_result(state.state_dir)
    output = "\n".join(f"$ {r.command}\n{r.tail}" for r in unable)
    raise Refused("refused", "verify", text, ways, again, output)


def _keep(state: State, chosen: Chosen) -> None:
    before = read_chosen(state.state_dir)
    if (chosen.commands, chosen.unasked) != (before.commands, before.unasked):
        write_chosen(state.state_dir, chosen)
        over = [f"passed over: {command}: {why}" for command, why in chosen.passed_over]
        detail = "\n".join([*chosen.commands, *over])
        with state.database as database:
            database.audit(state.run, "host", "choose verify commands", detail=detail)


def commands_in(text: str, path: str) -> list[str]:
    """Return the commands of a file: one a line, without comments; Refused if there is none."""
    lines = [line.strip() for line in text.splitlines()]
    found = [line for line in lines if line and not line.startswith("#")]
    if not found:
        raise Refused("invalid", path, "the file names no command", "one shell command a line")
    return found
