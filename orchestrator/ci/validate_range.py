"""Give each commit of a range one of six verdicts: how it stands to an approved plan (CM-2)."""

from __future__ import annotations

import os
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.ci.beside import beside_plan
from orchestrator.ci.committed_plans import Plans, Said, copies
from orchestrator.ci.validate_approval import Asked, judge_approval
from shared import plan_refs
from shared.git.repository import find_repository
from shared.git.vault import open_vault
from shared.git.verdict import compare, own_files_of_merge, read_commit, reverse
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.ci.committed_plans import Known
    from shared.git.change import Change
    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from shared.git.verdict import Compared, Made

EXACT = "exact"
SAME_BYTES = "same bytes, other history"
SAME_CHANGE = "same change, other surroundings"
EDITED = "edited afterwards"
NO_PLAN = "no plan"
NOT_HERE = "plan not here"
VERDICTS = (EXACT, SAME_BYTES, SAME_CHANGE, EDITED, NO_PLAN, NOT_HERE)

# What `--require` takes, with the verdicts that are enough for it.
ENOUGH = {
    "exact": (EXACT,),
    "same": (EXACT, SAME_BYTES, SAME_CHANGE),
    "any": (EXACT, SAME_BYTES, SAME_CHANGE, EDITED),
}


class Verdict(NamedTuple):
    """The verdict on one commit, with what it is about."""

    commit: str
    subject: str
    word: str
    plans: tuple[str, ...] = ()
    # Planned files with other content than approved.
    edited: tuple[str, ...] = ()
    # Files that no plan has.
    additional: tuple[str, ...] = ()
    # Files that were agreed to be committed with it.
    beside: tuple[str, ...] = ()
    approval: str = ""
    # What else is to know.
    why: str = ""
    problems: tuple[Problem, ...] = ()
    # Of the plans that are here.
    titles: tuple[str, ...] = ()
    # Every path of the commit.
    changed: tuple[str, ...] = ()


class Judged(NamedTuple):
    """The verdicts on a range of commits, oldest first; merges that add nothing are counted."""

    verdicts: list[Verdict]
    merges: int = 0


class Wanted(NamedTuple):
    """What is judged: commits `A..B` or one commit, who says who may sign, what is enough."""

    repository: str
    range: str | None = None
    commit: str | None = None
    target: str | None = None
    require: str | None = None


def judge_commits(wanted: Wanted) -> Judged:
    """Return a verdict for each commit that is asked about; Refused if this clone has it not."""
    repository = find_repository(wanted.repository)
    commits, start = _commits(repository, wanted)
    judge = _Judge(repository, Asked(repository.root, target=wanted.target or start))
    found, merges = [], 0
    with TemporaryDirectory(prefix="planner-") as folder:
        judge.vault = open_vault(repository, os.path.join(folder, "vault.git"))
        for commit, is_merge in commits:
            own = own_files_of_merge(repository, commit) if is_merge else []
            if is_merge and not own:
                merges += 1
                continue
            made = read_commit(repository, commit)
            verdict = judge.verdict(made, own)
            verdict = verdict._replace(changed=tuple(sorted(made.changed)))
            found.append(_with_demand(verdict, wanted.require))
    return Judged(found, merges)


def _commits(repository: Repository, wanted: Wanted) -> tuple[list[tuple[str, bool]], str | None]:
    """Return the commits to judge with whether each is a merge, and where the range starts."""
    if wanted.commit is not None:
        words: tuple[str, ...] = ("-n1", _known(repository, wanted.commit))
        start = None
    else:
        first, _, last = (wanted.range or "").partition("..")
        start, end = _known(repository, first), _known(repository, last or "HEAD")
        words = ("--reverse", "--topo-order", f"{start}..{end}")
    rows = repository.git.text("rev-list", "--parents", *words, "--").splitlines()
    parts = [row.split(" ") for row in rows]
    return [(commit, len(parents) > 1) for commit, *parents in parts], start


def _known(repository: Repository, revision: str) -> str:
    done = repository.git.attempt("rev-parse", "--verify", "-q", f"{revision}^{{commit}}")
    if done.returncode or not revision or revision.startswith("-"):
        text = "this clone does not have this commit"
        raise Refused("not_found", revision or "A..B", text, "fetch it first; CI often fetches one")
    return done.stdout.decode().strip()


def _with_demand(verdict: Verdict, require: str | None) -> Verdict:
    """Add a problem to a verdict that is not enough for what is required."""
    if require is None or verdict.word in ENOUGH[require]:
        return verdict
    files = ", ".join((*verdict.edited, *verdict.additional))
    text = ": ".join(filter(None, (verdict.word, files or verdict.why)))
    enough = " · ".join(ENOUGH[require])
    problem = Problem("refused", verdict.commit, text, f"`--require {require}`: {enough}")
    return verdict._replace(problems=(*verdict.problems, problem))


def _is_missing(plan: Known | None) -> bool:
    return plan is None or bool(plan.wrong)


class _Judge:
    """Judges commits of one repository."""

    # Where patches are made.
    vault: Vault

    def __init__(self, repository: Repository, asked: Asked) -> None:
        self.repository = repository
        self.asked = asked
        self.plans = Plans(repository)

    def verdict(self, made: Made, own: Sequence[str]) -> Verdict:
        """Return the verdict on one commit; `own` are the files that a merge changes itself."""
        if own:
            why = "a merge that changes files itself"
            return Verdict(made.commit, made.subject, NO_PLAN, additional=tuple(own), why=why)
        said = self.plans.plans_named(made)
        if not said.digests:
            holds = self.plans.holding(made.changed)
            said = Said((holds,)) if holds else said
        if not said.digests:
            return Verdict(made.commit, made.subject, NO_PLAN)
        known = [self.plans.find(digest, made) for digest in said.digests]
        missing = [d for d, plan in zip(said.digests, known, strict=True) if _is_missing(plan)]
        if missing:
            return self._not_here(made, said, missing, [plan for plan in known if plan])
        return self._judge(made, said, [plan for plan in known if plan])

    def _not_here(
        self, made: Made, said: Said, missing: Sequence[str], known: Sequence[Known]
    ) -> Verdict:
        wrong = [plan.wrong for plan in known if plan.wrong]
        fetch = f"fetch it: {plan_refs.fetch_command(self.repository)}"
        why = "; ".join(wrong) or f"no ref here has {', '.join(d[:12] for d in missing)}; {fetch}"
        problems = [Problem("invalid", made.commit, text) for text in wrong]
        return Verdict(
            made.commit, made.subject, NOT_HERE, said.digests, why=why, problems=(*problems,)
        )

    def _judge(self, made: Made, said: Said, known: Sequence[Known]) -> Verdict:
        changes: list[Sequence[Change]] = [plan.changes for plan in known]
        if said.is_reverse:
            changes = [reverse(self.repository, self.vault, each) for each in changes]
        beside = self._beside(made, known)
        found = compare(self.repository, self.vault, made, changes, beside)
        approvals = [self._approval(plan) for plan in known]
        return Verdict(
            made.commit, made.subject, self._word(made, said, known, found), said.digests,
            tuple(found.edited), tuple(found.additional), tuple(sorted(beside & {*made.changed})),
            "; ".join(dict.fromkeys(text for text, _ in approvals)),
            self._why(made, said, known, found),
            tuple(problem for _, problems in approvals for problem in problems),
            tuple(plan.title for plan in known),
        )  # fmt: skip

    def _beside(self, made: Made, known: Sequence[Known]) -> set[str]:
        """Return what the commit may hold beside the plan: agreed files, and copies of the plan."""
        approvals = [plan.approval for plan in known if plan.approval]
        agreed = {path for each in approvals for path in each.staged}
        agreed |= {path for path in made.changed for each in approvals if each.lets_stand(path)}
        digests = [plan.digest for plan in known]
        ours = copies(self.repository, made, digests)
        return agreed | ours | {*beside_plan(self.repository, made.commit)}

    def _word(self, made: Made, said: Said, known: Sequence[Known], found: Compared) -> str:
        if found.edited or found.additional:
            return EDITED
        if found.moved:
            return SAME_CHANGE
        told = {digest for digest in said.digests if f"Plan-Digest: {digest}" in made.message}
        is_recorded = self._recorded(made, said, known) and told == {*said.digests}
        return EXACT if found.whole and is_recorded and len(known) == 1 else SAME_BYTES

    def _recorded(self, made: Made, said: Said, known: Sequence[Known]) -> bool:
        """Return whether the plan's own record names this commit, or the one taken back."""
        commit = said.of or made.commit
        for plan in known:
            if plan.approval is not None and plan.approval.commit != commit:
                return False
            if plan.approval is None and plan.place not in made.changed:
                return False
        return True

    def _why(self, made: Made, said: Said, known: Sequence[Known], found: Compared) -> str:
        """Return in words what a reader of the verdict should know besides."""
        recorded = [plan.approval.commit or "" for plan in known if plan.approval]
        other = [one[:12] for one in recorded if one not in ("", made.commit, said.of)]
        parts = [
            f"takes back {said.of[:12]}" if said.is_reverse else "",
            f"the plan's own commit is {', '.join(other)}" if other else "",
            f"on other surroundings: {', '.join(found.moved)}" if found.moved else "",
            "" if said.of or all(d in made.message for d in said.digests) else "found by content",
        ]
        return "; ".join(filter(None, parts))

    def _approval(self, plan: Known) -> tuple[str, list[Problem]]:
        """Return in words what a plan's approval proves, and what is wrong with it."""
        if plan.approval is None:
            return f"{plan.place} has no approval", []
        asked = self.asked._replace(digests=[plan.digest])
        judged = judge_approval(self.repository, plan.approval, plan.place, asked)
        return judged.text, judged.problems
