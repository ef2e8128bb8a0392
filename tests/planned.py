"""A repository with a branch on which a run has committed its plan, for commands that judge it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from cli.ci.inert import inert
from cli.validate import CI_FORMS, verdicts_in
from orchestrator.ci.validate_range import Wanted, judge_commits
from tests.journey import FILES, Answer, Journey, call
from tests.prepared import kept

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

LONG = "".join(f"# line {number}\n" for number in range(40))
ONE = f"def f(x):\n    return x + 1\n\n\n{LONG}"
TALL: dict[str, str | bytes] = {**FILES, "src/a.py": ONE}
TWO = f"def f(x):\n    return x + 2\n\n\n{LONG}"
KEPT = "refs/planner/"
FORMS = ("xml", "json", *CI_FORMS)


class Planned:
    """A repository with a branch `work` on which a run has committed its plan."""

    def __init__(self, make_repo: Repositories, files: dict[str, str | bytes] = TALL) -> None:
        self.repository = make_repo(files=files)
        self._commit_plan()

    @kept
    def _commit_plan(self) -> None:
        self.git("switch", "-q", "-c", "work")
        self.base = self.git("rev-parse", "HEAD")
        self.journey = Journey(self.repository)
        self.journey.edits["src/a.py"] = TWO
        self.journey.to("committed")
        self.commit = self.git("rev-parse", "HEAD")
        [self.ref] = self.git("for-each-ref", "--format=%(refname)", KEPT).splitlines()
        self.digest = self.ref.removeprefix(KEPT)

    def git(self, *words: str) -> str:
        return self.repository.git(*words)

    def validate(self, *words: str) -> Answer:
        return call(self.repository.path, "validate", *words)

    def each_form(self, between: str, require: str | None = None) -> dict[str, str]:
        """Return what each format says of one judgement."""
        judged = judge_commits(Wanted(str(self.repository.path), between, require=require))
        return {form: inert(verdicts_in(form, judged, require), form) for form in FORMS}

    def rows(self, between: str, *words: str) -> list[dict[str, Any]]:
        answer = self.validate("--range", between, "--format", "json", *words)
        found: list[dict[str, Any]] = json.loads(answer.text)["commits"]
        return found

    def verdicts(self, between: str) -> list[str]:
        return [row["verdict"] for row in self.rows(between)]
