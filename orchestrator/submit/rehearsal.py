"""Try before the freeze all that the apply and the commit of a plan will meet (VR-5).

What is found only after the approval costs a revision and a second approval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from developer.verification import tools_job
from developer.verify.hooks import hook_names
from developer.verify.trial_commit import limit_of, try_commit
from orchestrator.run.other_runs import naming_other_runs
from orchestrator.submit.message import files_beside, message_of
from shared.git.change import ends
from shared.git.fit import Ways, check_fit
from shared.git.intended import check_extra, check_index, check_state, intend
from shared.git.large import BLOB
from shared.git.prepare import check_checkout
from shared.git.reach import check_reach
from shared.git.repository import head
from shared.git.signing import check_signing
from shared.resources import PLANNING_FOLDER, answer_word
from shared.workspace import open_repository
from state.changes import plan_changes
from state.errors import AGAIN, Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from developer.verify.trial_commit import Attempt
    from shared.git.change import Change
    from shared.git.intended import Intended
    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from shared.run import State
    from state.models import Plan

_TITLE = "title.json"
# The freeze itself would find that the user's tree is another than the plan was made for.
_REBASE = "planner mode rebase"
# These judge the message alone.
_OF_MESSAGE = ("prepare-commit-msg", "commit-msg")


def rehearse(state: State, plan: Plan, data: bytes) -> str:
    """Raise Refused with everything that would keep a frozen plan from being applied and committed.

    Returns what who approves should know of its hooks, "" if there is nothing. `data` are the bytes
    of its plan.json, which need not be stored yet. The user's tree, index and refs are only read;
    hooks run in the place, and nothing is signed.
    """
    repository, vault = open_repository(state)
    if repository.is_private or state.run.depth == "intent":
        return ""
    note = ""
    changes, beside = plan_changes(plan), files_beside(state, plan, data)
    at = head(repository)
    problems = check_state(repository, at) + _check_tree(repository, vault, changes)
    problems += [*check_extra(repository, beside), *check_signing(repository)]
    try:
        intended = intend(repository, vault, at, changes, message_of(plan), beside)
    except Refused as refusal:
        problems += [p for p in refusal.problems if not problems]
    else:
        found, note = _try_hooks(state, plan, repository, intended, beside)
        problems += found
    if problems:
        with naming_other_runs(state):
            raise Refused.of(_first_of_each(problems))
    return note


def _first_of_each(problems: Iterable[Problem]) -> list[Problem]:
    """Return one problem for each place, since the first says what is to be done about it."""
    found: dict[str, Problem] = {}
    for problem in problems:
        found.setdefault(problem.at, problem)
    for problem in found.values():
        leads_back = "plan " in problem.retry or problem.retry == _REBASE
        problem.retry = problem.retry if leads_back else AGAIN
    return list(found.values())


def _check_tree(repository: Repository, vault: Vault, changes: Sequence[Change]) -> list[Problem]:
    """Return what in the user's tree, index and HEAD is in the way of apply and commit."""
    moved = "a person moves the plan onto the files as they are"
    ways = Ways(moved, _REBASE, again=_REBASE, then=moved)
    problems = check_reach(repository, changes)
    problems += check_fit(repository, vault, changes, ways)
    problems += check_index(repository, ends(changes))
    # Files that are too large for patches are stored as they are, and take long to be written.
    patched = [change for change in changes if change.encoding != BLOB]
    return problems or check_checkout(repository, vault, patched)


def _try_hooks(
    state: State,
    plan: Plan,
    repository: Repository,
    intended: Intended,
    beside: Iterable[str],
) -> tuple[list[Problem], str]:
    """Make the commit for a trial; return what its hooks have against it, and what to note."""
    job = tools_job(state, plan)
    names = hook_names(repository, job.worktree)
    if not names:
        return [], ""
    limit_s = limit_of(job)
    is_most = limit_s < job.config.time_limit_s
    tried = Tried(state, plan, intended, [*beside], limit_s, is_most=is_most)
    trial = try_commit(job, repository, intended, names)
    return tried.judge(trial), tried.note(trial)


class Tried(NamedTuple):
    """What a trial of a commit is judged by."""

    state: State
    plan: Plan
    intended: Intended
    beside: list[str]
    limit_s: float
    # True if no setting gives hooks more time.
    is_most: bool = False

    def judge(self, trial: Attempt) -> list[Problem]:
        """Return the problems of a commit that was tried."""
        if trial.out_of_time:
            return [self._hangs(trial)]
        return [self._fails(trial)] if trial.code else self._changed(trial)

    def note(self, trial: Attempt) -> str:
        """Return in words how hooks make the commit's title another one, "" if they do not."""
        planned = self.intended.message.split("\n", 1)[0]
        made = trial.made.message.split("\n", 1)[0] if trial.made else planned
        hooks = ", ".join(trial.ran.names)
        text = (
            f'A hook ({hooks}) makes the title of the commit "{made}"; the plan\'s is "{planned}".'
        )
        return text if made != planned else ""

    def _hangs(self, trial: Attempt) -> Problem:
        hook = trial.ran.failed or "a hook"
        text = f"{hook} had not ended after {self.limit_s:.0f} s, so it was ended"
        more = ", or give it more time: `[verify] time_limit_s` of planner.toml"
        way = "fix the hook" + (": none gets more time" if self.is_most else more)
        return Problem("refused", hook, text, way, AGAIN, trial.output)

    def _fails(self, trial: Attempt) -> Problem:
        hook = trial.ran.failed or "git commit"
        text = f"{hook} refuses the commit (code {trial.code})"
        way = f"fix what the output names in {self.state.worktree}; where the hook forbids commits "
        way += f"on {self.intended.at.branch}: git switch -c planned-work"
        retry = self._done
        if hook.removeprefix("the hook ") in _OF_MESSAGE:
            way, retry = self._another_title()
        elif trial.made:
            text = f"{hook} does not let the branch {self.intended.at.branch} be moved"
            way, retry = "allow it there, or switch: git switch -c planned-work", AGAIN
        return Problem("refused", hook, text, way, retry, trial.output)

    def _changed(self, trial: Attempt) -> list[Problem]:
        """Return the problems of a commit that hooks have made another one."""
        if trial.made is None:
            text = "git printed no commit after it had made one"
            return [Problem("refused", "git commit", text, "", AGAIN, trial.output)]
        problems = self.intended.check(trial.made)
        if trial.made.tree != self.intended.tree:
            hooks = ", ".join(trial.ran.names)
            text = f"a hook ({hooks}) changes files of the commit that the plan does not have so"
            way = f"make its changes in {self.state.worktree}, or have it leave these files alone"
            retry = self._done
            if any(path in trial.diff for path in self.beside):
                way = f"have it leave {PLANNING_FOLDER}/plans/ alone, or keep the plan in a ref: "
                way += '`[commit] plan = "ref"` in planner.toml'
                retry = AGAIN
            problems.insert(0, Problem("refused", "commit", text, way, retry, trial.diff))
        return problems

    @property
    def _done(self) -> str:
        phase = "impl-code" if self.state.is_writing else "plan-code"
        return self.state.command("plan", "done", "--phase", phase, role="developer")

    def _another_title(self) -> tuple[str, str]:
        """Return how the plan gets a title and an approach that make another message."""
        words = ("plan", "set", "overview", "--version", str(self.plan.overview.version))
        file = answer_word(_TITLE)
        way = 'the message is the plan\'s title and its approach: write others as {"title": …, '
        way += f'"approach": …}} into {file}, then: {self.state.command("plan", "freeze")}'
        return way, self.state.command(*words, "--json", file)
