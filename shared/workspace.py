"""Open the repositories, the worktree and the settings that a run works with."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from shared import resources
from shared.config import Config
from shared.git.repository import repository_at
from shared.git.vault import open_vault
from shared.git.worktree import open_worktree
from state.errors import Refused

if TYPE_CHECKING:
    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from shared.git.worktree import Worktree
    from shared.run import State
    from state.models import Base, Plan


class Workspace(NamedTuple):
    """The user's repository, the run's bare repository, its scratch worktree and settings."""

    repository: Repository
    vault: Vault
    worktree: str
    config: Config


def open_workspace(state: State) -> Workspace:
    """Open a run's repositories and settings; call it once, since opening runs git."""
    return Workspace(*open_repository(state), state.worktree, config_of(state))


def open_repository(state: State) -> tuple[Repository, Vault]:
    """Return the user's repository and the run's own bare repository beside it, the vault."""
    repository = repository_at(state.run.repository)
    return repository, open_vault(repository, resources.vault_path(state.state_dir))


def open_tree(state: State) -> Worktree:
    """Open the run's scratch worktree and return it."""
    return open_worktree(repository_at(state.run.repository), state.worktree)


def base_of(plan: Plan) -> Base:
    """Return the base commit that the plan starts from; Refused if the plan names none."""
    if plan.base is None:
        raise Refused(
            "refused",
            "base",
            "the plan names no base, the commit that its changes start from",
            "use a plan that `planner start` made",
        )
    return plan.base


def config_of(state: State) -> Config:
    """Return the project's settings that `start` read from the base commit."""
    return Config.from_json(state.config["config"])
