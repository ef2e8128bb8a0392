"""Find the assistants, work out what to write for all of them, and write it."""

from __future__ import annotations

import compileall
import contextlib
import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from cli.installed import contents
from cli.setup import record
from cli.setup.edits import Work
from cli.setup.hosts import HOSTS, Wanted
from cli.setup.journal import Change, Content, content_of, only_setup
from cli.setup.journal import carry_out as write_all
from shared import resources
from shared.git.repository import find_repository
from shared.mode import sessions
from shared.mode.sessions import sha256
from shared.place import cache
from shared.resources import sessions_path
from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from state.errors import Problem

_PACKAGES = (
    "architect", "cli", "developer", "orchestrator", "quality_reviewer", "shared", "state",
    "technical_writer",
)  # fmt: skip


class Asked(NamedTuple):
    """What the user asked for."""

    hosts: tuple[str, ...]
    project: bool = False
    remove: bool = False
    dry_run: bool = False


class Prepared(NamedTuple):
    """All that is to be done: changes in order, empty folders to remove, one line for each host.

    `works` are the changes for each assistant, `kept` the names of all that are set up in the end.
    """

    asked: Asked
    changes: list[Change]
    gone: list[str]
    told: dict[str, str]
    works: dict[str, Work]
    kept: list[str]
    # The repository's root if the settings are its own, else "".
    project: str

    @property
    def last(self) -> bool:
        """Whether no assistant is left after a removal, so that all of setup goes."""
        return self.asked.remove and not self.kept


@contextlib.contextmanager
def prepare(asked: Asked) -> Iterator[Prepared]:
    """Give all that is to be done, while no other setup works; Refused with every problem."""
    check_paths()
    project = find_repository(os.getcwd()).root if asked.project else ""
    with contextlib.nullcontext() if asked.dry_run else only_setup():
        before = record.load()
        after = dict(before)
        works = {
            name: _work(name, asked, project, before) for name in _names(asked, project, before)
        }
        problems = [problem for work in works.values() for problem in work.problems]
        if problems:
            raise Refused.of(_with_retry(problems, works, asked))
        for name, work in works.items():
            after[name] = work.placed
        kept = [name for name, one in after.items() if one != record.NOTHING]
        last = asked.remove and not kept
        changes = [change for work in works.values() for change in work.changes]
        changes += _skill_folder(remove=last)
        changes += _recorded(after, remove=last)
        gone = [folder for work in works.values() for folder in work.gone]
        yield Prepared(
            asked, changes, gone, _assistant_notes(works, asked, project), works, kept, project
        )


def carry_out(prepared: Prepared) -> None:
    """Write all changes, or none; then compile our modules, or remove what only setup needs."""
    write_all(prepared.changes, prepared.gone, prepared.project)
    if prepared.last:
        _remove_the_rest()
    else:
        for package in _PACKAGES:
            compileall.compile_dir(os.path.join(resources.ROOT, package), quiet=2)


def check_paths() -> None:
    """Refuse a home that is another user's, and paths that no permission rule could name."""
    home = os.path.expanduser("~")
    if os.path.isdir(home) and os.stat(home).st_uid != os.geteuid():
        text = "the home folder belongs to another user, whose settings setup would write"
        raise Refused("refused", home, text, "run setup as that user")
    path = resources.installed_path()
    if resources.quote(path) != path:
        text = "assistants cannot allow a command whose path has such characters"
        allowed = "a folder with a plain path, named by the variable XDG_DATA_HOME"
        raise Refused("refused", path, text, allowed)


def _names(asked: Asked, project: str, before: dict[str, record.Placed]) -> list[str]:
    """Return the assistants to work on, by the names of the record."""
    inside = f"{record.BY_WHICH_PROJECT}{project}" if project else ""
    if asked.hosts:
        return [f"{host}{inside}" for host in dict.fromkeys(asked.hosts)]
    if asked.remove:
        return [name for name in before if not inside or name.endswith(inside)]
    return [f"{name}{inside}" for name, host in HOSTS.items() if host.is_here()]


def _work(name: str, asked: Asked, project: str, before: dict[str, record.Placed]) -> Work:
    known, _, inside = name.partition(record.BY_WHICH_PROJECT)
    host = HOSTS[known]
    wanted = Wanted() if asked.remove else host.wanted(host.folder(project), bool(project))
    return Work(wanted, before.get(name, record.NOTHING), inside)


def _skill_folder(*, remove: bool) -> list[Change]:
    """Return the changes of the folder of ours that assistants link to."""
    found = []
    for path, (data, mode) in contents().items():
        here = content_of(path)
        after = None if remove else Content(data, mode)
        if here != after:
            found.append(Change(path, here, after))
    return found


def _recorded(after: dict[str, record.Placed], *, remove: bool) -> list[Change]:
    path = resources.setup_path("record.json")
    here = content_of(path)
    wanted = None if remove else Content(record.text(after), 0o600)
    same = here == wanted or (here and wanted and sha256(here.data) == sha256(wanted.data))
    return [] if same else [Change(path, here, wanted)]


def _remove_the_rest() -> None:
    """Remove what only setup and its launcher need, with the packages, which can be made again."""
    for name in ("bin", "hooks", ""):
        with contextlib.suppress(OSError):
            os.rmdir(resources.installed_path(name).rstrip(os.sep))
    packages = resources.packages_path()
    shutil.rmtree(packages, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(packages))
    shutil.rmtree(cache.folder(), ignore_errors=True)
    if not sessions.all_sessions():  # else hooks of a plugin still hold them
        shutil.rmtree(sessions_path(), ignore_errors=True)
    state = resources.setup_path().rstrip(os.sep)
    shutil.rmtree(state, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(state))


def _with_retry(problems: list[Problem], works: dict[str, Work], asked: Asked) -> list[Problem]:
    """Return the problems, each with the command for the assistants that have none."""
    good = [
        name.partition(record.BY_WHICH_PROJECT)[0]
        for name, work in works.items()
        if not work.problems
    ]
    options = [f"--{name}" for name in ("project", "remove") if getattr(asked, name)]
    for problem in problems:
        if good:
            problem.retry = resources.command("setup", *good, *options)
    return problems


def _assistant_notes(works: dict[str, Work], asked: Asked, project: str) -> dict[str, str]:
    """Return for each assistant what was done and what is left to do."""
    told = {}
    for name, work in works.items():
        host = HOSTS[name.partition(record.BY_WHICH_PROJECT)[0]]
        done = "removed" if asked.remove else "set up"
        said = done if work.changes else ("nothing to remove" if asked.remove else "up to date")
        note = "" if asked.remove else host.wanted(host.folder(project), bool(project)).note
        left = [f"{path} was changed and stays" for path in work.left]
        told[name] = "; ".join(filter(None, (said, note, *left)))
    return told
