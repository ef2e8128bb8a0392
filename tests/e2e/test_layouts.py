"""A plan is committed with the user's hooks and signature wherever git's folder lies (CM-4)."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import Repository
from tests.e2e.drive import Host
from tests.forms import some
from tests.place import need_place
from tests.shared.git.layouts import LAYOUTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.shared.git.conftest import Project

# A folder that is neither below the home nor below /tmp: there the place is another one.
ELSEWHERE = "/srv"
# It stages nothing, but writes into git's own folder as tools do, and reads its hooks' folder.
HOOK = """#!/bin/sh
hooks=$(git rev-parse --git-path hooks) && . "$hooks/lib.sh" && check
git stash list && git update-index --refresh >/dev/null
"""


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    if not Path(ELSEWHERE).is_dir():
        pytest.skip(f"there is no {ELSEWHERE}")
    try:
        made = tempfile.mkdtemp(dir=ELSEWHERE)
    except OSError as error:
        pytest.skip(f"{ELSEWHERE}: {error.strerror}")
    yield Path(made)
    shutil.rmtree(made)


@pytest.mark.requirement("CM-4", "VR-5")
@pytest.mark.parametrize("layout", some(LAYOUTS, 2))
def test_with_a_hook_and_a_signature_a_plan_is_committed_and_proved(
    layout: Callable[[Path], Project], elsewhere: Path
) -> None:
    need_place()
    made = layout(elsewhere / "a project")
    repository = Repository(made.root)
    hooks = Path(made.root, made.git("rev-parse", "--git-path", "hooks"))
    hooks.mkdir(exist_ok=True)
    (hooks / "lib.sh").write_text("check() { git diff --cached --quiet && exit 1; :; }\n")
    (hooks / "pre-commit").write_text(HOOK)
    (hooks / "pre-commit").chmod(0o755)
    key = elsewhere / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (elsewhere / "own").write_text(
        f"[user]\nname = Another\nsigningKey = {key}\n[gpg]\nformat = ssh\n[commit]\ngpgSign = on\n"
    )
    git_dir = made.git("rev-parse", "--absolute-git-dir")
    made.git("config", f"includeIf.gitdir:{git_dir}.path", str(elsewhere / "own"))

    def edit(tree: Path) -> None:
        (tree / "src" / "app.py").write_text("a = 2\n")

    block = Host(made.root, edit, ["src/app.py"], processes=True).to("committed").last
    assert block.block.get("commit") == repository.git("rev-parse", "HEAD")
    stored = repository.git("cat-file", "commit", "HEAD")
    assert "author Another <" in stored
    assert "gpgsig -----BEGIN SSH SIGNATURE-----" in stored
    assert repository.git("status", "--porcelain") == ""
