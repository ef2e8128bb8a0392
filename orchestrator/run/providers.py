"""The models that the settings choose for each role: the table [providers] (RL-12).

Planner, coach and player name a configuration as TYPE.NAME. The user's own settings count before
those of the repository. Keys are read by nobody here and never shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from shared import bounded_toml, resources
from shared.config import file_at
from shared.resources import CONFIG_FILE, CONFIG_FILES
from shared.user_config import user_tables
from state.actors import ARCHITECT, DEVELOPER, REVIEWER, WRITER
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shared.git.command import Git

    Tables = Mapping[str, Any]

DEFAULT = "default_provider"
# The reviewing agent of requirements is an architect too.
PARTS = {"planner": (ARCHITECT,), "coach": (REVIEWER,), "player": (DEVELOPER, WRITER)}
KEYS: dict[str, type] = {
    "api_key": str, "model": str, "max_tokens": int, "thinking_budget_tokens": int,
}  # fmt: skip
EXAMPLE = (
    '[providers] default_provider = "anthropic.default", planner = "anthropic.planner", and '
    '[providers.anthropic.default] model = "…", [providers.anthropic.planner] model = "…"'
)


class Models(NamedTuple):
    """The model of each role, empty where the settings name none, and what to tell the user."""

    by_role: dict[str, str]
    notes: tuple[str, ...] = ()


NO_MODELS = Models({})


def load_models(git: Git | None, commit: str = "HEAD") -> Models:
    """Return the models for a run at a commit; Refused with every mistake in the settings."""
    project = project_tables(git, commit).get("providers", {})
    user = user_tables().get("providers", {})
    problems = [
        *check_providers(project, CONFIG_FILE),
        *check_providers(user, resources.user_config_path()),
    ]
    if problems:
        raise Refused.of(problems)
    return choose(merged(project, user))


def project_tables(git: Git | None, commit: str) -> dict[str, Any]:
    """Return the tables of the repository's planner.toml at a commit, empty if it has none."""
    data = file_at(git, commit, *CONFIG_FILES) if git is not None else None
    if data is None:
        return {}
    try:
        return bounded_toml.parse(data)
    except ValueError as error:
        raise Refused("invalid", CONFIG_FILE, str(error), "correct the file") from None


def merged(project: Tables, user: Tables) -> dict[str, Any]:
    """Return the providers of both files; what the user has set counts before the repository's."""
    found: dict[str, Any] = {**project, **user}
    for name, value in project.items():
        if isinstance(value, dict) and isinstance(user.get(name), dict):
            found[name] = {**value, **user[name]}
    return found


def check_providers(table: object, file: str) -> list[Problem]:
    """Return what is wrong with a table [providers]; the old style is refused with the new one."""
    at = f"{file} [providers]"
    if not isinstance(table, dict):
        return [Problem("invalid", at, "is not a table", EXAMPLE)]
    problems = []
    for name, value in table.items():
        if name in (DEFAULT, *PARTS):
            if not isinstance(value, str) or value.count(".") != 1 or "" in value.split("."):
                text = "is not the TYPE.NAME of a configuration (the old style names no NAME)"
                problems.append(Problem("invalid", f"{at}.{name}", text, EXAMPLE))
        elif not isinstance(value, dict):
            known = ", ".join((DEFAULT, *PARTS))
            text = f"is not a table; the keys here are {known}"
            problems.append(Problem("invalid", f"{at}.{name}", text, EXAMPLE))
        else:
            problems += _check_type(value, f"{file} [providers.{name}")
    return problems


def _check_type(configurations: Tables, at: str) -> list[Problem]:
    problems = []
    for name, values in configurations.items():
        if not isinstance(values, dict):
            text = "stands outside of a named configuration (this is the old style)"
            problems.append(Problem("invalid", f"{at}].{name}", text, EXAMPLE))
            continue
        for key, value in values.items():
            where = f"{at}.{name}].{key}"
            if key not in KEYS:
                text = "there is no such key"
                problems.append(Problem("invalid", where, text, ", ".join(KEYS)))
            elif type(value) is not KEYS[key] or not value:
                what = "text" if KEYS[key] is str else "a whole number of 1 or more"
                problems.append(Problem("invalid", where, f"is not {what}", what))
    return problems


def choose(providers: Tables) -> Models:
    """Return the model of each role, and which of them fall back to the default provider.

    Without providers the assistant's own model does all. Refused where nothing resolves.
    """
    if not providers:
        return NO_MODELS
    models: dict[str, str] = {}
    notes: list[str] = []
    problems: list[Problem] = []
    for part, roles in PARTS.items():
        named = providers.get(part) or providers.get(DEFAULT)
        values = _resolved(providers, named)
        if values is None:
            text = f"neither {part} nor {DEFAULT} names a configuration that there is"
            text += f" ({named})" if named else ""
            problems.append(Problem("invalid", f"[providers].{part}", text, EXAMPLE))
            continue
        if part not in providers:
            notes.append(f"[providers] {part} is not set: {DEFAULT} {named} is used")
        model: str = values.get("model", "")
        models |= dict.fromkeys(roles if model else (), model)
    if problems:
        raise Refused.of(problems)
    return Models(models, tuple(notes))


def _resolved(providers: Tables, named: str | None) -> Tables | None:
    kind, _, name = (named or "").partition(".")
    found: Tables | None = providers.get(kind, {}).get(name)
    return found
