"""The task of a work step: what an agent, or its host instead, is told in which round (PL-4, PL-9).

An agent has seen nothing of the run: its block holds all that its task needs of the plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from shared.candidates import read_chosen, read_found
from shared.resources import (
    answer_path,
    answer_word,
    command,
    fill,
    get_context_path,
    read_prompt,
)
from shared.steps import slices
from shared.steps.brief import (
    MODES_OF_MILESTONES,
    OF_CODE,
    TRY,
    earlier_plans,
    edits_file,
    failed_review,
    item_line,
    late_in,
    modes_of,
    notes_for,
    variant_of,
    with_commands,
)
from shared.steps.slices import agent_slice, answer_lines, entity_lines, work_slice
from shared.steps.workflow import Step
from state.phases import CODE_PHASES
from state.statements import WAYS, placed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from shared.builders import Block
    from shared.candidates import Found
    from shared.steps.workflow import Context
    from state.phases import Phase

_KNOWLEDGE = ("architect", "plan_design", "plan-design-execute-knowledge")
# The edits of the plan that a phase's work ends with.
DECLINED = "declined.md"  # why a COULD stays as it is
_BATCHES = {"plan-design": "design", "plan-docs": "docs", "impl-docs": "docs"}


class Work(NamedTuple):
    """A work step as it is printed: who works, on what, in which round."""

    ctx: Context
    # `folder.module`, which names the prompts.
    script: str
    # An agent has seen nothing of the run, and asks through the host; else the host works itself.
    agent: bool
    # '' in the first round, `-fix` after a failed review, `-revise` in a new revision.
    variant: str
    # The failed review.
    failed: dict[str, Any]
    # Commands that may verify the change, while none is settled.
    found: Found | None
    # The ids of what was said after the phase had ended, which makes it due again.
    late: list[str]

    @property
    def is_first(self) -> bool:
        """Whether the phase is worked on for the first time."""
        return not self.variant

    @property
    def is_design(self) -> bool:
        """Whether the plan is designed, and not written."""
        return self.ctx.phase == "plan-design"

    @property
    def is_code(self) -> bool:
        """Whether code is written."""
        return self.ctx.phase in CODE_PHASES

    @property
    def is_fix_of_agent(self) -> bool:
        """Whether an agent, which has seen nothing of the run, fixes what a review has found."""
        return self.agent and self.variant == "-fix"

    @property
    def mends(self) -> bool:
        """Whether who planned a change alone and wrote it may fix both where a review failed."""
        return self.ctx.phase == "plan-code" and self.variant == "-fix" and not self.agent

    @property
    def edits(self) -> bool:
        """Whether the step may edit the plan."""
        return self.mends or self.ctx.phase in _BATCHES or bool(self.late)


class Told(NamedTuple):
    """What a work step tells: the name of the data, the text, and when it is told."""

    name: str
    text: Callable[[Work], str]
    # Always, where nothing is said.
    when: Callable[[Work], bool] = lambda _: True


def _why(ctx: Context) -> str:
    """Return in words why the plan is revised: for the user, for a cause, or without a remark."""
    plan = ctx.plan
    said = {note.strip() for note in plan.remarks}
    asked = [task.id for task in plan.task_spec if task.text in said]  # of before RM-
    asked += [one.id for one in plan.user_remarks if one.revision == plan.revision - 1]
    asked = list(dict.fromkeys([*asked, *late_in(ctx)]))
    if asked:
        several = len(asked) > 1
        name = "revise-for-several" if several else "revise-for-user"
        why = fill(read_prompt("orchestrator", "planner", name), {"remark": ", ".join(asked)})
        if not any(one.startswith("RM-") for one in asked):
            return why
        return f"{why} {read_prompt('orchestrator', 'planner', 'revise-overrules')}"
    name = "revise-for-cause" if _program_notes(ctx) else "revise"
    return read_prompt("orchestrator", "planner", name)


def _program_notes(ctx: Context) -> str:
    """Return the notes of the program on the revision, such as a moved base.

    A plan of before RM- has there what the user has remarked, and shows it as an entry of the task.
    """
    said = {task.text for task in ctx.plan.task_spec}
    return "\n".join(note for note in ctx.plan.remarks if note.strip() not in said)


def _verified_by(ctx: Context) -> bool:
    """Return whether it is settled what verifies the change, or the step changes no code.

    What nobody has chosen is not, while it shows nothing.
    """
    state = ctx.state
    chosen, results = read_chosen(state.state_dir), ctx.plan.verify
    shows = not chosen.unasked or any(r.outcome == "pass" for r in results)
    settled = state.config["config"]["verify"] or (chosen.commands and shows)
    return ctx.phase not in CODE_PHASES or bool(settled)


def _choosing(work: Work) -> str:
    how = "choose" if work.found and work.found.candidates else "name"
    return read_prompt("developer", "plan_code", f"plan-code-execute-{how}")


def _chosen(work: Work) -> str:
    """Return what is chosen to verify the change, where planner.toml does not say it."""
    return "\n".join(read_chosen(work.ctx.state.state_dir).commands)


def _assignment(work: Work) -> str:
    """Return a step's task text, with what it says of the plan's edits where it makes some."""
    ctx, state = work.ctx, work.ctx.state
    folder, _, module = work.script.partition(".")
    text = read_prompt(folder, module, f"{ctx.phase}-execute{work.variant}")
    if ctx.phase == "plan-code" and work.variant == "-fix":
        how = "plan" if work.mends else "report"
        text += "\n\n" + read_prompt(folder, module, f"plan-code-execute-fix-{how}")
    file = _batch_file(ctx)
    slots = {"worktree": state.worktree, "schema": command("plan", "schema", "--kind", "risk"),
             "show": state.command("plan", "show"),
             "file": answer_path(state.state_dir, file), "batch": answer_word(file)}  # fmt: skip
    if "{{why}}" in text:
        slots["why"] = _why(ctx)
    return fill(text, {k: v for k, v in slots.items() if f"{{{{{k}}}}}" in text})


def _context(work: Work) -> str:
    text = read_prompt("orchestrator", "planner", "context-file")
    return fill(text, {"context": get_context_path(work.ctx.state.state_dir)})


def _running(work: Work) -> str:
    text = read_prompt("developer", "plan_code", "plan-code-execute-run")
    return fill(text, {"run": work.ctx.state.command(*TRY)})


def _batch_file(ctx: Context) -> str:
    return edits_file(ctx, _BATCHES.get(ctx.phase, OF_CODE))


def _last_words(work: Work) -> list[str]:
    """Return the words of the command that ends the step."""
    ctx, has_batch = work.ctx, work.ctx.phase in _BATCHES or work.late
    words = ["plan", "done", "--phase", ctx.phase]
    return [*words, "--batch", answer_word(_batch_file(ctx))] if has_batch else words


def _could(work: Work) -> list[str]:
    """Return the ids of failed items that the author may leave as they are, with a reason."""
    return [i["id"] for i in work.failed["items"] if i["severity"] == "COULD"]


def _declining(work: Work) -> str:
    text = read_prompt("orchestrator", "planner", "decline")
    return fill(text, {"file": answer_path(work.ctx.state.state_dir, DECLINED)})


def _late(work: Work) -> str:
    ctx = work.ctx
    text = read_prompt("orchestrator", "planner", "late")
    return fill(text, {"file": answer_path(ctx.state.state_dir, _batch_file(ctx)), "ways": WAYS})


def _causes(work: Work) -> str:
    """Return what was said since the phase had ended, a line each."""
    plan, answers = work.ctx.plan, work.ctx.state.database.answers(work.ctx.state.run)
    asked = [one for one in plan.checkpoints if one.id in work.late]
    remarks = [
        f"{one.id}: {placed(one.text, one.anchor)}"
        for one in plan.user_remarks
        if one.id in work.late
    ]
    return "\n".join([*filter(None, [answer_lines(asked, answers)]), *remarks])


def _part_of_plan(work: Work) -> str:
    """Return the plan's lines that a step's task needs, with versions if it may edit the plan."""
    plan, phase = work.ctx.plan, work.ctx.phase
    own = slices.concerned(plan, work.failed["items"])
    # The architect has just read the user's context where it explores the code first.
    if work.agent and not (work.is_design and work.is_first):
        return agent_slice(plan, phase, own, edits=work.edits, brief=work.is_fix_of_agent)
    if work.variant and work.edits:
        return entity_lines(plan, own)
    return work_slice(plan, phase, own)


def _failed(ctx: Context) -> dict[str, Any]:
    """Return the failed review that made this phase run again; without items in the first round."""
    return failed_review(ctx) or {"items": [], "reason": ""}


def _findings(items: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each failed item, and below it the question, once for all that are alike."""
    asked = ""
    for item in items:
        yield item_line(item)
        # A check of the program says all in its finding.
        if item.get("asked") and item["asked"] != asked:
            asked = item["asked"]
            yield f"  asked was: {asked}"


def _asking(work: Work) -> str:
    ctx, folder = work.ctx, work.ctx.state.state_dir
    slots = {"questions": answer_path(folder, "questions.json")}
    if not work.is_first:
        return fill(read_prompt("orchestrator", "planner", "ask-host-again"), slots)
    slots["notes"] = answer_path(folder, f"notes-{ctx.step.agent}.md")
    return fill(read_prompt("orchestrator", "planner", "ask-host"), slots)


def _answers(work: Work) -> str:
    state = work.ctx.state
    return answer_lines(work.ctx.plan.checkpoints, state.database.answers(state.run))


def _remarks(work: Work) -> bool:
    return work.variant == "-revise" or (work.is_code and work.is_first)


# The parts of the task, and then the data; an empty text is not shown.
TASK = (
    Told("", _assignment),
    Told("", _running, lambda work: work.is_code and (work.agent or work.variant != "-revise")),
    Told("", _choosing, lambda work: work.found is not None),
    Told(
        "",
        lambda _: read_prompt(*_KNOWLEDGE),
        lambda work: work.is_design and work.agent and work.is_first,
    ),
    Told("", _late, lambda work: bool(work.late)),
    Told("", _declining, lambda work: bool(_could(work))),
    Told("", _context, lambda work: work.is_fix_of_agent),
    Told("", _asking, lambda work: work.agent),
)
DATA = (
    Told("due again because", _causes, lambda work: bool(work.late)),
    Told("findings", lambda work: "\n".join(_findings(work.failed["items"]))),
    Told("reason of who decided", lambda work: str(work.failed["reason"])),
    Told("remarks", lambda work: _program_notes(work.ctx), _remarks),
    Told("plan", _part_of_plan),
    Told(MODES_OF_MILESTONES, lambda work: modes_of(work.ctx),
         lambda work: work.is_design and work.is_first),
    Told("candidates", lambda work: work.found.lines() if work.found else ""),
    Told("chosen to verify; --use or --command-file change it", _chosen,
         lambda work: work.is_code and work.is_first and not work.found),
    Told("answers", _answers),
    Told("earlier plans", lambda work: earlier_plans(work.ctx),
         lambda work: work.is_design and work.is_first and not work.agent),
    Told("notes of an agent before you", lambda work: notes_for(work.ctx),
         lambda work: work.agent and work.is_first),
)  # fmt: skip


def work_task(ctx: Context, script: str, *, agent: bool) -> Block:
    """Return the output block of a step's task; after a failed review, with failing items only.

    An `agent` is given its slice of the plan and may ask questions through the host.
    """
    state = ctx.state
    found = None if _verified_by(ctx) else read_found(state.state_dir)
    work = Work(ctx, script, agent, variant_of(ctx), _failed(ctx), found, late_in(ctx))
    text = "\n\n".join(told.text(work) for told in TASK if told.when(work))
    block = with_commands(ctx, text, asks=work.is_code and not agent)
    folder, _, module = script.partition(".")
    if work.is_first or agent:
        block.rules(read_prompt(folder, module, f"{ctx.phase}-execute-rules"))
    for told in DATA:
        if told.when(work):
            block.data(told.name, told.text(work))
    # The host changes the design of a small plan in the code's round, which no other role may.
    role = None if work.mends else ctx.step.agent
    block.next("done", state.command(*_last_words(work), role=role))
    for name in _could(work):
        words = ("qr", "decline", name, "--phase", ctx.phase, "--file", answer_word(DECLINED))
        block.next(f"decline {name}", state.command(*words, role=role))
    if agent:
        ask = ("context", "ask", "--file", answer_word("questions.json"))
        block.next("question", state.command(*ask, role=ctx.step.agent))
    return block


def work_step(name: str, *, phase: Phase, agent: str, script: str) -> Step:
    """Return the workflow step in which an agent does the work of a phase."""
    return Step(
        name,
        "work",
        lambda ctx: work_task(ctx, script, agent=True),
        phase=phase,
        agent=agent,
    )
