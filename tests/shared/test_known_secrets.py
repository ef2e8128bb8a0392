"""The lists of secrets: of a user's home, of a repository, of the environment, of git settings."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from shared.git.repository import repository_at
from shared.known_secrets import (
    SecretPlaces,
    is_secret_name,
    is_secret_variable,
    secrets_of_user,
    without_credentials,
)
from shared.secret_walk import scan, secret_files, without_tracked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

# What tools of the field keep below a home, written down without a look at the list.
KEPT_IN_HOME = """
.ssh/id_ed25519 .ssh/config .gnupg/private-keys-v1.d/x.key .git-credentials .config/git/credentials
.config/gh/hosts.yml .config/glab-cli/config.yml .docker/config.json .config/containers/auth.json
.config/pypoetry/auth.toml .kube/config .aws/credentials .aws/sso/cache/a.json .azure/x.json
.config/gcloud/credentials.db .npmrc .pypirc .netrc .pgpass .password-store/mail.gpg
.local/share/keyrings/login.keyring .mozilla/firefox/x.default/logins.json
.config/google-chrome/Default/Cookies .config/chromium/Default/Cookies .bash_history .zsh_history
.cargo/credentials.toml .gem/credentials .m2/settings.xml .gradle/gradle.properties
.terraform.d/credentials.tfrc.json .vault-token .claude/.credentials.json .codex/auth.json
Library/Keychains/login.keychain-db .config/rclone/rclone.conf .config/hub .s3cfg .boto
.claude/history.jsonl .codex/history.jsonl .vibe/vibehistory .config/Postman/storage/a
.config/Code/User/globalStorage/state.vscdb .local/share/DBeaverData/workspace6/a .wireguard/wg0
.local/share/zsh/history
"""
HARMLESS_IN_HOME = """
.gitconfig .bashrc .config/git/ignore .config/gh/config.yml .docker/daemon.json project/src/a.py
.config/planner/config.toml .cargo/config.toml .local/share/fonts/a.ttf .sshrc .awsome .config
"""


@pytest.mark.requirement("PP-2")
@pytest.mark.parametrize("name", KEPT_IN_HOME.split())
def test_what_tools_keep_below_a_home_is_a_secret(name: str, tmp_path: Path) -> None:
    places = SecretPlaces({"HOME": str(tmp_path)})
    assert f"{tmp_path}/{name}" in places
    assert f"{tmp_path}/{name}".upper() in places
    assert f"/home/other/{name}" in places
    assert f"/root/{name}" in places
    assert places.below(str(tmp_path))


@pytest.mark.parametrize("name", HARMLESS_IN_HOME.split())
def test_other_files_below_a_home_are_none(name: str, tmp_path: Path) -> None:
    assert f"{tmp_path}/{name}" not in SecretPlaces({"HOME": str(tmp_path)})


@pytest.mark.requirement("PP-2")
@pytest.mark.parametrize("name", ["gcloud", "chromium", "keyrings", ".ssh", ".aws", ".kube"])
def test_a_folder_is_secret_by_where_it_lies_and_not_by_its_name(name: str) -> None:
    places = SecretPlaces({"HOME": "/home/me"})
    assert f"/home/me/project/{name}/a.py" not in places
    assert f"/srv/{name}/a.py" not in places
    assert not places.below("/home/me/project")


@pytest.mark.parametrize(
    ("folder", "holds"),
    [
        ("/home/me", True), ("/home", True), ("/", True), ("/home/me/.config", True),
        ("/home/me/.docker", True), ("/home/me/.DOCKER/", True), ("/etc", True), ("/run", True),
        ("/home/me/.config/git", True), ("/home/me/work", False), ("/srv", False),
        ("/home/me/.cargo/registry", False), ("/home/me/.con", False),
    ],
)  # fmt: skip
def test_a_folder_with_a_secret_place_below_it_is_known(folder: str, holds: bool) -> None:
    assert SecretPlaces({"HOME": "/home/me"}).below(folder) is holds


def test_secrets_that_variables_name_are_known(tmp_path: Path) -> None:
    (tmp_path / "kube.yaml").touch()
    (tmp_path / "xdg" / "gh").mkdir(parents=True)
    (tmp_path / "xdg" / "gh" / "hosts.yml").touch()
    variables = {
        "HOME": "/nowhere", "XDG_CONFIG_HOME": f"{tmp_path}/xdg",
        "KUBECONFIG": f"/none:{tmp_path}/kube.yaml", "DOCKER_CONFIG": f"{tmp_path}/docker",
    }  # fmt: skip
    places = SecretPlaces(variables)
    assert f"{tmp_path}/kube.yaml" in places
    assert f"{tmp_path}/docker/config.json" in places
    assert f"{tmp_path}/xdg/gh/hosts.yml" in places
    existing = [f"{tmp_path}/kube.yaml", f"{tmp_path}/xdg/gh/hosts.yml"]
    assert sorted(secrets_of_user(variables)) == existing


@pytest.mark.requirement("PP-2")
@pytest.mark.parametrize(
    ("name", "secret"),
    [
        (".env", True), (".ENV", True), (".env.local", True), (".env.production", True),
        (".envrc", True), ("prod.env", True), ("server.pem", True), ("id_rsa", True),
        ("credentials.json", True), ("terraform.tfstate", True), (".env.example", False),
        (".env.sample", False), (".env.template", False), (".env.local.example", False),
        ("id_rsa.pub", False), ("env.py", False), ("environment.md", False), ("keys.py", False),
        ("server.key~", True), ("server.pem.bak", True), (".server.key.swp", True),
        ("#.env#", True), (".env#", True), (".env.bak~", True), ("~" * 255, False),
        (".#server.pem", True), ("credentials.json.orig", True),
        ("terraform.tfstate.backup", True), (".env.backup", True), ("state.vscdb", True),
        ("key.asc", True), (".env.example~", False), ("id_rsa.pub.bak", False), ("a.py~", False),
        (".a.py.swp", False), ("#notes#", False), ("~", False), (".swp", False), ("##", False),
    ],
)  # fmt: skip
def test_a_file_is_secret_by_its_name(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


@pytest.mark.requirement("PP-2")
def test_untracked_secrets_of_a_repository_are_listed_in_one_walk(
    make_repo: Repositories, tmp_path: Path
) -> None:
    repo = make_repo(files={"test/tracked.pem": "public\n", "a.txt": "a\n"})
    for name in (
        ".env", "web/.env.local", "web/.env.example", "web/deep/server.key", "test/other.pem",
        "node_modules/x/.env", ".venv/.env", "odd/[a]/.env",
    ):  # fmt: skip
        (repo.path / name).parent.mkdir(parents=True, exist_ok=True)
        (repo.path / name).write_text("SECRET\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / ".env").touch()
    (repo.path / "link").symlink_to(tmp_path / "elsewhere")
    found = secret_files(scan(str(repo.path)))
    wanted = [".env", "odd/[a]/.env", "test/other.pem", "web/.env.local", "web/deep/server.key"]
    assert sorted([*wanted, "test/tracked.pem"]) == found
    assert without_tracked(repository_at(str(repo.path)).git, found) == wanted
    assert without_tracked(repository_at(str(repo.path)).git, []) == []


def test_a_second_walk_lists_only_folders_that_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/x", "a/b/y", "c/z"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for folder in ("", "a", "a/b", "c"):
        os.utime(tmp_path / folder, ns=(1, 1))
    first = scan(str(tmp_path))
    (tmp_path / "a" / "b" / ".env").touch()
    listed, really = [], os.scandir

    def watched(path: str) -> object:
        listed.append(os.path.relpath(path, tmp_path))
        return really(path)

    monkeypatch.setattr(os, "scandir", watched)
    assert secret_files(scan(str(tmp_path), first)) == ["a/b/.env"]
    assert listed == ["a/b"]


def test_a_folder_that_changed_a_moment_ago_is_listed_again(tmp_path: Path) -> None:
    """A file that comes within the clock's tick leaves the folder's time as it was."""
    first = scan(str(tmp_path))
    changed = os.stat(tmp_path).st_mtime_ns
    (tmp_path / ".env").touch()
    os.utime(tmp_path, ns=(changed, changed))
    assert secret_files(scan(str(tmp_path), first)) == [".env"]


def test_a_walk_is_bounded(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}" / "deep").mkdir(parents=True)
    (tmp_path / ".env").touch()
    found = scan(str(tmp_path), most=5)
    assert len(found) == 5
    assert secret_files(found) == [".env"]


@pytest.mark.requirement("PP-2")
@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("GITHUB_TOKEN", "", True), ("AWS_SECRET_ACCESS_KEY", "", True), ("DB_PASSWORD", "", True),
        ("NPM_CONFIG__AUTH", "", True), ("SSH_AUTH_SOCK", "", True), ("OPENAI_API_KEY", "", True),
        ("AWS_ACCESS_KEY_ID", "", True), ("PGPASSWORD", "", True), ("GH_PAT", "", True),
        ("DATABASE_URL", "postgres://u:p@host/x", True), ("SENTRY_DSN", "", True),
        ("DATABASE_URL", "sqlite:///x.db", False), ("PATH", "/bin:/usr/bin", False),
        ("HOME", "/home/me", False), ("GIT_AUTHOR_NAME", "Me", False), ("LANG", "C", False),
        ("KEYBOARD", "us", False), ("XDG_SESSION_ID", "3", False), ("TOKENIZERS", "1", False),
    ],
)  # fmt: skip
def test_a_variable_smells_of_a_secret(name: str, value: str, secret: bool) -> None:
    assert is_secret_variable(name, value) is secret


CONFIG = """\
[core]
\tbare = false
[remote "origin"]
\turl = https://me:tok@example.org/passport.git
\tpushurl = ssh://git@example.org/a.git
[url "https://tok@example.org/"]
\tinsteadOf = example:
[http "https://example.org"]
\textraheader = AUTHORIZATION: \\
basic tok
[credential]
\thelper = "!f() { echo password=tok; }; f"
[sendemail]
\tsmtpPass = tok
[branch "main"]
\tremote = origin
"""


@pytest.mark.requirement("PP-2")
def test_git_configuration_is_shown_without_credentials(tmp_path: Path) -> None:
    shown = without_credentials(CONFIG)
    assert "tok" not in shown
    file = tmp_path / "config"
    file.write_text(shown)
    done = subprocess.run(
        ["git", "config", "--file", str(file), "--list"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "remote.origin.url=https://***@example.org/passport.git" in done.stdout
    assert "remote.origin.pushurl=ssh://git@example.org/a.git" in done.stdout
    assert "branch.main.remote=origin" in done.stdout
    plain = CONFIG.partition("[remote")[0]
    assert without_credentials(plain) == plain
