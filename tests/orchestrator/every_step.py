"""Every step and variant that a run can print, reached in real runs: name → block."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from cli.results import render_running
from developer.verify.job import Running
from orchestrator.planner import WORKFLOW
from shared.qr.schema import Review, write_review
from shared.qr.types import FAIL, SCRIPT, SHOULD, Item
from shared.resources import review_path
from shared.run import State, open_state
from tests.journey import (
    ELSEWHERE,
    FILES,
    SHOWN,
    VERIFIED,
    Answer,
    Journey,
    all_pass,
    call,
    words_of,
)
from tests.larger_tasks import larger
from tests.light_plans import PLAN
from tests.orchestrator.execute.waves import NEW, hand_in, milestone_agent, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from state.phases import Phase
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

Stop = tuple[str, Journey, Answer]


def happy(make_repo: Repositories) -> Iterator[Stop]:
    """A run whose commands a person confirms, with a document that is promised and missing."""
    formatted = f'{VERIFIED}[worktree]\nformat = ["true"]\n'
    repository = make_repo(files={**FILES, "planner.toml": formatted})
    journey = Journey(repository)
    journey.promises_document = True
    journey.start()
    yield "02-context-verify.unconfirmed", journey, journey.last
    digest = words_of(journey.last.person())[2]
    confirmed = journey.planner("config", "confirm", digest)
    yield "result.confirmed", journey, confirmed
    journey.last = journey.planner("step", "planner")
    for point, name in (
        ("context", "02-context-verify"),
        ("design", "03-plan-design-execute"),
        ("code", "06-plan-code-execute"),
        ("docs", "09-plan-docs-execute"),
        ("submitted", "executor-1-init"),
        ("approved", "executor-2-load-verify"),
        ("applied", "executor-9-reconcile"),
        ("committed", "result.proof"),
    ):
        yield name, journey, journey.to(point).last
        if point == "code":
            yield "step.done", journey, journey.planner("step", "planner", "1")
            running = Running("verify has run for 61 s; for 60 s: python3 tests/test_a.py")
            again = journey.last.next()
            text = render_running(opened(journey), running, again)
            yield "step.running", journey, Answer(0, text)
        if point == "applied":
            yield "result.status", journey, journey.planner("status")
    yield "run.done", journey, journey.planner("step", "executor")


def gates(make_repo: Repositories) -> Iterator[Stop]:
    """A gate that a failing SHOULD opens; it fails, then passes with a reason."""
    repository = make_repo("gates", files=FILES)
    repository.commit({"planner.toml": ELSEWHERE})
    journey = Journey(repository)
    journey.start()
    yield "08-plan-code-qr-gate", journey, journey.to("gate").last
    yield "06-plan-code-execute.fix", journey, journey.follow(journey.last.next("fail"))
    journey.to("gate")
    journey.write_answers()
    journey.follow(journey.last.next("pass"))
    yield "executor-1-init.open", journey, journey.to("submitted").last


def revised(make_repo: Repositories) -> Iterator[Stop]:
    """A frozen plan that the user wants changed; then applied, taken back and cancelled."""
    journey = Journey(make_repo("revised", files=FILES)).to("submitted")
    journey.write_answers()
    journey.answers["design.json"] = []
    yield "03-plan-design-execute.remarks", journey, journey.follow(journey.last.next("remarks"))
    yield "06-plan-code-execute.unverified", journey, journey.to("code").last
    yield "executor-1-init.unverified", journey, journey.to("submitted").last
    journey.to("applied")
    yield "result.undone", journey, journey.planner("undo")
    yield "result.cancelled", journey, journey.planner("cancel")
    yield "run.cancelled", journey, journey.planner("step", "executor")


def fixes(make_repo: Repositories) -> Iterator[Stop]:
    """Review and gate of design and documents, as reviewers will open them; then fix mode."""
    journey = Journey(make_repo("fixes", files=FILES)).to("design")
    open_gate(journey, "plan-design")
    yield "04-plan-design-qr.done", journey, journey.planner("step", "planner", "4")
    yield "05-plan-design-qr-gate", journey, open_gate(journey, "plan-design")
    yield "03-plan-design-execute.fix", journey, journey.follow(journey.last.next("fail"))
    journey.promises_document = True
    journey.to("docs")
    journey.edit_worktree(journey.documents)
    journey.planner("plan", "capture")
    yield "11-plan-docs-qr-gate.open", journey, open_gate(journey, "plan-docs")
    yield "09-plan-docs-execute.fix", journey, journey.follow(journey.last.next("fail"))


def questions(make_repo: Repositories) -> Iterator[Stop]:
    """What is asked before a run can begin: the goal, the base."""
    repository = make_repo("questions", files=FILES)
    journey = Journey(repository)
    yield "01-plan-init.goal", journey, call(repository.path, "start")
    repository.write("src/a.py", "def f(x):\n    return x\n")
    repository.write("new.txt", "new\n")
    yield "01-plan-init.base", journey, journey.start()


def intent(make_repo: Repositories) -> Iterator[Stop]:
    """The intents are approved before their code is written."""
    journey = Journey(make_repo("intent", files=FILES))
    journey.start("--depth", "intent")
    yield "executor-1-init.intent", journey, journey.to("submitted").last
    yield "executor-2-load-verify.intent", journey, journey.to("approved").last
    yield "executor-3-impl-execute", journey, journey.to("writing").last
    yield "executor-1-init.written", journey, journey.to("submitted").last


def waves(make_repo: Repositories) -> Iterator[Stop]:
    """Agents write approved milestones; one fails, a document is missing, a review finds harm."""
    journey = writing(make_repo, ((), (), (1, 2)), files=["src/m1_1.py", "CHANGES.md"])
    yield "executor-3-impl-execute.wave", journey, journey.last
    yield "developer-1-implement", journey, milestone_agent(journey, "M-001")
    handed = hand_in(journey, "M-001", {"src/m1_1.py": NEW})
    yield "result.milestone", journey, handed
    hand_in(journey, "M-002", {}, status="failure", error="src/m2_1.py is locked by another tool")
    yield "executor-3-impl-execute.blocked", journey, _as_host(journey)
    journey.planner("retry", "M-002")
    journey.follow(journey.last.next("done"))
    yield "developer-1-implement.again", journey, milestone_agent(journey, "M-002")
    journey.write_answer("questions-M-002.json", journey.answers["questions.json"])
    words = words_of(milestone_agent(journey, "M-002").next("question"))[:-2]
    yield "result.milestone-asked", journey, journey.planner(*words)
    yield "executor-3-impl-execute.asks", journey, _as_host(journey)
    journey.planner("decide", "CP-001", "a")
    journey.promise_document()
    journey.promises_document = True
    yield "executor-4-impl-code-qr", journey, journey.to("written code review").last
    yield "reviewer-impl-code", journey, journey.follow(journey.last.runs()[0])
    journey.verdicts = _one_fails
    _as_host(journey)
    journey.to("written code gate")
    yield "executor-5-impl-code-qr-gate", journey, journey.last
    yield "executor-3-impl-execute.found", journey, journey.follow(journey.last.next("fail"))
    yield "developer-1-implement.fix", journey, journey.follow(journey.last.runs()[0])
    journey.verdicts = all_pass
    _as_host(journey)
    yield "executor-6-impl-docs-execute", journey, journey.to("written docs").last
    yield "writer-1-document", journey, journey.follow(journey.last.runs()[0])
    _as_host(journey)
    yield "executor-7-impl-docs-qr", journey, journey.to("written docs review").last
    yield "reviewer-impl-docs", journey, journey.follow(journey.last.runs()[0])
    _as_host(journey)
    yield "executor-9-reconcile.gaps", journey, journey.to("applied").last
    yield "reviewer-reconcile", journey, journey.follow(journey.last.runs()[0])
    gap = {"gap": "M-001 CHANGES.md", "verdict": "covered", "reason": "no user would notice"}
    journey.write_answer("reconcile.json", [gap])
    journey.follow(journey.last.next("done"))
    yield "executor-9-reconcile.written", journey, _as_host(journey)


def unfrozen(make_repo: Repositories) -> Iterator[Stop]:
    """The command that passed the last gate has not frozen the plan: it was killed, or refused."""
    journey = Journey(make_repo("unfrozen", files=FILES)).to("freeze")
    yield "11-plan-docs-qr-gate", journey, journey.last


def submodule(make_repo: Repositories) -> Iterator[Stop]:
    """A repository with a submodule."""
    inner = make_repo("inner", files=FILES)
    repository = make_repo("outer", files=FILES)
    repository.git("submodule", "--quiet", "add", str(inner.path), "lib/inner")
    repository.commit(message="Add a submodule")
    journey = Journey(repository)
    yield "02-context-verify.submodules", journey, journey.start()


def small(make_repo: Repositories) -> Iterator[Stop]:
    """A small plan is read once by one reviewer, who finds something; then all holds."""
    journey = Journey(make_repo("small", files=FILES))
    journey.review = "small"
    yield "07-plan-code-qr", journey, journey.to("code review").last
    yield "reviewer-plan-code", journey, journey.follow(journey.last.runs()[0])
    journey.write_answer("verdicts-plan-code-1.json", _one_fails(journey.last))
    yield "result.verdicts", journey, journey.follow(journey.last.next("done"))
    yield "08-plan-code-qr-gate.reviewed", journey, _as_host(journey)
    yield "06-plan-code-execute.found", journey, journey.follow(journey.last.next("fail"))
    yield "07-plan-code-qr.again", journey, journey.to("code review").last
    yield "reviewer-plan-code.again", journey, journey.follow(journey.last.runs()[0])
    _as_host(journey)
    yield "08-plan-code-qr-gate.passing", journey, journey.to("gate").last
    yield "executor-1-init.reviewed", journey, journey.to("submitted").last


def stuck(make_repo: Repositories) -> Iterator[Stop]:
    """An item that blocks three rounds goes to the user, who accepts it."""
    journey = Journey(make_repo("stuck", files=FILES))
    journey.review = "small"
    journey.verdicts = _one_fails
    for _ in range(3):
        journey.to("gate")
        journey.follow(journey.last.next("fail"))
    yield "08-plan-code-qr-gate.stuck", journey, journey.to("gate").last
    journey.write_answers()
    accepted = journey.follow(journey.last.person())
    yield "08-plan-code-qr-gate.accepted", journey, accepted


def full(make_repo: Repositories) -> Iterator[Stop]:
    """Four milestones: roles are agents, one asks the user, two reviewers read the design."""
    journey = larger(make_repo, "full", (1, 1, 1, 1), {"planner.toml": VERIFIED})
    journey.edits["tests/test_a.py"] = FILES["tests/test_a.py"]
    journey.review = "full"
    journey.promises_document = True
    journey.start()
    if command := journey.last.person():  # where the kernel confines no command
        journey.follow(command)
        _as_host(journey)
    yield "03-plan-design-execute.dispatch", journey, journey.to("design").last
    yield "architect-1-explore", journey, journey.follow(journey.last.runs()[0])
    yield "architect-2-write", journey, journey.follow(journey.last.next("done"))
    journey.write_answers()
    yield "result.asked", journey, journey.follow(journey.last.next("question"))
    yield "03-plan-design-execute.ask", journey, _as_host(journey)
    journey.follow(journey.last.next("CP-001 a"))
    yield "architect-1-explore.answered", journey, journey.follow(journey.last.runs()[0])
    yield "architect-2-write.answered", journey, journey.follow(journey.last.next("done"))
    journey.do_the_work()
    yield "result.handed-in", journey, journey.follow(journey.last.next("done"))
    yield "04-plan-design-qr", journey, _as_host(journey)
    for number, run in enumerate(journey.last.runs(), 1):
        yield f"reviewer-plan-design.{number}", journey, journey.follow(run)
    _as_host(journey)
    yield "06-plan-code-execute.dispatch", journey, journey.to("code").last
    yield "developer-1-write", journey, journey.follow(journey.last.runs()[0])
    _as_host(journey)
    yield "09-plan-docs-execute.dispatch", journey, journey.to("docs").last
    yield "writer-1-write", journey, journey.follow(journey.last.runs()[0])
    _as_host(journey)
    yield "10-plan-docs-qr", journey, journey.to("docs review").last
    yield "reviewer-plan-docs", journey, journey.follow(journey.last.runs()[0])
    _as_host(journey)
    yield "executor-1-init.full", journey, journey.to("submitted").last


def returned(make_repo: Repositories) -> Iterator[Stop]:
    """With full review, findings on design and code go back to the agents of the roles."""
    journey = larger(make_repo, "returned", (1, 1), {})
    journey.review = "full"
    journey.verdicts = _one_fails
    journey.to("design review")
    journey.advance()
    journey.follow(journey.last.next("fail"))
    journey.answers["design.json"] = []
    journey.verdicts = all_pass
    yield "architect-2-write.fix", journey, journey.follow(journey.last.runs()[0])
    _as_host(journey)
    journey.to("design review")
    yield "reviewer-plan-design.again", journey, journey.follow(journey.last.runs()[0])
    _as_host(journey)
    journey.to("code")
    journey.verdicts = _one_fails
    journey.to("gate")
    journey.follow(journey.last.next("fail"))
    yield "developer-1-write.fix", journey, journey.follow(journey.last.runs()[0])


def light(make_repo: Repositories) -> Iterator[Stop]:
    """A light plan without a run: entered, submitted, approved, carried out; in between a pause."""
    journey = Journey(make_repo("light", files=FILES))
    journey.answers = {"light.json": PLAN}
    journey.last = journey.run("mode", "enter", "Move to ISO dates", "--reason", "several files")
    journey.state_dir = f"{journey.repository.path}/.planner"
    yield "mode.gathering", journey, journey.last
    journey.write_answers()
    yield "mode.submitted", journey, journey.follow(journey.last.next("done"))
    yield "mode.paused", journey, journey.planner("pause")
    journey.planner("resume")
    yield "mode.executing", journey, journey.follow(journey.last.person())
    journey.follow(journey.last.next("step 1 start"))
    yield "mode.under-way", journey, journey.last
    journey.follow(journey.last.next("step 1 done"))
    yield "mode.ended", journey, journey.planner("mode", "step", "2", "done")
    yield "mode.audit", journey, journey.planner("audit")


def halted(make_repo: Repositories) -> Iterator[Stop]:
    """A run that is paused, and one that a person rejects."""
    journey = Journey(make_repo("halted", files=FILES)).to("submitted")
    yield "mode.of-a-run", journey, journey.planner("mode", "status")
    yield "result.paused", journey, journey.planner("pause")
    journey.last = journey.planner("step", "executor")
    yield "step.paused", journey, journey.last
    journey.follow(journey.last.next("resume"))
    journey.last = journey.planner("mode", "reject", "--reason", "not before the release")
    yield "result.rejected", journey, journey.last
    journey.last = journey.planner("step", "executor")
    yield "run.rejected", journey, journey.last


def accepted(make_repo: Repositories) -> Iterator[Stop]:
    """The user's tree changes while a plan is made, and they accept it; then a part is taken."""
    journey = larger(make_repo, "accepted", (1, 1), {}).to("freeze")
    theirs = "# theirs\n\n\n\ndef f(x):\n    return x + 1\n"
    journey.repository.commit({"src/m1_1.py": theirs, "notes.txt": "mine\n"})
    yield "result.rebased", journey, journey.planner("mode", "rebase")
    journey.last = journey.planner("step", "planner")
    journey.edits["src/m1_1.py"] = theirs.replace("1", "2")
    journey.to("submitted")
    digest = words_of(journey.last.person())[1]
    journey.last = journey.planner("approve", digest, "--only", "M-001")
    yield "executor-1-init.part", journey, journey.last
    journey.repository.write("src/m1_1.py", "")
    yield "result.overtaken", journey, journey.planner("mode", "rebase")


def _as_host(journey: Journey) -> Answer:
    """Ask what is next as the host, after playing an agent."""
    journey.last = journey.planner("step", opened(journey).run.workflow)
    return journey.last


def _one_fails(block: Answer) -> list[dict[str, Any]]:
    """Answer a reviewer's block: the first question finds something, all others hold."""
    first, *others = all_pass(block)
    finding = "src/a.py:2 adds a constant that nothing explains; name it or say why"
    return [{**first, "status": "FAIL", "finding": finding}, *others]


TOURS = (
    happy, gates, revised, fixes, questions, intent, waves, unfrozen, submodule, small, stuck, full,
    returned, light, halted, accepted,
)  # fmt: skip


def opened(journey: Journey) -> State:
    """Open the run as a command does."""
    return open_state(journey.state_dir, os.sep)


def open_gate(journey: Journey, phase: Phase) -> Answer:
    """Bring the run to an open gate with one failing SHOULD, as reviewers will."""
    state = opened(journey)
    items = [
        Item(id="qs-001", scope="M-001", check="names-say-what", severity=SHOULD, status=FAIL,
             finding="f does not say what it does", by=SCRIPT),
        Item(id="qs-002", scope="*", check="fits", status="PASS", by=SCRIPT),
    ]  # fmt: skip
    iteration = state.database.phase(state.run, phase)[1]
    write_review(review_path(state.state_dir, phase), Review(phase, iteration, items))
    with state.database:
        state.go_to("planner", WORKFLOW.number(phase, "gate"))
    journey.last = journey.planner("step", "planner")
    return journey.last


def normalised(text: str, journey: Journey) -> str:
    """Replace what differs between two machines or two runs by placeholders."""
    state_dir = journey.state_dir
    for found, name in (
        (state_dir, "STATE"),
        (os.path.basename(state_dir), "RUN"),
        (str(journey.repository.path), "REPO"),
        (SHOWN, "PLANNER"),
    ):
        if found:
            text = text.replace(found, name)
    text = re.sub(r" · \d+ s\b", " · 1 s", text)
    text = re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)
    text = re.sub(r"\b(approve|reject) [0-9a-f]{12}\b", r"\1 DIGITS", text)
    text = re.sub(r"\b([0-9a-f]{40}|[0-9a-f]{12}(?!…))\b", "COMMIT", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[0-9:]{8}Z", "TIME", text)
