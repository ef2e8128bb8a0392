"""What the schema cannot say: references, files, waves, paths, values (PL-14)."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from state.edits import apply_edits
from state.milestones import files_of
from state.models import Plan
from state.plain_json import check_value
from state.validator import check_plan, path_problem
from state.waves import compute_waves, find_cycle
from tests.forms import examples
from tests.state.plans import CHANGE, add, empty_plan, outcome, plain, refusal, sample_plan

pytestmark = pytest.mark.requirement("PL-14")

DATA = plain(sample_plan())
DEEP = "milestones[0].documentation"


def broken(place: str, value: object) -> list[tuple[str, str]]:
    """Return (at, problem) of the sample plan with `value` at a dotted place; `+` appends."""
    data = copy.deepcopy(DATA)
    target: Any = data
    *way, last = place.split(".")
    for key in way:
        target = target[int(key)] if isinstance(target, list) else target[key]
    if last == "+":
        target.append(value)
    elif isinstance(target, list):
        target[int(last)] = value
    else:
        target[last] = value
    return [(p.at, p.problem) for p in check_plan(Plan.model_validate(data))]


@pytest.mark.parametrize(
    ("place", "value", "at"),
    [
        (
            "planning_context.rejected_alternatives.0.decision_ref",
            "DL-009",
            "planning_context.rejected_alternatives[0].decision_ref",
        ),
        (
            "planning_context.known_risks.0.decision_ref",
            "DL-009",
            "planning_context.known_risks[0].decision_ref",
        ),
        ("milestones.1.depends_on.+", "M-009", "milestones[1].depends_on[1]"),
        ("milestones.1.depends_on.0", "M-002", "milestones[1].depends_on[0]"),
        ("milestones.1.waits_for.0", "CP-009", "milestones[1].waits_for[0]"),
        ("milestones.0.requirements", ["prose", "T-9"], "milestones[0].requirements[1]"),
        ("milestones.0.requirements", ["RM-001", "RM-009"], "milestones[0].requirements[1]"),
        ("user_remarks.0.outcome", "done: M-001", "user_remarks[0].outcome"),
        ("user_remarks.0.outcome", "declined: ", "user_remarks[0].outcome"),
        ("user_remarks.+", {"id": "RM-001", "text": "x", "revision": 2}, "user_remarks[1]"),
        (
            "milestones.0.code_intents.0.decision_refs",
            ["DL-001", "DL-002"],
            "milestones[0].code_intents[0].decision_refs[1]",
        ),
        (
            "milestones.0.code_intents.0.params",
            {"a": [1, 2**53]},
            "milestones[0].code_intents[0].params.a[1]",
        ),
        (
            "milestones.0.code_intents.0.file",
            "../secret",
            "milestones[0].code_intents[0].file",
        ),
        ("milestones.0.files.0", "/etc/passwd", "milestones[0].files[0]"),
        ("milestones.0.tests.files", ["a/../../b"], "milestones[0].tests.files[0]"),
        (
            "milestones.0.documentation.docstrings.0.file",
            "../secret",
            "milestones[0].DOC-002.file",
        ),
        (
            "milestones.0.documentation.module_comment.file",
            ".git/config",
            "milestones[0].DOC-001.file",
        ),
        ("milestones.0.code_changes.0.file", "../x", "milestones[0].CC-001.file"),
        ("milestones.0.code_changes.0.old_file", "../x", "milestones[0].CC-001.old_file"),
        ("milestones.0.code_changes.0.intent_ref", "CI-009", "milestones[0].CC-001.intent_ref"),
        (
            "milestones.0.code_changes.0.more_intent_refs",
            ["CI-001", "CI-009"],
            "milestones[0].CC-001.intent_ref",
        ),
        (
            "milestones.0.code_changes.0.why_comments",
            ["x", {"text": "y", "decision_ref": "DL-009"}],
            "milestones[0].CC-001.why_comments",
        ),
        (
            "milestones.0.documentation.changes",
            [{**CHANGE, "id": "CC-002", "file": "doc.md", "intent_ref": "CI-009"}],
            "milestones[0].CC-002.intent_ref",
        ),
        ("milestones.1.files.0", "a.py", "milestones[1].files"),
        ("milestones.1.tests.files", ["a.py"], "milestones[1].files"),
        (
            "milestones.1.documentation.docstrings",
            [{"id": "DOC-009", "file": "a.py"}],
            "milestones[1].files",
        ),
        ("diagrams.0.edges.0.source", "z", "diagrams[0].edges[0].source"),
        ("diagrams.0.edges.0.target", "z", "diagrams[0].edges[0].target"),
        ("diagrams.0.nodes.+", {"id": "x"}, "diagrams[0].nodes"),
        ("checkpoints.0.options.1.key", "a", "checkpoints[0].options"),
        ("task_spec.1.id", "T-1", "task_spec"),
        ("milestones.1.id", "M-001", "milestones[1]"),
        ("planning_context.constraints.+", {"id": "C-001", "description": "x"}, "planning_context"),
        ("invisible_knowledge.invariants.+", {"id": "INV-001", "text": "x"}, "invisible_knowledge"),
        ("milestones.0.documentation.docstrings.0.id", "DOC-001", "milestones[0].DOC-001"),
        ("diagrams.+", {"id": "DG-001", "title": "x"}, "diagrams[1]"),
        ("milestone_dependencies.waves.1.milestones", ["M-001"], "milestone_dependencies.waves"),
        ("milestone_dependencies.waves.1.wave", 3, "milestone_dependencies.waves"),
        ("milestone_dependencies.waves.+", {"wave": 3, "milestones": ["M-002"]}, "milestone_dep"),
        ("frozen_at", "2026-01-02T03:04:05Z", "digest"),
        ("digest", "d" * 64, "frozen_at"),
        ("seals", {"M-001": "x"}, "frozen_at"),
    ],
)
def test_a_broken_rule_is_named_with_its_place(place: str, value: object, at: str) -> None:
    problems = broken(place, value)
    assert [p for p in problems if p[0].startswith(at)], problems


def test_a_sound_plan_has_no_problem() -> None:
    assert check_plan(Plan.model_validate(DATA)) == []
    assert check_plan(empty_plan()) == []


def test_an_unknown_reference_is_refused_with_those_that_exist() -> None:
    data = copy.deepcopy(DATA)
    data["milestones"][1]["depends_on"] = ["M-009"]
    (problem,) = check_plan(Plan.model_validate(data))
    assert (problem.kind, problem.allowed) == ("not_found", "M-001, M-002")
    data["planning_context"]["known_risks"][0]["decision_ref"] = "DL-009"
    data["planning_context"]["decision_log"] = []
    assert any("add the decision first" in p.allowed for p in check_plan(Plan.model_validate(data)))


def test_an_entry_of_the_task_needs_no_id_where_the_task_has_none() -> None:
    data = copy.deepcopy(DATA)
    data["task_spec"] = []
    data["milestones"][0]["requirements"] = ["T-9"]
    assert check_plan(Plan.model_validate(data)) == []


def test_a_file_may_belong_to_two_milestones_at_depth_intent() -> None:
    edits = [
        add("milestone", name="One", files=["a.py"]),
        add("milestone", name="Two", files=["a.py"]),
    ]
    assert [p.at for p in refusal(apply_edits, empty_plan(), edits, None)] == [
        "milestones[1].files"
    ]
    plan, _ = apply_edits(empty_plan(depth="intent"), edits, None)
    assert [w.milestones for w in plan.milestone_dependencies.waves] == [("M-001",), ("M-002",)]


@pytest.mark.requirement("PC-3")
def test_a_cycle_is_spelled_out() -> None:
    edits = [
        add("milestone", "$a", name="A", depends_on=["$c"]),
        add("milestone", "$b", name="B", depends_on=["$a"]),
        add("milestone", "$c", name="C", depends_on=["$b"]),
        add("milestone", name="D"),
    ]
    (problem,) = refusal(apply_edits, empty_plan(), edits, None)
    way = problem.problem.rpartition(": ")[2].split(" -> ")
    assert way[0] == way[-1]
    assert set(way) == {"M-001", "M-002", "M-003"}
    wanted = {"M-001": "M-003", "M-002": "M-001", "M-003": "M-002"}
    steps = set(pairwise(way))
    assert steps == {(b, a) for a, b in wanted.items()} or steps == set(wanted.items())


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a/..",
        "./a",
        "a//b",
        "a/",
        "a\0b",
        ".git/hooks/pre-commit",
        "sub/.git/config",
        ".GIT/config",
        "sub/.Git/x",
        ".planner/planner.db",
        ".Planner/x",
        ".git",
    ],
)
def test_a_path_that_leaves_the_repository_or_enters_ours_is_refused(path: str) -> None:
    assert path_problem(path)


@pytest.mark.parametrize(
    "path", ["a", "a b/c,d.py", "ä/ö", "..a", "a..", ".gitignore", "x/.github/y", "a\\b", "-x"]
)
def test_an_odd_path_inside_the_repository_is_fine(path: str) -> None:
    assert path_problem(path) is None


@given(st.text(max_size=12), st.lists(st.sampled_from(["..", ".", "", ".git", "a"]), max_size=4))
def test_no_accepted_path_climbs_out(text: str, parts: list[str]) -> None:
    path = "/".join([*parts, text])
    if path_problem(path) is None:
        assert not {"..", ".", "", ".git"} & set(path.split("/"))


@pytest.mark.requirement("PL-15")
@pytest.mark.parametrize(
    ("value", "at"),
    [
        (2**53, "x"),
        (-(2**53), "x"),
        (1e16, "x"),
        (float("inf"), "x"),
        (float("-inf"), "x"),
        (float("nan"), "x"),
        (10**400, "x"),
        ("\ud800", "x"),
        (["a", "b\udfff"], "x[1]"),
        ({"k": {"l": (1, 2**60)}}, "x.k.l[1]"),
        ({"\udc00": 1}, "x (a key)"),
    ],
)
def test_a_value_that_could_not_be_frozen_is_named_with_its_place(value: object, at: str) -> None:
    assert [p.at for p in check_value("x", value)] == [at]


@pytest.mark.requirement("PL-15")
@pytest.mark.parametrize(
    "value", [2**53 - 1, -(2**53 - 1), 1.5, -0.0, True, None, "😀", "", [], {}]
)
def test_a_value_that_can_be_frozen_passes(value: object) -> None:
    assert list(check_value("x", value)) == []


# waves


@st.composite
def planned(draw: st.DrawFn) -> Plan:
    """Draw a plan of up to eight milestones that share files and depend on earlier ones."""
    count = draw(st.integers(0, 8))
    order = draw(st.permutations(range(count)))
    edits = []
    for place, number in enumerate(order):
        names = [f"$m{n}" for n in order[:place]]
        after = draw(st.lists(st.sampled_from(names), max_size=3, unique=True)) if names else []
        files = draw(st.lists(st.sampled_from("abcd"), max_size=2))
        edits.append(add("milestone", f"$m{number}", name="N", depends_on=after, files=files))
    edits = draw(st.permutations(edits))
    return apply_edits(empty_plan(depth="intent"), edits, None)[0]


@given(planned())
@settings(max_examples=examples(150))
def test_waves_hold_each_milestone_once_after_what_it_needs_with_no_shared_file(
    plan: Plan,
) -> None:
    waves = [list(w.milestones) for w in plan.milestone_dependencies.waves]
    wave_of = {name: n for n, wave in enumerate(waves) for name in wave}
    assert sorted(name for wave in waves for name in wave) == [m.id for m in plan.milestones]
    assert all(waves)
    assert [w.wave for w in plan.milestone_dependencies.waves] == [n + 1 for n in range(len(waves))]
    for milestone in plan.milestones:
        assert all(wave_of[d] < wave_of[milestone.id] for d in milestone.depends_on)
    by_id = {m.id: m for m in plan.milestones}
    for wave in waves:
        files = [f for name in wave for f in files_of(by_id[name])]
        assert len(files) == len(set(files))
    assert waves == compute_waves(plan.milestones)


@given(st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=1, max_size=6))
@settings(max_examples=examples(150))
def test_any_dependencies_give_waves_or_are_refused_with_a_way_round_the_circle(
    wanted: list[list[int]],
) -> None:
    names = [f"$m{n}" for n in range(len(wanted))]
    edits = [
        add("milestone", names[n], name="N", depends_on=[names[d % len(names)] for d in after])
        for n, after in enumerate(wanted)
    ]
    done, problems = outcome(apply_edits, empty_plan(), edits, None)
    for problem in problems:
        assert "cycle" in problem.problem or "depends on itself" in problem.problem
    if done:
        plan = done[0]
        assert find_cycle(plan.milestones) == []
        assert sum(len(w.milestones) for w in plan.milestone_dependencies.waves) == len(wanted)


def test_files_of_a_milestone_are_all_it_names_anywhere() -> None:
    data = copy.deepcopy(DATA)
    milestone = data["milestones"][0]
    milestone["tests"]["files"] = ["t.py"]
    milestone["documentation"]["docstrings"][0]["file"] = "d.py"
    milestone["code_changes"][0].update(file="new.py", old_file="old.py")
    milestone["documentation"]["changes"] = [{**CHANGE, "id": "CC-002", "file": "README.md"}]
    plan = Plan.model_validate(data)
    assert files_of(plan.milestones[0]) == {
        "a.py", "t.py", "d.py", "new.py", "old.py", "README.md",
    }  # fmt: skip
