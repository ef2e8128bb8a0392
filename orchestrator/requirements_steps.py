"""The prompts for the states of the requirements workflow, made from what the lane remembers.

Wording lies in the prompt files; questions, commands and what is shown are decided here.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from architect.requirements_review import review
from orchestrator.requirements_text import open_todos
from shared.builders import first_of
from shared.known_secrets import is_secret_in
from shared.requirements_record import (
    COMMIT_MESSAGE,
    CURRENT,
    IN_WORK,
    NEW,
    SUMMARY,
    TODO,
    lane_of,
    read_lane,
)
from shared.resources import answer_path, answer_word, command, fill, read_prompt, transition_path
from shared.run import open_state
from shared.steps.workflow import Context, Step
from state.actors import HOST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shared.builders import Block
    from shared.requirements_record import Lane
    from shared.run import State

    Options = Sequence[tuple[str, str, tuple[str, ...]]]

SHOWN = 40


def state_step(name: str, handler: Callable[[Context, Lane], Block]) -> Step:
    """Make a step for a state of the requirements lane; its kind is the state's name."""
    return Step(name, name, lambda ctx: _printed(ctx, handler))


def _printed(ctx: Context, handler: Callable[[Context, Lane], Block]) -> Block:
    if os.path.exists(transition_path(ctx.state.state_dir)):
        again = ctx.state.command("requirements", "startup")
        return ctx.block().task(_prompt("interrupted")).next("done", again)
    return handler(ctx, read_lane(ctx.state.state_dir))


def _prompt(name: str, **slots: str) -> str:
    return fill(read_prompt("orchestrator", "requirements", name), slots)


def _ask(block: Block, state: State, name: str, question: str, options: Options) -> Block:
    """Add a question whose options are (value, text, words of the command for this answer)."""
    block.ask(name, question, [(value, text) for value, text, _ in options])
    for value, _, words in options:
        block.next(value, state.command("requirements", *words))
    return block


def startup(ctx: Context, facts: Lane) -> Block:
    """Return the prompt that shows where the work would begin, and what was left behind."""
    block, state = ctx.block().data("note", facts.told), ctx.state
    where = [f"code: {facts.codepath}"]
    where += [f"branch: {facts.branch}"] if facts.git else ["without git"]
    leave = ("quit", "Quit; every file stays where it is.", ("startup", "--quit"))
    if facts.stamp:
        block.task(_prompt("startup-pending")).data("where", "\n".join(where))
        _show_commit(block, facts)
        ways: Options = [
            ("commit", "Make this commit.", ("commit",)),
            ("leave", "I commit the staged files myself.", ("startup", "--leave-commit")),
            leave,
        ]
        return _ask(block, state, "pending", "Make the commit that was left open?", ways)
    if facts.found:
        block.task(_prompt("startup-found")).data("where", "\n".join(where))
        block.data("found", "\n".join(f"{name} from {when}" for name, when in facts.found))
        block.data(TODO, facts.read(TODO).decode("utf-8", "replace"))
        block.data("changed files", "\n".join(first_of(facts.changed, SHOWN)))
        ways = [
            ("resume", "Yes - Attempt to resume", ("startup", "--resume")),
            ("mark-complete", f"No - Mark as complete and proceed to review {NEW}",
             ("startup", "--mark-complete")),
            ("quit", "Quit - Exit and investigate manually", ("startup", "--quit")),
        ]  # fmt: skip
        question = "Would you like to resume the previous implementation?"
        return _ask(block, state, "recovery", question, ways)
    block.task(_prompt("startup")).data("where", "\n".join(where))
    block.data("changed files", "\n".join(first_of(facts.changed, SHOWN)))
    files = " although these files are changed or new" if facts.changed else ""
    question = f"Work on the branch {facts.branch}{files}?" if facts.git else "Go on?"
    return _ask(block, state, "branch", question, [("yes", "Yes.", ("startup", "--yes")), leave])


def new_requirements(ctx: Context, facts: Lane) -> Block:
    """Return the prompt in which the user writes the requirements of the next round."""
    asking = "new-requirements-again" if facts.review else "new-requirements"
    asked = _prompt(asking, file=facts.path(NEW))
    writing = f"{asked}\n\n{_prompt('new-requirements-wait')}"
    if not facts.closed:
        block = ctx.block().task(writing).data("note", facts.told)
        block.next("done", ctx.state.command("requirements", "refine"))
        return block.next("quit", ctx.state.command("requirements", "refine", "--quit"))
    block = ctx.block().task(_prompt("round-closed") + "\n\n" + writing).data("note", facts.told)
    ways: Options = [
        ("another", "Another round.", ("refine",)),
        ("finished", "Finished.", ("refine", "--quit")),
    ]
    return _ask(block, ctx.state, "round", "Another round, or finished?", ways)


def refine(ctx: Context, facts: Lane) -> Block:
    """Return the prompt that has the requirements reviewed, then asks the user about them."""
    state = ctx.state
    if not facts.reviewed and facts.alone:
        return review(Context(ctx.workflow, ctx.number, state, {"by": HOST}))
    if not facts.reviewed:
        as_it_is = CURRENT in facts.read(NEW).decode("utf-8", "replace")
        unchanged = read_prompt("architect", "requirements_review", "unchanged")
        task = _prompt("refine")
        block = ctx.block().task(f"{task}\n\n{unchanged}" if as_it_is else task)
        words = state.command("step", "requirements-review")
        block.dispatch("architect", [words], model=state.model("architect"))
        block.next("done", state.command("requirements", "accept"))
        if as_it_is:
            block.next("unchanged", state.command("requirements", "accept", "--unchanged"))
        block.next("alone", state.command("step", "requirements-review", "--by", HOST))
        block.next("rewrite", state.command("requirements", "refine", "--rewrite"))
        return block.next("unusable", state.command("requirements", "accept", "--no"))
    slots = {"file": facts.path(NEW), "summary": answer_path(state.state_dir, SUMMARY)}
    block = ctx.block().task(_prompt("refined", **slots))
    ways: Options = [
        ("yes", "Yes, implement them.", ("implement", "--summary", answer_word(SUMMARY))),
        ("no", "No, I write or say more first.", ("accept", "--no")),
        ("quit", "Quit; every file stays where it is.", ("accept", "--quit")),
    ]
    return _ask(block, state, "acceptable", "Are these requirements acceptable?", ways)


def implement(ctx: Context, facts: Lane) -> Block:
    """Return the prompt that starts the run that implements the requirements, or goes on with it.

    The history gets a summary of the requirements if it has none yet.
    """
    state = ctx.state
    if facts.started:
        block = ctx.block().task(_prompt("implement"))
        block.next("done", state.command("requirements", "implement"))
    else:
        slots = {"file": facts.path(IN_WORK), "summary": answer_path(state.state_dir, SUMMARY)}
        block = ctx.block().task(_prompt("implement-start", **slots))
        words = ("implement", "--summary", answer_word(SUMMARY))
        block.next("done", state.command("requirements", *words))
    return block.next("complete", state.command("requirements", "complete"))


def run_of(facts: Lane) -> State | None:
    """Return the run that implements the requirements, or None if there is none any more."""
    if not facts.run or not os.path.isdir(facts.run) or not lane_of(facts.run):
        return None
    return open_state(facts.run, facts.codepath)


def complete(ctx: Context, facts: Lane) -> Block:
    """Return the prompt for what completing still needs: the todos, the message, a yes."""
    state = ctx.state
    if facts.stamp:
        return _ready(ctx, facts)
    todos = [] if facts.agreed else open_todos(facts)
    how = _how_to_complete(state.state_dir, git=facts.git)
    block = ctx.block().task(f"{_prompt('complete-open')} {how}" if todos else how)
    words = _completing_words(git=facts.git)
    if not todos:
        return block.next("done", state.command(*words))
    block.data("not done", "\n".join(first_of(todos, SHOWN)))
    ways: Options = [
        ("yes", "Yes, complete them all the same.", (*words[1:], "--agree")),
        ("no", "No, go on implementing.", ("implement",)),
        ("quit", "Quit; every file stays where it is.", ("complete", "--quit")),
    ]
    question = "Do you consider the todos and the requirements completed?"
    return _ask(block, state, "completed", question, ways)


def completing(ctx: Context) -> Block:
    """Return the prompt after the apply of a plan that implements requirements: they commit it."""
    lifecycle = lane_of(ctx.state.state_dir)["lifecycle"]
    git = read_lane(lifecycle).git
    block = ctx.block().task(_prompt("complete-plan" if git else "complete-no-git"))
    block.next("done", command("requirements", "complete", state_dir=lifecycle))
    return block.next("not done", ctx.state.command("undo"))


def _how_to_complete(state_dir: str, *, git: bool) -> str:
    if not git:
        return _prompt("complete-no-git")
    return _prompt("complete", message=answer_path(state_dir, COMMIT_MESSAGE))


def _completing_words(*, git: bool) -> tuple[str, ...]:
    further = ("--message", answer_word(COMMIT_MESSAGE)) if git else ()
    return ("requirements", "complete", *further)


def _ready(ctx: Context, facts: Lane) -> Block:
    """Return the prompt that shows the commit to be made and asks the user to continue."""
    block = ctx.block()
    task = _prompt("ready", message=answer_path(ctx.state.state_dir, COMMIT_MESSAGE))
    if facts.others or facts.wanted:
        again = ctx.state.command("requirements", "complete")
        task += "\n\n" + _prompt("ready-others", command=again)
    block.task(task)
    _show_commit(block, facts)
    ways: list[tuple[str, str, tuple[str, ...]]] = [
        ("continue", "Commit what is staged.", ("commit",))
    ]
    plain = [name for name in facts.others if not _marks(facts, name)]
    if plain:
        but = "" if plain == facts.others else ", but those with a remark"
        text = f"Commit the other changed files as well{but}."
        ways.append(("with others", text, ("complete", "--with-others")))
    words = ("complete", "--message", answer_word(COMMIT_MESSAGE))
    ways.append(("reword", "Another commit message.", words))
    ways.append(("quit", "Quit; the next start offers this commit.", ("commit", "--quit")))
    question = "Have you reviewed the staged files?"
    return _ask(block, ctx.state, "commit", question, ways)


def _marks(facts: Lane, name: str) -> str:
    """Return what has to be known of a file before it is committed, to follow its name."""
    marks = {
        "removed": name in facts.staged and facts.staged[name] is None,
        "looks like a secret": is_secret_in(*os.path.split(name)),
        "taken back": name in facts.taken_back,
    }
    said = ", ".join(text for text, holds in marks.items() if holds)
    return f" ({said})" if said else ""


def _plain_last(name: str) -> bool:
    """Whether a file comes after those that look like secrets: a list may be cut."""
    return not is_secret_in(*os.path.split(name))


def _show_commit(block: Block, facts: Lane) -> None:
    block.data("message", facts.message)
    for heading, names in (("staged", facts.staged), ("changed, not staged", facts.others)):
        lines = [name + _marks(facts, name) for name in sorted(names, key=_plain_last)]
        block.data(heading, "\n".join(first_of(lines, SHOWN)))
    left_out = facts.left_out or ([] if facts.ignored else ["nothing"])
    block.data("left out as temporary", "\n".join(first_of(left_out, SHOWN)))
    block.data("left out, ignored by git", "\n".join(first_of(facts.ignored, SHOWN)))
