"""Store what the assistant writes into sections: context, progress, the user's words, an answer.

Nothing of an earlier attempt is reset: each section only grows (ST-1, ST-5, ST-7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.strategy import after, number_of
from orchestrator.strategy_result import store
from orchestrator.strategy_route.answers import read_answer
from orchestrator.strategy_route.opening import at_work, check_step, find_strategy, move
from shared import named_files
from shared.strategy_record import ASKED, DONE, FAILED, GOAL_STATUSES, PASS, USER_ANSWER
from shared.strategy_record import FAIL as NOT_PASSED
from state.clock import now
from state.errors import Problem, Refused
from state.written_json import TEXT, TEXTS, an_object, checked, list_of

if TYPE_CHECKING:
    from shared.run import State
    from shared.strategy_record import Strategy

    Json = dict[str, Any]

_EXAMPLE = '{"title": "…", "source_type": "repository", "provenance": ["…"], "content": "…"}'
_BLOCK = an_object(
    {
        "title": TEXT, "source_type": TEXT, "node_ids": TEXTS, "provenance": TEXTS,
        "confidence_avg": {"type": "number", "minimum": 0, "maximum": 1,
                           "allowed": "a number from 0 to 1"},
        "content": TEXT,
    },
    ("title", "source_type", "provenance", "content"),
    _EXAMPLE,
)  # fmt: skip
# What is stored of a block; `gathered_at` is added.
BLOCK_FIELDS = tuple(_BLOCK["properties"])
_NEEDS = {"type": ["string", "boolean", "number"], "allowed": "true, false, a number or a text"}
_CONTEXT: Json = {
    "user_purpose": TEXT,
    "data_requirements": {"type": "object", "additionalProperties": _NEEDS,
                          "allowed": '{"needs_current_prices": true}'},
    "status": {"enum": (PASS, NOT_PASSED)}, "reason": TEXT,
    "gathered": list_of(_BLOCK, f"[{_EXAMPLE}]"),
    "nothing_found": {**TEXTS, "allowed": 'where you looked: ["…"]'},
}  # fmt: skip
_ENTRIES = '[{"goal": "GOAL_1", "status": "done", "result": "…"}]'
_CLAIMS = '[{"claim": "…", "source": "…"}]'
_CLAIM = an_object({"claim": TEXT, "source": TEXT}, ("claim", "source"), _CLAIMS)
MOST_ANSWER = 100_000  # characters


def add_file(state_dir: str | None, file: str) -> State:
    """Store a JSON file with `gathered` and other context, or with `progress` of goals."""
    state = find_strategy(state_dir)
    value = read_answer(state.state_dir, file)
    with at_work(state, "context") as facts:
        if isinstance(value, dict) and "progress" in value:
            _add_progress(state, facts, value)
        else:
            _add_context(state, facts, value)
    return state


def _add_context(state: State, facts: Strategy, value: object) -> None:
    given = _checked_context(value)
    before = (facts.purpose, facts.requirements, facts.status, facts.why, len(facts.gathered))
    facts.purpose = given.get("user_purpose", facts.purpose)
    facts.requirements = {**facts.requirements, **given.get("data_requirements", {})}
    if "status" in given:
        facts.status, facts.why = given["status"], given.get("reason", "")
    blocks = [*given.get("gathered", []), *_nothing(given, facts)]
    for block in blocks:
        whole = {"node_ids": [], "provenance": [], **block}
        if not any(_same_block(whole, known) for known in facts.gathered):
            facts.gathered.append({**whole, "gathered_at": now()})
    after_it = (facts.purpose, facts.requirements, facts.status, facts.why, len(facts.gathered))
    if after_it == before:
        if state.run.step != number_of("gather"):
            return  # the same command again
        if not blocks and "status" not in given:
            way = 'what was gathered, or {"nothing_found": ["where you looked"]}'
            raise Refused("invalid", "context", "it says nothing that is not known", way)
    check_step(state, ("gather", "strategy"), "context")
    store(state.state_dir, facts)
    passed = facts.status == PASS
    move(state, after(number_of("gather"), "gathered") if passed else number_of("gather"))


def _nothing(given: Json, facts: Strategy) -> list[Json]:
    """Return that nothing was found, as a block of §2 that says what for and where; or no block."""
    looked = given.get("nothing_found", [])
    wanted = (facts.plan or {}).get("refresh_context_request") or [facts.query]
    block = {"title": "Nothing found", "source_type": "search", "provenance": looked}
    return [{**block, "content": "Looked for: " + "; ".join(wanted)}] if looked else []


def _same_block(block: Json, known: Json) -> bool:
    return all(block.get(name) == known.get(name) for name in BLOCK_FIELDS)


def _checked_context(value: object) -> Json:
    failed = isinstance(value, dict) and value.get("status") == NOT_PASSED
    form = f'{{"gathered": [{_EXAMPLE}]}}'
    schema = an_object(_CONTEXT, ["reason"] if failed else [], form)
    return dict(checked(value, schema, "context"))


# progress of goals


def _add_progress(state: State, facts: Strategy, value: Json) -> None:
    entries = _checked_progress(value, facts)
    new = [{"attempt": facts.attempt, **entry} for entry in entries]
    new = [entry for entry in new if entry not in facts.progress]
    if not new:
        return  # the same command again
    check_step(state, ("execute",), "context")
    if problems := _out_of_order(entries, new, facts):
        raise Refused.of(problems)
    for entry in new:
        facts.progress.append(entry)
        facts.goals[entry["goal"]] = entry["status"]
    store(state.state_dir, facts)
    if all(status in (DONE, FAILED) for status in facts.goals.values()):
        move(state, after(state.run.step, "goals ended"))


def _out_of_order(entries: list[Json], new: list[Json], facts: Strategy) -> list[Problem]:
    """Return a problem for each goal that would be done though one that it uses is not."""
    needs = {goal["id"]: goal["depends_on"] for goal in (facts.plan or {}).get("goals", [])}
    statuses, problems = dict(facts.goals), []
    for number, entry in enumerate(entries):
        name, status = entry["goal"], entry["status"]
        lacking = [f"{one} is {statuses[one]}" for one in needs[name] if statuses[one] != DONE]
        if status == DONE and lacking and {"attempt": facts.attempt, **entry} in new:
            text = f"{name} uses what is not done: {', '.join(lacking)}"
            allowed = f"{DONE} once that is {DONE}; {FAILED} where it has {FAILED}"
            problems.append(Problem("refused", f"progress[{number}].status", text, allowed))
        statuses[name] = status
    return problems


def _checked_progress(value: Json, facts: Strategy) -> list[Json]:
    known = {
        "goal": {"enum": tuple(facts.goals)}, "status": {"enum": GOAL_STATUSES[1:]},
        "command": TEXT, "result": TEXT, "claims": list_of(_CLAIM, _CLAIMS),
    }  # fmt: skip
    entries = list_of(an_object(known, ("goal", "status"), _ENTRIES), _ENTRIES, minItems=1)
    return list(checked(value, an_object({"progress": entries}, (), ""), "context")["progress"])


# texts


def add_answer(state_dir: str | None, file: str) -> State:
    """Store a file as the answer for the user, §6; the one before it stays."""
    state = find_strategy(state_dir)
    text = _text_of(state, file)
    with at_work(state, "context") as facts:
        entry = {"attempt": facts.attempt, "text": text}
        written = state.run.step != number_of("synthesis")
        if written and facts.answers and facts.answers[-1] == entry:
            return state
        check_step(state, ("synthesis",), "context --synthesis")
        facts.answers.append(entry)
        store(state.state_dir, facts)
        move(state, after(state.run.step, "written"))
    return state


def add_words(state_dir: str | None, file: str) -> State:
    """Store the user's words, in answer to the question of the strategy, as a block of §2."""
    state = find_strategy(state_dir)
    text = _text_of(state, file)
    with at_work(state, "context") as facts:
        question = str((facts.plan or {}).get("clarification_question", ""))
        block = {
            "title": "The user's answer", "source_type": USER_ANSWER, "node_ids": [],
            "provenance": [f"{ASKED}{question}"], "confidence_avg": 1.0, "content": text,
        }  # fmt: skip
        answered = state.run.step != number_of("clarify")
        if answered and any(_same_block(block, known) for known in facts.gathered):
            return state
        check_step(state, ("clarify",), "context --answer")
        facts.gathered.append({**block, "gathered_at": now()})
        facts.status, facts.why = PASS, ""
        store(state.state_dir, facts)
        move(state, after(state.run.step, "answered"))
    return state


def _text_of(state: State, file: str) -> str:
    text = named_files.read_answer(state.state_dir, file).text().strip()
    if not text:
        raise Refused("invalid", file, "the file is empty", "write the text into it")
    if len(text) > MOST_ANSWER:
        problem = f"the file has {len(text)} characters; at most {MOST_ANSWER} are taken"
        raise Refused("invalid", file, problem, "write a shorter one")
    return text
