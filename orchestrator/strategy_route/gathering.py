"""Store what the assistant writes into sections: context, progress, the user's words, an answer.

Nothing of an earlier attempt is reset: each section only grows (ST-1, ST-5, ST-7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.strategy import after, number_of
from orchestrator.strategy_route.opening import at_work, check_step, find_strategy, move, store
from orchestrator.strategy_route.shape import Shape, read_answer
from shared import named_files
from shared.strategy_record import DONE, FAILED, GOAL_STATUSES, PASS
from shared.strategy_record import FAIL as NOT_PASSED
from state.clock import now
from state.errors import Refused

if TYPE_CHECKING:
    from shared.run import State
    from shared.strategy_record import Strategy

    Json = dict[str, Any]

CONTEXT_FIELDS = ("user_purpose", "data_requirements", "status", "reason", "gathered")
BLOCK_FIELDS = ("title", "source_type", "node_ids", "provenance", "confidence_avg", "content")
PROGRESS_FIELDS = ("goal", "status", "command", "result", "claims")
_BLOCK = '{"title": "…", "source_type": "repository", "provenance": ["…"], "content": "…"}'
_ENTRY = '{"goal": "GOAL_1", "status": "done", "result": "…"}'
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
    for block in given.get("gathered", []):
        whole = {"node_ids": [], "provenance": [], **block}
        if not any(_same_block(whole, known) for known in facts.gathered):
            facts.gathered.append({**whole, "gathered_at": now()})
    after_it = (facts.purpose, facts.requirements, facts.status, facts.why, len(facts.gathered))
    if after_it == before:
        return  # the same command again
    check_step(state, ("gather", "strategy"), "context")
    store(state, facts)
    passed = facts.status == PASS
    move(state, after(number_of("gather"), "gathered") if passed else number_of("gather"))


def _same_block(block: Json, known: Json) -> bool:
    return all(block.get(name) == known.get(name) for name in BLOCK_FIELDS)


def _checked_context(value: object) -> Json:
    found = Shape("context")
    found.storable(value)
    if not isinstance(value, dict):
        found.wrong("context", value, f'an object: {{"gathered": [{_BLOCK}]}}')
        raise Refused.of(found.problems)
    found.only(value, CONTEXT_FIELDS, "")
    found.text(value, "user_purpose", "", needed=False)
    found.text(value, "reason", "", needed=value.get("status") == NOT_PASSED)
    if "status" in value:
        found.one_of(value, "status", (PASS, NOT_PASSED), "")
    needed = value.get("data_requirements", {})
    if not isinstance(needed, dict):
        found.wrong("data_requirements", needed, 'an object: {"needs_current_prices": true}')
    else:
        for name, one in needed.items():
            if not isinstance(one, str | bool | int | float):
                found.wrong(f"data_requirements.{name}", one, "true, false, a number or a text")
    blocks = value.get("gathered", [])
    if not isinstance(blocks, list):
        found.wrong("gathered", blocks, f"a list: [{_BLOCK}]")
    else:
        for number, block in enumerate(blocks):
            _check_block(found, block, f"gathered[{number}]")
    found.refuse()
    return value


def _check_block(found: Shape, block: object, at: str) -> None:
    if not isinstance(block, dict):
        found.wrong(at, block, f"an object: {_BLOCK}")
        return
    found.only(block, BLOCK_FIELDS, f"{at}.")
    for name in ("title", "source_type", "content"):
        found.text(block, name, f"{at}.")
    found.texts(block, "provenance", f"{at}.")
    found.texts(block, "node_ids", f"{at}.", needed=False)
    sure = block.get("confidence_avg", 1)
    if isinstance(sure, bool) or not isinstance(sure, int | float) or not 0 <= sure <= 1:
        found.wrong(f"{at}.confidence_avg", sure, "a number from 0 to 1")


# progress of goals


def _add_progress(state: State, facts: Strategy, value: Json) -> None:
    entries = _checked_progress(value, facts)
    new = [{"attempt": facts.attempt, **entry} for entry in entries]
    new = [entry for entry in new if entry not in facts.progress]
    if not new:
        return  # the same command again
    check_step(state, ("execute",), "context")
    for entry in new:
        facts.progress.append(entry)
        facts.goals[entry["goal"]] = entry["status"]
    store(state, facts)
    if all(status in (DONE, FAILED) for status in facts.goals.values()):
        move(state, after(state.run.step, "goals ended"))


def _checked_progress(value: Json, facts: Strategy) -> list[Json]:
    found = Shape("context")
    found.storable(value)
    found.only(value, ("progress",), "")
    entries = value["progress"]
    if not isinstance(entries, list) or not entries:
        found.wrong("progress", entries, f"a list: [{_ENTRY}]")
        raise Refused.of(found.problems)
    for number, entry in enumerate(entries):
        at = f"progress[{number}]"
        if not isinstance(entry, dict):
            found.wrong(at, entry, f"an object: {_ENTRY}")
            continue
        found.only(entry, PROGRESS_FIELDS, f"{at}.")
        found.one_of(entry, "goal", tuple(facts.goals), f"{at}.")
        found.one_of(entry, "status", GOAL_STATUSES[1:], f"{at}.")
        for name in ("command", "result"):
            found.text(entry, name, f"{at}.", needed=False)
        _check_claims(found, entry.get("claims", []), f"{at}.claims")
    found.refuse()
    return entries


def _check_claims(found: Shape, claims: object, at: str) -> None:
    form = '[{"claim": "…", "source": "…"}]'
    if not isinstance(claims, list):
        found.wrong(at, claims, f"a list: {form}")
        return
    for number, claim in enumerate(claims):
        here = f"{at}[{number}]"
        if not isinstance(claim, dict):
            found.wrong(here, claim, f"an object: {form}")
            continue
        found.only(claim, ("claim", "source"), f"{here}.")
        for name in ("claim", "source"):
            found.text(claim, name, f"{here}.")


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
        store(state, facts)
        move(state, after(state.run.step, "written"))
    return state


def add_words(state_dir: str | None, file: str) -> State:
    """Store the user's words, in answer to the question of the strategy, as a block of §2."""
    state = find_strategy(state_dir)
    text = _text_of(state, file)
    with at_work(state, "context") as facts:
        question = str((facts.plan or {}).get("clarification_question", ""))
        block = {
            "title": "The user's answer", "source_type": "user_answer", "node_ids": [],
            "provenance": [f"asked: {question}"], "confidence_avg": 1.0, "content": text,
        }  # fmt: skip
        answered = state.run.step != number_of("clarify")
        if answered and any(_same_block(block, known) for known in facts.gathered):
            return state
        check_step(state, ("clarify",), "context --answer")
        facts.gathered.append({**block, "gathered_at": now()})
        facts.status, facts.why = PASS, ""
        store(state, facts)
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
