"""Make the plan's commit as the user would, prove it, and only then move the branch (PL-29)."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from shared.git.change import index_lines
from shared.git.command import durable
from shared.git.commit_steps import (
    POST_COMMIT,
    author,
    made_in,
    message_file,
    run_steps,
    step_after_commit,
    steps_of_commit,
)
from shared.git.failure import failed
from shared.git.few_paths import index_at
from shared.git.files import refusing
from shared.git.history import stored_in
from shared.git.hooks import find_hook, plain_hooks, ran_hooks
from shared.git.intended import (
    DIFF,
    MOST_OF_DIFF,
    UNDO,
    Made,
    check_intended,
    check_state,
    intend,
    is_before,
    whole,
)
from shared.git.limited import OUT_OF_TIME
from shared.git.people import check_people, check_signed
from shared.git.proof import Staged, check_commit, find_committed, parents_of
from shared.git.put_back import put_back
from shared.git.repository import head
from shared.git.settle import tail
from shared.git.signing import is_signed, signing_program
from shared.git.stage import refresh_names
from state.beneath import Beneath
from state.errors import AGAIN, Problem, Refused

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Collection, Mapping, Sequence

    from shared.git.change import Change, Ends
    from shared.git.history import Stored
    from shared.git.intended import Intended
    from shared.git.people import People
    from shared.git.proof import Extra
    from shared.git.repository import Repository
    from shared.git.vault import Vault

# The hooks that can change the files or the message of a commit.
_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg")
HOOK_LIMIT_S = 900.0  # as for the hooks of a capture


class Committed(NamedTuple):
    """The plan's commit, its parent, and the branch that now points to the commit."""

    commit: str
    parent: str
    branch: str


@refusing()
def commit(  # noqa: PLR0913 – the last ones are options, each named where it is given
    repo: Repository,
    vault: Vault,
    changes: Sequence[Change],
    message: str,
    extra: Extra,
    *,
    leave: Collection[str] = (),
    people: People | None = None,
) -> Committed:
    """Commit the plan's changes on the user's branch, with the user's hooks and signing.

    `extra` are files to commit as well (None removes one), such as the archived plan or what the
    user has staged. What is staged of a path in `leave` stays staged. Hooks run in the user's own
    folder, where the changes are applied, as for any commit of the user's. Run again after a crash,
    there is still one commit. Refused, with branch, index and planned files as they were, if the
    plan does not fit HEAD or the index, if the commit is not the plan, or if it is not by the
    `people` that are approved.
    """
    at = head(repo)
    problems = check_state(repo, at)
    if problems:
        raise Refused.of(problems)
    plan = whole(repo, changes, extra)
    before = is_before(repo, at.tree, changes)
    done = None if before else find_committed(repo, changes, message, extra)
    if done is None:
        problems = check_intended(repo, at.tree, changes, extra, leave)
        problems += check_people(repo, people)
        if problems:
            raise Refused.of(problems)
        intended = intend(repo, vault, at, changes, message, extra)
        hooked, told = bool(hooks_on_files(repo)), bool(find_hook(repo.git, POST_COMMIT))
        who = author(repo.git.as_set_up()) if hooked or told else {}
        with put_back(repo, vault, plan) if hooked else contextlib.nullcontext():
            done = _make(repo, vault, intended, extra, who) if hooked else _store(repo, intended)
            stored = stored_in(repo.git, done)
            _check_made(repo, intended, stored, check_commit(repo, done, changes, extra))
            if problems := check_signed(repo, people, stored):
                raise Refused.of(problems)
            _move(repo, vault, intended, done)
        _refresh(repo, plan, extra)
        if told:
            _tell(repo, vault, who)
    else:
        _refresh(repo, plan, extra)
    return Committed(done, parents_of(repo, done)[0], at.branch or "")


def hooks_on_files(repo: Repository) -> list[str]:
    """Return the user's hooks that may look at, or change, what a commit holds and says."""
    return [name for name in _HOOKS if find_hook(repo.git, name)]


def _store(repo: Repository, intended: Intended) -> str:
    """Store the plan's commit where no hook looks for an index or files; return its id.

    `git commit` would read an index of all tracked files, and look for each.
    """
    message = repo.git.run("stripspace", stdin=intended.message.encode("utf-8"))
    settings = [p for s in (*durable(), "i18n.commitEncoding=UTF-8") for p in ("-c", s)]
    words = ["commit-tree", intended.tree, "-p", intended.at.commit, "-F", "-"]
    if is_signed(repo):
        words.append("-S")
    done = repo.git.as_set_up().attempt(*settings, *words, stdin=message, limit_s=HOOK_LIMIT_S)
    if done.returncode:
        raise _not_made(done, _signer(repo))
    return done.stdout.decode().strip()


def _make(
    repo: Repository, vault: Vault, intended: Intended, extra: Extra, who: Mapping[str, str]
) -> str:
    """Commit the plan with the user's hooks, in the user's own folder; return the commit's id.

    The index is a copy, and no branch is moved.
    """
    _write_extra(repo, extra)
    with vault.scratch() as folder:
        git, index = repo.git.as_set_up(), os.path.join(folder, "index")
        _copy_index(repo, index, intended.tree)
        plain_hooks(repo.git, folder)
        signed = is_signed(repo)
        script = steps_of_commit(folder, git.words(), intended, message_file(git), signed=signed)
        done = run_steps(git, script, HOOK_LIMIT_S, GIT_INDEX_FILE=index, **who)
        made, ran = made_in(folder), ran_hooks(folder)
    if done.returncode or not made:
        raise _not_made(done, _signer(repo), ran.failed, intended.at.branch or "")
    return made


def _copy_index(repo: Repository, index: str, tree: str) -> None:
    """Make an index of the tree to commit, which knows of the user's files what theirs knows."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(os.path.join(repo.git_dir, "index"), index)
    git = repo.git.on_index(index)
    git.run("read-tree", "--reset", tree)
    git.attempt("update-index", "-q", "--refresh")


def _tell(repo: Repository, vault: Vault, who: Mapping[str, str]) -> None:
    """Run the user's hook that is told of a commit; like git, go on whatever it says."""
    with vault.scratch() as folder:
        plain_hooks(repo.git, folder)
        git, index = repo.git.as_set_up(), os.path.join(repo.git_dir, "index")
        run_steps(git, step_after_commit(folder), HOOK_LIMIT_S, GIT_INDEX_FILE=index, **who)


def _signer(repo: Repository) -> str:
    """Return in words what of git's own work on a commit fails where none of its hooks did."""
    return f"signing by {signing_program(repo)}, or the identity" if is_signed(repo) else "identity"


def _not_made(
    done: subprocess.CompletedProcess[bytes], signer: str, hook: str = "", branch: str = ""
) -> Refused:
    """Return the Refused for a commit that git, or what it started, did not make."""
    said = tail((done.stdout + done.stderr).decode("utf-8", "replace"))
    text = f"git commit failed ({hook or signer})"
    allowed, retry = "fix what git's output names, then run the same command again", AGAIN
    if hook:  # it let bytes and message pass before they were submitted
        allowed += f"; where the hook forbids commits on {branch}: git switch -c BRANCH, then this "
        allowed += "command again; or undo the apply, and a revision can make what the hook wants"
        retry = UNDO
    if done.returncode == OUT_OF_TIME:
        text = f"git commit had not ended after {HOOK_LIMIT_S:.0f} s: {hook or signer} hangs"
        allowed, retry = "end what it waits for, or fix the hook, then run it again", AGAIN
    return failed("git commit", text, allowed, retry, said)


def _check_made(
    repo: Repository, intended: Intended, stored: Stored, differing: Sequence[Problem]
) -> None:
    """Raise Refused if hooks made another commit than intended, with what they changed."""
    made = Made(stored.tree, " ".join(stored.parents), stored.message)
    problems = [*differing, *intended.check(made)]
    if not problems:
        return
    hooks = ", ".join(hooks_on_files(repo))
    text = f"a hook ({hooks or 'of git settings'}) changed the commit, so it is not what was "
    text += "approved; the branch was not moved"
    way = "have the hook leave these files alone and commit again, or undo the apply and take over "
    way += "in a revision what it makes"
    diff = repo.git.run(*DIFF, intended.tree, stored.tree).decode("utf-8", "replace")
    found = Problem("refused", "commit", text, way, UNDO, diff[:MOST_OF_DIFF])
    raise Refused.of([found, *problems])


def _move(repo: Repository, vault: Vault, intended: Intended, made: str) -> None:
    with vault.scratch() as folder:
        hooks = plain_hooks(repo.git, folder)
        words = intended.move(made)
        done = repo.git.as_set_up().attempt(*hooks, *words, limit_s=HOOK_LIMIT_S)
    if done.returncode == OUT_OF_TIME:
        text = f"the hook reference-transaction had not ended after {HOOK_LIMIT_S:.0f} s"
        allowed = "fix the hook, then run the command again"
        raise Refused("refused", intended.branch, text, allowed, AGAIN)
    if done.returncode:
        text = f"the branch was not moved: {tail(done.stderr.decode('utf-8', 'replace'))}"
        raise failed(intended.branch, text, "the plan's commit is made again", AGAIN)


def _refresh(repo: Repository, plan: Mapping[str, Ends], extra: Extra) -> None:
    """Update the planned paths of the user's index to the new commit; other paths stay staged."""
    now = index_at(repo.git, plan)
    entries = {
        path: end.after
        for path, end in plan.items()
        if now.get(path) != end.after and (path in extra or now.get(path) == end.before)
    }
    if entries:
        lines = index_lines(entries, repo.zero)
        repo.git.run("update-index", "-z", "--index-info", stdin=lines)
        refresh_names(repo.git, [os.fsencode(path) for path, entry in entries.items() if entry])
    _write_extra(repo, extra)


def _write_extra(repo: Repository, extra: Extra) -> None:
    files = Beneath(repo.root)
    for path, data in extra.items():
        if data is None:
            files.remove(path)
        elif not isinstance(data, Staged):
            if folder := os.path.dirname(path):
                files.make_folders(folder)
            files.write(path, data, 0o644)
