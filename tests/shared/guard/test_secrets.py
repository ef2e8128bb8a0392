"""No command reads a user's secrets, however it names them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shared.guard.decide import decide
from shared.guard.harden import harden
from shared.guard.secrets import Pattern

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a project in a home with keys; the project has a .env and links to the keys."""
    home = tmp_path / "me"
    files = (".ssh/id_rsa", ".netrc", "it/.env", "it/src/a.py", "it/src/b.py", "it/keys/site.pem")
    for name in files:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("SECRET\n")
    (home / "it" / "notes.txt").symlink_to("../.ssh/id_rsa")
    (home / "it" / "above").symlink_to("..")
    os.mkfifo(home / "it" / "pipe")
    monkeypatch.setenv("HOME", str(home))
    return str(home / "it")


@pytest.mark.requirement("PM-5")
@pytest.mark.parametrize(
    "command",
    [
        "cat .env", "cat ./.env", "cat src/../.env", "cat .ENV", "cat .env.local", "cat .env*",
        "cat ./.e*", "cat ~/.ssh/id_rsa", "cat $HOME/.ssh/id_rsa", 'cat "$HOME/.netrc"',
        "cat ../.ssh/id_rsa", "cat ~/.SSH/id_rsa", "cat ~/.ssh/*", "cat ~/.s*/id*",
        "cat ../.ss?/id_rsa", "cat notes.txt", "cat notes.*", "cat above/.netrc", "cat keys/*",
        "cat ./*/site*", "cat keys/site.pem", "head -1 keys/site.pem", "wc -l < .env", "sort .env",
        "grep -r SECRET ~", "grep -r SECRET ..", "grep -r SECRET /", "grep -r SECRET above",
        "rg SECRET ~", "grep -r x ~/.config", "rg x ~/.docker", "grep -r x /home/other",
        "strings @x", "rg SECRET ..", "rg -uu SECRET /home", "rg -g '.env*' SECRET",
        "rg --glob=.env SECRET", "grep -r --include='.env*' SECRET .", "grep -f .env src/a.py",
        "diff -r ~ src", "diff .env src/a.py", "git diff --no-index ~ src", "git diff ~ src",
        "git show HEAD:.env", "git log -p -- .env", "git blame .env", "git grep SECRET -- '.env*'",
        "git cat-file -p :.env", "git log -L 1,5:.env", "git show HEAD:./.ENV",
        "git diff -- ':(icase).env'", "sed -n 1p .env", "awk '{print $1}' .env",
        "jq . ~/.docker/config.json", "strings keys/site.pem", "base64 .env", "xxd .env",
        "od -c .env", "cmp .env src/a.py", "comm .env src/a.py", "paste .env", "tac .env",
        "rev .env", "nl .env", "md5sum .env", "cut -c1- .env", "cat /proc/self/environ",
        "cat /proc/1/environ", "cat /proc/self/mem", "cat /proc/self/fd/0", "cat /etc/shadow",
        "cat /etc/ssh/ssh_host_rsa_key", "cat /dev/mem", "cat /dev/tty", "cat pipe",
        "head -c 5 /dev/random", "ls ~/.ssh", "ls -la ~/.ssh/", "find ~/.ssh",
        "stat ~/.ssh/id_rsa", "test -f ~/.ssh/id_rsa", "tree ~/.gnupg", "du -a ~/.aws",
        "cd ~/.ssh && cat config", "cat src/a.py .env", "cat src/*.py .env", "cat -- .env",
        "ls | cat .env", "jq env src/a.py", "jq -n '$ENV'", "jq -n env.HOME", "printenv", "env",
        "ps e", "ps auxe", "ps -o pid,environ",
    ],
)  # fmt: skip
def test_secrets_are_not_read(command: str, project: str) -> None:
    answer = decide(command, cwd=project)
    assert not answer.allowed
    assert answer.instead


@pytest.mark.parametrize(
    "command",
    [
        "cat src/a.py", "cat src/*.py", "ls -la", "ls -la .env", "test -f .env",
        "[ -f .env ] && echo yes", "find . -name .env", "grep -r SECRET .", "grep -rn SECRET src",
        "rg SECRET", "rg SECRET src", "rg -g '!.env' SECRET", "cat ~/it/src/a.py",
        "git show HEAD:src/a.py", "git diff -- ':!.env'", "git grep SECRET -- '*.py'",
        "diff src/a.py src/b.py", "diff -r src keys", "jq .env src/a.py",
        "jq '.[\"env\"]' src/a.py", "cat /etc/hostname", "cat /proc/cpuinfo", "cat keys/site.pub",
        "ps aux", "cat environment.md", "cat src/env.py", "grep -rn TODO --include='*.py' .",
        "cat < src/a.py", "git log -- src",
    ],
)  # fmt: skip
def test_files_without_secrets_are_read(command: str, project: str) -> None:
    answer = decide(command, cwd=project)
    assert answer.allowed, answer.reason


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["grep", "-r", "x", "."], "--exclude=.env*"),
        (["grep", "-r", "x", "."], "--exclude-dir=.ssh"),
        (["rg", "x"], "--iglob=!.env*"),
        (["rg", "x"], "--no-config"),
        (["diff", "-r", "a", "b"], "--exclude=*.pem"),
    ],
)
def test_reading_a_whole_folder_leaves_secrets_out(command: list[str], option: str) -> None:
    assert option in harden(command)
    guarded = harden([*command, "--", "z"])
    assert guarded.index(option) < guarded.index("--")
    assert guarded[: len(command)] == command


def test_grep_then_prints_no_secret(project: str) -> None:
    import subprocess

    words = harden(["grep", "-r", "--include=*", "SECRET", "."])
    done = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
    assert sorted(done.stdout.split()) == ["./src/a.py:SECRET", "./src/b.py:SECRET"]


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("a*b", "ab", True), ("a*b", "axxb", True), ("a*b", "axbc", False), ("?", "a", True),
        ("?", "ab", False), ("[ab]c", "xc", True), ("*", "", True), ("**a**", "bab", True),
        ("[", "[", True), ("a" * 300, "a", False), ("*a*a*a*", "banana", True),
        ("*a*a*a*a*", "banana", False),
    ],
)  # fmt: skip
def test_a_pattern_matches_at_least_what_a_shell_matches(
    pattern: str, name: str, fits: bool
) -> None:
    assert Pattern(pattern).matches(name) is fits
