"""Each check of plan-design: when it fires, what it says, and that it is silent on a sound plan."""

from __future__ import annotations

import pytest

from quality_reviewer.checks.registry import Subject, run_checks
from tests.quality_reviewer.checks.conftest import findings, make_milestone, make_plan

pytestmark = pytest.mark.requirement("PL-24")

SECOND = {"id": "M-002", "number": 2, "files": ["src/b.py"], "requirements": []} | {
    "tests": {"skip_reason": "nothing to test"},
    "code_intents": [{"id": "CI-002", "file": "src/b.py", "behavior": "b"}],
}


def found(check_id: str, **fields: object) -> list[tuple[str, str, str]]:
    return findings(check_id, Subject(make_plan(**fields)))


def test_a_sound_plan_passes_every_check() -> None:
    items = run_checks("plan-design", Subject(make_plan()), start=7)
    assert [i.check for i in items if i.status != "PASS"] == ["design-files-spelled"]
    assert [i.id for i in items] == [f"qs-{n:03d}" for n in range(7, 20)]
    assert [i.severity for i in items] == ["MUST"] * 8 + ["SHOULD"] * 5
    assert {(i.scope, i.by, i.group) for i in items} == {("*", "script", None)}


def test_a_reference_that_leads_nowhere_is_found_in_its_milestone() -> None:
    milestones = [make_milestone(requirements=["T-1", "T-9"], waits_for=["CP-001"])]
    assert found("design-references-hold", milestones=milestones) == [
        (
            "FAIL",
            "M-001",
            (
                "milestones[0].waits_for[0]: there is no checkpoint CP-001"
                " · allowed: none yet: add the checkpoint first"
            ),
        ),
        (
            "FAIL",
            "M-001",
            "milestones[0].requirements[1]: there is no task entry T-9 · allowed: T-1",
        ),
    ]


def test_a_path_outside_the_repository_is_found() -> None:
    [(_, scope, text)] = found(
        "design-references-hold", milestones=[make_milestone(files=["../other.py"])]
    )
    assert scope == "M-001"
    assert "'../other.py' leaves the repository" in text


def test_a_task_entry_that_nobody_cites_is_found() -> None:
    tasks = [
        {"id": "T-1", "text": "Parse dates"},
        {"id": "T-2", "text": "Say what is wrong"},
        {"id": "T-3", "text": "Time zones", "out_of_scope": True},
    ]
    assert found("design-requirements-covered", task_spec=tasks) == [
        (
            "FAIL",
            "T-2",
            (
                "T-2 is cited by no milestone: 'Say what is wrong'; "
                "name it in `requirements` of the milestone that does it"
            ),
        )
    ]


@pytest.mark.requirement("SD-1")
def test_a_remark_that_nobody_cites_is_found() -> None:
    remarks = [{"id": f"RM-00{n}", "text": "Say why", "revision": 1} for n in (1, 2)]
    milestones = [make_milestone(requirements=["T-1", "RM-001"])]
    [(status, scope, text)] = found(
        "design-requirements-covered", user_remarks=remarks, milestones=milestones
    )
    assert (status, scope) == ("FAIL", "RM-002")
    assert text.startswith("RM-002 is cited by no milestone: 'Say why'")
    assert text.endswith("set its `outcome`: `declined: why`, or FILE:LINE where it holds already")


@pytest.mark.requirement("SD-3")
@pytest.mark.parametrize("outcome", ["declined: it is said", "src/dates.py:1 says it"])
def test_a_remark_that_has_an_outcome_needs_no_milestone(outcome: str) -> None:
    remark = {"id": "RM-001", "text": "Say why", "revision": 1, "outcome": outcome}
    assert found("design-requirements-covered", user_remarks=[remark]) == []


def test_a_plan_without_a_task_is_not_checked_against_it() -> None:
    milestones = [make_milestone(requirements=[])]
    [(status, scope, text)] = found(
        "design-requirements-covered", task_spec=[], milestones=milestones
    )
    assert (status, scope) == ("NOT_CHECKED", "*")
    assert "there is no task_spec" in text


def test_a_circle_of_dependencies_is_found_by_its_check_alone() -> None:
    milestones = [
        make_milestone(depends_on=["M-002"]),
        make_milestone(**SECOND, depends_on=["M-001"]),
    ]
    plan = make_plan(milestones=milestones, milestone_dependencies={"waves": []})
    failed = [i for i in run_checks("plan-design", Subject(plan)) if i.status == "FAIL"]
    assert [i.check for i in failed] == ["design-dependencies-acyclic", "design-waves-follow"]
    assert "M-001 -> M-002 -> M-001" in (failed[0].finding or "")


@pytest.mark.parametrize(
    "waves",
    [[], [["M-001", "M-002"]], [["M-001"], ["M-001"]], [["M-002"], ["M-001"]], [["M-001"]]],
)
def test_waves_that_do_not_follow_are_found(waves: list[list[str]]) -> None:
    milestones = [make_milestone(), make_milestone(**SECOND, depends_on=["M-001"])]
    stored = [{"wave": n, "milestones": ids} for n, ids in enumerate(waves, start=1)]
    assert found(
        "design-waves-follow", milestones=milestones, milestone_dependencies={"waves": stored}
    )


def test_waves_that_follow_are_not_found() -> None:
    milestones = [make_milestone(), make_milestone(**SECOND, depends_on=["M-001"])]
    assert not found("design-waves-follow", milestones=milestones)


def test_a_milestone_without_criteria_or_intents_is_found() -> None:
    milestones = [make_milestone(acceptance_criteria=[" "], code_intents=[], tests={})]
    assert found("design-milestones-complete", milestones=milestones) == [
        ("FAIL", "M-001", "M-001 has no acceptance criteria; say how to see that it is done"),
        ("FAIL", "M-001", "M-001 has neither intent nor test file; add one for each of its files"),
    ]


def test_a_milestone_of_tests_alone_needs_no_intent() -> None:
    bare = {"code_intents": [], "files": ["tests/test_a.py"]}
    assert not found("design-milestones-complete", milestones=[make_milestone(**bare)])


def test_a_milestone_of_documentation_alone_needs_criteria_and_neither_intents_nor_tests() -> None:
    bare = {"code_intents": [], "tests": {}, "is_documentation_only": True}
    assert not found("design-milestones-complete", milestones=[make_milestone(**bare)])
    assert not found("design-tests-planned", milestones=[make_milestone(**bare)])
    [(_, _, text)] = found(
        "design-milestones-complete", milestones=[make_milestone(**bare, acceptance_criteria=[])]
    )
    assert "no acceptance criteria" in text


@pytest.mark.parametrize(
    ("tests", "missing"),
    [
        ({}, "no files and no type and no scenario"),
        ({"files": ["t.py"], "type": "unit"}, "no scenario"),
        ({"files": ["t.py"], "type": " ", "scenarios": {"edge": ["empty"]}}, "no type"),
        ({"type": "unit", "scenarios": {"error": ["bad text"]}}, "no files"),
        ({"skip_reason": " "}, "no files and no type and no scenario"),
    ],
)
def test_tests_that_are_not_planned_are_found(tests: dict[str, object], missing: str) -> None:
    [(status, scope, text)] = found(
        "design-tests-planned", milestones=[make_milestone(tests=tests)]
    )
    assert (status, scope) == ("FAIL", "M-001")
    assert f"M-001 plans {missing} for its tests" in text


def test_a_reason_to_have_no_tests_is_enough() -> None:
    milestone = make_milestone(tests={"skip_reason": "only a rename"})
    assert not found("design-tests-planned", milestones=[milestone])


def test_a_decision_that_does_not_exist_is_found_wherever_it_is_named() -> None:
    intent = {"id": "CI-001", "file": "src/dates.py", "behavior": "b", "decision_refs": ["DL-007"]}
    context = {
        "decision_log": [{"id": "DL-001", "decision": "strict"}],
        "known_risks": [{"id": "R-001", "risk": "r", "decision_ref": "DL-009"}],
    }
    plan = make_plan(milestones=[make_milestone(code_intents=[intent])], planning_context=context)
    rows = findings("design-decisions-exist", Subject(plan))
    assert [(scope, text.split(" · ")[0]) for _, scope, text in rows] == [
        ("*", "planning_context.known_risks[0].decision_ref: there is no decision DL-009"),
        ("M-001", "milestones[0].code_intents[0].decision_refs[0]: there is no decision DL-007"),
    ]
    assert not findings("design-references-hold", Subject(plan))


def test_an_empty_plan_is_found() -> None:
    rows = found("design-overview-written", overview={"title": " "}, milestones=[])
    assert [text.split(" ")[0] for _, _, text in rows[:3]] == [
        "overview.title",
        "overview.problem",
        "overview.approach",
    ]
    assert rows[3][2] == "the plan has no milestone; add one for each part that can be tested"


def decided(chain: str) -> list[tuple[str, str, str]]:
    log = [{"id": "DL-001", "decision": "strict", "reasoning_chain": chain}]
    return found("design-decisions-reasoned", planning_context={"decision_log": log})


@pytest.mark.parametrize(
    "chain", ["", " ", "because", "because ->", "-> \n → because\n\n", "- \n-"]
)
def test_a_decision_without_two_steps_of_reasoning_is_found(chain: str) -> None:
    [(status, scope, text)] = decided(chain)
    assert (status, scope) == ("FAIL", "DL-001")
    assert text.startswith(("DL-001 has no step", "DL-001 has 1 step"))
    assert "'strict'" in text


@pytest.mark.parametrize("chain", ["a -> b", "a→b", "- a\n- b", "1. a\r\n2. b -> c"])
def test_two_steps_of_reasoning_are_enough_however_they_are_joined(chain: str) -> None:
    assert not decided(chain)


def test_a_risk_without_mitigation_is_found() -> None:
    risks = [
        {"id": "R-001", "risk": "dates before 1970", "mitigation": " "},
        {"id": "R-002", "risk": "slow", "mitigation": "measured in the tests"},
    ]
    [(status, scope, text)] = found(
        "design-risks-mitigated", planning_context={"known_risks": risks}
    )
    assert (status, scope) == ("FAIL", "R-001")
    assert text.startswith("R-001 has no mitigation: 'dates before 1970'; ")
