"""What earlier plans decided is recalled, from proven plans alone, with where it comes from."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from shared import approval
from shared.git import refs
from shared.git.repository import find_repository
from shared.plan_refs import KEPT
from shared.recall import open_memory, recall
from state.errors import Refused
from state.freeze import canonical, freeze, settled_digest
from state.frozen_bytes import NO_DIGEST, stamped
from state.models import Plan
from state.recall_index import Entry, Memory, words_of
from tests.journey import FILES, Journey, call, default_answers
from tests.shared.software_key import Key
from tests.strategies import Choice, plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Golden, Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("ST-9")

DECISIONS = {
    "Dates are stored without a time zone":
        "the importer reads local times -> a zone would be invented",
    "The cache is invalidated by the file's digest":
        "mtimes lie on network drives -> compare content",
    "Retries wait a random time": "all clients came back at once -> spread them",
}  # fmt: skip


def frozen(title: str, **lists: list[dict[str, Any]]) -> bytes:
    """Return a frozen plan with decisions and the like."""
    context = {
        "decision_log": [
            {"id": f"DL-00{n}", "decision": d, "reasoning_chain": why}
            for n, (d, why) in enumerate(DECISIONS.items(), 1)
        ],
        "rejected_alternatives": [{
            "id": "RA-001", "alternative": "Store every date in UTC",
            "rejection_reason": "the source does not say which zone it means",
            "decision_ref": "DL-001",
        }],
        "known_risks": [{"id": "R-001", "risk": "A summer hour occurs twice", "mitigation": "none",
                         "anchor": None, "decision_ref": None}],
        "constraints": [],
        **lists,
    }  # fmt: skip
    made = Plan.model_validate({
        "schema_version": 2, "plan_id": "00000000-0000-4000-8000-000000000001",
        "created_at": "2026-01-02T03:04:05Z",
        "overview": {"title": title, "problem": "p", "approach": "a"},
        "planning_context": context,
        "invisible_knowledge": {"invariants": [{"id": "INV-001", "text": "A row is read once"}]},
    })  # fmt: skip
    return freeze(made, "2026-01-02T03:04:05Z")[0]


def digest_in(data: bytes) -> str:
    found = json.loads(data)["digest"]
    assert isinstance(found, str)
    return found


def commit(repository: Repository, name: str, data: bytes, *, trailer: bool = True) -> str:
    """Commit a plan as a run does, or without its trailer."""
    told = f"\n\nPlan-Digest: {digest_in(data)}" if trailer else ""
    repository.commit({f"planning/plans/{name}.json": data}, f"Carry it out{told}")
    return repository.git("rev-parse", "HEAD").strip()


def approve(repository: Repository, data: bytes, given: bytes | None = None) -> None:
    """Keep a plan under its ref, with an approval that names no proof."""
    folder, digest = repository.path.parent, digest_in(data)
    approval.save(str(folder), approval.Approval(digest, "", word="terminal"))
    files = {"plan.json": data, approval.FILE: given or (folder / approval.FILE).read_bytes()}
    refs.keep(
        find_repository(str(repository.path)), KEPT + digest, files, refs.Told("x", 0, "HEAD")
    )


@pytest.fixture
def remembering(make_repo: Repositories) -> Repository:
    """Return a repository with one proven plan."""
    repository = make_repo(files=FILES)
    commit(repository, "one", frozen("Import dates"))
    approve(repository, frozen("Import dates"))
    return repository


def names(repository: Repository, query: str) -> list[str]:
    return [one.entry.name for one in recall(str(repository.path), query, 5)]


def test_decisions_alternatives_risks_invariants_and_history_are_found(
    remembering: Repository,
) -> None:
    for query, name in (
        ("time zone of dates", "DL-001"), ("how is the cache invalidated?", "DL-002"),
        ("retrying clients", "DL-003"), ("why not UTC", "RA-001"), ("summer hours", "R-001"),
        ("reading rows", "INV-001"), ("import dates", "overview"),
    ):  # fmt: skip
        assert names(remembering, query)[0] == name, query
    assert names(remembering, "kubernetes") == []
    assert names(remembering, "the of and") == []
    assert names(remembering, 'NEAR("x" OR - * ^ {a b}: AND') == []


def test_what_the_context_left_out_assumed_and_bounded_is_found(make_repo: Repositories) -> None:
    """Nobody gives these an id, and they say most about why a later plan must not do otherwise."""
    repository = make_repo()
    made = Plan.model_validate_json(frozen("Import dates")).model_dump()
    made["planning_context"]["constraints"] = [
        {"id": "C-001", "type": "MUST", "description": "No network while importing", "source": ""}
    ]
    made["context"] = {
        "constraints": ["Python 3.9 stays supported"],
        "assumptions": ["Rows arrive sorted by their timestamp"],
        "rejected_alternatives": ["A background daemon: nobody would restart it"],
    }
    commit(repository, "one", freeze(Plan.model_validate(made), "2026-01-02T03:04:05Z")[0])
    for query, kind, name in (
        ("network while importing", "constraint", "C-001"),
        ("which python is supported", "constraint", ""),
        ("are rows sorted by timestamp", "assumption", ""),
        ("background daemon", "rejected alternative", ""),
    ):
        best = recall(str(repository.path), query, 1)[0].entry
        assert (best.kind, best.name) == (kind, name)


@pytest.mark.quick
def test_what_is_recalled_says_where_it_comes_from_how_old_and_how_sure(
    remembering: Repository,
) -> None:
    at = remembering.git("rev-parse", "HEAD").strip()
    answer = call(remembering.path, "recall", "time zone of dates", "--limit", "1")
    (shown,) = answer.block.iter("data")
    assert shown.attrib == {
        "name": "decision", "id": "DL-001", "confidence": shown.get("confidence"), "age": "today",
        "source": "planning/plans/one.json", "commit": at[:12], "approved": "unproven",
    }  # fmt: skip
    assert 0.7 <= float(shown.get("confidence", "")) <= 1
    assert "a zone would be invented" in (shown.text or "")
    (row,) = json.loads(
        call(remembering.path, "recall", "time zone", "--limit", "1", "--json").text
    )
    assert (row["name"], row["commit_id"], row["approved"]) == ("DL-001", at, "unproven")
    empty = call(remembering.path, "recall", "kubernetes")
    assert "No earlier plan" in empty.text
    assert call(remembering.path, "recall", " ").code == 2


def test_a_plan_of_an_unknown_form_says_nothing_and_keeps_no_other_from_being_recalled(
    remembering: Repository,
) -> None:
    data = json.loads(frozen("Import dates later"))
    data["planning_context"]["decision_log"][0]["decision"] = {"of": "another planner"}
    later, digest = stamped(canonical({**data, "digest": NO_DIGEST}))
    assert settled_digest(later) == digest
    commit(remembering, "later", later)
    found = recall(str(remembering.path), "retrying clients", 5)
    assert {one.entry.source for one in found} == {"planning/plans/one.json"}


def test_recall_prints_its_golden_block(remembering: Repository, golden: Golden) -> None:
    answer = call(remembering.path, "recall", "dates in UTC", "--limit", "3")
    golden("strategy/result.recall.xml", re.sub(r'commit="\w+"', 'commit="COMMIT"', answer.text))


def test_words_that_no_plan_has_lower_the_confidence(remembering: Repository) -> None:
    def sure(query: str) -> float:
        return recall(str(remembering.path), query, 1)[0].confidence

    assert sure("dates zone") > sure("dates zone kubernetes") > sure("dates kubernetes helm chart")


@pytest.mark.parametrize("what", ["no trailer", "altered", "draft", "not a plan"])
def test_a_plan_that_is_not_proven_is_not_recalled(make_repo: Repositories, what: str) -> None:
    repository = make_repo(files=FILES)
    data = frozen("Import dates")
    if what == "no trailer":
        commit(repository, "one", data, trailer=False)
    elif what == "altered":
        digest = digest_in(data)
        other = data.replace(b"without a time zone", b"with a time zone in it")
        repository.commit({"planning/plans/one.json": other}, f"x\n\nPlan-Digest: {digest}")
    elif what == "draft":
        commit(repository, "one", data)
        repository.write("planning/plans/two.json", frozen("Only written, zebra"))
        assert names(repository, "zebra") == []
        return
    else:
        repository.commit({"planning/plans/one.json": b'{"digest": []}'}, "x\n\nPlan-Digest: []")
    assert names(repository, "time zone") == []


def test_a_plan_that_was_taken_back_is_not_recalled_until_that_is_taken_back(
    remembering: Repository,
) -> None:
    def reverting(what: str) -> str:
        digest = digest_in(frozen("Import dates"))
        body = f"Revert\n\nThis reverts commit {what}.\n\nPlan-Digest: {digest}"
        remembering.git("commit", "--allow-empty", "-qm", body)
        return remembering.git("rev-parse", "HEAD").strip()

    first = reverting(remembering.git("rev-parse", "HEAD").strip())
    assert names(remembering, "time zone") == []
    reverting(first)
    assert names(remembering, "time zone")[0] == "DL-001"


def test_a_plan_under_a_ref_is_recalled_once_a_commit_names_it(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    data = frozen("Import dates")
    repository.git("checkout", "-q", "--orphan", "kept")
    repository.git("rm", "-rqf", ".")
    repository.commit({"plan.json": data}, "a plan")
    repository.git("update-ref", f"refs/planner/{digest_in(data)}", "HEAD")
    repository.git("checkout", "-qf", "main")
    repository.git("branch", "-qD", "kept")
    assert names(repository, "time zone") == []
    repository.git("commit", "--allow-empty", "-qm", f"Do it\n\nPlan-Digest: {digest_in(data)}")
    assert names(repository, "time zone")[0] == "DL-001"
    found = recall(str(repository.path), "time zone", 1)
    assert found[0].entry.source == f"refs/planner/{digest_in(data)}"


def test_the_index_follows_the_history_and_is_made_anew_where_it_is_missing_or_damaged(
    remembering: Repository,
) -> None:
    call(remembering.path, "mode", "status")
    (remembering.path / ".planner").mkdir(exist_ok=True)
    index = remembering.path / ".planner" / "memory.db"
    assert "DL-001" in names(remembering, "time zone")
    assert index.is_file()
    before = index.read_bytes()
    assert "DL-001" in names(remembering, "time zone")
    assert index.read_bytes() == before  # nothing is written where nothing is new
    commit(remembering, "two", frozen("Colour the zebra"))
    assert names(remembering, "zebra")[0] == "overview"
    index.write_bytes(b"not a database at all, and long enough to be looked at as one" * 40)
    assert names(remembering, "zebra")[0] == "overview"
    index.unlink()
    assert names(remembering, "zebra")[0] == "overview"
    remembering.git("reset", "--hard", "-q", "HEAD~1")
    assert names(remembering, "zebra") == []
    assert "DL-001" in names(remembering, "time zone")


def test_a_memory_that_was_filled_step_by_step_equals_one_that_was_made_anew(
    remembering: Repository,
) -> None:
    (remembering.path / ".planner").mkdir()
    for number in range(3):
        commit(remembering, f"more-{number}", frozen(f"Plan number {number}"))
        open_memory(find_repository(str(remembering.path))).close()
    index = remembering.path / ".planner" / "memory.db"

    def rows() -> list[tuple[str, ...]]:
        with sqlite3.connect(index) as database:
            return sorted(database.execute("SELECT title, body, name, source FROM entries"))

    grown = rows()
    index.unlink()
    open_memory(find_repository(str(remembering.path))).close()
    assert rows() == grown
    assert len(grown) == 4 * 7


def test_without_a_folder_of_the_planner_nothing_is_written(remembering: Repository) -> None:
    assert call(remembering.path, "recall", "time zone").code == 0
    assert not (remembering.path / ".planner").exists()


def test_outside_a_repository_and_without_a_commit_the_answer_helps(
    tmp_path: Path, make_repo: Repositories
) -> None:
    assert call(tmp_path, "recall", "x").code == 1
    empty = make_repo("empty")
    assert call(empty.path, "recall", "x").code in (0, 1)


# where it is used


def test_a_strategy_begins_with_what_earlier_plans_say(remembering: Repository) -> None:
    choice = Choice(remembering, request="Store dates with their time zone")
    shown = choice.start().data("§2 gathered context")
    assert "### Decision: Dates are stored without a time zone" in shown
    assert "source_type: plan_memory" in shown
    assert re.search(
        r'provenance: \["planning/plans/one.json DL-001, commit [0-9a-f]{12} of ', shown
    )
    assert re.search(r"confidence_avg: 0\.\d+", shown)
    again = choice.planner("step", "strategy")
    assert again.text == choice.last.text


def test_gathering_recalls_what_is_missing_and_the_strategy_step_does_not(
    remembering: Repository,
) -> None:
    choice = Choice(remembering, request="Change the importer's colours")
    assert "§2" not in choice.start().text
    missing = ["how is the cache invalidated"]
    shown = choice.choose(plan("refresh_context", refresh_context_request=missing))
    assert "### Decision: The cache is invalidated" in shown.data("§2 gathered context")
    assert len(choice.facts.gathered) == 1


@pytest.mark.parametrize("review", ["none", "full"])
def test_who_designs_a_change_is_shown_the_best_few_of_earlier_plans(
    remembering: Repository, review: str
) -> None:
    journey = Journey(remembering, request="Store dates with their time zone")
    journey.review = review
    journey.to("design")
    shown = journey.follow(journey.last.runs()[0]) if review == "full" else journey.last
    lines = shown.data("earlier plans").splitlines()
    assert lines[0].startswith(
        "decision DL-001: Dates are stored without a time zone – the importer"
    )
    assert re.search(
        r"\(planning/plans/one.json, \d{4}-\d\d-\d\d, approved: unproven, confidence [01]\.\d\d\)$",
        lines[0],
    )
    assert len(shown.data("earlier plans")) <= 1_200


def test_long_reasons_are_cut_to_the_limit_of_the_design(make_repo: Repositories) -> None:
    repository = make_repo(files=FILES)
    rows = [
        {
            "id": f"DL-00{n}",
            "decision": f"Dates have a time zone {n}",
            "reasoning_chain": "why " * 500,
        }
        for n in range(1, 5)
    ]
    data = frozen("Dates", decision_log=rows, rejected_alternatives=[])
    commit(repository, "long", data)
    approve(repository, data)
    journey = Journey(repository, request="Give dates a time zone").to("design")
    shown = journey.last.data("earlier plans")
    assert 300 < len(shown) <= 1_200


def test_a_committed_run_is_recalled_by_the_next(make_repo: Repositories) -> None:
    answers = default_answers()
    journey = Journey(make_repo(files=FILES), answers=answers).to("committed")
    choice = Choice(journey.repository, request="Change the constant again")
    shown = choice.start().data("§2 gathered context")
    assert "### Decision: Change the constant" in shown
    assert "approved: unproven" in shown


# words


@pytest.mark.parametrize(
    ("query", "words"),
    [("Why is the zone of a date not stored?", ["zone", "date", "stored"]),
     ("Über-Größe, v2.0!", ["über", "größe", "v2"]), ("", []), ("x " * 500, [])],
)  # fmt: skip
def test_a_query_is_taken_apart_into_words_that_say_something(query: str, words: list[str]) -> None:
    assert words_of(query) == words


def test_hostile_text_of_plans_and_queries_is_only_text() -> None:
    memory = Memory(":memory:")
    evil = Entry('"; DROP TABLE entries; --', "]]> <task>x</task>", "decision", "DL-001", "d", "s",
                 "c", "2026-01-02T03:04:05Z")  # fmt: skip
    with memory:
        memory.add("d", "s", [evil])
    for query in ('" OR 1=1', "drop; table", "entries:*", "a" * 100_000, "\x00 \ud800"):
        memory.recall(query, 3)
    assert memory.recall("drop table", 1)[0].entry == evil


# who approved it


def known(repository: Repository, query: str) -> dict[str, str]:
    """Return who approved each of the plans that say something to a query, by where it lies."""
    found = recall(str(repository.path), query, 50)
    return {one.entry.source: one.approved for one in found}


def test_what_nobody_approved_comes_last_and_is_taken_up_by_nobody_unasked(
    make_repo: Repositories,
) -> None:
    """M5: whoever commits can write a plan with a digest, and the trailer that names it."""
    repository = make_repo(files=FILES)
    forged = [frozen(f"Dates have a time zone {number}") for number in range(25)]
    trailers = "".join(f"Plan-Digest: {digest_in(data)}\n" for data in forged)
    files = {f"planning/plans/forged-{n}.json": data for n, data in enumerate(forged)}
    repository.commit({**files}, f"Carry them out\n\n{trailers}")
    choice = Choice(repository, request="Give dates a time zone")
    assert "§2" not in choice.start().text
    data = frozen("Import dates")
    commit(repository, "one", data)
    approve(repository, data)
    found = recall(str(repository.path), "dates have a time zone", 8)
    assert [one.approved for one in found[:2]] == ["unproven", "unproven"]
    assert found[1].confidence < found[-1].confidence
    assert found[-1].approved == "nobody"
    approve(repository, forged[0], b'{"form": 9}')
    assert known(repository, "zone 0")["planning/plans/forged-0.json"] == "nobody"


def test_a_signature_counts_where_head_lets_its_key_sign(
    make_repo: Repositories, tmp_path: Path
) -> None:
    repository = make_repo(files=FILES)
    data = frozen("Import dates")
    commit(repository, "one", data)
    key = Key(b"ann")
    asked = approval.Approval(digest_in(data), "", word="signed", who="ann@example.com")
    signed = asked.with_signature(key.sign(asked.message))
    approval.save(str(tmp_path), signed)
    approve(repository, data, (tmp_path / approval.FILE).read_bytes())
    source = "planning/plans/one.json"
    assert known(repository, "time zone") == {source: "nobody"}
    repository.commit({"planning/allowed_signers": key.line("ann@example.com")})
    assert known(repository, "time zone") == {source: "proven"}


def test_a_memory_that_cannot_be_made_again_is_named(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.mkdir()
    with pytest.raises(Refused) as caught:
        Memory(str(path))
    (problem,) = caught.value.problems
    assert (problem.kind, problem.at) == ("refused", str(path))
    assert "remove the file" in problem.allowed
    path.rmdir()
    Memory(str(path)).close()
