"""Git, hardened by the guard, starts no program that a hostile repository names."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.guard.decide import decide
from shared.guard.denial import Denied
from shared.guard.git import _stash
from shared.guard.harden import harden, harden_text, left_out
from shared.guard.own import understand
from shared.guard.policy.git import GIT
from shared.guard.words import literal
from tests.forms import part
from tests.prepared import prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

# Each of git's commands in the table, as an assistant would use it.
READING = {
    "log": "log -p -2 --stat", "show": "show HEAD", "diff": "diff HEAD~1",
    "diff --no-index": "diff --no-index a.txt .gitattributes",
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
@pytest.mark.parametrize("name", part([*READING], 3))
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
    done = run(harden(shlex.split(text), root, os.environ), root)
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
        run(harden(shlex.split(text), root, os.environ), root)
        assert not trace.exists(), text


@pytest.mark.requirement("PP-8")
@pytest.mark.parametrize("hidden", ["", "commondir", "include"])
@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git diff",
        "git blame b.bin",
        "git ls-files -m",
        "git diff --no-index b.bin c",
        "git -C src status",
        "git -C src diff ../b.bin",
    ],
)
def test_no_configured_filter_is_started_wherever_the_configuration_lies(
    command: str, hidden: str, make_repo: Repositories, tmp_path: Path
) -> None:
    repo = make_repo(files={"b.bin": "x\n", "src/a": "", ".gitattributes": "*.bin filter=own\n"})
    root, trace = str(repo.path), tmp_path / "trace"
    (repo.path / "c").write_text("z\n")
    for name in ("clean", "smudge", "process"):
        git(root, "config", f"filter.own.{name}", f"touch {trace}; cat")
    git(root, "config", "filter.own.required", "true")
    folder = repo.path / ".git"
    if hidden == "commondir":  # the real configuration lies elsewhere, as for a linked worktree
        common = tmp_path / "common"
        folder.rename(common)
        folder.mkdir()
        for name in ("HEAD", "index"):
            (folder / name).write_bytes((common / name).read_bytes())
        (folder / "commondir").write_text(f"{common}\n")
    elif hidden == "include":
        (folder / "config").rename(folder / "more")
        (folder / "config").write_text("[include]\n\tpath = more\n")
    os.utime(repo.path / "b.bin", (1, 1))
    run(shlex.split(command), root)
    assert trace.exists(), "the trap is none"
    trace.unlink()
    (repo.path / "b.bin").write_text("y\n")
    os.utime(repo.path / "b.bin", (2, 2))
    assert decide(command, cwd=root).allowed
    done = run(harden(shlex.split(command), root, os.environ), root)
    assert not trace.exists()
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout


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


def test_hardening_keeps_folder_words_and_order(make_repo: Repositories) -> None:
    repo = make_repo(files={"src/a b": "one\n"})
    given = ["git", "-C", "src", "--no-pager", "log", "--stat", "--", "a b"]
    words = harden(given, str(repo.path), os.environ)
    at = words.index("log")
    assert words[:6] == ["git", "--no-pager", "--no-optional-locks", "-C", "src", "--no-pager"]
    assert words[at:] == ["log", "--no-ext-diff", "--no-textconv", "--stat", "--", "a b"]


def test_every_git_command_of_a_list_is_hardened_and_the_rest_is_unchanged(tmp_path: Path) -> None:
    text = "git log -1 2>/dev/null | head -3 && git log -- ./*.py; ls ./*"
    hardened = harden_text(understand(text, str(tmp_path)), str(tmp_path), os.environ)
    first, second = hardened.split(" && ")
    assert hardened.count("--no-optional-locks") == 2
    assert first.endswith("log --no-ext-diff --no-textconv -1 2>/dev/null | head -3")
    assert second.endswith("log --no-ext-diff --no-textconv -- ./*.py ; ls ./*")


@pytest.mark.requirement("PP-8")
@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("git grep '[-]*' -- [-]*", "-Osh s.sh;:"),
        ("git grep -e '[-]*' -- [-]*", "--open-files-in-pager=sh s.sh;:"),
        ("git diff HEAD '*' -- *", "--output=written"),
        ('git log -p "*" -- *', "--output=written"),
        ("git show '?*' -- ?*", "--output=written"),
        ("grep -r '[-]*' -- [-]*", "--include=x"),
    ],
)
def test_a_quoted_word_stays_quoted_though_a_pattern_has_the_same_characters(
    command: str, file: str, make_repo: Repositories
) -> None:
    """Else the pattern's expansion would put a file name where git reads an option."""
    repo = make_repo(files={file: "one\n", "s.sh": "touch written\n"})
    root = str(repo.path)
    assert decide(command, cwd=root).allowed
    run(["bash", "-c", harden_text(understand(command, root), root, os.environ)], root)
    assert not (repo.path / "written").exists()
    words = harden_text(understand(command, root), root, os.environ)
    for word in shlex.split(command.partition(" -- ")[0], posix=False):
        assert word in words


HIDDEN = "S3CRET"
SHOWING = (
    "git show", "git show HEAD", "git show HEAD~1 HEAD", "git show --stat -p", "git log -p",
    "git log --patch", "git log -u -1", "git log -U5", "git log -c -p --all", "git log -W -p -- .",
    "git log -p HEAD~1..HEAD -- .", "git log --word-diff=color -p", "git diff HEAD~1",
    "git diff HEAD~1 HEAD", "git diff", "git diff --cached", "git diff HEAD -- .",
    "git diff-tree -p HEAD", "git diff-tree -r -p HEAD~1 HEAD", "git grep S3C",
    "git grep -e S3C HEAD", "git grep S3C HEAD -- .", "git grep -i s3c -- ':(glob)**'",
    "git stash show -p", "git stash show -p stash@{0}", "git stash show -p 0",
    "git log -p --all", "git show stash@{0}", "git -C src log -p", "cd src && git log -p",
)  # fmt: skip


@pytest.fixture
def keeper(make_repo: Repositories) -> str:
    """Return a repository in whose every version files with secrets are tracked."""
    kept = (".env", "src/.env.local", "src/deep/site.PEM", ".env.example", "src/a.txt")
    repo = make_repo(files=dict.fromkeys(kept, "begin\n"))
    prepared(repo, ("make versions",), lambda: make_versions(repo, kept))
    return str(repo.path)


def make_versions(repo: Repository, kept: Sequence[str]) -> None:
    """Give a repository five versions of these files, in commits, stash, index and on disk."""
    root = str(repo.path)

    def write(text: str) -> None:
        for name in kept:
            secret = "harmless" if name.endswith((".example", ".txt")) else HIDDEN
            (repo.path / name).write_text(f"{text}={secret}\n")

    for text in ("one", "two"):
        write(text)
        git(root, "commit", "-qam", text)
    write("three")
    git(root, "stash")
    write("four")
    git(root, "add", ".")
    write("five")


@pytest.mark.requirement("PP-8")
@pytest.mark.parametrize("command", part(SHOWING, 3))
def test_git_shows_no_secret_of_any_version(command: str, keeper: str) -> None:
    assert HIDDEN in run(["bash", "-c", command], keeper).stdout, "the trap is none"
    assert decide(command, cwd=keeper).allowed
    text = harden_text(understand(command, keeper), keeper, os.environ)
    done = run(["bash", "-c", text], keeper)
    assert HIDDEN not in done.stdout
    assert done.returncode == (1 if "grep" in command else 0), done.stderr
    if "grep" not in command:
        assert "harmless" in done.stdout
        assert ".env.example" in done.stdout or "-C src" in command


def test_git_says_which_files_it_leaves_out(keeper: str) -> None:
    for command in ("git log -p", "git grep S3C", "cd src && git diff", "git -C src show"):
        commands = understand(command, keeper)
        assert left_out(commands, keeper, os.environ) == [
            ".env", "src/.env.local", "src/deep/site.PEM",
        ]  # fmt: skip
    for command in ("git log --stat", "git status", "git show --stat -L1,1:src/a.txt"):
        assert left_out(understand(command, keeper), keeper, os.environ) == []


@pytest.mark.parametrize("options", ["", "--graph", "--merges", "--reverse", "-2"])
def test_a_history_without_its_secrets_has_all_its_commits(
    options: str, make_repo: Repositories
) -> None:
    repo = make_repo(files={"a.txt": "one\n", ".env": "one\n"})
    root = str(repo.path)
    git(root, "checkout", "-qb", "side")
    (repo.path / "b.txt").write_text("b\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "B")
    git(root, "checkout", "-q", "-")
    (repo.path / ".env").write_text("two\n")
    git(root, "commit", "-qam", "Secret")
    git(root, "merge", "-q", "-m", "Ours", "-s", "ours", "side")
    plain = f"git log --oneline {options}".split()
    words = harden([*plain, "-p", "-s"], root, os.environ)
    assert run(words, root).stdout == run(plain, root).stdout
    for commit in ("HEAD", "HEAD~1", "side"):
        words = harden(["git", "show", commit], root, os.environ)
        assert run(words, root).stdout.startswith("commit ")


@pytest.mark.requirement("PP-8")
@pytest.mark.parametrize(
    "command",
    [
        "git remote -v", "git remote --verbose", "git remote get-url origin",
        "git config --get remote.origin.url", "git config --get-all remote.origin.pushurl",
        "git config remote.origin.url", "git config --get Remote.origin.URL",
    ],
)  # fmt: skip
def test_a_password_in_a_remotes_url_is_not_printed(command: str, make_repo: Repositories) -> None:
    root = str(make_repo(files={"a.txt": "one\n"}).path)
    for name in ("url", "pushurl"):
        git(root, "config", f"remote.origin.{name}", "https://git@example.invalid/x.git")
    git(root, "config", "remote.origin.url", "ssh://git@example.invalid/x.git")
    git(root, "config", "remote.origin.pushurl", "git@example.invalid:x.git")
    words = harden(shlex.split(command), root, os.environ)
    assert run(words, root).returncode == 0
    for name in ("url", "pushurl"):
        git(root, "config", f"remote.origin.{name}", "https://me:S3CRET@example.invalid/x.git")
    with pytest.raises(Denied, match="password"):
        harden(shlex.split(command), root, os.environ)
    assert harden(["git", "remote"], root, os.environ)


def test_a_filter_whose_name_no_option_can_say_is_denied(make_repo: Repositories) -> None:
    root = str(make_repo(files={"a.txt": "one\n"}).path)
    git(root, "config", "filter.a=b.clean", "touch p")
    with pytest.raises(Denied, match="filter"):
        harden(["git", "status"], root, os.environ)


@pytest.mark.parametrize(
    ("words", "options", "shown"),
    [
        ([], ["--stat"], "stash@{0}"),
        (["-p"], ["-p"], "stash@{0}"),
        (["-p", "--name-only", "2"], ["-p", "--name-only"], "stash@{2}"),
        (["stash@{1}", "--"], ["--stat"], "stash@{1}"),
    ],
)
def test_a_stash_is_shown_as_its_difference_from_its_parent(
    words: list[str], options: list[str], shown: str
) -> None:
    given = [word.value for word in _stash(literal(*words))]
    assert given == [*options, f"{shown}^1", shown]
