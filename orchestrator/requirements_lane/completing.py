"""Complete the current requirements: rename their files, stage what belongs to them (RL-9)."""

from __future__ import annotations

import os
import time
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.execute.commit import applied_plan, check_planned, finish_uncommitted
from orchestrator.requirements import STEPS, after, closed
from orchestrator.requirements_lane import closing, history, staging
from orchestrator.requirements_lane.message import check_message, message_of_plan, with_trailers
from orchestrator.requirements_lane.opening import at_work
from orchestrator.requirements_lane.transition import (
    append,
    carry_out,
    make_folders,
    remove,
    rename,
    swap,
    write,
)
from orchestrator.requirements_steps import run_of
from orchestrator.requirements_text import open_todos
from orchestrator.submit.message import files_beside
from shared import archive
from shared.git.change import ends
from shared.known_secrets import is_secret_in
from shared.named_files import read_answer
from shared.requirements_record import (
    ATTRIBUTES,
    HISTORY,
    IN_WORK,
    TODO,
    WORKFLOW,
    lane_of,
    write_lane,
)
from shared.resources import ARCHIVE_FOLDER
from shared.todo import also_committed, as_completed, refresh_todo
from state.changes import plan_changes
from state.errors import Refused
from state.files import read_bytes
from state.stages import ACTIVE, PAUSED

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from orchestrator.requirements_lane.transition import Operation
    from shared.git.repository import Repository
    from shared.requirements_record import Lane
    from shared.run import State
    from state.models import Plan


class Answers(NamedTuple):
    """What the user and the assistant have said about requirements that are to be completed."""

    # The file with the commit message.
    message: str | None = None
    # True if open todos do not matter.
    agree: bool = False
    # Further changed files to commit, all that were shown if `others`, but what looks secret.
    wanted: Sequence[str] = ()
    others: bool = False
    # Staged files that the user takes out of the commit again.
    without: Sequence[str] = ()


def complete(state: State, answers: Answers) -> None:
    """Rename the current requirements and their todo list as completed, and stage the commit.

    With todos that are not done it only goes to the state that asks the user about them.
    """
    with at_work(state, "requirements complete") as facts:
        name = STEPS[state.run.step].name
        to = after(state.run.step, "complete", state.state_dir) or name
        if name == "startup" and not facts.stamp:
            text = "the last round is not complete; the user chooses what becomes of it"
            here = state.command("step", WORKFLOW)
            raise Refused("conflict", name, text, "one of the options of this step", here)
        run = run_of(facts)
        plan = applied_plan(run) if run else None
        if not facts.stamp:
            if run is not None and plan is not None:
                repository = state.repository
                check_planned(run, plan, staging.changed_files(repository))
                refresh_todo(run)
            facts.agreed = facts.agreed or answers.agree
            undone = open_todos(facts) and not facts.agreed
            if undone or (facts.git and plan is None and answers.message is None):
                carry_out(state, facts, "complete", [], to)
                return
            _rename(state, facts, answers, run, plan)
        elif answers.message is not None:
            facts.message = _message(state, facts, answers, plan)
        if facts.git:
            _stage(state, facts, answers, run, plan)


def _rename(
    state: State, facts: Lane, answers: Answers, run: State | None, plan: Plan | None
) -> None:
    """Give the round's files their completed names; without git that ends the round."""
    facts.stamp = _free_stamp(facts)
    names = dict(zip((IN_WORK, TODO), facts.completed, strict=True))
    there = [name for name in names if facts.has(name)]
    if not there:
        text = f"there is neither {IN_WORK} nor {TODO}, so nothing can be completed"
        here = state.command("step", WORKFLOW)
        raise Refused("not_found", facts.folder, text, "go on with the current step", here)
    if run is not None and plan is None and run.run.status in (ACTIVE, PAUSED):
        text = "the plan that implements the requirements is still under way"
        allowed = "go on with it, or a person ends it; then run the same command again"
        raise Refused("conflict", "requirements complete", text, allowed, run.command("cancel"))
    facts.told = _changed_since(facts, run)
    operations: list[Operation] = [rename(facts.path(n), facts.path(names[n])) for n in there]
    if len(there) == len(names):
        todo = as_completed(_text(facts, TODO), names[IN_WORK])
        operations.append(write(facts.path(names[TODO]), todo))
    if facts.git:
        facts.message = _message(state, facts, answers, plan, [names[name] for name in there])
        carry_out(state, facts, "rename", operations, "complete")
        return
    history.read_text(facts)
    line = history.completed([names[name] for name in there])
    operations.append(append(facts, line))
    facts.end_round()
    carry_out(state, facts, "close", operations, closed())
    if run is not None and plan is not None:
        finish_uncommitted(run, "not committed: the requirements lane works without git")


def _free_stamp(facts: Lane) -> str:
    """Return a time of which there are no completed files yet, a second later for each there is."""
    seconds = time.time()
    while True:
        facts.stamp = history.file_stamp(seconds)
        if not any(map(facts.has, facts.completed)):
            return facts.stamp
        seconds += 1


def _changed_since(facts: Lane, run: State | None) -> str:
    if run is None or not facts.has(IN_WORK):
        return ""
    now = sha256(facts.read(IN_WORK)).hexdigest()
    same = now == lane_of(run.state_dir)["sha256"]
    return "" if same else f"{IN_WORK} was changed since its implementation began"


def _completed(facts: Lane) -> list[str]:
    """Return the names of the round's completed files that are there."""
    return [name for name in facts.completed if facts.has(name)]


def _text(facts: Lane, name: str) -> str:
    return facts.read(name).decode("utf-8", "replace")


def _trailers(facts: Lane, plan: Plan | None, names: Sequence[str]) -> list[str]:
    keys = {facts.completed[0]: "Requirements", facts.completed[1]: "Todo"}
    found = [f"{keys[name]}: {name}" for name in names]
    return [*found, f"Plan-Digest: {plan.digest}"] if plan else found


def _message(
    state: State,
    facts: Lane,
    answers: Answers,
    plan: Plan | None,
    names: Sequence[str] | None = None,
) -> str:
    """Return the commit message: from the file that was named for it, else of the plan."""
    trailers = _trailers(facts, plan, _completed(facts) if names is None else names)
    if answers.message is not None:
        file = read_answer(state.state_dir, answers.message)
        return check_message(file.text(), file.path, trailers)
    if plan is None:
        text = "the commit needs a message"
        here = state.command("step", WORKFLOW)
        raise Refused("usage", "--message", text, "name the file that the step tells", here)
    return message_of_plan(plan, trailers)


def _stage(
    state: State, facts: Lane, answers: Answers, run: State | None, plan: Plan | None
) -> None:
    """Write what the commit needs, and stage all of it: what the user is shown is committed."""
    repository = state.repository
    planned = staging.planned_files(run, plan)
    _choose_files(repository, facts, answers, planned)
    facts.message = with_trailers(facts.message, _trailers(facts, plan, _completed(facts)))
    facts.text = facts.message.partition("\n")[0]
    operations = [*_todo(facts), *_history(facts, plan), *_copy_of(repository, facts, run, plan)]
    carry_out(state, facts, "stage", operations, "complete")
    aside = ends(plan_changes(plan)) if plan else ()
    found = staging.sort_changed(repository, facts, planned, aside)
    entries = staging.stage(repository, found.ours, state.state_dir)
    changed = staging.changed_files(repository)  # what was staged and is gone is no change
    facts.staged = {path: entry for path, entry in entries.items() if path in changed}
    facts.others, facts.left_out = found.others, found.left_out
    facts.ignored = staging.ignored_files(repository)
    write_lane(state.state_dir, facts)


def _choose_files(
    repository: Repository, facts: Lane, answers: Answers, planned: Collection[str]
) -> None:
    """Store which other files belong into the commit, and which the user has taken out of it."""
    own = {HISTORY, ATTRIBUTES, *facts.completed}
    needed = {os.path.relpath(facts.path(name), repository.root) for name in own} | {*planned}
    may_go = [path for path in facts.staged if path not in needed]
    _check_known("--with", answers.wanted, [*facts.others, *facts.left_out, *facts.wanted])
    _check_known("--without", answers.without, may_go)
    back = {*facts.taken_back, *answers.without, *staging.taken_back(repository, facts, needed)}
    facts.taken_back = sorted(back - {*answers.wanted})
    others = [path for path in facts.others if not is_secret_in(*os.path.split(path))]
    wanted = {*facts.wanted, *answers.wanted, *(others if answers.others else ())}
    facts.wanted = sorted(wanted.difference(facts.taken_back))
    staging.unstage(repository, facts, answers.without)


def _check_known(option: str, given: Sequence[str], known: Sequence[str]) -> None:
    unknown = [path for path in given if path not in known]
    if unknown:
        text = f"{', '.join(unknown)} is not a file that was shown and may be chosen"
        raise Refused("not_found", option, text, ", ".join(known) or "no file may be")


def _todo(facts: Lane) -> list[Operation]:
    name = facts.completed[1]
    if not facts.has(name):
        return []
    before = _text(facts, name)
    after = also_committed(before, facts.wanted)
    return [] if after == before else [write(facts.path(name), after)]


def _history(facts: Lane, plan: Plan | None) -> list[Operation]:
    """Return what gives the history the round's last lines, in place of those with other words.

    A plan that was moved to another commit than the round began at has a line that names it.
    """
    old = facts.lines
    base = plan.base.commit if plan is not None and plan.base else ""
    began_at = history.last_head(history.read_text(facts))  # refuses marks of a conflict
    moved = base and began_at not in ("", base)
    commit = f"GIT COMMIT ({facts.text})"
    if not old.endswith(f" - {commit}\n"):
        head = history.at_head(base) if moved else ""
        facts.lines = head + history.completed(_completed(facts)) + history.stamped(commit)
    return [swap(facts.path(HISTORY), old, facts.lines)]


def _copy_of(
    repository: Repository, facts: Lane, run: State | None, plan: Plan | None
) -> list[Operation]:
    """Return what puts a wanted copy of the plan beside the code, or removes one taken back."""
    if run is None:
        return []
    if plan is not None:
        found = files_beside(run, plan, read_bytes(run.plan_path)).items()
        folders = [make_folders(os.path.join(repository.root, ARCHIVE_FOLDER))] if found else []
        files = [write(os.path.join(repository.root, path), data.decode()) for path, data in found]
        return [*folders, *files]
    known = [os.path.join(repository.root, path) for path in archive.paths(run)]
    return [remove(facts, path) for path in known if facts.files.exists(path)]


def commit(state: State) -> None:
    """Make the commit that the user has seen and said yes to; then a new round begins."""
    with at_work(state, "requirements commit") as facts:
        if facts.stamp:
            after(state.run.step, "commit", state.state_dir)
            closing.commit_completed(state, facts)
        else:
            after(state.run.step, "closed", state.state_dir)


def leave_commit(state: State) -> None:
    """Leave an open commit to the user, who makes it with git; a new round begins."""
    with at_work(state, "requirements startup") as facts:
        to = after(state.run.step, "leave-commit", state.state_dir)
        if to is None:
            return
        if not facts.stamp:
            text = "no commit is open: the requirements are not completed yet"
            here = state.command("step", WORKFLOW)
            raise Refused("conflict", "--leave-commit", text, "complete them first", here)
        run = run_of(facts)
        repository = state.repository
        path, old = facts.path(HISTORY), facts.lines
        # Whose commit it is and what it says is the user's to decide, so it gets no line.
        facts.lines = history.without_commit(old) or history.completed(_completed(facts))
        carry_out(state, facts, "without-commit", [swap(path, old, facts.lines)], "startup")
        name = os.path.relpath(path, repository.root)
        staging.stage(repository, [name], state.state_dir)
        facts.end_round()
        carry_out(state, facts, "leave-commit", [], to)
        if run is not None and applied_plan(run) is not None:
            finish_uncommitted(run, "the user commits it")
