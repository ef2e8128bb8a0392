"""What the formatters and hooks of a capture may read of the user's secrets (PP-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey import FILES, Journey
from tests.place import need_place

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

HOOK = """#!/bin/sh
cd REPOSITORY
cat .env .env.test .env.local > seen/log 2>/dev/null
exit 0
"""


@pytest.mark.slow
@pytest.mark.requirement("PP-2")
@pytest.mark.parametrize(
    ("format_", "confirms", "seen"),
    [(True, True, "test\n"), (False, True, "test\n"), (False, False, "")],
)
def test_a_hook_reads_the_secrets_that_a_person_has_confirmed_and_no_others(
    make_repo: Repositories, format_: bool, confirms: bool, seen: str
) -> None:
    need_place()
    settings = '[verify]\nwrite = ["seen"]\nsecrets = [".env.test"]\n'
    settings += '[worktree]\nformat = ["true"]\n' if format_ else ""
    ignored = {".gitignore": "seen/\n.env*\n"}
    repository = make_repo(files={**FILES, **ignored, "planner.toml": settings})
    for name in ("", ".test", ".local"):
        repository.write(f".env{name}", f"{name[1:] or 'main'}\n")
    (repository.path / "seen").mkdir()
    hook = repository.path / ".git" / "hooks" / "pre-commit"
    hook.write_text(HOOK.replace("REPOSITORY", str(repository.path)), encoding="utf-8")
    hook.chmod(0o755)
    journey = Journey(repository)
    journey.confirms = confirms
    journey.to("submitted")
    log = repository.path / "seen" / "log"
    # Where writing lasts is confirmed with the rest.
    assert (log.read_text(encoding="utf-8") if confirms else log.exists()) == (seen or False)
