"""The settings that count in a repository, each with its source (PC-11)."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from orchestrator.run.providers import DEFAULT, PARTS, load_models, merged, project_tables
from orchestrator.run.providers import KEYS as PROVIDER_KEYS
from shared import resources
from shared.config import (
    Config,
    commands_hash,
    load_config,
    own_config,
    parse_config,
    render_commands,
)
from shared.config_keys import KEYS
from shared.git.repository import find_repository, repository_at, submodules
from shared.place.level import level
from shared.resources import CONFIG_FILE
from shared.user_config import limited, load_user_config, user_tables
from state.beneath import Beneath
from state.errors import Refused
from state.files import write_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orchestrator.run.providers import Models
    from shared.git.command import Git
    from shared.git.repository import Repository
    from shared.run import State


class Setting(NamedTuple):
    """One setting with its value, as text, and where the value comes from."""

    name: str
    value: str
    source: str


def git_of(folder: str) -> Git | None:
    """Return the git of the repository around a folder if it has a commit, else None."""
    try:
        git = find_repository(folder).git
    except Refused:
        return None
    return git if git.ok("rev-parse", "--verify", "-q", "HEAD^{commit}") else None


def load_settings(folder: str) -> Config:
    """Return the settings that count in a folder now: the user's, and the repository's at HEAD."""
    git = git_of(folder)
    config = Config() if git is None else load_config(git, "HEAD")
    return limited(config, load_user_config())


def check_enabled(folder: str) -> Config:
    """Return the settings of a folder; Refused where they turn the planner off."""
    config = load_settings(folder)
    refuse_turned_off(config)
    return config


def refuse_turned_off(config: Config) -> None:
    """Raise Refused where the settings turn the planner off."""
    if not config.enabled:
        text = "the planner is turned off here by [planner] enabled = false"
        allowed = "make the change directly, or have the user turn it on"
        raise Refused("refused", "[planner].enabled", text, allowed, "planner config show")


def write_settings(state: State, repository: Repository, config: Config, commit: str) -> None:
    """Store the settings at a run's base, its commands among them, for the rest of the run."""
    values = {
        "config": config.to_json(),
        "hash": commands_hash(config),
        "text": render_commands(config),
        "consent": _needs_consent(repository, config),
        "models": load_models(repository.git, commit).by_role,
        "submodules": submodules(repository, commit),
    }
    write_json(resources.run_config_path(state.state_dir), values)


def light_settings(root: str) -> Config:
    """Return the settings that count for a plan without a run, as HEAD of its repository has them.

    Without a commit they are read from the folder.
    """
    if os.path.lexists(os.path.join(root, ".git")):
        git = repository_at(root).git
        found = git.ok("rev-parse", "--verify", "-q", "HEAD^{commit}")
        config = load_config(git, "HEAD") if found else Config()
    else:
        data = Beneath(root).read(own_config(root))
        config = Config() if data is None else parse_config(data)
    return limited(config, load_user_config())


def write_light_settings(home: str, config: Config) -> dict[str, Any]:
    """Store the settings of a plan without a run in the planner's folder; return their values."""
    values = config.to_json()
    write_json(resources.run_config_path(home), {"config": values})
    return values


def write_lane_settings(state: State, config: Config, models: Models) -> None:
    """Store the settings of a requirements lane, which runs no commands of the project."""
    values = {"config": config.to_json(), "hash": "", "text": "", "submodules": []}
    path = resources.run_config_path(state.state_dir)
    write_json(path, {**values, "models": models.by_role})


def _needs_consent(repository: Repository, config: Config) -> bool:
    """Return whether a person has to confirm commands: not if all are to verify, and are held."""
    others = commands_hash(replace(config, verify=())) or config.write
    return bool(others) or bool(config.verify and not level(repository.root).holds)


def settings_of(folder: str) -> list[Setting]:
    """Return every setting that counts in a folder, with its value and its source."""
    config, git = load_settings(folder), git_of(folder)
    models = load_models(git)  # first, since it refuses providers that are not as they should be
    project, user = project_tables(git, "HEAD"), user_tables()
    found = []
    for table, keys in KEYS.items():
        for key, known in keys.items():
            value = getattr(config, known.attribute)
            source = _source(table, key, value, project, user)
            found.append(Setting(f"[{table}] {key}", _as_json(value), source))
    providers = [*_providers(project, user)]
    return [*found, *providers, *_notes(providers), *_models(models)]


def _source(table: str, key: str, value: object, project: Any, user: Any) -> str:  # noqa: ANN401
    named = user.get(table, {}).get(key)
    if named is not None and _same(named, value):
        return resources.user_config_path()
    named = project.get(table, {}).get(key)
    return CONFIG_FILE if named is not None and _same(named, value) else "default"


def _same(named: object, value: object) -> bool:
    return (tuple(named) if isinstance(named, list) else named) == value


def _as_json(value: object) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _providers(project: Any, user: Any) -> Iterator[Setting]:  # noqa: ANN401 – parsed TOML
    """Yield the settings of providers; a key is said to be set, never what it is."""
    mine, theirs = user.get("providers", {}), project.get("providers", {})
    for name, value in merged(theirs, mine).items():
        if name in (DEFAULT, *PARTS):
            source = resources.user_config_path() if name in mine else CONFIG_FILE
            yield Setting(f"[providers] {name}", _as_json(value), source)
            continue
        for configuration, values in value.items():
            own = configuration in mine.get(name, {})
            source = resources.user_config_path() if own else CONFIG_FILE
            for key, one in values.items():
                shown = "(set, not shown)" if key == "api_key" else _as_json(one)
                yield Setting(f"[providers.{name}.{configuration}] {key}", shown, source)


def _notes(providers: Sequence[Setting]) -> Iterator[Setting]:
    """Yield what has to be known of keys of providers: no client takes more than a model."""
    keys = {one.name.rpartition("] ")[2] for one in providers}
    unused = [key for key in PROVIDER_KEYS if key in keys and key != "model"]
    if unused:
        text = "the client starts the agents, with a key and limits of its own"
        yield Setting("note", f"{', '.join(unused)}: not handed on, since {text}", "")
    if any(one.name.endswith("] api_key") and one.source == CONFIG_FILE for one in providers):
        text = "all who have the repository read the api_key of a committed file: move it away"
        yield Setting("note", text, CONFIG_FILE)


def _models(models: Models) -> list[Setting]:
    found = [Setting(f"model of {role}", name, "") for role, name in models.by_role.items()]
    return found + [Setting("note", text, "") for text in models.notes]
