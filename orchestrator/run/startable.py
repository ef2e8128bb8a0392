"""Refuse a start for what would stop its run later, before anything of it is made (PL-1)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from orchestrator.run.providers import load_models
from shared import resources
from shared.config import load_config
from shared.git.filters_here import check_filters
from shared.git.private import is_in_no_repository
from shared.git.readiness import check_path, check_readable, check_startable
from shared.git.repository import Repository, head, private_around, uncommitted
from shared.mode import transitions
from shared.mode.sessions import agent_name
from shared.user_config import limited, load_user_config
from shared.without_git import keep_files
from state.errors import Refused
from state.plain_json import check_value

if TYPE_CHECKING:
    from orchestrator.run.choices import Choices


def open_startable(
    folder: str, request: str | None, state_dir: str | None, chosen: Choices
) -> Repository:
    """Return the repository around a folder; Refused with every reason why no run starts there.

    A chat makes no commit, so HEAD may be anywhere, or nowhere yet.
    """
    alone = is_in_no_repository(folder) and private_around(folder) is None
    opened: list[Repository] = []
    problems = [] if alone else check_startable(folder, opened)
    if chosen.chat and opened:
        problems = check_readable(opened[0])
    problems += check_value("TEXT", request or "")
    problems += check_path(os.path.realpath(state_dir)) if state_dir else []
    if problems:
        raise Refused.of(problems)
    return keep_files(os.path.realpath(folder)) if alone else opened[0]


def check_before(
    repository: Repository, folder: str, chosen: Choices, agent: str | None
) -> list[str] | None:
    """Raise Refused for what would stop a new run later, so that nothing of it has to be removed.

    Settings are read at HEAD; those of a snapshot are read when it is made. Returns the paths with
    uncommitted work, None where it did not look for them.
    """
    name = agent_name(agent, repository.root)
    transitions.check_only_here(resources.database_path(folder), name)
    if chosen.chat:
        return None
    if problems := check_filters(repository, resources.user_config_path()):
        raise Refused.of(problems)
    work = uncommitted(repository) if chosen.base is None else None
    if chosen.base == "head" or work == []:
        commit = head(repository).commit
        limited(load_config(repository.git, commit), load_user_config())
        load_models(repository.git, commit)
    return work
