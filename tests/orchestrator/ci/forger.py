"""Forges plans, approvals and commits as somebody might bring them to CI."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from orchestrator.ci.judged import ENOUGH
from shared import approval
from state.freeze import freeze
from state.store import parse_plan
from tests.planned import TALL, Planned
from tests.shared.software_key import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shared.approval import Approval
    from state.models import Plan
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

LAST = "HEAD~1..HEAD"
ANN = "ann@example.com"
SIGNERS = "planning/allowed_signers"
PROVEN = '[approval]\nrequire = "proven"\n'


class Forger(Planned):
    """A repository with a committed plan, whose base lists Ann's key, and what forges others."""

    def __init__(self, make_repo: Repositories) -> None:
        self.key = Key(b"Ann's")
        super().__init__(make_repo, {**TALL, SIGNERS: self.key.line(ANN)})
        kept = self.git("show", f"{self.ref}:plan.json").encode()
        self.plan = parse_plan(kept, "plan.json")
        self.approval = approval.parse(self.git("show", f"{self.ref}:approval.json").encode(), "a")

    @functools.cached_property
    def strict(self) -> str:
        """A commit of a target branch where only what is proven counts."""
        here = self.git("symbolic-ref", "--short", "HEAD")
        self.git("switch", "-q", "-c", "strict", self.base)
        made = self.repository.commit({"planner.toml": PROVEN}, "Only proven approvals")
        self.git("switch", "-q", here)
        return made

    # plans

    def refrozen(self, plan: Plan) -> tuple[bytes, str]:
        """Return the bytes and digest of a plan that is frozen anew."""
        return freeze(plan.model_copy(update={"digest": None, "seals": {}}), "2026-01-02T03:04:05Z")

    def with_changes(self, **values: Mapping[str, Any]) -> Plan:
        """Return the plan with other values in the change of each file named `src__a.py`."""
        named = {name.replace("__", "/").replace("_py", ".py"): v for name, v in values.items()}
        milestones = []
        for milestone in self.plan.milestones:
            changes = [c.model_copy(update=named.get(c.file, {})) for c in milestone.code_changes]
            milestones.append(milestone.model_copy(update={"code_changes": tuple(changes)}))
        return self.plan.model_copy(update={"milestones": tuple(milestones)})

    # approvals

    def given(self, digest: str = "", **values: Any) -> Approval:  # noqa: ANN401 – the fields
        """Return an approval without a signature."""
        bare = self.approval._replace(digest=digest or self.digest, commit=None)
        return bare._replace(**values)

    def signed(self, digest: str = "", **values: Any) -> Approval:  # noqa: ANN401 – the fields
        """Return an approval that Ann has signed with a touched key."""
        asked = self.given(digest, word="signed", who=ANN, **values)
        return asked.with_signature(self.key.sign(asked.message))

    # refs and commits

    def blob(self, data: bytes) -> str:
        return self._git(data, "hash-object", "-w", "--stdin")

    def object(self, kind: str, data: bytes) -> str:
        """Store an object that git itself would not make."""
        return self._git(data, "hash-object", "-t", kind, "-w", "--literally", "--stdin")

    def store(self, data: bytes | None, found: Approval | None, digest: str = "") -> str:
        """Keep a plan and an approval under the ref of a digest; return the ref."""
        plan = data if data is not None else self.git("show", f"{self.ref}:plan.json").encode()
        rows = [f"100644 blob {self.blob(plan)}\tplan.json"]
        if found is not None:
            values = {k: [*v] if isinstance(v, tuple) else v for k, v in found._asdict().items()}
            rows.append(f"100644 blob {self.blob(json.dumps(values).encode())}\tapproval.json")
        tree = self._git(("\n".join(sorted(rows)) + "\n").encode(), "mktree")
        ref = f"refs/planner/{digest or self.digest}"
        self.git("update-ref", ref, self.git("commit-tree", tree, "-m", "a plan"))
        return ref

    def amend(self, files: Mapping[str, str | None], message: str | None = None) -> str:
        """Change files of the last commit, and its message."""
        for name, text in files.items():
            if text is None:
                os.unlink(self.repository.path / name)
            else:
                self.repository.write(name, text)
        self.git("add", "--all")
        words = ("-m", message) if message is not None else ("--no-edit",)
        self.git("commit", "-q", "--allow-empty", "--amend", *words)
        return self.git("rev-parse", "HEAD")

    def row(self, *words: str) -> dict[str, Any]:
        """Return the verdict on the last commit, with the exit code and the counts of all."""
        answer = self.validate("--range", LAST, "--format", "json", *words)
        found = json.loads(answer.text)
        [row] = found["commits"]
        return {**row, "code": answer.code, "counts": (found["approved"], found["claimed"])}

    def fails(self, *words: str) -> bool:
        """Return whether the last commit is not approved, and so fails where nothing is asked."""
        row = self.row(*words)
        return (row["verdict"], row["code"]) == ("not approved", 1)

    def met(self, *words: str) -> str:
        """Return the strictest demand that the last commit meets, "" if it meets none."""
        given = ("--range", LAST, *words, "--require")
        return next((one for one in ENOUGH if self.validate(*given, one).code == 0), "")

    def _git(self, stdin: bytes, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.repository.path, input=stdin, capture_output=True, check=True
        )
        return done.stdout.decode().strip()
