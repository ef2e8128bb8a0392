"""Write plan.md, the readable plan, from plan.json and the user's answers (PL-16).

Texts of the plan stay text in every viewer of Markdown: they add no elements or images, and a
fence or quote that they open ends with them.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from orchestrator.reviewed import (
    DECIDED_BY,
    beyond_limit,
    left_out,
    passed_with,
    reviewers_of,
    tries,
)
from orchestrator.submit.figures import cost, figures
from orchestrator.submit.kinds import GENERATED
from orchestrator.submit.markdown import code, fence_of, live, one_line
from orchestrator.submit.outcomes import rows_of_milestone, rows_of_plan
from orchestrator.submit.page.facts import STAGES, edited_files
from orchestrator.submit.since import BASE_MOVED, NO_DIFFERENCE, WITHOUT
from shared.builders import counted, visible
from shared.contents import DECIDED, DRAWN, FIRST, GOAL, LIMITS, NOT_BORNE_OUT, answer_of
from shared.verified import EXERCISED, facts_of
from state.changes import apart
from state.milestones import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from orchestrator.submit.outcomes import Rows
    from orchestrator.submit.page.facts import Edited, Facts
    from orchestrator.submit.since import Since
    from shared.contents import Row
    from state.models import Change, Milestone, Plan


# Characters of a patch; who approves sees the rest with `plan diff`.
MOST_SHOWN = 200_000


def render_plan(
    plan: Plan,
    answers: Mapping[str, Sequence[str]],
    of_run: Facts | None = None,
    *,
    folds: bool = True,
) -> str:
    """Return the text of plan.md; invisible characters of the plan are shown as escapes.

    Without a run it is the text that is kept with the plan: nothing of it changes any more. With
    `folds` a viewer of Markdown folds what nobody needs to decide; a terminal cannot.
    """
    parts = rows_of_plan(plan, of_run.now if of_run else None)
    files = edited_files(plan, of_run.marked if of_run else None)
    lines = [
        f"# {one_line(plan.overview.title) or 'Plan'}",
        "",
        *_standing(plan, of_run),
        *_figures(plan, files, of_run),
        *_about(parts[FIRST]),
        *(_since(of_run.since) if of_run and of_run.since else ()),
        *_part(NOT_BORNE_OUT, parts),
        *_questions(plan, answers),
        *_changes(files, folds=folds),
        *_part(GOAL, parts),
        *_part(DECIDED, parts),
        *_part(LIMITS, parts),
        *_drawn(parts[DRAWN]),
        *_milestones(plan),
        *verified(plan),
        *_folded("Details", _details(plan, files), folds=folds),
    ]
    lines += ["", "The commit names this plan by its digest, in a line `Plan-Digest:`."]
    return visible("\n".join(lines)) + "\n"


def _standing(plan: Plan, of_run: Facts | None) -> Iterator[str]:
    """Yield what the plan waits for, and by which command it is answered (LP-1)."""
    state = f"frozen {plan.frozen_at}" if plan.frozen_at else "draft"
    yield f"Revision {plan.revision}, {state}." + (
        f" Digest `{plan.digest}`." if plan.digest else ""
    )
    if of_run and of_run.waits:
        said = of_run.commands
        yield f"**Waits for your decision**: {code(said['approve'])} approves it,"
        yield f"in Claude Code {code(said['approve typed'])}; {code(said['remark'])} asks for"
        yield "another revision."
    elif of_run and "decide" in of_run.commands:
        asked = of_run.open_questions()[0].id
        yield f"**{asked} waits for your answer**: {code(of_run.commands['decide'])}"
    elif of_run:
        yield f"It is {of_run.run.ending or STAGES.get(of_run.run.stage, of_run.run.stage)}."


def _figures(plan: Plan, files: Sequence[Edited], of_run: Facts | None) -> Iterator[str]:
    is_intent = of_run.is_intent if of_run else plan.depth == "intent" and not files
    found = figures(plan, files, is_intent=is_intent)
    yield ""
    for figure in (*found, cost(of_run.spent)) if of_run else found:
        yield f"- {figure.title}: {one_line('; '.join([figure.text, *figure.more]))}"
    if not plan.self_contained:
        yield "- Not self-contained: it needs its ref, which keeps what is too large for a patch."


def _about(about: Rows) -> Iterator[str]:
    for content, rows in about.items():
        yield from ("", f"## {content.title}", "")
        yield from (f"> {live(line)}" for row in rows for line in row.text.split("\n"))


def _changes(files: Sequence[Edited], *, folds: bool) -> Iterator[str]:
    """Yield the diffs in the order in which they are read, those of generated files folded."""
    for kind, group in groupby(files, key=lambda file: file.kind):
        found = list(group)
        diffs = [line for file in found for line in _change(file)]
        yield from ("", f"## {kind}: {counted(len(found), 'file')}")
        folded = folds and kind == GENERATED
        yield from _folded("Written by a program", diffs, folds=True) if folded else diffs


def _folded(title: str, lines: Iterable[str], *, folds: bool) -> Iterator[str]:
    """Yield lines in an element that a viewer of Markdown shows folded, or under a heading."""
    if folds:
        yield from ("", f"<details><summary>{title}</summary>", *lines, "", "</details>")
    else:
        yield from ("", f"## {title}", *lines)


def _details(plan: Plan, files: Sequence[Edited]) -> Iterator[str]:
    """Yield what nobody needs to decide on the plan: its base, ids, blobs, reviews."""
    yield ""
    if plan.base:
        extra = " with uncommitted work on top" if plan.base.snapshot else ""
        yield f"Base: `{plan.base.commit}` on {code(plan.base.branch)}{extra}."
    for change in (file.change for file in files):
        blobs = f"`{(change.before or 'absent')[:12]}` → `{(change.after or 'absent')[:12]}`"
        yield f"- {change.id} {code(change.file)}: {blobs}"
    yield from reviews(plan)


def _since(since: Since) -> Iterator[str]:
    """Yield how the code differs from the revision that the person has seen (LP-1)."""
    yield from ("", f"## Since revision {since.revision}")
    if since.wrong:
        yield from ("", f"How the code differs cannot be shown: {one_line(since.wrong)}")
    elif not since.parts:
        yield from ("", "The code is the same.")
    if since.base_moved:
        yield from ("", BASE_MOVED)
    for part in since.parts:
        yield ""
        yield from (f"### {live(cause.line)}" for cause in part.causes)
        yield from () if part.causes else (f"### {WITHOUT.capitalize()}",)
        for change in part.changes:
            yield from ("", f"#### {code(change.file)} ({_what(change)})")
            yield from _patch(change)
    if since.unmet:
        yield from ("", f"### {NO_DIFFERENCE.capitalize()}", "")
        yield from (f"- {live(cause.line)}" for cause in since.unmet)


def _part(part: str, parts: Mapping[str, Rows]) -> Iterator[str]:
    """Yield what a plan says in a part of it, under its heading."""
    if rows := parts[part]:
        yield from ("", f"## {part}", "", *_lines(rows))


def _lines(rows: Rows) -> Iterator[str]:
    for content, found in rows.items():
        yield from (f"- {_escaped(row).line(content.label)}" for row in found)


def _escaped(row: Row) -> Row:
    return row._replace(
        text=one_line(row.text),
        files=tuple(map(code, row.files)),
        place=one_line(row.place),
        kind=one_line(row.kind),
        why=one_line(row.why),
        outcome=one_line(row.outcome),
    )


def _questions(plan: Plan, answers: Mapping[str, Sequence[str]]) -> Iterator[str]:
    if plan.checkpoints:
        yield from ("", "## Questions", "")
    for asked in plan.checkpoints:
        said = answer_of(asked, answers) or "not answered"
        outcome = asked.outcome and f" → {one_line(asked.outcome)}"
        yield f"- {asked.id}: {one_line(asked.question)} → {one_line(said)}{outcome}"


def decisions(plan: Plan) -> Iterator[str]:
    """Return the decisions with their reasons, and the alternatives that were not chosen."""
    return _part(DECIDED, rows_of_plan(plan))


def _drawn(rows: Rows) -> Iterator[str]:
    """Yield architecture and flow of data, drawn in characters and thus in fences."""
    if rows:
        yield from ("", f"## {DRAWN}")
    for content, found in rows.items():
        for text in (row.line(content.label) for row in found):
            fence = fence_of(text)
            yield from ("", f"{fence}text", text, fence)


def _milestones(plan: Plan) -> Iterator[str]:
    for wave in plan.milestone_dependencies.waves:
        yield from ("", f"## Wave {wave.wave}")
        for milestone in plan.milestones:
            if milestone.id in wave.milestones:
                yield from _milestone(plan, milestone)


def _milestone(plan: Plan, milestone: Milestone) -> Iterator[str]:
    yield from ("", f"### {milestone.id} {one_line(milestone.name)}", "")
    if milestone.depends_on:
        yield f"After {', '.join(milestone.depends_on)}."
    yield from _lines(rows_of_milestone(plan, milestone))
    if changes := changes_of(milestone):
        yield f"- changes: {', '.join(code(change.file) for change in changes)}"


def _change(file: Edited) -> Iterator[str]:
    what = _what(file.change)
    yield from ("", f"### {code(file.change.file)} ({what}; {file.milestone.id})")
    yield from _patch(file.change)


def _what(change: Change) -> str:
    what = "new" if change.before is None else "deleted" if change.after is None else "changed"
    if change.old_file:
        what = f"renamed from {code(change.old_file)}"
    if change.old_mode and change.mode and change.old_mode != change.mode:
        what += f", mode {change.old_mode} → {change.mode}"
    return what


def _patch(change: Change) -> Iterator[str]:
    if change.patch and change.encoding is None:
        fence = fence_of(change.patch)
        shown, left = folded(change.patch)
        yield from ("", f"{fence}diff", shown.rstrip("\n"), fence)
        if left:
            yield from ("", f"{left:,} more lines are not shown: `planner plan diff` prints them.")
    elif apart(change):
        yield from ("", "Too large for a patch: the content is a blob in the plan's ref.")
    elif change.patch:
        yield from ("", "The patch is not UTF-8; plan.json holds it.")


def folded(patch: str) -> tuple[str, int]:
    """Return the beginning of a long patch, and how many lines of it are left out."""
    end = patch.find("\n", MOST_SHOWN)
    return (patch, 0) if end < 0 else (patch[: end + 1], patch.count("\n", end + 1))


def verified(plan: Plan) -> Iterator[str]:
    """Yield how each verify command ended on the change and on the base."""
    yield from ("", "## Verify", "")
    if not plan.verify:
        yield "NOT VERIFIED: planner.toml names no verify commands, and none was chosen."
    for result in plan.verify:
        ran = f"{result.outcome} (base: {result.baseline}) · {facts_of(result)}"
        yield f"- {code(result.command)}: {ran}"
    exercised = {EXERCISED[r.exercised] for r in plan.verify if r.exercised is not None}
    yield from ("", *(f"{text.capitalize()}." for text in sorted(exercised))) if exercised else ()


def reviews(plan: Plan) -> Iterator[str]:
    """Yield how each phase passed its review, and what stayed open."""
    if plan.reviews:
        yield from ("", "## Reviews", "")
    passed = passed_with(plan.reviews)
    for outcome in plan.reviews:
        reason = f": {one_line(outcome.reason)}" if outcome.reason else ""
        by = f"decided {DECIDED_BY[outcome.by]}; read by {reviewers_of([outcome])}"
        told = f"passed in round {outcome.iteration}, {by} ({outcome.review} review){reason}"
        yield f"- {outcome.phase} {told}"
        found = passed[outcome.phase]
        for kind, items in (
            ("passed against the figures", found.against),
            ("accepted by a person", found.accepted),
            ("open", found.open),
        ):
            for item in items:
                yield f"  - {kind}, {item.severity} {item.id}: {one_line(item.finding)}"
        yield from (f"  - note, {one_line(line)}" for line in found.notes)
        yield from (f"  - {one_line(line)}" for line in tries([outcome]))
    if beyond := beyond_limit(plan.reviews):
        yield f"- {beyond}"
    yield from (f"- not asked, {line}" for line in left_out(plan.reviews))
