"""No call of ours lets git start what a hostile `.git/config` names (PP-1).

Each command of git that the program calls stands in `CALLS`, and is run in a repository whose
settings name a program for everything that git can start.
"""

from __future__ import annotations

import ast
import subprocess
from typing import TYPE_CHECKING

import pytest

from benchmarks.imports import own_modules
from shared.git import fingerprint
from shared.git.repository import find_repository
from state.errors import Refused
from tests.place import need_place
from tests.test_git_by_path import words_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from shared.git.command import Git
    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

TEXT = "1\n2\n3\n4\n5\n"
ATTRIBUTES = "*.txt filter=evil diff=evil merge=evil\n"
PATCH = b"""\
--- a/b.txt
+++ b/b.txt
@@ -1 +1 @@
-b
+c
"""
# The commands of git that the program calls, each with words that would start something.
CALLS: dict[str, tuple[tuple[str, ...], bytes]] = {
    "add": (("--all", "--", "."), b""),
    "apply": (("--cached", "-"), PATCH),
    "cat-file": (("--batch",), b"HEAD:a.txt\n"),
    "check-attr": (("filter", "a.txt"), b""),
    "check-ignore": (("--no-index", "-v", "-n", "a.txt"), b""),
    "check-ref-format": (("--branch", "new"), b""),
    "checkout-index": (("-f", "-z", "--stdin"), b"a.txt\0"),
    "cherry-pick": (("--no-commit", "--allow-empty", "other"), b""),
    "commit-tree": (("HEAD^{tree}", "-p", "HEAD", "-m", "made"), b""),
    "config": (("--list",), b""),
    "diff": (("--name-only", "--no-ext-diff", "--no-textconv", "HEAD"), b""),
    "diff-files": (("-z", "--name-status", "--ignore-submodules=all"), b""),
    "diff-index": (("--cached", "-z", "--raw", "HEAD"), b""),
    "diff-tree": (("-r", "-p", "--no-ext-diff", "--no-textconv", "HEAD", "other"), b""),
    "for-each-ref": (("--format=%(objectname) %(refname)",), b""),
    "grep": (("-q", "-w", "-F", "--untracked", "-e", "main"), b""),
    "hash-object": (("-w", "--no-filters", "--stdin"), b"text\n"),
    "init": (("--quiet", "--template=", "{folder}/new"), b""),
    "log": (("-1", "--format=%H %(trailers)", "HEAD"), b""),
    "ls-files": (("-v", "-s", "-c", "-o", "-z", "--exclude-standard"), b""),
    "ls-tree": (("-r", "-z", "HEAD"), b""),
    "merge-base": (("--all", "HEAD", "other"), b""),
    "merge-file": (("-q", "-p", "a.txt", "b.txt", "a.txt"), b""),
    "merge-tree": (("--write-tree", "HEAD", "other"), b""),
    "mktree": (("-z",), b""),
    "read-tree": (("--reset", "-u", "other"), b""),
    "rev-list": (("HEAD",), b""),
    "rev-parse": (("HEAD",), b""),
    "status": (("--porcelain=v1", "-z", "--ignore-submodules=all"), b""),
    "stripspace": ((), b"text\n"),
    "symbolic-ref": (("-q", "HEAD"), b""),
    "update-index": (("--add", "-z", "--stdin"), b"a.txt\0"),
    "update-ref": (("refs/heads/new", "HEAD"), b""),
    "var": (("GIT_COMMITTER_IDENT",), b""),
    "worktree": (("add", "--detach", "--no-checkout", "-f", "{folder}/tree", "HEAD"), b""),
    "verify-commit": (("--raw", "HEAD"), b""),
    "write-tree": ((), b""),
}
# Where words of git are read or printed, and where our own sample is made.
NOT_CALLED = ("shared/guard/", "orchestrator/requirements_steps", "cli/demo/")
# What a plain git starts in that repository: setting → the file that its program makes.
STARTED = {"fsmonitor", "clean", "smudge", "merge", "reference-transaction", "post-index-change"}


@pytest.fixture
def marks(tmp_path: Path) -> Path:
    """The folder in which each program makes a file of its name."""
    folder = tmp_path / "marks"
    folder.mkdir()
    return folder


@pytest.fixture
def hostile(make_repo: Repositories, marks: Path) -> Repository:
    """A repository whose settings, partly included, name programs for all that git can start."""
    repo = make_repo(files={"a.txt": TEXT, "b.txt": "b\n", ".gitattributes": ATTRIBUTES})
    repo.git("checkout", "-q", "-b", "other")
    repo.write("a.txt", f"other\n{TEXT}")
    repo.git("commit", "-qam", "other")
    repo.git("checkout", "-q", "main")
    repo.write("a.txt", f"{TEXT}main\n")
    repo.git("commit", "-qam", "main")
    hooks = marks.parent / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-index-change", "post-checkout", "pre-commit"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {marks}/{name}\n")
        (hooks / name).chmod(0o755)
    settings = {
        "core.hooksPath": str(hooks), "filter.evil.clean": f"touch {marks}/clean; cat",
        "filter.evil.smudge": f"touch {marks}/smudge; cat",
        "merge.evil.driver": f"touch {marks}/merge; exit 0",
        "diff.evil.textconv": f"touch {marks}/textconv; cat",
        "diff.evil.command": f"touch {marks}/command; true",
        "diff.external": f"touch {marks}/external; true",
        **{f"core.{name}": f"touch {marks}/{name}; true"
           for name in ("fsmonitor", "pager", "editor", "askPass", "sshCommand", "gitProxy")},
        **{f"{name}.program": f"touch {marks}/{name}" for name in ("gpg", "gpg.ssh", "gpg.x509")},
        "log.showSignature": "true", "commit.gpgSign": "true",
        "credential.helper": f"!touch {marks}/credential",
        "trailer.plan.command": f"touch {marks}/trailer",
        "alias.status": f"!touch {marks}/alias",
    }  # fmt: skip
    included = marks.parent / "included"
    for name, value in settings.items():
        repo.git("config", "--file", str(included), name, value)
    repo.git("config", "include.path", str(included))
    return repo


def called() -> set[str]:
    """Return the commands of git that the program calls."""
    done = subprocess.run(
        ["git", "--list-cmds=builtins"], capture_output=True, text=True, check=True
    )
    names, found = set(done.stdout.split()), set[str]()
    for module in own_modules().values():
        if module.path.startswith(NOT_CALLED):
            continue
        for node in ast.walk(module.tree):
            words = words_of(node)
            plain = isinstance(node, ast.Tuple) and not any(w[:1] == "-" for w in words)
            if words and not plain:
                found.add(words[0])
    return found & names


@pytest.mark.requirement("PP-1")
def test_each_command_of_git_that_is_called_is_tried_here() -> None:
    assert called() == {*CALLS}


def played(git: Git, repo: Repository, folder: Path) -> list[str]:
    """Run each command, and return those that failed; 1 says that nothing was found.

    The file of both branches has changed since the command before, but where they are to be merged.
    """
    folder.mkdir()
    failed = []
    for name, (words, stdin) in CALLS.items():
        repo.write("a.txt", f"{TEXT}main\n{name * (name != 'cherry-pick')}")
        if name == "cherry-pick":
            git.run("read-tree", "--reset", "HEAD")
        filled = [word.format(folder=folder) if "{folder}" in word else word for word in words]
        if git.attempt(name, *filled, stdin=stdin).returncode > 1:
            failed.append(name)
    return failed


@pytest.mark.requirement("PP-1")
def test_git_starts_nothing_that_a_repository_names_outside_of_the_place(
    hostile: Repository, marks: Path, tmp_path: Path
) -> None:
    need_place()
    git = find_repository(str(hostile.path)).git
    for file in marks.iterdir():
        file.unlink()
    failed = played(git, hostile, tmp_path / "ours")
    assert not [*marks.iterdir()]
    assert failed == []
    hostile.git("branch", "-D", "new")
    played(git.as_set_up(), hostile, tmp_path / "plain")
    assert {file.name for file in marks.iterdir()} >= STARTED


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("key", ["filter.a=b.clean", "filter.a=b.process", "merge.a=b.driver"])
def test_what_no_option_of_git_can_replace_is_refused(
    make_repo: Repositories, marks: Path, tmp_path: Path, key: str
) -> None:
    repo = make_repo(files={"a.txt": "1\n", ".gitattributes": "a.txt filter=a=b\n"})
    opened = find_repository(str(repo.path))
    repo.git("config", key, f"touch {marks}/ran; cat")
    repo.write("a.txt", "2\n")
    with pytest.raises(Refused, match="has `=` in its name") as refused:
        fingerprint.take(opened, str(tmp_path / "fingerprint"))
    assert refused.value.problems[0].at == f"git config {key}"
    assert not [*marks.iterdir()]


@pytest.mark.requirement("PP-1")
def test_a_partial_clone_fetches_nothing_by_a_program_that_it_names_itself(
    make_repo: Repositories, marks: Path
) -> None:
    repo = make_repo(files={"a.txt": "1\n"})
    missing = repo.git("rev-parse", "HEAD:a.txt")
    (repo.path / ".git" / "objects" / missing[:2] / missing[2:]).unlink()
    for key, value in {
        "core.repositoryFormatVersion": "1", "extensions.partialClone": "origin",
        "remote.origin.url": f"file://{repo.path}", "remote.origin.promisor": "true",
        "remote.origin.uploadpack": f"touch {marks}/uploadpack; git-upload-pack",
    }.items():  # fmt: skip
        repo.git("config", key, value)
    git = find_repository(str(repo.path)).git
    with pytest.raises(Refused) as refused:
        git.run("cat-file", "blob", missing)
    assert "git fetch --refetch --no-filter" in refused.value.problems[0].allowed
    assert not [*marks.iterdir()]
    assert git.as_set_up().attempt("cat-file", "blob", missing).returncode
    assert [file.name for file in marks.iterdir()] == ["uploadpack"]
