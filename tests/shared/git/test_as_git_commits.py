"""The plan's commit is as the user's own `git commit` would make it, in any layout (CM-4)."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.git.commit import commit
from shared.git.history import stored_in
from shared.git.people import people_here
from tests.forms import some
from tests.shared.git.conftest import DIGEST
from tests.shared.git.layouts import LAYOUTS, matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.shared.git.conftest import Project
    from tests.shared.git.layouts import Setting

MESSAGE = f"Do the planned thing\n\n# Because it was approved.\n\nPlan-Digest: {DIGEST}\n"
PLAN: dict[str, bytes | None] = {"src/app.py": b"b = 3\n", "src/new.py": b"c = 1\n", "gone": None}
HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
# What a hook is called with and finds; what git itself alone reads is left out.
SEEN = """exec >>'{seen}'
echo "$(basename "$0") $# $2"; basename "$1" . ; pwd
git symbolic-ref HEAD; git diff --cached --stat
git rev-parse --git-dir --show-toplevel; test -d .git && ls .git/hooks
env | grep ^GIT_ | grep -v -e PROMPT -e PREFIX -e GIT_DIR | sort
[ "$(basename "$0")" != commit-msg ] || echo "Change-Id: I1" >>"$1"
"""


def _set_up(project: Project, tmp_path: Path) -> None:
    """Give the repository hooks, and a person and a key by settings that its place decides."""
    folder = Path(project.root, project.git("rev-parse", "--git-path", "hooks"))
    folder.mkdir(exist_ok=True)
    for name in HOOKS:
        (folder / name).write_text("#!/bin/sh\n" + SEEN.replace("{seen}", str(tmp_path / "seen")))
        (folder / name).chmod(0o755)
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    own, branch = tmp_path / "own", tmp_path / "branch"
    own.write_text(f"[user]\nname = Another\nsigningKey = {key}\n[gpg]\nformat = ssh\n")
    branch.write_text("[user]\nemail = another@example.org\n[commit]\ngpgSign = true\n")
    git_dir = project.git("rev-parse", "--absolute-git-dir")
    project.git("config", f"includeIf.gitdir:{git_dir}.path", str(own))
    name = project.git("symbolic-ref", "--short", "HEAD")
    project.git("config", f"includeIf.onbranch:{name}.path", str(branch))


@pytest.mark.requirement("CM-4")
@pytest.mark.parametrize("layout", some(LAYOUTS, 3))
def test_hooks_author_key_and_message_are_those_of_the_users_own_commit(
    layout: Callable[[Path], Project], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    project = layout(tmp_path / "a project")
    _set_up(project, tmp_path)
    changes = project.plan(PLAN)
    project.apply(changes)
    ours = commit(project.repo, project.vault, changes, MESSAGE, {}).commit
    seen = _seen(tmp_path)
    assert project.git("rev-parse", "HEAD") == ours
    assert project.git("status", "--porcelain") == ""
    project.git("reset", "-q", "--soft", "HEAD^")
    project.git("commit", "-q", "--cleanup=whitespace", "-F", "-", stdin=MESSAGE.encode())
    assert seen == _seen(tmp_path)
    theirs = _commit_at(project, "HEAD")
    assert _commit_at(project, ours) == theirs
    assert "author Another <another@example.org> +0545" in theirs
    assert "gpgsig -----BEGIN SSH SIGNATURE-----" in theirs
    assert "Change-Id: I1" in theirs


@pytest.mark.requirement("CM-4")
@pytest.mark.parametrize(("layout", "sign", "hook"), matrix())
def test_with_any_signature_and_hook_the_commit_is_the_users_own(
    layout: Callable[[Path], Project], sign: Setting, hook: Setting, tmp_path: Path
) -> None:
    project = layout(tmp_path / "a project")
    sign(project, tmp_path)
    seen = tmp_path / "seen"
    hook(project, seen)
    changes = project.plan({**PLAN, "data.bin": b"\0large\n"})
    project.apply(changes)
    people = people_here(project.repo)
    seen.unlink(missing_ok=True)
    ours = commit(project.repo, project.vault, changes, MESSAGE, {}, people=people).commit
    told = seen.read_text()
    assert project.git("status", "--porcelain") == ""
    seen.unlink()
    project.git("reset", "-q", "--soft", "HEAD^")
    project.git("commit", "-q", "--cleanup=whitespace", "-F", "-", stdin=MESSAGE.encode())
    assert told == seen.read_text() != ""
    assert _commit_at(project, ours) == _commit_at(project, "HEAD")
    assert people.differences(stored_in(project.repo.git, ours)) == {}


def _seen(tmp_path: Path) -> str:
    """Return what the hooks saw, but since when the author commits and where the index is."""
    varying = re.compile(r"^(GIT_AUTHOR_DATE|GIT_INDEX_FILE)=.*", re.MULTILINE)
    text = varying.sub(r"\1", (tmp_path / "seen").read_text())
    (tmp_path / "seen").unlink()
    assert all(name in text for name in HOOKS)
    return text


def _commit_at(project: Project, name: str) -> str:
    """Return a commit as git stores it, without its moments and the bytes of its signature."""
    text = re.sub(r"> \d{9,} ", "> ", project.git("cat-file", "commit", name))
    return re.sub(r"(?m)^ [A-Za-z0-9+/=]+\n", "", text)
