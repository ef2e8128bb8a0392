"""A desk on which a plan and its captured files lie ready for the checks, in real git."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from quality_reviewer.checks.git_trees import Objects
from quality_reviewer.checks.registry import CHECKS, Subject, run_checks
from shared.git.change import read_changes
from shared.git.repository import find_repository
from shared.git.vault import open_vault
from state.models import Plan
from state.waves import compute_waves

if TYPE_CHECKING:
    from shared.qr.types import Item
    from tests.conftest import Repository

Json = dict[str, object]
Files = dict[str, str | bytes | None]


def make_plan(**fields: object) -> Plan:
    """Return a sound plan of one milestone with `fields` replaced; the waves are computed."""
    data = {
        "schema_version": 2,
        "plan_id": "00000000-0000-4000-8000-000000000000",
        "created_at": "2026-01-01T00:00:00Z",
        "overview": {"title": "Dates", "problem": "They are text", "approach": "Parse them"},
        "task_spec": [{"id": "T-1", "text": "Parse dates"}],
        "milestones": [make_milestone()],
        **fields,
    }
    plan = Plan.model_validate(data)
    if "milestone_dependencies" not in fields:
        waves = [
            {"wave": n, "milestones": ids}
            for n, ids in enumerate(compute_waves(plan.milestones), start=1)
        ]
        plan = Plan.model_validate({**data, "milestone_dependencies": {"waves": waves}})
    return plan


def make_milestone(**fields: object) -> Json:
    """Return a sound milestone as JSON."""
    return {
        "id": "M-001",
        "number": 1,
        "name": "Parse dates",
        "files": ["src/dates.py"],
        "requirements": ["T-1"],
        "acceptance_criteria": ["parse('2026-01-01') is a date"],
        "tests": {"files": ["tests/test_dates.py"], "type": "unit", "scenarios": {"normal": ["x"]}},
        "code_intents": [{"id": "CI-001", "file": "src/dates.py", "behavior": "parses"}],
        **fields,
    }


class Desk:
    """Makes subjects out of files before and after; answers are those of one check at a time."""

    def __init__(self, repo: Repository) -> None:
        self.repo = repo

    def tree(self, files: Files) -> str:
        """Write files, None removes one, and return the tree that all of them make."""
        for name, content in files.items():
            path = self.repo.path / name
            if content is None:
                path.unlink()
            else:
                self.repo.write(name, content)
        self.repo.git("add", "--all", "--force")
        return self.repo.git("write-tree")

    def subject(
        self,
        after: Files,
        before: Files | None = None,
        *,
        as_docs: bool = False,
        plan: Json | None = None,
        **milestone: object,
    ) -> Subject:
        """Return a plan whose one milestone turns `before` into `after`, and lists those files."""
        base_tree = self.tree(before or {})
        tree = self.tree(after)
        repository = find_repository(str(self.repo.path))
        vault = open_vault(repository, str(self.repo.path.parent / "vault.git"))
        changes = [
            {**vars(change), "id": f"CC-{n:03d}"}
            for n, change in enumerate(read_changes(vault, base_tree, tree), start=1)
        ]
        files = sorted({c["file"] for c in changes} | {c["old_file"] or c["file"] for c in changes})
        intents = [
            {"id": f"CI-{n:03d}", "file": file, "behavior": "does it"}
            for n, file in enumerate(files, start=1)
        ]
        fields: Json = {"files": files, "code_intents": [] if as_docs else intents}
        fields |= {"tests": {"skip_reason": "nothing behaves differently"}}
        fields |= {"documentation": {"changes": changes}} if as_docs else {"code_changes": changes}
        whole = make_plan(milestones=[make_milestone(**{**fields, **milestone})], **(plan or {}))
        trees = Objects(repository, vault)
        return Subject(whole, base_tree=base_tree, tree=tree, trees=trees)


@pytest.fixture
def desk(repo: Repository) -> Desk:
    """Return a desk in a repository with one commit."""
    return Desk(repo)


def answers(check_id: str, subject: Subject) -> list[Item]:
    """Return what one check answers."""
    phase = next(c.phase for c in CHECKS if c.id == check_id)
    return [item for item in run_checks(phase, subject) if item.check == check_id]


def findings(check_id: str, subject: Subject) -> list[tuple[str, str, str]]:
    """Return status, scope and text of what one check finds; PASS is an empty list."""
    return [
        (item.status, item.scope, item.finding or "")
        for item in answers(check_id, subject)
        if item.status != "PASS"
    ]
