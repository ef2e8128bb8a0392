"""The client's own tools for reading and searching get no secret, as the shell gets none."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.guard.secrets import excluded
from shared.resources import launcher
from tests.journey import call
from tests.shared.guard.client import SESSION, Client

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
    assert call(repo.path, "mode", "enter", "--agent", SESSION).code == 0
    return repo.path


@pytest.mark.requirement("PP-2")
@pytest.mark.parametrize("host", FIELDS)
@pytest.mark.parametrize("name", SECRETS)
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
