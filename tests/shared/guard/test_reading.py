"""The client's own tools for reading and searching get no secret, as the shell gets none."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.guard.secrets import excluded
from shared.resources import launcher
from tests.forms import part
from tests.shared.guard.client import Client, planned_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

SECRETS = (".env", "web/.env.local", "server.key", "link.txt", "../.ssh/id_rsa", ".git/config")
FIELDS = {
    "claude": ("Read", "file_path", "Grep", "LS"),
    "vibe": ("file_system.read_file", "file_path", "file_system.grep", "file_system.list_dir"),
    "codex": ("view_image", "path", "", ""),
}


@pytest.fixture
def root(make_repo: Repositories, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with secrets, in a home with keys, in which a session plans."""
    repo = make_repo(files={"a.txt": "x\n", "web/b.txt": "x\n"})
    monkeypatch.setenv("HOME", str(repo.path.parent))
    repo.git("remote", "add", "origin", "https://me:SECRET@example.invalid/x.git")
    (repo.path.parent / ".ssh").mkdir()
    for name in (*SECRETS[:3], "../.ssh/id_rsa", ".env.example"):
        (repo.path / name).write_text("VALUE\n")
    (repo.path / "link.txt").symlink_to(".env")
    return planned_in(repo).path


@pytest.mark.requirement("PP-2")
@pytest.mark.parametrize("host", FIELDS)
@pytest.mark.parametrize("name", part(SECRETS, 2))
def test_a_tool_that_reads_a_secret_is_denied(host: str, name: str, root: Path) -> None:
    tool, field, _, _ = FIELDS[host]
    client = Client(root, host=host)
    assert "Instead: " in client.denial(tool, **{field: str(root / name)})
    assert "Instead: " in client.denial(tool, **{field: name})
    for harmless in ("a.txt", ".env.example", "nowhere"):
        assert client.asks(tool, **{field: str(root / harmless)}) == {}


@pytest.mark.requirement("PP-2")
@pytest.mark.parametrize("host", ["claude", "vibe"])
def test_a_search_or_list_of_secret_folders_is_denied(host: str, root: Path) -> None:
    *_, grep, listing = FIELDS[host]
    client = Client(root, host=host)
    for path in ("..", "~", "/", "../.ssh", ".env", ".git"):
        assert "Instead: " in client.denial(grep, pattern="VALUE", path=path)
    assert "Instead: " in client.denial(listing, path=str(root.parent / ".ssh"))
    assert client.asks(listing, path=str(root)) == {}


@pytest.mark.requirement("PP-2")
def test_a_search_leaves_secrets_out(root: Path) -> None:
    client = Client(root)
    assert "Instead: " in client.denial("Grep", pattern="VALUE", glob=".env*")
    for given in ({}, {"glob": "*.py"}, {"glob": "*.{js,ts}"}, {"path": "web", "glob": "!b.txt"}):
        answer = client.asks("Grep", pattern="VALUE", **given)["hookSpecificOutput"]
        assert set(answer) == {"hookEventName", "updatedInput"}
        changed = answer["updatedInput"]
        assert {**changed, "glob": ""} == {"pattern": "VALUE", **given, "glob": ""}
        # The client splits it at spaces, and at commas outside braces.
        *own, last = changed["glob"].split()
        assert " ".join(own) == given.get("glob", "")
        assert last.startswith("!{")
        assert {*last[2:-1].split(",")} == {*excluded()}


# Each field of opencode's and Gemini's that names files holds one pattern.
NARROW = ("*.py", "src/**/*.{ts,tsx}", "Makefile", "*.[ch]")
WIDE = (
    "*", "**/*", ".*", "!*.py", "*.{py,env}", "{.env,a}*", "*.json", "server.*", "*test*",
    "[.]env", ".env", "web/.env.local", "*.p?m", "a\\*", "*.{", "{a,b}" * 9,
)  # fmt: skip


@pytest.mark.requirement("PP-2")
def test_a_search_with_one_pattern_has_that_or_leaves_secrets_out(root: Path) -> None:
    client = Client(root, host="opencode")
    answer = client.asks("grep", pattern="VALUE", path="web")["hookSpecificOutput"]
    changed = answer["updatedInput"]
    assert {**changed, "include": ""} == {"pattern": "VALUE", "path": "web", "include": ""}
    assert {*changed["include"][2:-1].split(",")} == {*excluded()}
    for given in NARROW:
        assert client.asks("grep", pattern="VALUE", include=given) == {}, given
    for given in WIDE:
        reason = client.denial("grep", pattern="VALUE", include=given)
        assert "hold secrets" in reason, given


@pytest.mark.requirement("PP-2")
def test_a_search_reads_nothing_that_git_ignores_and_no_hidden_secret(root: Path) -> None:
    def asks(**given: object) -> object:
        tool = {"tool_name": "grep_search", "tool_input": {"pattern": "VALUE", **given}}
        return Client(root, host="gemini").sends("BeforeTool", **tool).get("decision")

    assert [asks(), asks(no_ignore=False)] == [None, None]
    assert [asks(include_pattern=given) for given in NARROW] == [None] * len(NARROW)
    assert {asks(no_ignore=True), *(asks(include_pattern=given) for given in WIDE)} == {"deny"}
    vibe = Client(root, host="vibe")
    assert vibe.asks("file_system.grep", pattern="VALUE", use_default_ignore=True) == {}
    for given in (False, 0, "false", "no"):
        reason = vibe.denial("file_system.grep", pattern="VALUE", use_default_ignore=given)
        assert "which may hold secrets. Instead: search without it" in reason


@pytest.mark.skipif(not shutil.which("rg"), reason="ripgrep is missing: apt install ripgrep")
@pytest.mark.parametrize("glob", ["", "*", "*.{txt,key,local}", "**/*"])
def test_ripgrep_reads_such_patterns_as_meant(glob: str, root: Path) -> None:
    answer = Client(root).asks("Grep", pattern="VALUE", glob=glob)["hookSpecificOutput"]
    options = [f"--glob={pattern}" for pattern in answer["updatedInput"]["glob"].split()]
    done = subprocess.run(
        ["rg", "--hidden", "--files", *options], cwd=root, capture_output=True, text=True,
        check=False, env={"PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert "web/b.txt" in done.stdout
    assert not {*SECRETS[:3]} & {*done.stdout.split()}


@pytest.mark.skipif(not shutil.which("rg"), reason="ripgrep is missing: apt install ripgrep")
def test_ripgrep_reads_what_opencode_gives_it_as_meant(root: Path) -> None:
    given = Client(root, host="opencode").asks("grep", pattern="VALUE")["hookSpecificOutput"]
    # As opencode 1.18.33 starts it.
    words = ["rg", "--no-config", "--json", "--hidden", "--no-messages"]
    words += [f"--glob={given['updatedInput']['include']}", "--glob=!**/.git/**", "--"]
    for pattern, found in (("VALUE", ".env.example"), ("x", "web/b.txt")):
        done = subprocess.run([*words, pattern, "."], cwd=root, capture_output=True, check=False)
        named = re.findall(rb'"begin".*?"text":"\./([^"]*)"', done.stdout)
        assert found in {*map(os.fsdecode, named)}
        assert not {*SECRETS[:3]} & {*map(os.fsdecode, named)}


@pytest.mark.requirement("PP-2")
@pytest.mark.parametrize("name", SECRETS)
def test_a_command_of_ours_is_given_no_secret_to_read(name: str, root: Path) -> None:
    """What it cannot use, it shows in its error."""
    client = Client(root)
    for words in (
        f"context set --file {name}", f"plan batch --file={name}", f"plan import {name}",
        f"qr set --phase plan-code --file {root / name}",
    ):  # fmt: skip
        assert "Instead: " in client.denial("Bash", command=f"{launcher()} {words}"), words
    (root / "context.json").write_text("{}")
    assert client.asks("Bash", command=f"{launcher()} context set --file context.json") == {}
    added = f"{launcher()} plan add milestone --name Keys --file .env"
    assert client.asks("Bash", command=added) == {}


@pytest.mark.requirement("PP-2")
@pytest.mark.parametrize("field", ["absolute_path", "target", "paths", "more"])
def test_a_path_in_a_field_that_the_guard_does_not_know_is_judged(root: Path, field: str) -> None:
    client = Client(root, host="gemini")

    def denies(tool: str, path: Path, **more: str) -> bool:
        held = {"paths": [str(path)], "more": {"files": [{"path": str(path)}]}}.get(
            field, str(path)
        )
        given = {field: held, **more}
        answer = client.sends("BeforeTool", tool_name=tool, tool_input=given)
        return answer.get("decision") == "deny"

    for name in SECRETS:
        assert denies("read_file", root / name)
    assert not denies("read_file", root / "a.txt")
    if field not in ("absolute_path", "paths"):
        return
    assert denies("read_file", root / ".env", file_path="a.txt")
    for tool in ("list_directory", "grep_search"):
        assert denies(tool, root.parent / ".ssh", dir_path=str(root))
        assert denies(tool, root.parent / ".ssh")


@pytest.mark.requirement("PP-2")
def test_a_reading_tool_without_any_path_is_denied(root: Path) -> None:
    for given in ({}, {"file_path": ""}, {"file_path": None, "limit": 5}):
        assert "file_path" in Client(root).denial("Read", **given)
    assert Client(root).asks("LS") == {}
