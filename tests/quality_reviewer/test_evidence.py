"""A PASS on a MUST names what shows it, and only what is there counts (RV-1)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from quality_reviewer.ask import RAN
from quality_reviewer.evidence import Evidence
from quality_reviewer.questions import BY_ID
from shared.qr.schema import read_review
from shared.qr.types import MUST, PASS, REVIEWER, TODO
from shared.resources import review_path
from shared.run import open_state
from state.store import load_plan
from tests.journey import FILES, VERIFIED, Answer, Journey, all_pass, words_of
from tests.larger_tasks import larger
from tests.place import need_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.qr.types import Item
    from state.phases import Phase
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("RV-1")

TOUCHED = "a line that the change touches: src/a.py:2; tests/test_a.py:3"
# What is named, and a part of the refusal; '' where it is valid.
OF_A_CHANGE = {
    "src/a.py:2": "",
    "`src/a.py:2` returns x + 2": "",
    "src/a.py:1-2": "",
    "tests/test_a.py:3 – the test of it": "",
    "src/a.py:1": "no line src/a.py:1 is touched by the change",
    "src/b.py:2": "no line src/b.py:2 is touched by the change",
    "src/a.py:20": "no line src/a.py:20 is touched by the change",
    "src/a.py": "its evidence is 'src/a.py'",
    "src/a.py: return x - 7": "touches no line of src/a.py that reads as quoted",
    "CI-001": "its evidence is 'CI-001'",
    "": "its evidence is ''",
    "I have read it": "its evidence is 'I have read it'",
    "None: it adds no input of its own": "",
    "none": "`none` needs the reason",
    "none: n/a": "`none` needs the reason",
}
OF_A_DESIGN = {
    "CI-001": "",
    "T-1, since it is cited": "",
    "overview": "",
    "CI-999": "CI-999 is no entry of the plan",
    "src/m1_1.py:2": "",
    "src/m1_1.py:3": "src/m1_1.py has 2 lines at the base",
    "src/m1_1.py:0": "src/m1_1.py has 2 lines at the base",
    "src/new.py:1": "no line src/new.py:1 exists at the base",
    "CI-002": "CI-002 is no part of what qa-",
    "none: nothing of this kind is touched": "",
}


def item_of(journey: Journey, phase: Phase, check: str) -> Item:
    """Return the first item of a question in an open review."""
    items = read_review(review_path(journey.state_dir, phase)).items
    return next(i for i in items if i.check == check)


def answer(journey: Journey, phase: str, name: str, **fields: Any) -> Answer:  # noqa: ANN401
    """Store one answer, as a file."""
    journey.write_answer("verdicts-1.json", [{"id": name, "status": PASS, **fields}])
    return journey.planner("qr", "set", "--phase", phase, "--file", "answers/verdicts-1.json")


@pytest.fixture
def full(make_repo: Repositories) -> Journey:
    """Return a run with two milestones whose design is to be reviewed."""
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "full"
    return journey.to("design review")


def test_evidence_of_a_change_is_a_line_that_it_touches(small: Journey) -> None:
    asked = item_of(small, "plan-code", "nothing-else")
    for evidence, refusal in OF_A_CHANGE.items():
        said = answer(small, "plan-code", asked.id, evidence=evidence)
        assert (said.code == 1) == bool(refusal), (evidence, said.text)
        assert refusal in said.text, evidence
        assert not refusal or TOUCHED in said.text
        assert not refusal or "where it cannot apply: none: REASON" in said.text


@pytest.mark.requirement("SD-4")
@pytest.mark.parametrize("name", ["", " ", "/etc/passwd", "../a.py", "src//a.py", "src", "*", ":/"])
def test_what_is_no_path_is_refused_in_our_words(full: Journey, name: str) -> None:
    asked = item_of(full, "plan-design", "invariants-stated")
    said = answer(full, "plan-design", asked.id, evidence=f"{name}:2")
    assert said.code == 1
    assert "a line of a file at the base: FILE:LINE" in said.text
    assert "git " not in said.text


@pytest.mark.requirement("VR-3")
def test_a_command_that_ran_on_these_files_is_evidence_with_what_came_out(
    make_repo: Repositories,
) -> None:
    need_place()
    journey = Journey(make_repo(files={**FILES, "planner.toml": VERIFIED}))
    journey.review = "small"
    journey.to("code").planner("tree", "run", "echo on the base")
    journey.do_the_work()
    tests = "test -e src; echo; echo first; echo 'Ran 2 tests in 0.1s'; echo; echo OK"
    broken = "test -e src; echo broken; exit 3"
    journey.planner("tree", "run", tests)
    journey.planner("tree", "run", broken)
    journey.to("code review")
    counts = "2 passed, 0 failed · first · Ran 2 tests in 0.1s · OK"
    last = "(this exit code is that of the last part)"
    line = f"run 2: exit 0 (0 s): {tests}: {last} · {counts}"
    (agent,) = journey.last.runs()
    block = journey.planner(*words_of(agent)[:-2])
    failed = f"run 3: exit 3 (0 s): {broken}: broken"
    verified = "verify 1: pass (base: pass) · PYTHONPATH=src python3 tests/test_a.py"
    assert block.data(RAN) == f"{verified}\n{line}\n{failed}"
    asked = item_of(journey, "plan-code", "nothing-else")
    for evidence, refusal in (
        ("run 1: it passed", "run 1 is none of the commands that ran on these files"),
        ("run 2", "it does not say what came out of run 2"),
        ("none", "a command that ran on these files (verify 1, run 2, run 3): what came out"),
        ("run 3: all is well", "run 3 ended with exit 3, and the evidence does not say"),
        ("run 3: exit 3", "run 3 ended with exit 3, and the evidence does not say"),
        ("run 3: exit 3 is right, since the option is unknown", ""),
        ("run 2: 2 passed", ""),
    ):
        said = answer(journey, "plan-code", asked.id, evidence=evidence)
        assert (refusal in said.text) if refusal else said.code == 0, said.text
    # A question about the design that is asked with the code takes what either may name.
    asked = item_of(journey, "plan-code", "scope-kept")
    quoted = "src/a.py: return x + 2"
    for evidence in ("run 2: 2 passed", "verify 1: passes", "CI-001", "src/a.py:1", quoted):
        assert answer(journey, "plan-code", asked.id, evidence=evidence).code == 0
    said = answer(journey, "plan-code", asked.id, evidence=f"I have read {'it ' * 99}")
    assert "its evidence is 'I have read it it" in said.text
    assert "which names none of these" in said.text
    assert "(verify 1, run 2, run 3): what came out" in said.text


def test_evidence_of_a_design_is_an_entry_or_a_line_of_the_base(full: Journey) -> None:
    asked = item_of(full, "plan-design", "invariants-stated")
    for evidence, refusal in OF_A_DESIGN.items():
        said = answer(full, "plan-design", asked.id, evidence=evidence)
        assert (said.code == 1) == bool(refusal), (evidence, said.text)
        assert refusal in said.text, evidence
        assert not refusal or "an entry of the plan: CI-001, DL-001, M-001" in said.text


def test_a_line_of_another_milestone_is_no_evidence(make_repo: Repositories) -> None:
    journey = larger(make_repo, "repo", (1, 1), {})
    journey.review = "full"
    journey.to("code review")
    items = read_review(review_path(journey.state_dir, "plan-code")).items
    second = next(i for i in items if i.check == "nothing-else" and i.scope == "M-002")
    said = answer(journey, "plan-code", second.id, evidence="src/m1_1.py:2")
    assert "no line src/m1_1.py:2 is touched" in said.text
    assert "a line that the change touches: src/m2_1.py:2 –" in said.text
    assert answer(journey, "plan-code", second.id, evidence="src/m2_1.py:2").code == 0


def test_a_line_that_a_file_loses_is_evidence(make_repo: Repositories) -> None:
    files = {**FILES, "src/a.py": "def f(x):\n    return x + 1\n\n\ndef g():\n    pass\n"}
    journey = Journey(make_repo(files=files))
    journey.review = "small"
    journey.to("code review")
    asked = item_of(journey, "plan-code", "nothing-else")
    assert answer(journey, "plan-code", asked.id, evidence="src/a.py:5").code == 0


def test_a_binary_file_is_evidence_by_its_name(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files={**FILES, "src/a.py": b"\0\1\2" * 9}))
    journey.review = "small"
    journey.edits["src/a.py"] = b"\0\3\4" * 9
    journey.to("code review")
    asked = item_of(journey, "plan-code", "nothing-else")
    assert answer(journey, "plan-code", asked.id, evidence="src/a.py").code == 0


@pytest.mark.quick
def test_answers_without_evidence_are_refused_at_once_and_the_others_are_kept(
    small: Journey,
) -> None:
    block = small.follow(small.last.runs()[0])
    rows = all_pass(block)
    items = read_review(review_path(small.state_dir, "plan-code")).items
    musts = {i.id for i in items if i.severity == MUST and i.by == REVIEWER}
    bare = [r["id"] for r in rows if r["id"] in musts][:2]
    for row in rows:
        if row["id"] in bare:
            del row["evidence"]
    small.write_answer("verdicts-plan-code-1.json", [*rows, {"verdict": "pass"}])
    refused = small.follow(block.next("done"))
    assert refused.code == 1
    assert [kind for kind, _ in refused.problems] == ["invalid", "invalid"]
    assert all(f"{name} passes a MUST" in refused.text for name in bare)
    assert refused.data("kept") == "the other answers of this file"
    stored = read_review(review_path(small.state_dir, "plan-code")).items
    assert {i.id for i in stored if i.status == TODO} == set(bare)
    kept = next(i for i in stored if i.id in musts - set(bare))
    assert kept.evidence == next(r["evidence"] for r in rows if r["id"] == kept.id)


def test_only_a_pass_on_a_must_needs_evidence(small: Journey) -> None:
    for asked in read_review(review_path(small.state_dir, "plan-code")).items:
        if asked.by == REVIEWER and asked.severity != MUST:
            assert answer(small, "plan-code", asked.id).code == 0
    must = item_of(small, "plan-code", "nothing-else")
    assert answer(small, "plan-code", must.id, severity="COULD").code == 1
    failed = {"status": "FAIL", "finding": "f is used elsewhere"}
    assert answer(small, "plan-code", must.id, **failed).code == 0


def test_what_always_applies_takes_no_none(small: Journey) -> None:
    always = [q for q in BY_ID.values() if q.always and q.phase == "plan-code"]
    for check in [q.id for q in always if q.who != "author"]:
        asked = item_of(small, "plan-code", check)
        said = answer(small, "plan-code", asked.id, evidence="none: nothing was asked for")
        assert "`none` is not an answer to it" in said.text
        assert "none: REASON" not in said.text


@pytest.mark.quick
def test_one_answer_is_given_its_evidence_on_the_command_line(small: Journey) -> None:
    asked = item_of(small, "plan-code", "nothing-else")
    words = ("qr", "set", asked.id, "--phase", "plan-code", "--status", "PASS")
    assert small.planner(*words).code == 1
    assert small.planner(*words, "--evidence", "src/a.py:2").code == 0
    stored = item_of(small, "plan-code", "nothing-else")
    assert (stored.status, stored.evidence) == (PASS, "src/a.py:2")


@pytest.mark.quick
def test_a_whole_line_of_the_change_is_evidence_without_its_number(small: Journey) -> None:
    """A reader who sees a diff has its lines before it, and has to count for their numbers."""
    asked = item_of(small, "plan-code", "nothing-else")
    for evidence, code in {
        "src/a.py: `return x + 2`": 0,
        "src/a.py: +    return x + 2": 0,
        "src/a.py: return x + 3": 1,
        "src/b.py: return x + 2": 1,
    }.items():
        assert answer(small, "plan-code", asked.id, evidence=evidence).code == code, evidence


def test_an_input_that_makes_an_intent_false_is_ruled_out_by_its_milestone_or_a_test(
    make_repo: Repositories,
) -> None:
    """What shows that a workflow of CI is right is often in the files that it runs."""
    workflow = ".github/workflows/ci.yml"
    journey = Journey(make_repo(files={**FILES, workflow: "on: push\n", "tests/test_b.py": "\n"}))
    for edit in journey.answers["design.json"]:
        if edit.get("kind") == "milestone":
            edit["fields"]["files"].append(workflow)
            edit["fields"]["tests"]["files"].append("tests/test_b.py")
        if edit.get("kind") == "intent":
            edit["fields"]["file"] = workflow
    journey.edits |= {workflow: "on: [push, pull_request]\n", "tests/test_b.py": "\nassert 1\n"}
    also = {"milestone": "$m", "file": "src/a.py", "behavior": "adds two", "decision_refs": ["$d"]}
    journey.answers["design.json"].append({"op": "add", "kind": "intent", "fields": also})
    journey.review = "small"
    journey.to("code review")
    items = read_review(review_path(journey.state_dir, "plan-code")).items
    asked = next(i for i in items if (i.check, i.scope) == ("intent-holds", "CI-001"))
    for evidence, refusal in {
        f"{workflow}:1": "",
        "src/a.py:2": "",
        "tests/test_a.py:1 – the test that it runs": "",
        "tests/test_a.py:99": "tests/test_a.py has 3 lines as planned",
        "src/b.py:2": "no line src/b.py:2 is touched by the change",
    }.items():
        said = answer(journey, "plan-code", asked.id, evidence=evidence)
        assert (said.code == 1) == bool(refusal), (evidence, said.text)
        assert refusal in said.text, evidence


@pytest.mark.requirement("RV-7")
def test_a_whole_line_that_ends_with_a_semicolon_shows_a_criterion(make_repo: Repositories) -> None:
    """Between references stands a semicolon, and many languages end their lines with one."""
    journey = Journey(make_repo(files=FILES))
    journey.edits["src/a.py"] = "def f(x):\n    return x + 2;\n"
    journey.review = "small"
    journey.to("code review")
    asked = item_of(journey, "plan-code", "criteria-met")
    for evidence, code in {"src/a.py: return x + 2;": 0, "src/a.py: return x + 3;": 1}.items():
        assert answer(journey, "plan-code", asked.id, evidence=evidence).code == code, evidence


SD_4 = pytest.mark.requirement("SD-4")
SWITCHED = """\
def g(x):
    for i in range(x):
        print(i); print(x)
    return x * 10000

def f(x):
    return x + 2
"""


@pytest.fixture
def moved(make_repo: Repositories) -> Journey:
    """Return a run whose change gives the old lines of a function to a new one above it."""
    before = SWITCHED.replace("def g(x):\n", "def f(x):\n").partition("\ndef f")[0]
    journey = Journey(make_repo(files={**FILES, "src/a.py": f"{before}\n\n"}))
    journey.edits["src/a.py"] = SWITCHED
    journey.review = "small"
    return journey.to("code review")


@SD_4
def test_what_is_named_by_a_wrong_number_is_refused(moved: Journey) -> None:
    asked = item_of(moved, "plan-code", "nothing-else")
    for evidence, refusal in {
        "src/a.py:1-9999": "src/a.py ends with line 7, before 9999",
        "src/a.py:1: `return x + 2`": "src/a.py:1 does not read as quoted: line 7 does",
        "src/a.py:7: `return x + 2` adds two": "",
        "src/a.py:1 is called where `return x + 2` was": "",
        "`src/a.py`:7": "",
        "`src/a.py`: `return x + 2`": "",
        "src/a.py: return   x +  2": "",
    }.items():
        said = answer(moved, "plan-code", asked.id, evidence=evidence)
        assert (said.code == 1) == bool(refusal), (evidence, said.text)
        assert refusal in said.text, evidence


@SD_4
def test_a_line_that_has_moved_into_another_function_is_evidence(moved: Journey) -> None:
    """Git shows it as a line that stays: what stands above it is another function's head."""
    asked = item_of(moved, "plan-code", "nothing-else")
    for evidence, code in {
        "src/a.py:4": 0,
        "src/a.py: return x * 10000": 0,
        "src/a.py:4 `return x * 10000`": 0,
        "tests/test_a.py:1": 1,
    }.items():
        assert answer(moved, "plan-code", asked.id, evidence=evidence).code == code, evidence


@SD_4
def test_a_quoted_line_may_hold_what_separates_references(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.edits["src/a.py"] = "def f(x):\n    y = 2; z = 0; return x + y\n"
    for edit in journey.answers["design.json"]:
        if edit.get("kind") == "milestone":
            edit["fields"]["acceptance_criteria"] = ["f(1) is 3", "f is short"]
    journey.review = "small"
    journey.to("code review")
    asked = item_of(journey, "plan-code", "criteria-met")
    whole = "src/a.py: y = 2; z = 0; return x + y"
    for evidence, code in {
        whole: 1,
        f"{whole}; src/a.py:2 so; and short": 0,
        f"src/a.py:2; {whole}": 0,
        f"{whole}\n{whole}": 0,
    }.items():
        assert answer(journey, "plan-code", asked.id, evidence=evidence).code == code, evidence
    shown = item_of(journey, "plan-code", "criteria-met").evidence
    assert shown == f"{whole}\n{whole}"


@SD_4
def test_a_line_that_begins_with_a_number_can_be_quoted(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files={**FILES, "src/a.py": "x = [\n1, 2,\n]\n"}))
    journey.edits["src/a.py"] = "x = [\n21, 34,\n]\n"
    journey.review = "small"
    journey.to("code review")
    asked = item_of(journey, "plan-code", "nothing-else")
    for evidence, code in {"src/a.py: 21, 34,": 0, "src/a.py:21, 34,": 0, "src/a.py:21": 1}.items():
        assert answer(journey, "plan-code", asked.id, evidence=evidence).code == code, evidence


@SD_4
def test_a_test_is_cited_as_the_change_leaves_it(make_repo: Repositories) -> None:
    """Its lines at the base are gone where the change has cut it."""
    long = "from a import f\n\nassert f(1) == 2\nassert f(2) == 3\n"
    journey = Journey(make_repo(files={**FILES, "tests/test_a.py": long}))
    journey.edits["tests/test_a.py"] = "from a import f\n\nassert f(1) == 3\n"
    journey.review = "small"
    journey.to("code review")
    asked = item_of(journey, "plan-code", "criteria-met")
    for evidence, refusal in {
        "tests/test_a.py:1": "",
        "tests/test_a.py:2": "tests/test_a.py:2 has no words in it",
        "tests/test_a.py:5": "tests/test_a.py has 3 lines as planned, none is 5",
    }.items():
        said = answer(journey, "plan-code", asked.id, evidence=evidence)
        assert (said.code == 1) == bool(refusal), (evidence, said.text)
        assert refusal in said.text, evidence


@SD_4
def test_a_line_is_needed_where_code_answers_a_question_about_the_design(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.edits["src/a.py"] = "def f(x, y=2):\n    return x + y\n"
    journey.review = "small"
    journey.to("code review")
    asked = item_of(journey, "plan-code", "callers-covered")
    said = answer(journey, "plan-code", asked.id, evidence="DL-001")
    assert (said.code, "its evidence is 'DL-001'" in said.text) == (1, True), said.text
    assert "an entry of the plan" not in said.text
    assert answer(journey, "plan-code", asked.id, evidence="src/a.py:1").code == 0
    asked = item_of(journey, "plan-code", "scope-kept")
    assert answer(journey, "plan-code", asked.id, evidence="T-1").code == 0


@SD_4
def test_one_line_shows_several_musts_only_within_what_each_is_about(
    make_repo: Repositories,
) -> None:
    journey = larger(make_repo, "repo", (2,), {})
    journey.review = "full"
    journey.to("code review")
    items = {(i.check, i.scope): i.id
             for i in read_review(review_path(journey.state_dir, "plan-code")).items}  # fmt: skip
    first, second = items["intent-holds", "CI-001"], items["intent-holds", "CI-002"]
    whole, line = items["nothing-else", "M-001"], "src/m1_1.py:2"
    assert answer(journey, "plan-code", second, evidence=line).code == 0, "alone it may show it"
    said = answer(journey, "plan-code", first, evidence=line)
    why = f"{first} names src/m1_1.py:2 too, and that is no part of CI-002"
    assert (said.code, why in said.text) == (1, True), said.text
    assert f'at="{second}.evidence"' in said.text
    assert "a line that the change touches: src/m1_2.py:2</problem>" in said.text
    stored = {i.id: i for i in read_review(review_path(journey.state_dir, "plan-code")).items}
    assert (stored[first].status, stored[second].status) == (PASS, TODO)
    assert stored[second].evidence is None
    rows = [{"id": name, "status": PASS, "evidence": line} for name in (first, whole)]
    rows.append({"id": second, "status": PASS, "evidence": "src/m1_2.py:2"})
    journey.write_answer("verdicts-1.json", rows)
    words = ("qr", "set", "--phase", "plan-code", "--file", "answers/verdicts-1.json")
    assert journey.planner(*words).code == 0


def to_link(file: Path) -> None:
    """Replace a file by a link to the file beside it."""
    file.unlink()
    file.symlink_to("m1_1.py")


# What becomes of a file beside one that is edited.
ANOTHER_KIND: dict[str, Callable[[Path], None]] = {
    "link": to_link,
    "deleted": Path.unlink,
    "mode": lambda file: file.chmod(0o755),
}


@SD_4
@pytest.mark.parametrize("kind", ANOTHER_KIND)
def test_a_file_that_is_gone_or_of_another_kind_is_named_without_a_line(
    make_repo: Repositories, kind: str
) -> None:
    journey = larger(make_repo, "repo", (2,), {})
    journey.review = "full"
    journey.to("code")
    del journey.edits["src/m1_2.py"]
    ANOTHER_KIND[kind](Path(journey.state_dir) / "worktree/src/m1_2.py")
    journey.to("code review")
    items = {(i.check, i.scope): i.id
             for i in read_review(review_path(journey.state_dir, "plan-code")).items}  # fmt: skip
    whole, own = items["nothing-else", "M-001"], items["intent-holds", "CI-002"]
    for name in ("src/m1_2.py", "`src/m1_2.py` is what the intent names"):
        assert answer(journey, "plan-code", own, evidence=name).code == 0, name
    refused = answer(journey, "plan-code", whole, evidence="src/m1_1.py")
    assert "a line that the change touches: src/m1_1.py:2; src/m1_2.py – or" in refused.text
    other = items["intent-holds", "CI-001"]
    misplaced = answer(journey, "plan-code", other, evidence="src/m1_2.py")
    assert f"{own} names src/m1_2.py too, and that is no part of CI-001" in misplaced.text
    assert "a line that the change touches: src/m1_1.py:2</problem>" in misplaced.text


@SD_4
def test_a_refusal_says_what_is_allowed_where_no_part_of_the_change_is(small: Journey) -> None:
    """Where a question always applies, nothing has run and no line lies within, it is a FAIL."""
    state = open_state(small.state_dir, "/")
    evidence = Evidence(state, "plan-code", load_plan(state.plan_path))
    for check in ("intent-holds", "criteria-met", "intent-done"):
        asked = item_of(small, "plan-code", check)
        allowed = evidence.allowed(asked, lambda _: False)
        assert allowed == "FAIL with what is missing: no part of the change is about it"


@SD_4
def test_a_run_that_starts_nothing_of_the_project_or_tries_nothing_is_no_evidence(
    make_repo: Repositories,
) -> None:
    need_place()
    journey = Journey(make_repo(files=FILES))
    journey.review = "small"
    journey.to("code").do_the_work()
    commands = {
        "echo '5 passed'": "run 1 starts nothing of the project",
        "sh -c 'printf ok' && true": "run 2 starts nothing of the project",
        "python3 -c \"print('60000 pairs, no difference')\"": "run 3 starts nothing of the project",
        "python3 -m unittest discover -s src": "run 4 ",
        "test -e src && echo 'Ran 0 tests in 0.0s'": "run 5 has run no test",
        "PYTHONPATH=src python3 tests/test_a.py": "",
    }
    for command in commands:
        journey.planner("tree", "run", command)
    journey.to("code review")
    asked = item_of(journey, "plan-code", "nothing-else")
    for number, refusal in enumerate(commands.values(), 1):
        said = answer(journey, "plan-code", asked.id, evidence=f"run {number}: all is well")
        assert (said.code == 1) == bool(refusal), said.text
        assert refusal in said.text


@SD_4
def test_a_test_that_is_skipped_shows_nothing(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    skipped = "import pytest\n\n@pytest.mark.skip\ndef test_a():\n    assert f(2) == 4\n"
    journey.edits["tests/test_a.py"] = f"from a import f\n\nassert f(1) == 3\n\n{skipped}"
    journey.review = "small"
    journey.to("code review")
    asked = item_of(journey, "plan-code", "criteria-met")
    for evidence in ("tests/test_a.py:9", "tests/test_a.py: assert f(2) == 4"):
        said = answer(journey, "plan-code", asked.id, evidence=evidence)
        assert "tests/test_a.py:9 stands in a test that is skipped" in said.text
    assert answer(journey, "plan-code", asked.id, evidence="tests/test_a.py:3").code == 0
