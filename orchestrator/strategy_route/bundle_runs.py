"""Run a workflow bundle step by step, and make a new one from what an assistant wrote (ST-8)."""

from __future__ import annotations

import os
import secrets
import tempfile
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.folders import make_folder, make_planner_folder
from orchestrator.strategy_route.bundles import (
    DONE,
    FILE,
    STEP_NAME,
    Bundle,
    BundleStep,
    check_bundle,
    load_bundle,
    name_problems,
    places,
)
from shared import resources
from shared.git.repository import exclude_planner, find_repository
from state.actors import HOST
from state.beneath import Beneath
from state.database import Database
from state.errors import Problem, Refused
from state.files import Lock, read_json, write_atomic, write_json
from state.written_json import TEXT, TEXT_OR_NULL, TEXTS, an_object, list_of, problems_in

if TYPE_CHECKING:
    from shared.git.repository import Repository

    Json = dict[str, Any]

PASS, FAIL = "pass", "fail"
OUTCOMES = (DONE, PASS, FAIL)
MOST_ROUNDS = 5
_STATE = "workflow-run.json"
_FORM = (
    '{"purpose": "…", "commands": {"notes": "make notes"}, "steps": [{"name": "write", "text": '
    '"the prompt", "agent": "host", "next": "check", "gate": "", "commands": ["notes"]}]}'
)


_SCHEMA = an_object(
    {
        "purpose": TEXT,
        "commands": {"type": "object", "additionalProperties": TEXT,
                     "allowed": '{"notes": "make notes"}'},
        "steps": list_of(
            an_object(
                {
                    "name": STEP_NAME, "text": TEXT, "agent": TEXT_OR_NULL, "next": TEXT_OR_NULL,
                    "gate": TEXT_OR_NULL, "commands": TEXTS,
                },
                ("name", "text"),
                _FORM,
            ),
            _FORM,
            minItems=1,
        ),
    },
    ("purpose", "steps"),
    _FORM,
)  # fmt: skip


class BundleRun(NamedTuple):
    """A bundle under way."""

    state_dir: str
    # What it was when it began.
    bundle: Bundle
    # Where it is; "" once it has ended.
    current: str
    # The steps that have ended, each with its outcome.
    taken: list[list[str]]


def begin(folder: str, name: str) -> BundleRun:
    """Begin a sound bundle; it stays as it is now, whatever becomes of its files."""
    repository = find_repository(folder)
    bundle = load_bundle(repository.root, name)
    home = make_planner_folder(repository.root)
    exclude_planner(repository)
    run_id = f"{time.strftime('%Y%m%d')}-{secrets.token_hex(3)}"
    state_dir = os.path.join(home, "workflows", run_id)
    make_folder(os.path.join(state_dir, "answers"))
    run = BundleRun(state_dir, bundle, bundle.steps[0].name, [])
    with Lock(resources.lock_path(state_dir), "workflow run"):
        _store(run)
        _audit(repository, "workflow begin", f"{name} {run_id}")
    return run


def _audit(repository: Repository, action: str, detail: str) -> None:
    path = os.path.join(repository.root, resources.PLANNER_FOLDER, resources.DATABASE)
    with Database(path, create=True) as database:
        database.audit(None, HOST, action, detail=detail)


def open_run(state_dir: str) -> BundleRun:
    """Return the bundle that runs in a state directory."""
    path = os.path.join(os.path.realpath(state_dir), _STATE)
    if not os.path.isfile(path):
        text = "no workflow bundle runs in this folder"
        begin_one = "planner workflow list"
        raise Refused("not_found", state_dir, text, "the --state-dir that was printed", begin_one)
    values = read_json(path)
    steps = tuple(BundleStep(*[*row[:5], tuple(row[5])]) for row in values["steps"])
    bundle = Bundle(values["name"], values["purpose"], steps, values["folder"])
    return BundleRun(os.path.dirname(path), bundle, values["current"], values["taken"])


def under_way(root: str) -> list[BundleRun]:
    """Return the bundles that run in a repository and have not ended, the oldest first."""
    home = os.path.join(root, resources.PLANNER_FOLDER, "workflows")
    names = os.listdir(home) if os.path.isdir(home) else []
    folders = (os.path.join(home, name) for name in sorted(names))
    runs = [open_run(one) for one in folders if os.path.isfile(os.path.join(one, _STATE))]
    return [run for run in runs if run.current]


def _store(run: BundleRun) -> None:
    values = run.bundle._asdict() | {"current": run.current, "taken": run.taken}
    write_json(os.path.join(run.state_dir, _STATE), values)


def go_on(state_dir: str, name: str, outcome: str) -> BundleRun:
    """End a step of a bundle that runs; repeated, change nothing.

    Only a gate passes or fails; a failure goes back to the step that the gate names.
    """
    run = open_run(state_dir)
    with Lock(resources.lock_path(run.state_dir), "workflow run"):
        run = open_run(state_dir)
        if name != run.current:
            if run.taken and run.taken[-1] == [name, outcome]:
                return run
            text = f"the step {name} is not due; the workflow is at {run.current or 'its end'}"
            raise Refused("conflict", "--step", text, "go on there", _here(run))
        step = run.bundle.step(name)
        allowed = (PASS, FAIL) if step.gate else (DONE,)
        if outcome not in allowed:
            kind = "is" if step.gate else "is not"
            text = f"{name} {kind} a gate"
            raise Refused("usage", "--on", text, ", ".join(allowed), _here(run))
        if outcome == FAIL and run.taken.count([name, FAIL]) >= MOST_ROUNDS - 1:
            text = f"{name} has failed {MOST_ROUNDS} times"
            allowed_now = "ask the user what is wrong; --on pass if they accept it"
            raise Refused("refused", "--on", text, allowed_now, _here(run))
        following = step.gate if outcome == FAIL else step.next
        run.taken.append([name, outcome])
        run = run._replace(current="" if following == DONE else following)
        _store(run)
    return run


def _here(run: BundleRun) -> str:
    return resources.command("workflow", "run", run.bundle.name, state_dir=run.state_dir)


# a new one


def make_bundle(folder: str, name: str, value: object, *, of_user: bool) -> str:
    """Make a bundle from what was written for it, check it as a whole, and return its folder.

    Nothing is made where it has a fault; repeated with the same text, nothing changes.
    """
    root = find_repository(folder).root
    problems = [Problem("invalid", "NAME", *found) for found in name_problems(name)]
    problems += problems_in(value, _SCHEMA, "bundle")
    if problems or not isinstance(value, dict):
        raise Refused.of(problems)
    files = _files_of(name, value)
    home = os.path.join(places(root)[1 if of_user else 0], name)
    if os.path.lexists(home):
        if {f: _bytes(os.path.join(home, f)) for f in files} == files:
            return home
        text = "there is something of this name already"
        raise Refused("conflict", home, text, "another name, or edit its files")
    if of_user:
        make_folder(os.path.dirname(home))
    else:
        Beneath(root).make_folders(os.path.dirname(home))
    with tempfile.TemporaryDirectory(dir=os.path.dirname(home), prefix=".new-") as draft:
        inside = os.path.join(draft, name)
        make_folder(inside)
        for file, data in files.items():
            write_atomic(os.path.join(inside, file), data, 0o644)
        problems, _ = check_bundle(inside)
        if problems:
            raise Refused.of(problems)
        os.rename(inside, home)
    return home


def _bytes(path: str) -> bytes:
    if not os.path.isfile(path):
        return b""
    with open(path, "rb") as file:
        return file.read()


def _files_of(name: str, value: Json) -> dict[str, bytes]:
    """Return the files of a bundle by name, from what was written for it."""
    steps = value["steps"]
    prompts = {f"{step['name']}.md": step["text"].strip().encode() + b"\n" for step in steps}
    return {FILE: _toml(name, value).encode(), **prompts}


def _toml(name: str, value: Json) -> str:
    lines = [f"name = {_quoted(name)}", f"purpose = {_quoted(value['purpose'])}"]
    for step in value["steps"]:
        lines += ["", "[[step]]", f"name = {_quoted(step['name'])}"]
        lines.append(f"prompt = {_quoted(step['name'] + '.md')}")
        lines += [f"{f} = {_quoted(step[f])}" for f in ("agent", "next", "gate") if step.get(f)]
        if step.get("commands"):
            lines.append(f"commands = [{', '.join(map(_quoted, step['commands']))}]")
    if value.get("commands"):
        lines += ["", "[commands]"]
        lines += [f"{_quoted(k)} = {_quoted(v)}" for k, v in value["commands"].items()]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a text as a basic string of TOML, which may hold what a JSON string may."""
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
