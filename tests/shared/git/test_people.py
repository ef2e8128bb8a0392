"""A commit is by the people and the key that are approved, or no branch moves to it (CM-4)."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.git.commit import commit
from shared.git.history import stored_in
from shared.git.people import People, people_here
from state.errors import AGAIN, Refused
from tests.shared.git.conftest import Project
from tests.shared.git.layouts import filled

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from shared.git.change import FileChange

pytestmark = pytest.mark.requirement("CM-4", "PL-29")

MESSAGE = "Do the planned thing\n"
OTHER = "Another <another@example.org>"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return filled(Project(tmp_path / "project"))


def _planned(project: Project) -> list[FileChange]:
    changes = project.plan({"src/app.py": b"b = 3\n"})
    project.apply(changes)
    return changes


def _sign(project: Project, folder: Path, name: str = "key") -> str:
    """Have git sign by a new key of ssh in this file; return its public half."""
    key = folder / name
    key.unlink(missing_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    settings = {"gpg.format": "ssh", "user.signingKey": str(key), "commit.gpgSign": "true"}
    for setting, value in settings.items():
        project.git("config", setting, value)
    return " ".join(key.with_name(f"{name}.pub").read_text().split()[:2])


def _refused(project: Project, changes: Sequence[FileChange], people: People) -> str:
    """Return why the commit is refused; HEAD and the index stay."""
    head, staged = project.git("rev-parse", "HEAD"), project.git("diff", "--cached")
    with pytest.raises(Refused) as caught:
        commit(project.repo, project.vault, changes, MESSAGE, {}, people=people)
    assert (project.git("rev-parse", "HEAD"), project.git("diff", "--cached")) == (head, staged)
    [problem] = caught.value.problems
    assert (problem.at, problem.retry) == ("git commit", AGAIN)
    return problem.problem


def test_settings_that_changed_since_the_approval_are_refused_before_a_hook_runs(
    project: Project, tmp_path: Path
) -> None:
    changes, approved = _planned(project), people_here(project.repo)
    hook = project.root / ".git" / "hooks" / "pre-commit"
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    hook.chmod(0o755)
    project.git("config", "user.name", "Another")
    key = _sign(project, tmp_path)
    found = _refused(project, changes, approved)
    for field in ("author", "committer"):
        said = f"would name Another <tester@example.org> as {field}, and the approval Tester"
        assert said in found
    assert f"would be signed with the key ssh {key}, and the approval names none" in found
    signed = people_here(project.repo)
    project.git("config", "--unset", "commit.gpgSign")
    assert f"would not be signed, and the approval names the key ssh {key}" in _refused(
        project, changes, signed
    )
    assert not (tmp_path / "ran").exists()
    project.git("config", "--unset", "user.name")
    made = commit(project.repo, project.vault, changes, MESSAGE, {}, people=approved).commit
    assert project.git("log", "-1", "--format=%H %an") == f"{made} Tester"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("git config user.name Another", "names Another <tester@example.org> as committer"),
        ("git config user.signingKey {other}", "has a signature of ssh by another key"),
        ("cp {other} {key}; cp {other}.pub {key}.pub", "has a signature of ssh by another key"),
    ],
)
def test_what_a_hook_makes_of_people_and_key_moves_no_branch(
    project: Project, tmp_path: Path, line: str, said: str
) -> None:
    _sign(project, tmp_path, "other")
    _sign(project, tmp_path)
    changes, approved = _planned(project), people_here(project.repo)
    hook = project.root / ".git" / "hooks" / "pre-commit"
    line = line.format(other=tmp_path / "other", key=tmp_path / "key")
    hook.write_text(f"#!/bin/sh\n{line}\n")
    hook.chmod(0o755)
    assert said in _refused(project, changes, approved)


def test_a_key_that_is_named_by_an_id_is_compared_with_gits_own_check(
    project: Project, tmp_path: Path
) -> None:
    """The program plays gpg: it signs, and says which key has signed."""
    program = tmp_path / "gpg"
    program.write_text(
        "#!/bin/sh\ncase \"$*\" in\n*--verify*) echo '[GNUPG:] GOODSIG'\n"
        f"echo '[GNUPG:] VALIDSIG {'0' * 32}DEADBEEF 2026-01-02 1 0 4 0 1 8 00 {'A' * 40}';;\n"
        "*) cat >/dev/null; printf '\\n[GNUPG:] SIG_CREATED \\n' >&2\n"
        "n='PGP SIGNATURE-----'; printf -- \"-----BEGIN $n\\n\\nx\\n-----END $n\\n\";;\nesac\n"
    )
    program.chmod(0o755)
    project.git("config", "gpg.program", str(program))
    project.git("config", "commit.gpgSign", "true")
    changes = _planned(project)
    project.git("config", "user.signingKey", "0xFEEDBEEF")
    wrong = people_here(project.repo)
    assert "is signed by another key than openpgp 0xFEEDBEEF" in _refused(project, changes, wrong)
    project.git("config", "user.signingKey", "DEADBEEF!")
    commit(project.repo, project.vault, changes, MESSAGE, {}, people=people_here(project.repo))


def test_nothing_is_expected_of_whom_an_approval_does_not_name(project: Project) -> None:
    changes = _planned(project)
    anybody = People("", "", None)
    made = commit(project.repo, project.vault, changes, MESSAGE, {}, people=anybody).commit
    stored = stored_in(project.repo.git, made)
    assert anybody.differences(stored) == {}
    assert People(OTHER, "", "ssh").differences(stored) == {
        "author": f"names Tester <tester@example.org> as author, and the approval {OTHER}",
        "signing": "has no signature, and the approval names the key ssh",
    }


def test_a_name_that_is_not_utf_8_is_still_the_same(project: Project) -> None:
    with (project.root / ".git" / "config").open("ab") as file:
        file.write(b"[user]\nname = J\xfcrg\n")
    changes, approved = _planned(project), people_here(project.repo)
    made = commit(project.repo, project.vault, changes, MESSAGE, {}, people=approved).commit
    assert approved.differences(stored_in(project.repo.git, made)) == {}
