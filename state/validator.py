"""Check the rules of a plan that its JSON schema cannot express, such as references (PL-14).

Every function returns problems and changes nothing; no problems means that the plan is sound.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from state.errors import Problem
from state.kinds import ids, walk
from state.milestones import changes_of, docs_of, files_of
from state.plain_json import check_value
from state.statements import DECLINED, cited_by
from state.waves import compute_waves, find_cycle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from state.kinds import Found
    from state.models import Checkpoint, Diagram, Milestone, Plan, Remark

OURS = (".git", ".planner")
_OUTCOME = re.compile(rf"{DECLINED}\s*\S.*|\S[^:\n]*:\d{{1,7}}(?!\w).*")
_NOT_NORMAL = frozenset(("", ".", ".."))
_NEVER = _NOT_NORMAL | {".git"}


def check_plan(plan: Plan) -> list[Problem]:
    """Return a problem for every rule beyond the JSON schema that a plan breaks."""
    files = [files_of(milestone) for milestone in plan.milestones]
    problems = [
        *_check_frozen_members(plan),
        *_check_unique(plan),
        *_check_context(plan),
        *_check_outcomes(plan),
        *_check_milestones(plan, files),
        *_check_ownership(plan, files),
        *_check_beside(plan),
        *(p for n, d in enumerate(plan.diagrams) for p in _check_diagram(n, d)),
        *_check_options(plan),
    ]
    return problems or _check_waves(plan, files)


def path_problem(path: str) -> str | None:
    """Return why a path is not allowed for a file of the repository; None if it is allowed."""
    # Some file systems do not tell .GIT from .git.
    parts = path.lower().split("/")
    if _NEVER.isdisjoint(parts) and parts[0] not in OURS and "\0" not in path:
        return None
    if not path or path.startswith("/") or path.endswith("/") or "\0" in path:
        return "is not the relative path of a file"
    if not _NOT_NORMAL.isdisjoint(parts):
        return "leaves the repository or has a part that is '.', '..' or empty"
    return "lies in .git or .planner, which no plan may change"


def _check_frozen_members(plan: Plan) -> Iterator[Problem]:
    """Yield a problem if a plan sets only some of `frozen_at`, `digest` and `seals`."""
    members = {"frozen_at": plan.frozen_at, "digest": plan.digest, "seals": plan.seals}
    missing = [name for name, value in members.items() if not value]
    if 0 < len(missing) < len(members):
        text = f"the plan is only partly frozen: {', '.join(missing)} not set"
        yield Problem("invalid", missing[0], text, "restore the file as `plan freeze` wrote it")


def _check_beside(plan: Plan) -> Iterator[Problem]:
    """Yield a problem if a frozen plan is wrong about whether files are kept beside it."""
    if not plan.frozen_at:
        return
    large = [
        c.file for m in plan.milestones for c in changes_of(m) if c.encoding == "blob" and c.after
    ]
    if plan.self_contained == bool(large):
        kept = ", ".join(large) or "no file"
        text = f"is {str(plan.self_contained).lower()}, and beside the plan is kept: {kept}"
        yield Problem("invalid", "self_contained", text, str(not large).lower())


def _unknown(at: str, kind: str, wanted: str, known: Iterable[str]) -> Problem:
    values = ", ".join(sorted(known)) or f"none yet: add the {kind} first"
    return Problem("not_found", at, f"there is no {kind} {wanted}", values)


def _place(found: Found) -> str:
    """Return where an entity stands in the plan, in words of the JSON."""
    if found.path[0] == "milestones" and len(found.path) > len(("milestones", 0)):
        return f"milestones[{found.path[1]}].{found.id}"
    *names, number = found.path
    return f"{'.'.join(map(str, names))}[{number}]"


def _check_unique(plan: Plan) -> Iterator[Problem]:
    names = ids(plan)
    seen: dict[str, Found] = {}
    # To say where each stands costs far more than to see that none is used twice.
    for found in walk(plan) if len({*names}) < len(names) else ():
        name = found.id
        if name in seen:
            text = f"the id {name} is also used at {_place(seen[name])}"
            yield Problem("invalid", _place(found), text, "use each id once")
        seen[name] = found
    tasks = [t.id for t in plan.task_spec]
    if len(set(tasks)) != len(tasks):
        yield Problem(
            "invalid", "task_spec", "two task entries have the same id", "use each id once"
        )


def _check_context(plan: Plan) -> Iterator[Problem]:
    context = plan.planning_context
    known = {d.id for d in context.decision_log}
    for name in ("rejected_alternatives", "known_risks"):
        for n, entity in enumerate(getattr(context, name)):
            ref = entity.decision_ref
            if ref is not None and ref not in known:
                at = f"planning_context.{name}[{n}].decision_ref"
                yield _unknown(at, "decision", ref, known)


def _check_outcomes(plan: Plan) -> Iterator[Problem]:
    statements: list[tuple[str, Remark | Checkpoint]] = [
        *((f"user_remarks[{n}]", one) for n, one in enumerate(plan.user_remarks)),
        *((f"checkpoints[{n}]", one) for n, one in enumerate(plan.checkpoints)),
    ]
    for place, one in statements:
        at, cited = f"{place}.outcome", cited_by(plan, one.id)
        if one.outcome and not _OUTCOME.fullmatch(one.outcome):
            text = f"the outcome of {one.id} says neither why it is declined nor where it holds"
            ways = "`declined: why`, `FILE:LINE`, or '' and its id in `requirements` of a milestone"
            yield Problem("invalid", at, text, ways)
        elif cited and one.outcome.startswith(DECLINED):
            text = f"{one.id} is declined, and {', '.join(cited)} cites it"
            yield Problem("invalid", at, text, "take it from `requirements` there, or set ''")
    earlier = {task.id for task in plan.task_spec}
    for n, remark in enumerate(plan.user_remarks):
        for i, name in enumerate(remark.overrules):
            if name not in earlier:
                yield _unknown(
                    f"user_remarks[{n}].overrules[{i}]", "earlier statement", name, earlier
                )
        earlier.add(remark.id)


def _check_milestones(plan: Plan, files: Sequence[set[str]]) -> Iterator[Problem]:
    milestones = {m.id for m in plan.milestones}
    decisions = {d.id for d in plan.planning_context.decision_log}
    checkpoints = {c.id for c in plan.checkpoints}
    statements = {
        "T-": ("task entry", {t.id for t in plan.task_spec}),
        "RM-": ("remark", {r.id for r in plan.user_remarks}),
        "CP-": ("question", checkpoints),
    }
    for n, milestone in enumerate(plan.milestones):
        at = f"milestones[{n}]"
        for field, kind, refs, known in (
            ("depends_on", "milestone", milestone.depends_on, milestones),
            ("waits_for", "checkpoint", milestone.waits_for, checkpoints),
        ):
            for i, ref in enumerate(refs):
                if ref not in known:
                    yield _unknown(f"{at}.{field}[{i}]", kind, ref, known)
                elif ref == milestone.id:
                    yield Problem("invalid", f"{at}.{field}[{i}]", f"{ref} depends on itself")
        for i, requirement in enumerate(milestone.requirements):
            prefix, dash, number = requirement.partition("-")
            kind, known = statements.get(prefix + dash, ("", set()))
            # Without any, such an id is one of the project's requirements.
            if known and number.isdigit() and requirement not in known:
                yield _unknown(f"{at}.requirements[{i}]", kind, requirement, known)
        yield from _check_intents(at, milestone, decisions)
        yield from _check_changes(at, milestone, decisions)
        if any(map(path_problem, files[n])):
            yield from _check_paths(at, milestone)
    yield from _check_cycle(plan, milestones)


def _check_cycle(plan: Plan, known: set[str]) -> Iterator[Problem]:
    if all(d in known for m in plan.milestones for d in m.depends_on):
        cycle = find_cycle(plan.milestones)
        if cycle and len(set(cycle)) > 1:
            text = f"the milestones form a cycle: {' -> '.join(cycle)}"
            yield Problem("invalid", "milestones", text, "remove a dependency of the cycle")


def _check_intents(at: str, milestone: Milestone, decisions: set[str]) -> Iterator[Problem]:
    for i, intent in enumerate(milestone.code_intents):
        for r, ref in enumerate(intent.decision_refs):
            if ref not in decisions:
                where = f"{at}.code_intents[{i}].decision_refs[{r}]"
                yield _unknown(where, "decision", ref, decisions)
        if intent.params:
            yield from check_value(f"{at}.code_intents[{i}].params", dict(intent.params))


def _check_changes(at: str, milestone: Milestone, decisions: set[str]) -> Iterator[Problem]:
    intents = {i.id for i in milestone.code_intents}
    for change in changes_of(milestone):
        for ref in (change.intent_ref, *change.more_intent_refs):
            if ref is not None and ref not in intents:
                yield _unknown(f"{at}.{change.id}.intent_ref", "intent", ref, intents)
        for comment in change.why_comments:
            ref_of = None if isinstance(comment, str) else comment.decision_ref
            if ref_of is not None and ref_of not in decisions:
                yield _unknown(f"{at}.{change.id}.why_comments", "decision", ref_of, decisions)


def _check_paths(at: str, milestone: Milestone) -> Iterator[Problem]:
    named = [(f"files[{n}]", f) for n, f in enumerate(milestone.files)]
    named += [(f"tests.files[{n}]", f) for n, f in enumerate(milestone.tests.files)]
    named += [(f"code_intents[{n}].file", i.file) for n, i in enumerate(milestone.code_intents)]
    named += [(f"{doc.id}.file", doc.file) for doc in docs_of(milestone)]
    for change in changes_of(milestone):
        named.append((f"{change.id}.file", change.file))
        if change.old_file is not None:
            named.append((f"{change.id}.old_file", change.old_file))
    for field, path in named:
        why = path_problem(path)
        if why:
            allowed = "paths relative to the repository root"
            yield Problem("invalid", f"{at}.{field}", f"{path!r} {why}", allowed)


def _check_ownership(plan: Plan, files: Sequence[set[str]]) -> Iterator[Problem]:
    """Yield a problem for each file in two milestones, unless the plan has depth `intent`."""
    owner: dict[str, str] = {}
    for n, milestone in enumerate(plan.milestones):
        for file in sorted(files[n]):
            other = owner.setdefault(file, milestone.id)
            if other != milestone.id and plan.depth == "full":
                text = f"{file} also belongs to {other}"
                allowed = (
                    f"list the file in one milestone only, or merge {other} and {milestone.id}"
                )
                yield Problem("invalid", f"milestones[{n}].files", text, allowed)


def _check_diagram(number: int, diagram: Diagram) -> Iterator[Problem]:
    nodes = {node.id for node in diagram.nodes}
    if len(nodes) != len(diagram.nodes):
        yield Problem(
            "invalid", f"diagrams[{number}].nodes", "two nodes of a diagram have the same id"
        )
    for n, edge in enumerate(diagram.edges):
        for side, node in (("source", edge.source), ("target", edge.target)):
            if node not in nodes:
                yield _unknown(f"diagrams[{number}].edges[{n}].{side}", "node", node, nodes)


def _check_options(plan: Plan) -> Iterator[Problem]:
    for n, checkpoint in enumerate(plan.checkpoints):
        keys = [o.key for o in checkpoint.options]
        if len(set(keys)) != len(keys):
            yield Problem(
                "invalid",
                f"checkpoints[{n}].options",
                "two options of a question have the same key",
            )


def _check_waves(plan: Plan, files: Sequence[set[str]]) -> list[Problem]:
    stored = [(w.wave, sorted(w.milestones)) for w in plan.milestone_dependencies.waves]
    if not stored:
        return []
    computed = compute_waves(plan.milestones, files)
    if stored != list(enumerate(computed, start=1)):
        text = "the waves in the file do not fit the milestones' dependencies and files"
        expected = " then ".join(", ".join(w) for w in computed)
        return [Problem("invalid", "milestone_dependencies.waves", text, expected)]
    return []
