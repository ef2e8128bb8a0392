"""Secrets that the attacks' scene does not hold: rarer homes, variables, several working trees."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.shared.place.scene import Scene, write
from tests.shared.place.test_after_the_place import in_place, printed

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.slow

HOME = (
    ".android/adbkey",
    ".ansible/galaxy_token",
    ".circleci/cli.yml",
    ".config/filezilla/sitemanager.xml",
    ".config/goose/secrets.yaml",
    ".config/io.datasette.llm/keys.json",
    ".config/uv/credentials.toml",
    ".cursor/mcp.json",
    ".cvspass",
    ".env",
    ".local/share/atuin/key",
    ".local/share/pypoetry/auth.toml",
    ".mc/config.json",
    ".passwd-s3fs",
    ".purple/accounts.xml",
    ".secrets",
    ".snowflake/connections.toml",
    ".subversion/auth/svn.simple/a",
    ".travis/config.yml",
    ".tsh/keys/a",
    ".vault_pass",
    ".vnc/passwd",
    ".weechat/sec.conf",
)
REPOSITORY = (
    ".aws/credentials",
    ".dev.vars",
    ".kube/config",
    ".secrets",
    ".vault_pass",
    "kubeconfig",
    "private.asc",
)
VARIABLES = ("GIT_CONFIG_PARAMETERS", "GIT_CONFIG_VALUE_0", "MYSQL_PWD", "SMTP_PW", "STRIPE_SK")


def test_rarer_secrets_of_the_home_are_hidden(scene: Scene) -> None:
    write(scene.home, {name: scene.plant(name) for name in HOME})
    assert not printed(scene, in_place(scene, "find {home} -type f -exec cat {} +"))


def test_rarer_untracked_secrets_of_the_repository_are_hidden(scene: Scene) -> None:
    write(scene.repo, {name: scene.plant(name) for name in REPOSITORY})
    shown = in_place(scene, "find {repo} -type f -not -path '*/.git/*' -exec cat {} +")
    assert not printed(scene, shown)


def test_rarer_variables_with_a_secret_are_hidden(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = scene.environment | {name: scene.plant(name) for name in VARIABLES}
    monkeypatch.setattr(Scene, "environment", property(lambda _scene: values))
    assert not printed(scene, in_place(scene, "env"))


def test_git_runs_where_the_client_gave_it_settings_by_variables(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "c"}
    values = scene.environment | given
    monkeypatch.setattr(Scene, "environment", property(lambda _scene: values))
    assert "Begin" in in_place(scene, "git log --oneline")


@pytest.fixture
def trees(scene: Scene) -> Callable[..., str]:
    """Return a function that runs git in the scene's repository."""

    def git(*words: str) -> str:
        command = ["git", "-c", "protocol.file.allow=always", *words]
        done = subprocess.run(
            command,
            cwd=scene.repo,
            env=scene.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    return git


def test_untracked_secrets_of_another_working_tree_are_hidden(
    scene: Scene, trees: Callable[..., str]
) -> None:
    other = scene.base / "linked"
    trees("worktree", "add", "--quiet", str(other), "other")
    write(other, {".env": scene.plant("the other tree's .env")})
    assert not printed(scene, in_place(scene, f"cat {other}/.env"))


def test_settings_of_a_submodule_in_another_working_tree_show_no_credentials(
    scene: Scene, trees: Callable[..., str]
) -> None:
    other = scene.base / "linked"
    trees("clone", "--quiet", str(scene.repo), str(scene.base / "module"))
    trees("submodule", "--quiet", "add", str(scene.base / "module"), "module")
    trees("commit", "--quiet", "--message", "Add a module")
    trees("worktree", "add", "--quiet", str(other), "main~0")
    trees("-C", str(other), "submodule", "--quiet", "update", "--init")
    address = f"https://me:{scene.plant('the module')}@example.invalid/a.git"
    trees("-C", str(other / "module"), "config", "remote.origin.url", address)
    assert not printed(scene, in_place(scene, "find .git -name config -exec cat {} +"))


def test_settings_that_git_includes_show_no_credentials(scene: Scene) -> None:
    header = "[http]\n\textraheader = AUTHORIZATION: bearer {}\n"
    write(scene.home, {
        "more/own.inc": header.format(scene.plant("by the home")),
        "more/deeper.inc": header.format(scene.plant("by what was included")),
    })  # fmt: skip
    with (scene.home / "more" / "own.inc").open("a") as file:
        file.write("[include]\n\tpath = deeper.inc\n")
    write(scene.repo, {"ours.inc": header.format(scene.plant("by the repository"))})
    with (scene.repo / ".git" / "config").open("a") as file:
        file.write('[include]\n\tpath = "~/more/own.inc"\n')
        file.write('[includeIf "gitdir:/nowhere/"] path = ../ours.inc\n')
    assert not printed(scene, in_place(scene, "cat {home}/more/*.inc ours.inc"))
    assert "extraheader" in in_place(scene, "cat {home}/more/own.inc")


def test_a_secret_that_is_taken_out_of_the_index_is_hidden_from_then_on(
    scene: Scene, trees: Callable[..., str]
) -> None:
    write(scene.repo, {"config/.env": scene.plant("it was tracked")})
    trees("add", "--force", "config/.env")
    assert printed(scene, in_place(scene, "cat config/.env"))
    trees("rm", "--quiet", "--cached", "config/.env")
    assert not printed(scene, in_place(scene, "cat config/.env"))
