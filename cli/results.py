"""The printed blocks that show results of commands, if longer than a line or two."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from cli.answers import write, write_standing
from orchestrator.execute import by_hand
from orchestrator.execute.people import other_people, proved_or_not
from orchestrator.queue import waiting
from orchestrator.submit.patches import causes_of, parts_of, patch_text, patches
from shared import archive, drift, plan_refs, resources
from shared.builders import Block
from shared.candidates import read_chosen, read_found
from shared.steps.printing import print_current
from shared.verified import facts_of
from state import store
from state.changes import plan_changes
from state.channels import UNPROVEN_CHANNEL, approval_text
from state.execution import Summary
from state.milestones import changes_of
from state.stages import CANCELLED, COMPLETED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from developer.capture import Captured
    from developer.verify.job import Done, Running
    from orchestrator.execute.carry_out import Ran
    from orchestrator.execute.undo import Undone
    from orchestrator.plan.check import Found
    from orchestrator.plan.finish import Finished
    from orchestrator.plan.rebase import Rebased
    from orchestrator.submit.since import Since
    from shared.git.fingerprint import Difference
    from shared.run import State
    from state.models import Change

MOST_LEFT_OUT = 20
MOST_PROOF_CHARS = 1_200  # so that executing a plan costs at most 600 tokens to read
_REBASED = (
    "Planned files changed. The plan is rebased onto the tree as it is now; its changes are "
    "captured and checked again when the work step is ended again."
)
UNPROVEN_SAID = "`unproven`: nothing shows that a person typed the approval."
_OVERTAKEN = (
    "Files of the submitted plan changed, and it no longer fits them. A new revision rebases it "
    "onto the tree as it is now, with a new capture and an approval of its own."
)


def render_running(state: State, running: Running, again: str) -> str:
    """Return the block that says that verify still runs, and which command continues the work."""
    block = Block("step", workflow="planner", name="verify", state_dir=state.state_dir)
    text = f"{running.text}. Edits of the worktree start it anew"
    if read_chosen(state.state_dir).commands:
        text += "; which commands were chosen is remembered"
    return block.data("progress", f"{text}.").next("running", again).render()


def render_patches(state: State, names: Collection[str], since: Since | None = None) -> str:
    """Return the block with the patches of the named milestones and files, or of all.

    With `since` they are what differs from that revision. Where they do not fit, it says by which
    commands the rest can be seen.
    """
    plan, block = store.load_plan(state.plan_path), Block("result")
    words = ["plan", "diff", "--format", "xml"]
    if since is None:
        shown = list(patches(plan, names))
    else:
        words += ["--since", str(since.revision)]
        block.data("causes", "\n\n".join(causes_of(plan, since, names)))
        shown = [row for _, rows in parts_of(plan, since, names) for row in map(patch_text, rows)]
    for file, patch in shown:
        block.data(file, patch)
    if not block.is_cut:
        return block.render()
    files = [file for file, _ in shown]
    held = [m.id for m in plan.milestones if {c.file for c in changes_of(m)} & {*files}]
    parts = held if len(held) > 1 else files if len(files) > 1 else []
    text = "Parts are left out, since a block holds only so much. "
    if parts:
        text += "Name fewer milestones or files at once."
        block.next(f"{parts[0]} alone", state.command(*words, parts[0]))
    else:
        # What is submitted has no worktree.
        written = os.path.join(state.worktree, files[0])
        is_there = os.path.isdir(state.worktree)
        text += f"Read the file itself: {written if is_there else state.plan_path}"
    return block.task(text).render()


def render_finished(state: State, finished: Finished) -> str:
    """Return the block for the end of a work step; an agent is told to stop there."""
    if finished.running is not None:
        return render_running(state, finished.running, finished.again)
    if not finished.handed_in:
        return print_current(state)
    text = "Handed in. An agent ends here, in one sentence; the host goes on."
    if finished.asked:
        asked = ", ".join(finished.asked)
        text = f"Stored, and {asked} wait for the user: end here and say so. You are started again."
    if finished.blocks:
        text = (
            "Handed in. What `blocks already` you may fix now and hand in again by `fixed`; else "
        )
        text += "end here, in one sentence: the host goes on."
    here = state.command("step", state.run.workflow)
    block = Block("result").task(text).data("found, for the review", "\n".join(finished.found))
    block.data("blocks already", "\n".join(finished.blocks))
    if finished.blocks:
        block.next("fixed", finished.again)
    return block.next("host", here).render()


def render_captured(
    captured: Captured, checked: Found, *, worktree: str = "", then: str = ""
) -> str:
    """Return the block with the captured changes, what was left out, and what the checks find.

    A person who has edited the worktree is told where it is, and `then` what goes on.
    """
    lines = [f"{c.id} {_blobs(c)}" for c in plan_changes(captured.plan)]
    block = Block("result", tree=captured.tree).data("worktree", worktree)
    block.data("changes", "\n".join(lines) or "the worktree is as the base")
    if (found := captured.capture) is not None:
        block.data("left out, ignored by git", "\n".join(found.ignored[:MOST_LEFT_OUT]))
        block.data("put back, nobody planned them", "\n".join(found.put_back[:MOST_LEFT_OUT]))
        block.data("MUST: `plan done` is refused until these are fixed", "\n".join(checked.must))
        block.data("SHOULD: these go to the review unless fixed", "\n".join(checked.should))
        block.data("documentation to be written in its own step", "\n".join(checked.later))
    return (block.next("done", then) if then else block).render()


def render_verified(state: State, done: Done) -> str:
    """Return the block with each verify command's result, and the output of those that fail."""
    if not done.results:
        found = read_found(state.state_dir).lines()
        choose = state.command("plan", "verify", "--use", "1")
        named = state.command("plan", "verify", "--command-file", "answers/verify.txt")
        text = (
            "NOT VERIFIED: planner.toml has no [verify] commands at the base and none is chosen; "
        )
        text += f"choose by number, `{choose}`, or name your own, one a line: `{named}`; the user "
        text += f"may commit some, then type `{state.command('mode', 'rebase')}`"
        return Block("result").data("verify", text).data("candidates", found).render()
    block = Block("result", tree=done.tree)
    lines = [
        f"{r.command}: {r.outcome} (base: {r.baseline}) · {facts_of(r.for_plan())}"
        for r in done.results
    ]
    block.data("verify", "\n".join(lines))
    for result in done.failures:
        block.data("output", result.tail, command=result.command)
    notes = [done.touched, done.wrote, *done.notes]
    return block.data("notes", "\n".join(n for n in notes if n)).render()


def render_rebased(state: State, rebased: Rebased | None) -> str:
    """Return the block with the tree changes that a person accepted, and the next step."""
    if rebased is None:
        return Block("result").task("Nothing changed since planning started.").render()
    shown = [f"{drift.path_text(one.path)}: {_how(one, rebased.head)}" for one in rebased.found]
    block = Block("result").data("accepted", "\n".join(shown))
    block.data("planned", "\n".join(rebased.planned))
    block.data("HEAD moved", rebased.head).data("moved", rebased.remark)
    if rebased.overtaken:
        return block.task(_OVERTAKEN).next("done", state.command("plan", "revise")).render()
    said = _REBASED if rebased.planned else "The plan goes on as it is."
    return block.task(f"{said} Tell the assistant to go on.").render()


def _how(one: Difference, head: str) -> str:
    """Return how a file differs; after HEAD has moved, what is staged may be committed as well."""
    kept = ", ".join(word for word in one.how.split(", ") if word != "staged")
    return one.how if not head else kept or "staged or committed"


def render_part(state: State, running: Running | None, digest: str, only: Iterable[str]) -> str:
    """Return the block for submitted milestones of a plan, or the block that verify still runs."""
    if running is None:
        return print_current(state)
    again = state.typed("approve", digest, "--only", ",".join(sorted(only)))
    return Block("result").data("progress", running.text).person(again).render()


def render_ran(state: State, ran: Ran) -> str:
    """Return the block for a plan that was carried out: the proof, or the step that is due."""
    if ran.running is not None:
        return render_running(state, ran.running, state.command("exec", "run"))
    return print_current(state) if ran.proved is None else render_proof(state, ran.proved)


def write_ran(state: State, ran: Ran) -> None:
    """Write what carrying out a plan has led to."""
    block = render_ran(state, ran)
    if ran.proved is None:
        write(block)
    else:
        write_standing(state, block)


def render_proof(state: State, changes: Sequence[Change]) -> str:
    """Return the block that proves a commit by its git blobs and tells how to undo the commit."""
    run = state.run
    done = Summary(state.database.progress(run).values())
    block = Block(
        "result", commit=run.commit_id, digest=run.digest,
        milestones=f"{done.done}/{done.total}",
        approval=approval_text(state.database.approved_by(run, run.digest or "")),
    )  # fmt: skip
    block.data("proof", _first([_blobs(c) for c in changes]), files=len(changes))
    if run.commit_id is None:
        proved = "Proved: each planned file holds exactly what was approved. Nothing is committed."
    else:
        proved = _proved(state, changes)
    if done_by := state.database.approved_by(run, run.digest or ""):
        proved += f" {UNPROVEN_SAID}" if done_by[0] == UNPROVEN_CHANNEL else ""
    # Not a <person>: nothing waits for the user any more.
    text = (
        f"{proved} The run is complete and planning has ended; tell the user. "
        f"They can undo it: {state.command('undo')}"
    )
    if waiting.has_ready(state.database):
        block.next("queue", resources.command("queue", "next"))
    return block.task(text).render()


def _first(rows: Sequence[str]) -> str:
    """Return the rows that fit the budget of an execution, and how many more were compared."""
    shown, chars = [], 0
    for row in rows:
        chars += len(row) + 1
        if chars > MOST_PROOF_CHARS:
            break
        shown.append(row)
    more = len(rows) - len(shown)
    return "\n".join([*shown, *([f"… and {more} more, compared as well"] if more else [])])


def _proved(state: State, changes: Sequence[Change]) -> str:
    """Return in words what the commit was proved to hold, and where its plan is kept."""
    repository = state.repository
    files = by_hand.proof_text(state, repository, changes) or (
        "against its parent the commit holds exactly the approved changes "
        f"and {' and '.join(archive.paths(state)) or 'nothing else'}."
    )
    others = other_people(state, repository, by_hand.commits_of(state, repository, changes))
    proved = f"{proved_or_not(others)}: {files}"
    push = plan_refs.push_command(repository, state.run.digest or "")
    pushed = f" (once the user pushes the branch: {push})" if push else ""
    return f"{proved} Plan and approval are under {plan_refs.KEPT}{pushed}."


def render_undone(state: State, undone: Undone) -> str:
    """Return the block that lists the restored files, or names the revert commit."""
    if undone.revert:
        block = Block("result", commit=undone.revert)
        return block.data("reverted", state.run.commit_id or "").render()
    block = Block("result").data("taken back", "\n".join(undone.files))
    if undone.left:
        block.data("left as you have committed it", "\n".join(undone.left))
    # Without git, what was completed is taken back so too, as there is no commit to revert.
    if state.run.status in (CANCELLED, COMPLETED):
        return block.render()
    remarks = resources.answer_path(state.state_dir, "remarks.md")
    said = resources.read_prompt("orchestrator", "executor", "undone")
    block.task(resources.fill(said, {"file": remarks}))
    block.next("again", state.command("exec", "run"))
    file = resources.answer_word("remarks.md")
    block.next("remarks", state.command("plan", "revise", "--file", file))
    return block.next("hook", state.command("plan", "revise", "--cause", "hook")).render()


def _blobs(change: Change) -> str:
    before, after = change.before or "absent", change.after or "absent"
    moved = f"{change.old_file} → " if change.old_file else ""
    return f"{moved}{change.file}: {before[:10]} → {after[:10]}"
