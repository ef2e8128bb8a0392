"""Write a plan's changes into the user's files, all or none, and undo them (PL-31)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import ends
from shared.git.few_paths import tree_and_rules, tree_at
from shared.git.journal import Journal, check_copies, is_on_side, load_journal, save_journal
from shared.git.prepare import prepare
from shared.git.replay import Raced, check_sides, replay
from shared.git.users_files import check_tree, to_stash
from state.errors import AGAIN, Refused
from state.working_files import WorkingFiles

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shared.git.change import Change, Entry
    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from state.errors import Problem

_TAKE_BACK = "planner undo"


class Applied(NamedTuple):
    """The files of an apply."""

    files: tuple[str, ...]
    # `applied`, `finished` (after a crash) or `already` done.
    how: str


class TakenBack(NamedTuple):
    """The files restored by an undo, and those that were left."""

    files: tuple[str, ...]
    # Not restored, since the user committed them.
    left: tuple[str, ...] = ()


def apply(
    repo: Repository,
    vault: Vault,
    changes: Sequence[Change],
    folder: str,
    digest: str,
) -> Applied:
    """Write the plan's changes into the user's files; `undo` can restore the files from `folder`.

    Run again, it finishes what a crash has left, and writes what holds its old content again.
    Refused, with the tree as it was, if a planned file is not as the plan found it, or if the
    system fails while writing; the same command then works when the cause is gone.
    """
    journal = load_journal(folder)
    there = tree_and_rules(repo.git, "HEAD", ends(changes))
    if journal is None or journal.state == "undone":
        journal, how = prepare(repo, vault, changes, folder, digest, there), "applied"
    else:
        _check_same(journal, digest, folder)
        if journal.state == "applied" and not check_tree(repo, vault, changes, there):
            return Applied(tuple(move.path for move in journal.moves), "already")
        how = "finished"
        if problems := _in_the_way(repo, journal):
            raise Refused.of(problems)
    _go_forward(repo, folder, journal)
    _prove(repo, vault, changes, folder, journal, there)
    return Applied(tuple(move.path for move in journal.moves), how)


def _check_same(journal: Journal, digest: str, folder: str) -> None:
    if journal.state == "undoing":
        text = "`undo` was interrupted before it restored every file; finish the undo first"
        raise Refused("refused", folder, text, retry=_TAKE_BACK)
    if journal.digest != digest:
        text = f"the last apply was of revision {journal.digest[:12]}, not of {digest[:12]}"
        raise Refused(
            "conflict", folder, text, allowed="undo the applied revision first", retry=_TAKE_BACK
        )


def _go_forward(repo: Repository, folder: str, journal: Journal) -> None:
    try:
        replay(repo.root, folder, journal, "after")
    except OSError as error:
        where = str(error.filename or folder)
        _go_back(repo, folder, journal, where, error.strerror or str(error))
    except Raced as raced:
        text = "was changed by another program during the apply"
        _go_back(repo, folder, journal, raced.path, text, leave={raced.path})


def _prove(
    repo: Repository,
    vault: Vault,
    changes: Sequence[Change],
    folder: str,
    journal: Journal,
    there: Mapping[str, Entry],
) -> None:
    """Check through git that the user's files match the plan, and mark the apply as done."""
    try:
        problems = check_tree(repo, vault, changes, there)
        if not problems:
            save_journal(folder, journal._replace(state="applied"))
            return
    except Refused as refusal:
        text = f"every file is written, but the check of the written files failed ({refusal})"
        raise Refused(
            "refused", folder, text, "fix the cause, then run the command again", AGAIN
        ) from refusal
    _go_back(repo, folder, journal, problems[0].at, problems[0].problem)


def _go_back(
    repo: Repository,
    folder: str,
    journal: Journal,
    where: str,
    why: str,
    leave: Collection[str] = (),
) -> None:
    """Restore the user's files after an apply that failed halfway; always raises Refused."""
    try:
        replay(repo.root, folder, journal, "before", leave)
        save_journal(folder, journal._replace(state="undone"))
    except (OSError, Refused, Raced) as second:
        text = (
            f"{why}; undoing the changes failed too ({second}). "
            "Nothing is lost: the run's journal holds every file's old content"
        )
        allowed = f"fix the cause, then run the command again, or take it back (`{_TAKE_BACK}`)"
        raise Refused("refused", where, text, allowed, AGAIN) from second
    text = f"{why}; nothing was applied"
    raise Refused("refused", where, text, "fix the cause, then run the command again", AGAIN)


def undo(repo: Repository, folder: str) -> TakenBack:
    """Restore the user's files as they were before the apply.

    Also finishes an interrupted undo or takes back an interrupted apply; what the user has
    committed meanwhile is left as it is. Refused, with nothing changed, if another file differs
    from what the apply left.
    """
    journal = load_journal(folder)
    if journal is None:
        text = "nothing was applied, so there is nothing to undo"
        raise Refused(
            "not_found", folder, text, "go on with the step that is due", "planner status"
        )
    left = _left(repo, journal) if journal.state in ("applying", "undoing") else []
    done = TakenBack(tuple(m.path for m in journal.moves if m.path not in left), tuple(left))
    if journal.state == "undone":
        return done
    sides = [p for p in _in_the_way(repo, journal) if p.at not in left]
    if problems := check_copies(folder, journal, "before") + sides:
        raise Refused.of(problems)
    save_journal(folder, journal._replace(state="undoing"))
    try:
        replay(repo.root, folder, journal, "before", left)
        save_journal(folder, journal._replace(state="undone"))
    except (OSError, Raced, Refused) as error:
        text = f"the undo failed: {error}; some files may be restored and others not"
        raise Refused(
            "refused", folder, text, "fix the cause, then run the command again", AGAIN
        ) from error
    return done


def _left(repo: Repository, journal: Journal) -> list[str]:
    """Return the paths that an undo leaves alone: the user has committed what is there now."""
    now = [m.path for m in journal.moves if not is_on_side(repo.root, journal, m, "before")]
    committed = _committed(repo, journal) if now else set()
    return [path for path in now if path in committed]


def _committed(repo: Repository, journal: Journal) -> set[str]:
    """Return the paths of an apply at which the user's files are as HEAD has them."""
    paths = [move.path for move in journal.moves]
    there = tree_at(repo.git, "HEAD", paths)
    words = ("diff", "--name-only", "-z", "--no-ext-diff", "--no-renames", "HEAD")
    differing = {os.fsdecode(name) for name in repo.git.names(*words)}
    files = WorkingFiles(repo.root)
    exists = {path for path in paths if files.reach(path)}
    return {p for p in paths if p not in differing and (p in there) == (p in exists)}


def _in_the_way(repo: Repository, journal: Journal) -> list[Problem]:
    """Return a problem for each file with other content than the apply's, and the way to go on."""
    problems = check_sides(repo.root, journal)
    committed = _committed(repo, journal) if problems else set()
    for problem in problems:
        if problem.at not in committed:
            problem.allowed += f"; or put your own work on it aside; {to_stash(problem.at)}"
            problem.retry = AGAIN
        elif journal.state == "applied":
            problem.problem += ", and that is committed"
            problem.allowed = "a person keeps what is committed and ends the run"
            problem.retry = "planner cancel"
        else:
            problem.problem += ", and that is committed"
            problem.allowed = "take the interrupted apply back: what is committed stays as it is"
            problem.retry = _TAKE_BACK
    return problems
