"""Find and check workflow bundles: folders with a workflow.toml and prompts, and no code (ST-8).

They lie in `planning/workflows/` of the repository and in the user's configuration. A bundle holds
text alone; its commands are named in workflow.toml and never run by the planner.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.strategy_route.shape import Shape
from shared import bounded_toml, resources
from shared.steps.entry_points import MODULES
from state.actors import HOST, ROLES
from state.beneath import Beneath
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from state.errors import Problem

    Json = dict[str, Any]

FILE = "workflow.toml"
DONE = "done"
FIELDS = ("name", "purpose", "step", "commands")
STEP_FIELDS = ("name", "prompt", "agent", "next", "gate", "commands")
AGENTS = (HOST, *ROLES)
MOST_STEPS, MOST_PROMPT = 30, 20_000
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_NAME_SAID = "small letters, digits and single dashes, such as release-notes"


class BundleStep(NamedTuple):
    """One step of a bundle."""

    name: str
    text: str
    agent: str
    next: str
    # The step to which a failure goes back, "" for no gate.
    gate: str
    commands: tuple[str, ...]


class Bundle(NamedTuple):
    """A checked bundle: its steps in order, each with the text of its prompt."""

    name: str
    purpose: str
    steps: tuple[BundleStep, ...]
    folder: str

    def step(self, name: str) -> BundleStep:
        """Return the step with a name."""
        return next(step for step in self.steps if step.name == name)


def places(root: str) -> list[str]:
    """Return the folders in which bundles are looked for; the repository's comes first."""
    user = os.path.join(os.path.dirname(resources.user_config_path()), "workflows")
    return [os.path.join(root, resources.PLANNING_FOLDER, "workflows"), user]


def find_bundles(root: str) -> dict[str, str]:
    """Return the folder of each bundle by its name; the repository's hides the user's."""
    ours, users = places(root)
    names = os.listdir(users) if os.path.isdir(users) else []
    folders = {name: os.path.join(users, name) for name in names}
    found = {
        name: folder
        for name, folder in folders.items()
        if os.path.isfile(os.path.join(folder, FILE))
    }
    files = Beneath(root)
    for name in files.names(ours):
        if files.is_file(os.path.join(ours, name, FILE)):
            found[name] = os.path.join(ours, name)
    return dict(sorted(found.items()))


def load_bundle(root: str, name: str) -> Bundle:
    """Return a bundle that is sound; Refused with every fault of it, or with the known names."""
    known = find_bundles(root)
    if name not in known:
        listed = ", ".join(known) or "there is none yet"
        text = f"there is no workflow bundle {name!r}"
        raise Refused("not_found", name, text, listed, "planner workflow list")
    problems, bundle = check_bundle(known[name])
    if bundle is None:
        raise Refused.of(problems)
    return bundle


def check_bundle(folder: str) -> tuple[list[Problem], Bundle | None]:
    """Return every fault of the bundle in a folder, and the bundle itself if it has none."""
    found = Shape(FILE)
    _check_files(found, folder)
    data = _read(found, folder)
    if data is None:
        return found.problems, None
    found.storable(data)
    found.only(data, FIELDS, "")
    found.text(data, "purpose", "")
    _check_name(found, data, os.path.basename(folder))
    commands = data.get("commands", {})
    if not isinstance(commands, dict):
        found.wrong("commands", commands, 'a table: [commands] notes = "make notes"')
        commands = {}
    for name in commands:
        found.text(commands, name, "commands.")
    rows = data.get("step")
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_STEPS:
        form = f'1 to {MOST_STEPS} tables: [[step]] with name = "…" and prompt = "….md"'
        found.add("step", "there are no steps, or too many", form)
        return found.problems, None
    steps = list(_checked_steps(found, folder, rows, commands))
    if not found.problems:
        _check_way(found, steps)
    if found.problems:
        return found.problems, None
    return [], Bundle(data["name"], data["purpose"].strip(), tuple(steps), folder)


def _read(found: Shape, folder: str) -> Json | None:
    path = os.path.join(folder, FILE)
    try:
        data = Beneath(folder).read(FILE, bounded_toml.MOST_BYTES)
        if data is not None:
            return bounded_toml.parse(data)
        said = "there is no such file"
    except Refused as refusal:
        said = refusal.problems[0].problem
    except ValueError as error:
        said = str(error)
    found.add(path, said, "a workflow.toml as `planner workflow new` makes it")
    return None


def _check_name(found: Shape, data: Json, folder: str) -> None:
    found.text(data, "name", "")
    name = data.get("name")
    if not isinstance(name, str):
        return
    for problem, allowed in name_problems(name):
        found.add("name", problem, allowed)
    if name != folder:
        found.add("name", f"the folder is called {folder}", "the same name for both")


def name_problems(name: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the name of a bundle, and what would be right."""
    if not _NAME.fullmatch(name):
        yield "this is no name of a workflow", _NAME_SAID
    if name in MODULES:
        yield f"{name} is a workflow of the planner itself", "another name"


def _check_files(found: Shape, folder: str) -> None:
    """Keep a fault for each file that is neither workflow.toml nor the text of a prompt."""
    for at, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = os.path.join(at, name)
            inside = os.path.relpath(path, folder)
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                found.add(inside, "this is a link", "a file of the bundle's own")
            elif name in folders:
                continue
            elif not stat.S_ISREG(mode) or (inside != FILE and not name.endswith(".md")):
                found.add(inside, "a bundle brings no code", f"{FILE} and prompts in *.md")
            elif mode & 0o111:
                found.add(inside, "the file is executable", "a bundle brings text alone")


def _checked_steps(
    found: Shape, folder: str, rows: list[Any], commands: Json
) -> Iterator[BundleStep]:
    names = [row.get("name") if isinstance(row, dict) else None for row in rows]
    for number, row in enumerate(rows):
        at = f"step[{number}]"
        if not isinstance(row, dict):
            found.wrong(at, row, "a table: [[step]]")
            continue
        found.only(row, STEP_FIELDS, f"{at}.")
        _check_own_name(found, names, number, at)
        text = _prompt(found, folder, row, at)
        known = [name for name in names if isinstance(name, str)]
        if "agent" in row:
            found.one_of(row, "agent", AGENTS, f"{at}.")
        if "next" in row:
            found.one_of(row, "next", [*known, DONE], f"{at}.")
        if "gate" in row:
            found.one_of(row, "gate", known, f"{at}.")
        found.texts(row, "commands", f"{at}.", needed=False)
        used = row.get("commands", [])
        used = [one for one in used if isinstance(one, str)] if isinstance(used, list) else []
        for name in used:
            if name not in commands:
                listed = ", ".join(commands) or "[commands] has none"
                found.add(f"{at}.commands", f"there is no command {name}", listed)
        following = names[number + 1] if number + 1 < len(rows) else DONE
        yield BundleStep(
            str(names[number]), text, row.get("agent", HOST), row.get("next") or str(following),
            row.get("gate", ""), tuple(f"{name}: {commands.get(name)}" for name in used),
        )  # fmt: skip


def _check_own_name(found: Shape, names: Sequence[object], number: int, at: str) -> None:
    name = names[number]
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == DONE:
        found.add(f"{at}.name", "a step needs a name", f"{_NAME_SAID}; not {DONE}")
    elif name in names[:number]:
        found.add(f"{at}.name", f"two steps are called {name}", "a name of its own for each")


def _prompt(found: Shape, folder: str, row: Json, at: str) -> str:
    """Return the text of a step's prompt; keep a fault where it is no file of the bundle."""
    name, place = row.get("prompt"), f"{at}.prompt"
    if not isinstance(name, str) or not name:
        found.add(place, "the step names no prompt", "a file of the bundle, such as write.md")
        return ""
    path = os.path.join(folder, name)
    real, home = os.path.realpath(path), os.path.realpath(folder)
    if os.path.isabs(name) or not real.startswith(home + os.sep) or os.path.normpath(name) != name:
        found.add(place, f"{name} leads out of the bundle", "a file inside its folder")
        return ""
    if not os.path.isfile(path) or not name.endswith(".md"):
        found.add(place, f"there is no prompt {name}", "write this file, ending in .md")
        return ""
    try:
        data = Beneath(folder).read(name, MOST_PROMPT) or b""
    except Refused as refusal:
        found.add(place, f"{name}: {refusal.problems[0].problem}", "a shorter prompt, in a file")
        return ""
    text = data.decode("utf-8", "replace").strip()
    if not text or "\ufffd" in text:
        found.add(place, f"{name} is empty or not UTF-8", "text in UTF-8")
    return text


def _check_way(found: Shape, steps: list[BundleStep]) -> None:
    """Keep a fault for each step that is never reached, and for each circle without a gate."""
    following = {step.name: step.next for step in steps}
    number = {step.name: at for at, step in enumerate(steps)}
    reached: set[str] = set()
    left = [steps[0].name]
    while left:
        name = left.pop()
        if name not in reached and name != DONE:
            reached.add(name)
            gate = steps[number[name]].gate
            left += [following[name], *([gate] if gate else [])]
    for step in steps:
        at = f"step[{number[step.name]}]"
        if step.gate == step.name:
            text = f"a failure of {step.name} would lead to itself, with nothing done in between"
            found.add(f"{at}.gate", text, "the step that is to be done again")
        if step.name not in reached:
            found.add(
                f"{at}.name", f"no step leads to {step.name}", "name it in a `next` or `gate`"
            )
        seen, name = set(), step.name
        while name != DONE and name not in seen:
            seen.add(name)
            name = following[name]
        if name == step.name:
            text = f"{step.name} leads back to itself by `next`, so the workflow never ends"
            found.add(f"{at}.next", text, f"go back by a gate, and let `next` lead to {DONE}")
