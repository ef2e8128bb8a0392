"""Have a person write remarks on a plan in their editor, and send what comes back (LP-4)."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.submit.remarks import heading
from orchestrator.submit.review_file import has_remarks, read_back, rows_of, text_of
from orchestrator.submit.revise import revise_plan
from shared import resources
from shared.plan_file import check_active, check_frozen
from state.errors import AGAIN, Problem, Refused
from state.files import read_bytes, write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orchestrator.submit.review_file import Row
    from shared.run import State

_EDITORS = ("GIT_EDITOR", "VISUAL", "EDITOR")
_SHORT = 12


class Edited(NamedTuple):
    """What came of an editor."""

    # Whether remarks were sent.
    is_sent: bool
    # Where they are written, or would have been.
    path: str


def editor_words(env: Mapping[str, str]) -> list[str]:
    """Return the words of the command that opens the person's editor; Refused if none is named."""
    for name in _EDITORS:
        if not env.get(name, "").strip():
            continue
        try:
            return shlex.split(env[name])
        except ValueError as error:
            text = f"the command in it cannot be read: {error}"
            raise Refused("invalid", name, text, "a command, such as `nano`") from None
    text = "no editor is named"
    raise Refused("not_found", "EDITOR", text, f"a command in one of {', '.join(_EDITORS)}")


def edit_remarks(state: State, words: Sequence[str]) -> Edited:
    """Open an editor on the submitted plan, and open its next revision with what it says there.

    What was written stays in its file until the plan has it, whatever is in the way.
    """
    check_active(state)
    plan = check_frozen(state)
    short = (plan.digest or "")[:_SHORT]
    draft = resources.answer_path(state.state_dir, f"review-{short}.diff")
    path = resources.answer_path(state.state_dir, f"review-{short}.md")
    rows = rows_of(plan)
    if not os.path.isfile(draft) or not has_remarks(_text(draft)):
        os.makedirs(os.path.dirname(draft), exist_ok=True)
        write_atomic(draft, text_of(rows).encode())
    _open(words, draft)
    if not (remarks := _read(rows, draft)):
        os.remove(draft)
        return Edited(is_sent=False, path=path)
    try:
        write_atomic(path, f"{heading(plan)}\n{remarks}\n".encode())
        revise_plan(state, _text(path))
    except Refused as refusal:
        raise _kept(refusal, draft) from None
    with contextlib.suppress(OSError):
        os.remove(draft)
    return Edited(is_sent=True, path=path)


def _text(path: str) -> str:
    return read_bytes(path).decode("utf-8", "replace")


def _open(words: Sequence[str], path: str) -> None:
    """Run the editor until it is closed; Refused if it cannot be started or fails."""
    name = words[0]
    try:
        code = subprocess.run([*words, path], check=False).returncode
    except OSError as error:
        text = f"the editor cannot be started: {error.strerror}"
        raise Refused("not_found", name, text, "another one in EDITOR", AGAIN) from None
    if code:
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        text = f"the editor ended {how}, so nothing is sent"
        raise _kept(Refused("refused", name, text, "", AGAIN), path)


def _read(rows: Sequence[Row], draft: str) -> str:
    try:
        return read_back(rows, _text(draft))
    except Refused as refusal:
        raise _kept(refusal, draft) from None


def _kept(refusal: Refused, draft: str) -> Refused:
    """Return a refusal that also says where the person's words are."""
    words = f"your words are in {draft}, which the same command opens again"
    return Refused.of([
        Problem(one.kind, one.at, f"{one.problem}; {words}", one.allowed, one.retry or AGAIN,
                one.output)
        for one in refusal.problems
    ])  # fmt: skip
