"""Git, hardened by the guard, starts no program that a hostile repository names."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.guard.decide import decide, understand
from shared.guard.harden import harden, harden_text
from shared.guard.policy.git import GIT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

# Each of git's commands in the table, as an assistant would use it.
READING = {
    "log": "log -p -2 --stat", "show": "show HEAD", "diff": "diff HEAD~1",
    "shortlog": "shortlog -sn HEAD", "status": "status -sb", "blame": "blame a.txt",
    "annotate": "annotate a.txt", "branch": "branch -avv", "tag": "tag -l", "remote": "remote -v",
    "remote get-url": "remote get-url origin", "rev-parse": "rev-parse HEAD",
    "rev-list": "rev-list --objects HEAD", "ls-files": "ls-files -m -o",
    "ls-tree": "ls-tree -r HEAD", "cat-file": "cat-file -p HEAD:a.txt", "grep": "grep -n one",
    "describe": "describe --always", "merge-base": "merge-base HEAD HEAD~1",
    "name-rev": "name-rev HEAD", "for-each-ref": "for-each-ref", "show-ref": "show-ref",
    "show-branch": "show-branch -a", "symbolic-ref": "symbolic-ref HEAD", "reflog": "reflog -3",
    "reflog show": "reflog show HEAD", "stash list": "stash list", "stash show": "stash show -p",
    "worktree list": "worktree list", "config": "config --get user.name",
    "check-ignore": "check-ignore -v a.txt", "check-attr": "check-attr -a a.txt",
    "count-objects": "count-objects -v", "diff-tree": "diff-tree -p HEAD~1 HEAD",
    "cherry": "cherry HEAD HEAD~1", "var": "var GIT_AUTHOR_IDENT", "version": "version",
}  # fmt: skip
# What a repository may set so that plain reading starts a program, `{}`.
HOSTILE = {
    "core.fsmonitor": "{}", "core.pager": "{}", "pager.log": "{}", "pager.branch": "{}",
    "core.editor": "{}", "diff.external": "{}", "diff.mine.textconv": "{}",
    "diff.mine.command": "{}", "gpg.program": "{}", "gpg.ssh.program": "{}",
    "gpg.openpgp.program": "{}", "log.showSignature": "true", "format.pretty": "%G?",
    "pretty.mine": "%G?", "core.sshCommand": "{}", "core.askPass": "{}",
    "credential.helper": "!{}", "core.alternateRefsCommand": "{}", "interactive.diffFilter": "{}",
    "alias.log": "!{}", "alias.show": "!{}", "core.hooksPath": "hooks",
    "uploadpack.packObjectsHook": "{}",
}  # fmt: skip
HOOKS = ("post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction")


@pytest.fixture
def hostile(make_repo: Repositories, tmp_path: Path) -> tuple[str, Path]:
    """Return a repository whose settings start a program, and the file that it would write."""
    repo = make_repo(files={"a.txt": "one\n", ".gitattributes": "*.txt diff=mine\n"})
    trace, script = tmp_path / "trace", tmp_path / "script"
    script.write_text(f'#!/bin/sh\necho "$0 $*" >>{shlex.quote(str(trace))}\ncat\nexit 0\n')
    script.chmod(0o755)
    root = str(repo.path)
    (repo.path / "a.txt").write_text("one\ntwo\n")
    git(root, "commit", "-qam", "Two")
    (repo.path / "a.txt").write_text("one\ntwo\nthree\n")
    git(root, "stash")
    git(root, "remote", "add", "origin", "https://example.invalid/x.git")
    for name, value in HOSTILE.items():
        git(root, "config", name, value.replace("{}", str(script)))
    (repo.path / "hooks").mkdir()
    for name in HOOKS:
        (repo.path / "hooks" / name).write_text(script.read_text())
        (repo.path / "hooks" / name).chmod(0o755)
    (repo.path / "a.txt").write_text("changed\n")
    trace.unlink(missing_ok=True)
    return root, trace


def git(root: str, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


def run(words: list[str], root: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_every_git_command_of_the_table_is_tried() -> None:
    assert READING.keys() == GIT.keys()


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize("name", READING)
def test_a_hardened_git_command_starts_nothing_and_leaves_the_index(
    name: str, hostile: tuple[str, Path]
) -> None:
    root, trace = hostile
    index = os.path.join(root, ".git", "index")
    os.utime(os.path.join(root, "a.txt"))  # so that refreshing the index would write it
    with open(index, "rb") as file:
        before = file.read()
    text = f"git {READING[name]}"
    assert decide(text, cwd=root).allowed
    done = run(harden(shlex.split(text)), root)
    assert not trace.exists(), trace.read_text()
    assert done.returncode in (0, 1), done.stderr
    assert "usage:" not in done.stderr
    with open(index, "rb") as file:
        assert file.read() == before


def test_without_hardening_the_same_commands_start_programs(hostile: tuple[str, Path]) -> None:
    """Without this, the tests above would prove nothing."""
    root, trace = hostile
    started = set()
    for name, words in READING.items():
        run(["git", *words.split()], root)
        if trace.exists():
            started.add(name)
            trace.unlink()
    assert {"log", "show", "diff", "status", "blame", "ls-files"} <= started


def test_missing_objects_are_not_fetched_by_the_program_that_a_repository_names(
    make_repo: Repositories, tmp_path: Path
) -> None:
    repo = make_repo(files={"a.txt": "one\n"})
    root, trace = str(repo.path), tmp_path / "trace"
    script = tmp_path / "pack"
    script.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(trace))}\nexit 1\n")
    script.chmod(0o755)
    blob = run(["git", "rev-parse", "HEAD:a.txt"], root).stdout.strip()
    os.unlink(os.path.join(root, ".git", "objects", blob[:2], blob[2:]))
    for name, value in (
        ("core.repositoryFormatVersion", "1"), ("extensions.partialClone", "origin"),
        ("remote.origin.url", f"ext::{script}"), ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", str(script)), ("protocol.ext.allow", "always"),
    ):  # fmt: skip
        git(root, "config", name, value)
    run(["git", "show", "HEAD:a.txt"], root)
    assert trace.exists(), "the trap is none"
    trace.unlink()
    for text in ("git show HEAD:a.txt", "git log -p", "git cat-file -p HEAD:a.txt"):
        run(harden(shlex.split(text)), root)
        assert not trace.exists(), text


@pytest.mark.parametrize(
    "command", ["git status", "git diff", "git blame a.txt", "git ls-files -m"]
)
def test_a_filter_that_a_tracked_path_uses_denies_what_reads_the_work_tree(
    command: str, make_repo: Repositories
) -> None:
    repo = make_repo(files={"a.txt": "one\n", "b.bin": "x", ".gitattributes": "*.bin filter=own\n"})
    assert decide(command, cwd=str(repo.path)).allowed
    git(str(repo.path), "config", "filter.own.clean", "touch p")
    answer = decide(command, cwd=str(repo.path))
    assert not answer.allowed
    assert "b.bin" in answer.reason
    assert decide("git log -p", cwd=str(repo.path)).allowed


def test_a_filter_that_no_tracked_path_uses_denies_nothing(make_repo: Repositories) -> None:
    repo = make_repo(files={"a.txt": "one\n"})
    git(str(repo.path), "config", "--global", "filter.lfs.process", "git-lfs filter-process")
    git(str(repo.path), "config", "--global", "filter.lfs.clean", "git-lfs clean -- %f")
    assert decide("git status", cwd=str(repo.path)).allowed


def test_a_filter_is_found_through_an_included_file(make_repo: Repositories) -> None:
    repo = make_repo(files={"b.bin": "x", ".gitattributes": "*.bin filter=own\n"})
    (repo.path / "more").write_text('[filter "own"]\n\tprocess = touch p\n')
    git(str(repo.path), "config", "include.path", "../more")
    assert not decide("git status", cwd=str(repo.path)).allowed


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("git -C src log", True),
        ("cd src && git log", True),
        ("cd src && cd .. && git log", True),
        ("git -C inner log", False),
        ("cd inner && git log", False),
        ("cd inner/deep && git status", False),
        ("git -C bare log", False),
        ("cd bare && git log", False),
        ("git -C .. log", False),
        ("git -C / log", False),
        ("git -C nowhere log", False),
        ("git -C link log", False),
        ("cd link && git log", False),
        ("git -C src -C ../inner log", False),
    ],
)
def test_git_reads_this_repository_and_no_other(
    command: str, allowed: bool, make_repo: Repositories, tmp_path: Path
) -> None:
    repo = make_repo(files={"src/a.txt": "one\n"})
    git(str(repo.path), "init", "-q", "inner")
    git(str(repo.path), "init", "-q", "--bare", "bare")
    (repo.path / "inner" / "deep").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (repo.path / "link").symlink_to(tmp_path / "elsewhere")
    assert decide(command, cwd=str(repo.path)).allowed is allowed


def test_hardening_keeps_folder_words_and_order() -> None:
    words = harden(["git", "-C", "src", "--no-pager", "log", "-p", "--", "a b"])
    at = words.index("log")
    assert words[:3] == ["git", "--no-pager", "--no-optional-locks"]
    assert words[at - 3 : at] == ["-C", "src", "--no-pager"]
    assert words[at:] == ["log", "--no-ext-diff", "--no-textconv", "-p", "--", "a b"]


def test_every_git_command_of_a_list_is_hardened_and_the_rest_is_unchanged(tmp_path: Path) -> None:
    text = "git log -1 2>/dev/null | head -3 && git show -- ./*.py; ls ./*"
    hardened = harden_text(understand(text, str(tmp_path)))
    first, second = hardened.split(" && ")
    assert hardened.count("--no-optional-locks") == 2
    assert first.endswith("log --no-ext-diff --no-textconv -1 2>/dev/null | head -3")
    assert second.endswith("show --no-ext-diff --no-textconv -- ./*.py ; ls ./*")
