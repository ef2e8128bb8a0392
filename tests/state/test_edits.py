"""Edits: add, set, remove, batches, names, roles (PL-11, PL-12, PL-13)."""

from __future__ import annotations

import json
import re
from typing import Any, ClassVar

import pytest

from state.actors import ARCHITECT, DEVELOPER, ROLES, WRITER
from state.edits import apply_edits
from state.kinds import KINDS, entities, find, schema
from state.milestones import DOC_LISTS, title_of
from state.models import Plan
from tests.state.plans import (
    EVERY_KIND,
    SETS,
    add,
    change,
    empty_plan,
    kind_of,
    older_plan,
    outcome,
    plain,
    refusal,
    remove,
    sample_plan,
)

# What each kind needs in an otherwise empty batch; milestones and decisions come first.
NEEDED: dict[str, dict[str, Any]] = {
    "decision": {"decision": "D"},
    "alternative": {"alternative": "A", "rejection_reason": "R"},
    "constraint": {"description": "C"},
    "risk": {"risk": "R"},
    "invariant": {"text": "I"},
    "tradeoff": {"text": "T"},
    "milestone": {"name": "N"},
    "intent": {"milestone": "M-001", "file": "a.py", "behavior": "B"},
    "doc": {"milestone": "M-001", "kind": "docstring", "file": "a.py"},
    "diagram": {"title": "G"},
    "checkpoint": {
        "question": "Q",
        "options": [{"key": "a", "label": "A"}, {"key": "b", "label": "B"}],
    },
}


def edited(*edits: object, plan: Plan | None = None, role: str | None = None) -> Plan:
    return apply_edits(plan or sample_plan(), edits, role)[0]


def refused(*edits: object, plan: Plan | None = None, role: str | None = None) -> list[Any]:
    return refusal(apply_edits, plan or sample_plan(), edits, role)


def one(plan: Plan, entity: str) -> dict[str, Any]:
    found = find(plan, entity)
    assert found is not None, entity
    fields: dict[str, Any] = found.entity.model_dump(mode="json")
    return fields


@pytest.mark.requirement("PL-11")
class TestAnEdit:
    def test_each_kind_can_be_added_and_gets_an_id_of_its_prefix_and_version_one(self) -> None:
        addable = {n for n, k in KINDS.items() if k.is_added}
        assert set(NEEDED) == addable
        for kind, fields in NEEDED.items():
            plan, applied = apply_edits(sample_plan(), [add(kind, **fields)], None)
            (done,) = applied
            assert (done.op, done.version) == ("add", 1)
            assert done.id.startswith(f"{KINDS[kind].prefix}-")
            assert len(done.id.rpartition("-")[2]) == 3
            assert one(plan, done.id)["version"] == 1

    @pytest.mark.parametrize("entity", SETS)
    def test_each_kind_can_be_set_and_its_version_rises(self, entity: str) -> None:
        before = one(sample_plan(), entity)
        after = one(edited(change(entity, before["version"], **SETS[entity])), entity)
        assert after == {**before, **SETS[entity], "version": before["version"] + 1}

    @pytest.mark.parametrize(
        "entity", [i for i in SETS if "-" in i and not i.startswith(("CC", "RM", "CP"))]
    )
    def test_each_kind_can_be_removed_with_what_refers_to_it(self, entity: str) -> None:
        free = [
            change("RA-001", 1, decision_ref=None),
            change("R-001", 1, decision_ref=None),
            change("CI-001", 1, decision_refs=[]),
            change("CC-001", 1, why_comments=[]),
            change("M-002", 1, depends_on=[], waits_for=[]),
        ]
        plan = edited(*free)
        data = plain(plan)
        data["milestones"][0]["code_changes"] = []
        data["counters"].pop("CC")
        plan = Plan.model_validate(data)
        version = one(plan, entity)["version"]
        assert find(edited(remove(entity, version), plan=plan), entity) is None

    @pytest.mark.parametrize("role", [None, ARCHITECT, DEVELOPER, WRITER])
    @pytest.mark.parametrize(
        ("entity", "said", "way"),
        [
            ("CP-001", "CP-001: a question stays in the plan, with what became of it", "withdraw"),
            ("RM-001", "RM-001 cannot be removed", "set RM-001"),
        ],
    )
    def test_what_a_person_was_asked_or_has_said_is_removed_by_nobody(
        self, role: str | None, entity: str, said: str, way: str
    ) -> None:
        """Also where nothing refers to it: it gets an outcome that the approver reads (SD-3)."""
        plan = edited(change("M-002", 1, waits_for=[]))
        (problem,) = refused(remove(entity), plan=plan, role=role)
        assert (problem.kind, problem.at, problem.problem) == ("invalid", "[0].id", said)
        assert problem.allowed.startswith(way)

    @pytest.mark.parametrize("entity", SETS)
    @pytest.mark.parametrize("version", [0, 7, None, "1", True, 1.0, [1]])
    def test_a_stale_or_missing_version_is_refused_with_the_entity_as_it_is(
        self, entity: str, version: object
    ) -> None:
        plan = sample_plan()
        current = one(plan, entity)
        for edit in (change(entity, version, **SETS[entity]), remove(entity, version)):
            stale = {k: v for k, v in edit.items() if not (k == "version" and v is None)}
            if version == current["version"] and type(version) is int:
                continue
            (problem,) = refused(stale, plan=plan)
            assert (problem.kind, problem.at) == ("conflict", "[0].version")
            shown = json.loads(problem.problem.partition("now: ")[2])
            assert shown == current
            assert problem.allowed == f"version {current['version']}"

    def test_when_a_decision_was_made_is_written_by_nobody_and_stays(self) -> None:
        plan = edited(add("decision", decision="D"))
        made = one(plan, "DL-002")["timestamp"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made)
        assert (
            one(edited(change("DL-002", 1, decision="E"), plan=plan), "DL-002")["timestamp"] == made
        )
        (problem,) = refused(change("DL-001", 1, timestamp=made))
        assert (problem.at, problem.problem) == ("[0].fields.timestamp", "there is no such field")

    def test_two_edits_of_one_entity_in_a_batch_count_versions_on(self) -> None:
        plan = edited(change("M-001", 1, name="A"), change("M-001", 2, name="B"))
        assert (one(plan, "M-001")["name"], one(plan, "M-001")["version"]) == ("B", 3)

    def test_a_text_with_commas_stays_one_text(self) -> None:
        listed = ["a, b, and c", "x,y"]
        plan = edited(change("M-001", 1, acceptance_criteria=listed, files=["a, b.py"]))
        assert one(plan, "M-001")["acceptance_criteria"] == listed
        assert one(plan, "M-001")["files"] == ["a, b.py"]

    def test_an_id_is_never_given_again(self) -> None:
        plan = empty_plan()
        for number in range(1, 4):
            plan, applied = apply_edits(plan, [add("risk", risk="r")], None)
            assert applied[0].id == f"R-{number:03d}"
            plan, _ = apply_edits(plan, [remove(applied[0].id)], None)

    def test_an_id_that_no_counter_knew_is_not_given_again_either(self) -> None:
        """Older plans, and imported ones, come without counters."""
        plan = Plan.model_validate({**older_plan(), "counters": {}})
        plan = edited(remove("R-001"), plan=plan)
        _, applied = apply_edits(plan, [add("risk", risk="r")], None)
        assert applied[0].id == "R-002"

    def test_ids_of_what_goes_with_a_milestone_are_not_given_again(self) -> None:
        data = plain(sample_plan())
        data["counters"] = {}
        data["milestones"][1]["depends_on"] = []
        plan = edited(remove("M-001"), plan=Plan.model_validate(data))
        made = apply_edits(
            plan,
            [
                add("intent", milestone="M-002", file="b.py", behavior="B"),
                add("doc", milestone="M-002", kind="docstring", file="b.py"),
                add("milestone", name="Three"),
            ],
            None,
        )[1]
        assert [a.id for a in made] == ["CI-002", "DOC-005", "M-003"]
        assert plan.counters["CC"] == 1

    def test_ids_beyond_three_digits_go_on(self) -> None:
        plan = empty_plan(counters={"R": 999})
        _, applied = apply_edits(plan, [add("risk", risk="r")], None)
        assert applied[0].id == "R-1000"

    def test_milestone_numbers_rise_and_stay_apart(self) -> None:
        plan = edited(change("M-002", 1, depends_on=[]), plan=sample_plan())
        plan = edited(remove("M-001"), add("milestone", name="Three"), plan=plan)
        assert [m.number for m in plan.milestones] == [2, 3]

    def test_waves_follow_every_edit(self) -> None:
        plan = edited(change("M-002", 1, depends_on=[]))
        assert [w.milestones for w in plan.milestone_dependencies.waves] == [("M-001", "M-002")]

    def test_a_reference_that_an_edit_leaves_dangling_is_refused(self) -> None:
        problems = refused(remove("DL-001"))
        assert {p.kind for p in problems} == {"not_found"}
        assert {p.at.rpartition(".")[2] for p in problems} == {
            "decision_ref",
            "decision_refs[0]",
            "why_comments",
        }

    def test_a_frozen_plan_takes_no_edit(self) -> None:
        plan = sample_plan().model_copy(update={"frozen_at": "2026-01-02T03:04:05Z"})
        (problem,) = refused(change("M-001", 1, name="x"), plan=plan)
        assert problem.kind == "frozen"

    def test_the_plan_that_was_given_is_left_as_it_was(self) -> None:
        plan = sample_plan()
        before = plan.model_dump_json()
        edited(*(change(i, one(plan, i)["version"], **f) for i, f in SETS.items()), plan=plan)
        refused(change("M-001", 1, name=3), plan=plan)
        assert plan.model_dump_json() == before

    def test_what_an_older_plan_holds_as_bare_text_stays(self) -> None:
        plan = edited(
            add("invariant", text="new"),
            add("doc", milestone="M-001", kind="docstring", file="src/dates.py"),
            plan=Plan.model_validate(older_plan()),
        )
        assert plan.invisible_knowledge.invariants[0] == "UTC inside"
        assert plan.milestones[0].documentation.docstrings[0] == "parse: reads a date"


@pytest.mark.requirement("PL-11")
class TestARefusal:
    """Names the place, says what is allowed, and all at once."""

    @pytest.mark.parametrize(
        ("edit", "at", "allowed"),
        [
            ("text", "[0]", '"op"'),
            (["op", "add"], "[0]", '"op"'),
            ({}, "[0].op", "add, set, remove"),
            ({"op": "replace"}, "[0].op", "add, set, remove"),
            ({"op": ["add"]}, "[0].op", "add, set, remove"),
            ({"op": "add", "kind": "epic", "fields": {}}, "[0].kind", "milestone, intent"),
            ({"op": "add", "kind": ["risk"], "fields": {}}, "[0].kind", "milestone, intent"),
            ({"op": "add", "kind": {}, "fields": {}}, "[0].kind", "milestone, intent"),
            ({"op": "add", "fields": {}}, "[0].kind", "milestone, intent"),
            ({"op": "add", "kind": "risk"}, "[0].fields", ""),
            ({"op": "add", "kind": "risk", "fields": []}, "[0].fields", ""),
            ({"op": "set", "version": 1, "fields": {}}, "[0].id", "M-001"),
            ({"op": "set", "id": 1, "version": 1, "fields": {}}, "[0].id", "M-001"),
            ({"op": "remove", "id": "R-001", "version": 1, "fields": {}}, "[0].fields", "version"),
            ({"op": "remove", "id": "R-009", "version": 1}, "[0].id", "R-001"),
            ({"op": "remove", "id": "$r", "version": 1}, "[0].id", "R-001"),
            (add("risk", "r", risk="x"), "[0].as", "$m1"),
            ({**add("risk", risk="x"), "as": ["$r"]}, "[0].as", "$m1"),
            (add("overview", title="x"), "[0].kind", "set overview"),
            (add("change", file="x"), "[0].kind", "plan capture"),
            (remove("overview", 2), "[0].id", "set overview"),
            (remove("CC-001"), "[0].id", "plan capture"),
            (add("risk", riks="x", risk="y"), "[0].fields.riks", "risk, mitigation, anchor"),
            (change("M-001", 1, number=3), "[0].fields.number", "name, files"),
            (change("M-001", 1, code_changes=[]), "[0].fields.code_changes", "name, files"),
            (change("CC-001", 1, patch="x"), "[0].fields.patch", "why_comments"),
            (change("M-001", 1, id="M-009"), "[0].fields.id", "name, files"),
            (change("M-001", 1, version=9), "[0].fields.version", "name, files"),
            (change("CI-001", 1, milestone="M-002"), "[0].fields.milestone", "again"),
            (change("CI-001", 1, milestone=None), "[0].fields.milestone", "again"),
            (change("DOC-001", 1, kind="docstring"), "[0].fields.kind", "again"),
            (add("intent", file="a", behavior="b"), "[0].fields.milestone", "M-001, M-002"),
            (
                add("intent", milestone="M-009", file="a", behavior="b"),
                "[0].fields.milestone",
                "M-001, M-002",
            ),
            (
                add("intent", milestone=["M-001"], file="a", behavior="b"),
                "[0].fields.milestone",
                "M-001, M-002",
            ),
            (
                add("doc", milestone="M-001", kind="poem", file="a"),
                "[0].fields.kind",
                "module-comment, docstring",
            ),
            (
                add("doc", milestone="M-001", kind=["docstring"], file="a"),
                "[0].fields.kind",
                "module-comment, docstring",
            ),
            (add("doc", milestone="M-001", file="a"), "[0].fields.kind", "module-comment"),
            (
                add("doc", milestone="M-001", kind="module-comment", file="a"),
                "[0].fields.kind",
                "change it with `set`",
            ),
            (change("M-001", 1, depends_on=["$x"]), "[0].fields.depends_on[0]", "none"),
            (change("M-002", 1, mode="sleep"), "[0].fields.mode", "'code'"),
            (change("M-001", 1, name=None), "[0].fields.name", ""),
            (change("M-001", 1, files="a.py"), "[0].fields.files", ""),
            (change("M-001", 1, max_turns="3"), "[0].fields.max_turns", ""),
            (change("CP-001", 1, options=[]), "[0].fields.options", ""),
            (change("CP-001", 1, multi="yes"), "[0].fields.multi", ""),
            (add("milestone"), "[0].fields.name", ""),
            (change("RA-001", 1, decision_ref="DL-1"), "[0].fields.decision_ref", "DL-"),
            (change("M-001", 1, name="\ud800"), "[0].fields.name", "valid UTF-8"),
            (change("M-001", 1, max_tokens=2**53), "[0].fields.max_tokens", "2^53"),
            (
                change("CI-001", 1, params={"n": float("nan")}),
                "[0].fields.params.n",
                "finite",
            ),
            (change("CI-001", 1, params={"n": 1e17}), "[0].fields.params.n", "2^53"),
            (change("CI-001", 1, params={"n": -(2**53)}), "[0].fields.params.n", "2^53"),
            (change("CI-001", 1, params={"\udfff": 1}), "[0].fields.params (a key)", "UTF-8"),
        ],
    )
    def test_names_the_place_and_what_is_allowed(self, edit: object, at: str, allowed: str) -> None:
        (problem,) = refused(edit)
        assert problem.at == at
        assert allowed in problem.allowed

    def test_nesting_that_could_not_be_read_again_is_refused(self) -> None:
        for depth in (96, 97, 98, 150, 5000):
            deep: Any = 1
            for _ in range(depth):
                deep = [deep]
            edit = change("CI-001", 1, params={"deep": deep})
            done, problems = outcome(apply_edits, sample_plan(), [edit], None)
            assert (done is None) == (depth > 97)  # in three objects
            assert not problems or "nested" in problems[0].problem
            if done:
                assert Plan.model_validate_json(done[0].model_dump_json()) == done[0]

    def test_shows_every_problem_of_every_edit_at_once(self) -> None:
        problems = refused(
            change("M-001", 1, nmae="x", files=[1, "a", 2]),
            {"op": "drop"},
            add("risk", color="red"),
            remove("R-077"),
            change("DL-001", 4, decision="x"),
            add("epic"),
        )
        assert [(p.kind, p.at) for p in problems] == [
            ("invalid", "[1].op"),
            ("invalid", "[5].kind"),
            ("invalid", "[0].fields.nmae"),
            ("invalid", "[0].fields.files[0]"),
            ("invalid", "[0].fields.files[2]"),
            ("invalid", "[2].fields.color"),
            ("invalid", "[2].fields.risk"),
            ("not_found", "[3].id"),
            ("conflict", "[4].version"),
        ]

    def test_shows_every_broken_rule_of_the_plan_at_once(self) -> None:
        problems = refused(
            change("M-001", 1, files=["../x", "b.py"], depends_on=["M-002"]),
            change("RA-001", 1, decision_ref="DL-050"),
        )
        assert {p.at for p in problems} == {
            "planning_context.rejected_alternatives[0].decision_ref",
            "milestones[0].files[0]",
            "milestones[1].files",
            "milestones",
        }

    def test_says_once_what_is_wrong_with_an_edit_that_others_refer_to(self) -> None:
        """A refused milestone is not missing as well for what was to go into it."""
        for bad in (
            add("milestone", "$n", name=1),
            add("milestone", "$n", name="N", files="x", color=2),
            {"op": "add", "kind": "milestone", "as": "$n", "fields": 1},
            {"op": "add", "kind": "epic", "as": "$n", "fields": {}},
        ):
            alone = [p.at for p in refused(bad)]
            with_others = refused(
                bad,
                add("intent", milestone="$n", file="n.py", behavior="b"),
                add("doc", milestone="$n", kind="module-comment", file="n.py"),
                add("milestone", name="O", depends_on=["$n"]),
                change("$n", 1, name="P"),
            )
            assert [p.at for p in with_others] == alone
            assert alone

    def test_leaves_the_plan_as_it_was(self) -> None:
        plan = sample_plan()
        before = plan.model_dump_json()
        refused(change("M-001", 1, name="x"), {"op": "drop"}, plan=plan)
        assert plan.model_dump_json() == before


@pytest.mark.requirement("PL-12")
class TestABatch:
    def test_is_all_or_nothing(self) -> None:
        for bad in ({"op": "drop"}, remove("R-099"), change("M-001", 1, files=["/etc/passwd"])):
            for position in (0, 7, len(EVERY_KIND)):
                edits = [*EVERY_KIND[:position], bad, *EVERY_KIND[position:]]
                plan = empty_plan()
                assert refused(*edits, plan=plan)
                assert plan == empty_plan()

    def test_answers_with_ids_and_versions_in_the_order_of_the_edits(self) -> None:
        _, applied = apply_edits(empty_plan(), EVERY_KIND, None)
        assert [(a.op, a.id, a.version) for a in applied][:4] == [
            ("set", "overview", 2),
            ("set", "knowledge", 2),
            ("add", "DL-001", 1),
            ("add", "RA-001", 1),
        ]
        assert len(applied) == len(EVERY_KIND)
        _, removed = apply_edits(
            sample_plan(), [remove("TO-001"), change("C-001", 1, type="x")], None
        )
        assert [tuple(a) for a in removed] == [("remove", "TO-001", 1), ("set", "C-001", 2)]

    def test_names_stand_for_ids_forward_and_backward(self) -> None:
        plan = edited(
            add("milestone", "$one", name="One", files=["1"]),
            add("milestone", "$two", name="Two", depends_on=["$one", "$three"], files=["2"]),
            add("milestone", "$three", name="Three", waits_for=["$ask"], files=["3"]),
            add("checkpoint", "$ask", **NEEDED["checkpoint"]),
            add("risk", risk="r", decision_ref="$why"),
            add("decision", "$why", decision="D"),
            add("intent", milestone="$two", file="2", behavior="b", decision_refs=["$why"]),
            plan=empty_plan(),
        )
        one, two, three = plan.milestones
        assert two.depends_on == (one.id, three.id)
        assert three.waits_for == (plan.checkpoints[0].id,)
        assert plan.planning_context.known_risks[0].decision_ref == "DL-001"
        assert two.code_intents[0].decision_refs == ("DL-001",)

    def test_names_stand_for_ids_in_nested_fields(self) -> None:
        comments = [{"text": "w", "decision_ref": "$d"}, "bare $d"]
        plan = edited(
            change("CC-001", 1, why_comments=comments), add("decision", "$d", decision="D")
        )
        assert one(plan, "CC-001")["why_comments"] == [
            {"text": "w", "decision_ref": "DL-002"},
            "bare $d",
        ]

    def test_what_was_just_added_can_be_set_and_removed_by_its_name(self) -> None:
        plan = edited(
            add("milestone", "$m", name="One"),
            change("$m", 1, name="Two"),
            add("risk", "$r", risk="r"),
            remove("$r"),
            plan=empty_plan(),
        )
        assert (plan.milestones[0].name, plan.milestones[0].version) == ("Two", 2)
        assert plan.planning_context.known_risks == ()

    def test_an_intent_may_not_come_before_its_milestone(self) -> None:
        problems = refused(
            add("intent", milestone="$m", file="a", behavior="b"),
            add("milestone", "$m", name="One"),
            plan=empty_plan(),
        )
        assert [p.at for p in problems] == ["[0].fields.milestone"]
        assert "add it before" in problems[0].problem

    def test_a_dollar_elsewhere_is_plain_text(self) -> None:
        plan = edited(
            add("risk", "$r", risk="$r costs $5", mitigation="$unknown"),
            change("CI-001", 1, params={"milestone": "$r", "depends_on": ["$x"]}),
        )
        assert plan.planning_context.known_risks[1].risk == "$r costs $5"
        assert one(plan, "CI-001")["params"] == {"milestone": "$r", "depends_on": ["$x"]}

    def test_a_name_given_twice_is_refused(self) -> None:
        (problem,) = refused(add("risk", "$r", risk="1"), add("risk", "$r", risk="2"))
        assert problem.at == "[1].as"

    def test_an_empty_batch_changes_nothing(self) -> None:
        plan, applied = apply_edits(sample_plan(), [], None)
        again, _ = apply_edits(plan, [], None)
        assert (again, applied) == (plan, [])


@pytest.mark.requirement("PL-13")
class TestARole:
    # Each author may ask, and says what became of what the user has said late (SD-3).
    MAY: ClassVar[dict[str, set[str]]] = {
        ARCHITECT: {*KINDS} - {"change"},
        DEVELOPER: {"change", "remark", "checkpoint"},
        WRITER: {"doc", "remark", "checkpoint"},
        "quality-reviewer": set(),
    }

    @pytest.mark.parametrize("role", ROLES)
    @pytest.mark.parametrize("kind", NEEDED)
    def test_adds_only_its_kinds(self, role: str, kind: str) -> None:
        plan, edit = sample_plan(), add(kind, **NEEDED[kind])
        if kind in self.MAY[role]:
            assert edited(edit, plan=plan, role=role) != plan
        else:
            (problem,) = refused(edit, plan=plan, role=role)
            assert (problem.kind, problem.at) == ("refused", "[0]")
            assert problem.allowed == (
                ", ".join(k for k in KINDS if k in self.MAY[role]) or "no kind"
            )

    @pytest.mark.parametrize("role", ROLES)
    @pytest.mark.parametrize("entity", SETS)
    def test_sets_and_removes_only_its_kinds(self, role: str, entity: str) -> None:
        plan = sample_plan()
        version = one(plan, entity)["version"]
        if kind_of(entity) in self.MAY[role]:
            assert edited(change(entity, version, **SETS[entity]), plan=plan, role=role) != plan
            return
        for edit in (change(entity, version, **SETS[entity]), remove(entity, version)):
            (problem,) = refused(edit, plan=plan, role=role)
            assert (problem.kind, problem.at) == ("refused", "[0]")

    @pytest.mark.requirement("SD-3")
    @pytest.mark.parametrize("role", [DEVELOPER, WRITER])
    def test_says_what_became_of_a_question_and_leaves_its_words(self, role: str) -> None:
        plan = sample_plan()
        for fields in ({"question": "N"}, {"header": "N"}, {"multi": True}):
            (problem,) = refused(change("CP-001", 1, **fields), plan=plan, role=role)
            assert "is asked already" in problem.problem, fields
        assert edited(change("CP-001", 1, outcome="declined: N"), plan=plan, role=role) != plan

    def test_that_is_out_of_scope_once_changes_nothing_at_all(self) -> None:
        plan = sample_plan()
        problems = refused(
            add("risk", risk="r"), change("CC-001", 1, why_comments=[]), plan=plan, role=ARCHITECT
        )
        assert [p.at for p in problems] == ["[1]"]
        assert plan == sample_plan()

    def test_is_not_shown_what_it_may_not_write_by_a_stale_version(self) -> None:
        (problem,) = refused(change("M-001", 9, name="x"), role=WRITER)
        assert problem.kind == "refused"


@pytest.mark.requirement("PL-10")
class TestReading:
    def test_entities_are_listed_by_kind_and_milestone(self) -> None:
        plan = sample_plan()
        assert [e.id for e in entities(plan, "milestone")] == ["M-001", "M-002"]
        assert [e.id for e in entities(plan, "milestone", "M-002")] == ["M-002"]
        assert len(entities(plan, "doc")) == 1 + len(DOC_LISTS)
        assert entities(plan, "intent", "M-002") == []
        assert [e.id for e in entities(plan, "change")] == ["CC-001"]

    def test_every_entity_has_a_title(self) -> None:
        for kind in NEEDED:
            assert all(title_of(entity) for entity in entities(sample_plan(), kind))

    def test_an_unknown_kind_is_refused_with_the_known_ones(self) -> None:
        (problem,) = refusal(entities, sample_plan(), "epic")
        assert "milestone" in problem.allowed
        (problem,) = refusal(schema, "epic")
        assert "milestone" in problem.allowed

    @pytest.mark.parametrize("kind", KINDS)
    def test_the_schema_of_a_kind_shows_what_an_edit_may_name(self, kind: str) -> None:
        shown = schema(kind)
        names = {*KINDS[kind].fields, *({"kind"} if kind == "doc" else set())}
        if kind == "change":
            names -= {"milestone"}
        assert set(shown["properties"]) == names
        assert set(shown["required"]) <= names
        assert {"id", "version"}.isdisjoint(shown["properties"])
