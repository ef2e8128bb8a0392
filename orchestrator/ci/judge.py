"""Compare single commits with the plans that they are said to hold (CM-2, CM-3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.ci.as_approved import is_other_tree, other_people
from orchestrator.ci.beside import beside_plan
from orchestrator.ci.committed_plans import Plans, Said
from orchestrator.ci.judged import (
    BY_SIGNATURE,
    EDITED,
    EXACT,
    NO_PLAN,
    NOT_APPROVED,
    NOT_HERE,
    SAME_BYTES,
    SAME_CHANGE,
    TAKEN_BACK,
    Verdict,
)
from orchestrator.ci.limits import MOST_FILES, MOST_NAMED, ran_out
from orchestrator.ci.validate_approval import Asked, judge_approvals
from shared import plan_refs
from shared.config import load_config
from shared.config_keys import PROVEN_ONLY
from shared.git.failure import FETCH_ALL
from shared.git.merged import merge_of
from shared.git.verdict import compare, reverse
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orchestrator.ci.committed_plans import Known
    from orchestrator.ci.validate_approval import Approvals
    from shared.config import Config
    from shared.git.change import Change
    from shared.git.history import Made
    from shared.git.reader import Reader
    from shared.git.repository import Repository
    from shared.git.vault import Vault
    from shared.git.verdict import Compared


class Judge:
    """Judges commits of one repository, of which `target` says who may sign."""

    def __init__(
        self,
        repository: Repository,
        vault: Vault,
        reader: Reader,
        target: str | None,
        *,
        is_shallow: bool,
    ) -> None:
        self.repository = repository
        # Where patches and merges are made.
        self.vault = vault
        self.reader = reader
        self.is_shallow = is_shallow
        self.asked = Asked(repository.root, target=target)
        self.plans = Plans(repository, reader)

    def verdict(self, made: Made) -> Verdict | None:
        """Return the verdict on one commit, None for a merge that adds nothing of its own."""
        if len(made.stored.parents) > 1:
            return self._merge(made)
        said = self.plans.plans_named(made)
        if not said.digests:
            holds = self.plans.holding(made)
            said = Said((holds,)) if holds else said
        if not said.digests:
            return _verdict(made, NO_PLAN, additional=tuple(sorted(made.changed)))
        if len(said.digests) > MOST_NAMED:
            return _verdict(made, NOT_HERE, why=f"it names more than {MOST_NAMED} plans")
        known = [self.plans.find(digest, made) for digest in said.digests]
        here = [plan for plan in known if plan is not None and not plan.wrong]
        if len(here) < len(known):
            return self._not_here(made, said, known)
        try:
            return _unsound(made, said, here) or self._compared(made, said, here)
        except Refused as refusal:  # such as a content that a partial clone does not have
            if ran_out(refusal):
                raise
            problems = tuple(refusal.problems)
            why = "; ".join(problem.problem for problem in problems)
            return _verdict(made, NOT_HERE, said.digests, why=why, problems=problems)

    def _merge(self, made: Made) -> Verdict | None:
        """Return the verdict on a merge that is not what git makes of its parents."""
        why = ""
        if self.is_shallow:
            why = "a merge, which is not judged in a shallow clone: git fetch --unshallow"
        elif not (merged := merge_of(self.vault, made.stored.parents)).tree:
            why = f"a merge that cannot be judged: {merged.why}"
            why += f"; in a partial clone: {FETCH_ALL}" if self.reader.is_partial else ""
        if why:
            return _verdict(made, NO_PLAN, additional=tuple(sorted(made.changed)), why=why)
        differs = self.reader.changed(merged.tree, made.stored.tree, MOST_FILES)
        own = {*differs, *merged.conflicts}
        settled = f"conflicts were settled in {', '.join(merged.conflicts)}"
        parts = ("a merge with other files than git makes of its parents",
                 settled if merged.conflicts else "", merged.why)  # fmt: skip
        why = "; ".join(filter(None, parts))
        return _verdict(made, NO_PLAN, additional=tuple(sorted(own)), why=why) if own else None

    def _not_here(self, made: Made, said: Said, known: Sequence[Known | None]) -> Verdict:
        missing = [d[:12] for d, plan in zip(said.digests, known, strict=True) if plan is None]
        wrong = [plan.wrong for plan in known if plan and plan.wrong]
        fetch = f"fetch it: {plan_refs.fetch_command(self.repository)}"
        parts = [*wrong, *([f"no ref here has {', '.join(missing)}; {fetch}"] if missing else [])]
        problems = tuple(Problem("invalid", made.commit, text) for text in wrong)
        return _verdict(made, NOT_HERE, said.digests, why="; ".join(parts), problems=problems)

    def _compared(self, made: Made, said: Said, known: Sequence[Known]) -> Verdict:
        """Return the verdict on a commit whose plans are here and sound."""
        pairs = [(plan.place, plan.digest, plan.approval) for plan in known]
        asked = self.asked._replace(parent=_parent(made))
        approvals = judge_approvals(self.repository, pairs, asked)
        changes: list[Sequence[Change]] = [plan.changes for plan in known]
        if said.is_reverse:
            changes = [reverse(self.repository, self.vault, each) for each in changes]
        beside = self._beside(made, known, is_signed=approvals.standing == BY_SIGNATURE)
        found = compare(self.repository, self.vault, made, changes, beside)
        is_other = not said.is_reverse and _is_another_tree(made, known, approvals)
        additional = {*found.additional, *(beside if is_other else ())}
        back = self._taking_back(made, known) if said.is_reverse else []
        word = EDITED if is_other else _word(made, said, known, found)
        if word == EXACT and approvals.standing == BY_SIGNATURE and _not_as_approved(made, known):
            word = SAME_BYTES
        return Verdict(
            made.commit, made.stored.subject, word if approvals.standing else NOT_APPROVED,
            said.digests, tuple(found.edited), tuple(sorted(additional)),
            tuple(sorted(beside - additional)), approvals.said, approvals.standing,
            _why(made, said, known, found, is_other=is_other), (*approvals.problems, *back),
            tuple(plan.title for plan in known),
        )  # fmt: skip

    def _beside(self, made: Made, known: Sequence[Known], *, is_signed: bool) -> set[str]:
        """Return what the commit may hold beside the plan: copies of it, files of planning."""
        approvals = [(plan.approval, is_signed) for plan in known if plan.approval]
        signers = {config.allowed_signers for config in self._configs(made, known)}
        ours = self.plans.copies(made, [plan.digest for plan in known])
        return ours | beside_plan(made, approvals, signers)

    def _configs(self, made: Made, known: Sequence[Known]) -> list[Config]:
        """Return the settings that count: the target's, or the parent's and those of the bases."""
        bases = [plan.base for plan in known if self.reader.head(plan.base).kind == "commit"]
        places = [self.asked.target] if self.asked.target else [_parent(made), *bases]
        return [load_config(self.repository.git, at) for at in dict.fromkeys(places)]

    def _taking_back(self, made: Made, known: Sequence[Known]) -> list[Problem]:
        """Return a problem for a revert where each change needs an approval of its own."""
        if all(config.require != PROVEN_ONLY for config in self._configs(made, known)):
            return []
        text = "takes a plan back without an approval of its own, and [approval] require is "
        text += f"{PROVEN_ONLY} where who may sign is read"
        way = "a plan of its own that takes the change back, approved as any other"
        return [Problem("refused", made.commit, text, way)]


def _parent(made: Made) -> str:
    """Return the first parent of a commit, git's empty tree where it has none."""
    return (*made.stored.parents, made.before)[0]


def _verdict(
    made: Made,
    word: str,
    plans: tuple[str, ...] = (),
    **more: Any,  # noqa: ANN401 – the fields of Verdict
) -> Verdict:
    return Verdict(made.commit, made.stored.subject, word, plans, **more)


def _unsound(made: Made, said: Said, known: Sequence[Known]) -> Verdict | None:
    """Return the verdict on a commit one of whose plans is unsound, or cannot be rebuilt here."""
    wrong = [problem for plan in known for problem in plan.problems]
    problems = tuple(wrong or (problem for plan in known for problem in plan.lacking))
    if not problems:
        return None
    why = "; ".join(dict.fromkeys(f"{one.at}: {one.problem}" for one in problems))
    titles = tuple(plan.title for plan in known)
    word = NOT_APPROVED if wrong else NOT_HERE
    return _verdict(made, word, said.digests, why=why, problems=problems, titles=titles)


def _word(made: Made, said: Said, known: Sequence[Known], found: Compared) -> str:
    """Return the verdict on a commit by how its files stand to those of the plans."""
    if found.edited or found.additional:
        return EDITED
    if said.is_reverse:
        return TAKEN_BACK
    if found.moved:
        return SAME_CHANGE
    [first, *more] = known
    is_own = (
        found.whole and not more and f"Plan-Digest: {first.digest}" in made.message
        and made.stored.parents == (first.base,) and not _elsewhere(made, known)
    )  # fmt: skip
    return EXACT if is_own else SAME_BYTES


def _elsewhere(made: Made, known: Sequence[Known]) -> list[str]:
    """Return the other commits that the plans' own records name.

    Nothing signs a record, so it can only say that this commit is not the plan's own.
    """
    recorded = [plan.approval.commit for plan in known if plan.approval and plan.approval.commit]
    return [commit[:12] for commit in recorded if commit != made.commit]


def _not_as_approved(made: Made, known: Sequence[Known]) -> list[str]:
    """Return how a commit's people and signature differ from those that were approved."""
    given = [plan.approval for plan in known if plan.approval]
    texts = (f"it {text}" for one in given for text in other_people(one, made.stored).values())
    return [*dict.fromkeys(texts)]


def _is_another_tree(made: Made, known: Sequence[Known], approvals: Approvals) -> bool:
    """Return whether a commit on the approved base has another tree than the signed one."""
    given = known[0].approval if len(known) == 1 else None
    is_signed = approvals.standing == BY_SIGNATURE
    return is_signed and given is not None and is_other_tree(given, made.stored)


def _why(made: Made, said: Said, known: Sequence[Known], found: Compared, *, is_other: bool) -> str:
    """Return in words what a reader of the verdict should know besides."""
    other = [one for one in _elsewhere(made, known) if not said.of.startswith(one)]
    named = [digest for digest in said.digests if digest in made.message]
    large = [change.file for plan in known for change in plan.changes if change.patch is None]
    parts = [
        f"takes back {said.of[:12]}" if said.is_reverse else "",
        f"the plan's own commit is {', '.join(other)}" if other else "",
        f"on other surroundings: {', '.join(found.moved)}" if found.moved else "",
        "" if said.of or len(named) == len(said.digests) else "found by content",
        "its tree is not the one that was signed" if is_other else "",
        *([] if said.is_reverse else _not_as_approved(made, known)),
        f"approved without a patch: {', '.join(large)}" if large else "",
    ]  # fmt: skip
    return "; ".join(filter(None, parts))
