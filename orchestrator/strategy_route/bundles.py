"""Find and check workflow bundles: folders with a workflow.toml and prompts, and no code (ST-8).

They lie in `planning/workflows/` of the repository and in the user's configuration. A bundle holds
text alone; its commands are named in workflow.toml and never run by the planner.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from shared import bounded_toml, resources
from shared.steps.entry_points import MODULES
from state.actors import HOST, ROLES
from state.beneath import Beneath
from state.errors import Problem, Refused
from state.written_json import TEXT, TEXTS, an_object, list_of, problems_in, sound_items

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Json = dict[str, Any]

FILE = "workflow.toml"
DONE = "done"
MOST_STEPS, MOST_PROMPT = 30, 20_000
_NAME = r"[a-z][a-z0-9]*(-[a-z0-9]+)*"
_NAME_SAID = "small letters, digits and single dashes, such as release-notes"
STEP_NAME: Json = {
    "type": "string", "pattern": rf"^(?!{DONE}\Z){_NAME}\Z", "allowed": f"{_NAME_SAID}; not {DONE}"
}  # fmt: skip
_STEPS = f'1 to {MOST_STEPS} tables: [[step]] with name = "…" and prompt = "….md"'
_STEP = an_object(
    {
        "name": STEP_NAME, "prompt": {**TEXT, "allowed": "a file of the bundle, such as write.md"},
        "agent": {"enum": (HOST, *ROLES)}, "next": TEXT, "gate": TEXT, "commands": TEXTS,
    },
    ("name", "prompt"),
    _STEPS,
)  # fmt: skip
_COMMANDS = {"type": "object", "additionalProperties": TEXT,
             "allowed": '[commands] notes = "make notes"'}  # fmt: skip
_SCHEMA = an_object(
    {
        "name": {**TEXT, "allowed": _NAME_SAID}, "purpose": TEXT,
        "step": list_of(_STEP, _STEPS, minItems=1, maxItems=MOST_STEPS), "commands": _COMMANDS,
    },
    ("name", "purpose", "step"),
    "",
)  # fmt: skip


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
    problems = [*_file_problems(folder)]
    try:
        data = _read(folder)
        problems += problems_in(data, _SCHEMA, FILE)
    except Refused as refusal:
        return [*problems, *refusal.problems], None
    if isinstance(name := data.get("name"), str) and name.strip():
        problems += [Problem("invalid", "name", *found) for found in name_problems(name)]
        if name != (called := os.path.basename(folder)):
            text = f"the folder is called {called}"
            problems.append(Problem("invalid", "name", text, "the same name for both"))
    prompts = _prompts(folder, data, problems)
    steps = [] if problems else _steps(data, prompts)
    problems += _way_problems(steps)
    if problems:
        return problems, None
    return [], Bundle(data["name"], data["purpose"].strip(), tuple(steps), folder)


def _read(folder: str) -> Json:
    """Return what workflow.toml holds; Refused if it is missing or no TOML."""
    try:
        data = Beneath(folder).read(FILE, bounded_toml.MOST_BYTES)
        if data is not None:
            return bounded_toml.parse(data)
        said = "there is no such file"
    except Refused as refusal:
        said = refusal.problems[0].problem
    except ValueError as error:
        said = str(error)
    way = "a workflow.toml as `planner workflow new` makes it"
    raise Refused("invalid", os.path.join(folder, FILE), said, way)


def name_problems(name: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the name of a bundle, and what would be right."""
    if not re.fullmatch(_NAME, name):
        yield "this is no name of a workflow", _NAME_SAID
    if name in MODULES:
        yield f"{name} is a workflow of the planner itself", "another name"


def _file_problems(folder: str) -> Iterator[Problem]:
    """Yield a fault for each file that is neither workflow.toml nor the text of a prompt."""
    for at, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = os.path.join(at, name)
            inside = os.path.relpath(path, folder)
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                yield Problem("invalid", inside, "this is a link", "a file of the bundle's own")
            elif name in folders:
                continue
            elif not stat.S_ISREG(mode) or (inside != FILE and not name.endswith(".md")):
                allowed = f"{FILE} and prompts in *.md"
                yield Problem("invalid", inside, "a bundle brings no code", allowed)
            elif mode & 0o111:
                text = "the file is executable"
                yield Problem("invalid", inside, text, "a bundle brings text alone")


def _prompts(folder: str, data: Json, problems: list[Problem]) -> list[str]:
    """Return the text of each step's prompt; add to `problems` what steps name that is not there.

    Steps that have a problem already are left out.
    """
    rows, commands = data.get("step"), data.get("commands")
    listed = rows if isinstance(rows, list) else []
    names = [row.get("name") if isinstance(row, dict) else None for row in listed]
    known = commands if isinstance(commands, dict) else {}
    texts = []
    for number, row in sound_items(rows, problems, "step").items():
        problems += _step_problems(row, names, number, known)
        try:
            texts.append(_prompt(folder, row["prompt"], f"step[{number}].prompt"))
        except Refused as refusal:
            problems += refusal.problems
    return texts


def _step_problems(
    row: Json, names: Sequence[object], number: int, commands: Json
) -> Iterator[Problem]:
    at, known = f"step[{number}]", [name for name in names if isinstance(name, str)]
    if row["name"] in names[:number]:
        text = f"two steps are called {row['name']}"
        yield Problem("invalid", f"{at}.name", text, "a name of its own for each")
    for field, possible in (("next", [*known, DONE]), ("gate", known)):
        if field in row and row[field] not in possible:
            text = f"there is no step {row[field]}"
            yield Problem("not_found", f"{at}.{field}", text, ", ".join(possible))
    for name in row.get("commands", ()):
        if name not in commands:
            allowed = ", ".join(commands) or "[commands] has none"
            yield Problem("not_found", f"{at}.commands", f"there is no command {name}", allowed)


def _prompt(folder: str, name: str, at: str) -> str:
    """Return the text of a step's prompt; Refused where it is no file of the bundle."""
    path = os.path.join(folder, name)
    real, home = os.path.realpath(path), os.path.realpath(folder)
    if os.path.isabs(name) or not real.startswith(home + os.sep) or os.path.normpath(name) != name:
        text = f"{name} leads out of the bundle"
        raise Refused("invalid", at, text, "a file inside its folder")
    if not os.path.isfile(path) or not name.endswith(".md"):
        text = f"there is no prompt {name}"
        raise Refused("not_found", at, text, "write this file, ending in .md")
    try:
        data = Beneath(folder).read(name, MOST_PROMPT) or b""
    except Refused as refusal:
        text = f"{name}: {refusal.problems[0].problem}"
        raise Refused("invalid", at, text, "a shorter prompt, in a file") from None
    text = data.decode("utf-8", "replace").strip()
    if not text or "\ufffd" in text:
        raise Refused("invalid", at, f"{name} is empty or not UTF-8", "text in UTF-8")
    return text


def _steps(data: Json, prompts: Sequence[str]) -> list[BundleStep]:
    rows, commands = data["step"], data.get("commands", {})
    following = [*(row["name"] for row in rows[1:]), DONE]
    return [
        BundleStep(
            row["name"], text, row.get("agent", HOST), row.get("next", after), row.get("gate", ""),
            tuple(f"{name}: {commands[name]}" for name in row.get("commands", ())),
        )
        for row, text, after in zip(rows, prompts, following, strict=True)
    ]  # fmt: skip


def _way_problems(steps: Sequence[BundleStep]) -> Iterator[Problem]:
    """Yield a fault for each step that is never reached, and for each circle without a gate."""
    following = {step.name: step.next for step in steps}
    gates = {step.name: step.gate for step in steps}
    reached: set[str] = set()
    left = [step.name for step in steps[:1]]
    while left:
        name = left.pop()
        if name not in reached and name != DONE:
            reached.add(name)
            left += [following[name], *([gates[name]] if gates[name] else [])]
    for number, step in enumerate(steps):
        at = f"step[{number}]"
        if step.gate == step.name:
            text = f"a failure of {step.name} would lead to itself, with nothing done in between"
            yield Problem("invalid", f"{at}.gate", text, "the step that is to be done again")
        if step.name not in reached:
            text = f"no step leads to {step.name}"
            yield Problem("invalid", f"{at}.name", text, "name it in a `next` or `gate`")
        seen, name = set(), step.name
        while name != DONE and name not in seen:
            seen.add(name)
            name = following[name]
        if name == step.name:
            text = f"{step.name} leads back to itself by `next`, so the workflow never ends"
            allowed = f"go back by a gate, and let `next` lead to {DONE}"
            yield Problem("invalid", f"{at}.next", text, allowed)
