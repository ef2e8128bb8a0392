"""Of homes the place shows the project, tools and what the project leads to, and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.known_secrets import SecretPlaces
from shared.place.homes import Homes
from shared.place.level import level
from shared.place.planning import planning_place
from shared.place.tool_folders import SHOWN
from shared.place.unseen import note, shown_by_user
from shared.resources import ROOT
from state.errors import Refused
from tests.place import need_place
from tests.shared.place import test_enter
from tests.shared.place.scene import write
from tests.shared.place.test_enter import enter, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PP-2")

# Planted below the home; `app` is the project, `lib` is what it leads to.
_SECRETS = """
work/other/.env work/other/deploy/id_rsa work/other/config.json .ssh.bak/id_ed25519 .ssh/id_rsa
Downloads/server.pem Documents/passwords.kdbx Documents/passwords.txt .bashrc .bash_history
.zsh_history .python_history .profile .claude/history.jsonl .claude/projects/a/b.jsonl
.codex/history.jsonl .vibe/vibehistory .config/Code/User/globalStorage/state.vscdb
.config/Cursor/User/globalStorage/state.vscdb .config/JetBrains/a/c.kdbx .vscode-server/data/a
.local/share/DBeaverData/workspace6/General/.dbeaver/credentials-config.json
.config/Postman/storage/a .config/Insomnia/a .config/wireguard/wg0.conf wg0.conf .netrc .npmrc
infra/terraform.tfstate.backup infra/prod.tfvars .config/gcloud/credentials.db .aws/credentials
.kube/config .docker/config.json .gnupg/private-keys-v1.d/a.key .password-store/mail.gpg
.config/git/credentials .git-credentials .cargo/credentials.toml .cargo/.env .m2/settings.xml
.gradle/gradle.properties .gem/credentials .local/bin/.env .local/share/uv/credentials/a
.local/share/keyrings/a.keyring .mozilla/firefox/a/logins.json .thunderbird/a/logins.json
.config/google-chrome/Default/Cookies .cache/huggingface/token .cache/unknown/token mail/inbox
.config/rclone/rclone.conf .config/op/config .config/unheard-of/token .local/share/unheard-of/key
.ansible/vault .jupyter/config.json .ipython/profile_default/history.sqlite .config/nix/nix.conf
.local/share/pypoetry/auth.toml
.unheard-of/token secret.txt src/elsewhere/main.py go/src/private/.env projects/app/.env
projects/app/.git/.env projects/app/.git/hooks/id_rsa projects/app/node_modules/x/.env
projects/app/node_modules/@a/b/.npmrc projects/app/.venv/lib/python3.11/site-packages/x/.env
projects/app/vendor/x/server.key projects/app/target/.env.local projects/app/node_modules/x/key.pem
lib/.env lib/.git/.env lib/deploy/server.key lib/node_modules/x/.env
.pyenv/versions/a/.env miniconda3/envs/a/.env mambaforge/envs/a/.env .local/share/pipx/venvs/a/.env
.cache/pypoetry/virtualenvs/other-A1-py3.11/.env .virtualenvs/a/bin/postactivate .virtualenvs/a/.env
miniconda3/conda-meta/state miniconda3/envs/a/conda-meta/state .local/share/uv/tools/a/.env
miniconda3/envs/a/etc/conda/activate.d/env_vars.sh
"""
SECRETS = _SECRETS.split()
KEY = "-----BEGIN PRIVATE KEY-----\n"


@pytest.fixture
def home() -> Path:
    """The home of the user, with the project in it."""
    need_place()
    home = Path(os.environ["HOME"])
    (home / "projects" / "app").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(home / "projects" / "app")], check=True)
    return home


@pytest.fixture
def seen(home: Path) -> Callable[[str], str]:
    """Return a function that runs a text in the place and returns all that was printed."""

    def run(text: str) -> str:
        done = enter(home / "projects" / "app", text)
        return done.stdout + done.stderr

    return run


def test_no_secret_of_the_home_or_the_project_is_readable(
    home: Path, seen: Callable[[str], str]
) -> None:
    assert len(SECRETS) >= 60
    write(home, {name: f"{KEY}planted-{number}\n" for number, name in enumerate(SECRETS)})
    write(home / "projects/app", {"go.mod": "replace lib => ../../lib\n", "kept": "seen-own\n"})
    write(home, {"lib/go.mod": "seen-lib\n", "lib/certificate": "seen-too\n"})
    named = " ".join(f'"$HOME/{name}"' for name in SECRETS)
    printed = seen(f"find ~ -type f -exec cat {{}} +; cat {named}; ls -R ~")
    found = [name for n, name in enumerate(SECRETS) if f"planted-{n}\n" in printed]
    assert found == []
    assert {"seen-own", "seen-lib", "seen-too"} <= {*printed.split()}


def test_certificates_that_packages_bring_are_shown(home: Path, seen: Callable[[str], str]) -> None:
    packages = "projects/app/.venv/lib/python3.11/site-packages/certifi"
    write(home, {f"{packages}/cacert.pem": "-----BEGIN CERTIFICATE-----\nx\n"})
    assert "CERTIFICATE" in seen("cat .venv/lib/*/site-packages/certifi/cacert.pem")


# Where an environment leads elsewhere: a file of the project, or of the home, and what stands in
# it; `{to}` is a folder of the home that is there for this form alone.
PACKAGES = ".venv/lib/python3.11/site-packages"
FORMS = {
    "editable": (f"{PACKAGES}/lib.pth", "{to}/src\n"),
    "finder": (f"{PACKAGES}/__editable___lib_finder.py", "MAPPING = {{'lib': '{to}/src/lib'}}\n"),
    "egg": (f"{PACKAGES}/lib.egg-link", "{to}\n.\n"),
    "of-the-user": ("~/.local/lib/python3.11/site-packages/lib.pth", "{to}\n"),
    "of-pyenv": ("~/.pyenv/versions/3.11.1/lib/python3.11/site-packages/lib.pth", "{to}\n"),
    "interpreter": (".venv/pyvenv.cfg", "home = {to}/bin\n"),
    "cargo": ("Cargo.toml", '[dependencies]\nlib = {{ path = "../../{name}" }}\n'),
    "cargo-member": ("crates/a/Cargo.toml", 'lib = {{ path = "../../../../{name}" }}\n'),
    "go-mod": ("go.mod", "replace example.com/lib => ../../{name}\n"),
    "go-work": ("go.work", "go 1.22\nuse (\n\t.\n\t../../{name}\n)\n"),
    "go-work-above": ("../go.work", "use ./app\nuse ../{name}\n"),
    "npm": ("package.json", '{{"dependencies": {{"lib": "file:../../{name}"}}}}\n'),
    "uv": ("pyproject.toml", '[tool.uv.sources]\nlib = {{ path = "../../{name}" }}\n'),
    "bundler": ("Gemfile", 'gem "lib", path: "../../{name}"\n'),
    "bundler-own": (".bundle/config", 'BUNDLE_LOCAL__LIB: "{to}"\n'),
    "gradle": ("settings.gradle", "includeBuild('../../{name}')\n"),
    "maven": ("pom.xml", "<relativePath>../../{name}/pom.xml</relativePath>\n"),
    "composer": ("composer.json", '{{"repositories": [{{"url": "../../{name}"}}]}}\n'),
    "dotnet": ("a.csproj", '<ProjectReference Include="..\\..\\{name}\\file" />\n'),
    "git-hook": (".git/hooks/pre-commit", "#!/bin/sh\nINSTALL_PYTHON={to}/bin/a\n"),
    "git-hooks": ("~/.gitconfig", "[core]\n\thooksPath = {to}\n"),
}
LINKS = {
    "npm-link": "node_modules/lib", "npm-scope": "node_modules/@scope/lib",
    "rustup": "~/.rustup/toolchains/own", "program": "~/.local/bin/program", "env": "venv",
}  # fmt: skip


def test_what_an_environment_leads_to_is_shown_read_only(
    home: Path, seen: Callable[[str], str]
) -> None:
    app, forms = home / "projects" / "app", [*FORMS, *LINKS]
    for name in forms:
        write(home, {f"{name}/{file}": f"seen-{name}\n" for file in ("file", "bin/a", "lib/a")})
        write(home, {f"{name}/{file}": "x\n" for file in ("src/lib/a", "pom.xml", ".git/HEAD")})
    for name, (file, text) in FORMS.items():
        path = home / file[2:] if file.startswith("~") else app / file
        write(path.parent, {path.name: text.format(to=home / name, name=name)})
    for name, link in LINKS.items():
        path = home / link[2:] if link.startswith("~") else app / link
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(os.path.relpath(home / name, path.parent))
    printed = seen(f"cd; cat {' '.join(f'{name}/file' for name in forms)}")
    assert [name for name in forms if f"seen-{name}\n" not in printed] == []
    assert seen("touch ~/cargo/x && echo wrote").count("Read-only file system") == 1


def test_python_and_node_find_what_is_installed_by_a_link(
    home: Path, seen: Callable[[str], str]
) -> None:
    write(home, {"lib/src/lib.py": "print('py-found')\n", "lib/pyproject.toml": "and all of it\n"})
    write(home, {"pkg/index.js": "console.log('js-found')"})
    packages = home / "projects/app/.venv/lib/python3.11/site-packages"
    write(packages, {"lib.pth": f"{home}/lib/src\n"})
    (home / "projects/app/node_modules").mkdir()
    (home / "projects/app/node_modules/pkg").symlink_to("../../../pkg")
    adds = f"import site; site.addsitedir('{packages}'); import lib"
    printed = seen(f'python3 -c "{adds}"; cat ~/lib/*.toml')
    assert printed == "py-found\nand all of it\n"
    if "js-found" not in seen("command -v node || echo js-found; node -e 'require(\"pkg\")'"):
        pytest.fail("node does not find a linked package")


_TOOLS = """
.pyenv/versions/a .cargo/registry/a .rustup/settings.toml .nvm/versions/a .asdf/installs/a
.local/share/mise/installs/a .sdkman/candidates/a .local/share/uv/tools/a .m2/repository/a
.gradle/caches/a .rbenv/versions/a .bundle/cache/a miniconda3/pkgs/a go/pkg/mod/a .npm/_cacache/a
.cache/pip/a .cache/pypoetry/virtualenvs/a .cache/go-build/a .local/share/pnpm/a .local/lib/a
.config/git/ignore .config/mise/config.toml .cache/pre-commit/a .julia/packages/a
.local/share/pypoetry/venv/bin/a .local/share/hatch/env/a
"""
TOOLS = _TOOLS.split()


def test_tools_and_caches_are_shown_and_what_is_written_there_vanishes(
    home: Path, seen: Callable[[str], str]
) -> None:
    write(home, {name: f"seen-{name}\n" for name in TOOLS})
    names = " ".join(TOOLS)
    printed = seen(f"cd; cat {names}; for one in {names}; do echo new >$one || echo BAD; done")
    assert [name for name in TOOLS if f"seen-{name}\n" not in printed] == []
    assert "BAD" not in printed
    assert {(home / name).read_text() for name in TOOLS} == {f"seen-{name}\n" for name in TOOLS}


def test_no_tool_that_is_shown_counts_as_a_secret() -> None:
    secret = SecretPlaces({"HOME": "/home/me"})
    shown = [f"/home/me/{folder}/{name}" for folder, names in SHOWN.items() for name in names]
    assert [path for path in shown if os.path.normpath(path) in secret] == []


def test_programs_of_path_are_shown_with_what_lies_around_them(
    home: Path, seen: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, {
        "opt/tool/bin/tool": "#!/bin/sh\ncat $HOME/opt/tool/lib/a\n",
        "opt/tool/lib/a": "ran-tool\n",
        "bin/own": "#!/bin/sh\necho ran-own\n", "lib/a": "not\n", "envs/a/marker": "seen-env\n",
    })  # fmt: skip
    for name in ("opt/tool/bin/tool", "bin/own"):
        (home / name).chmod(0o755)
    folders = f"{home}/opt/tool/bin:{home}/bin:{home}:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", folders)
    monkeypatch.setenv("VIRTUAL_ENV", str(home / "envs" / "a"))
    printed = seen("tool; own; cat ~/envs/a/marker; cat ~/lib/a")
    assert printed.split()[:3] == ["ran-tool", "ran-own", "seen-env"]
    assert "~/lib/a" in printed.partition("not shown: ")[2]


def test_a_home_of_linked_files_has_its_links(home: Path, seen: Callable[[str], str]) -> None:
    write(home, {
        "dotfiles/gitconfig": "[user]\nname = Ada\n[include]\npath = ~/dotfiles/more\n",
        "dotfiles/more": "[core]\neditor = ed\n[http]\nextraheader = hunter2\n",
        "dotfiles/secret": "hunter2\n", "dotfiles/config/git/ignore": "*.seen\n",
        "disk/pyenv/a": "seen-pyenv\n",
    })  # fmt: skip
    (home / ".gitconfig").unlink()
    for name, to in (
        (".gitconfig", "dotfiles/gitconfig"), (".config", "dotfiles/config"),
        (".pyenv", str(home / "disk" / "pyenv")),
    ):  # fmt: skip
        (home / name).symlink_to(to)
    asked = "git config user.name; git config core.editor; cat ~/.pyenv/a ~/.config/git/ignore"
    printed = seen(f"{asked}; cat ~/dotfiles/*")
    assert printed.split()[:4] == ["Ada", "ed", "seen-pyenv", "*.seen"]
    assert "hunter2" not in printed


@pytest.mark.parametrize("named", ["..", "../..", "../../..", "../../.ssh", "../../.own/b", "/"])
def test_a_project_cannot_have_the_home_or_its_secrets_shown(
    home: Path, seen: Callable[[str], str], named: str
) -> None:
    write(home, {"secret.txt": "hunter2\n", ".ssh/a": "hunter2\n", "projects/b/a": "hunter2\n"})
    write(home, {".own/b/a": "hunter2\n", "projects/app/go.mod": f"replace a => {named}\n"})
    assert "hunter2" not in seen(
        "find ~ -type f -exec cat {} +; cat ~/secret.txt ../b/a ~/.ssh/a ~/.own/b/a"
    )


def test_what_the_user_names_is_shown_without_its_secrets(
    home: Path, seen: Callable[[str], str], users_settings: Callable[[str], Path]
) -> None:
    write(home, {"data/a": "seen-data\n", "data/.env": "hunter2\n", "projects/b/a": "seen-b\n"})
    write(home, {".ssh/a": "hunter2\n", "projects/c/a": "hunter2\n", "a.txt": "seen-file\n"})
    users_settings('[place]\nshow = ["~/data", "~/projects/b", "~/.ssh", "~/a.txt", "~/gone"]\n')
    printed = seen("cat ~/data/a ../b/a ~/a.txt ~/data/.env ../c/a ~/.ssh/a; touch ~/data/x")
    assert printed.split()[:3] == ["seen-data", "seen-b", "seen-file"]
    assert "Read-only file system" in printed
    assert "hunter2" not in printed


@pytest.mark.parametrize(
    "text", ["show = 1", 'show = ["data"]', 'show = ["~"]', 'show = ["/"]', "hide = []", "show = ["]
)
def test_a_wrong_setting_is_named(users_settings: Callable[[str], Path], text: str) -> None:
    path = users_settings(f"[place]\n{text}\n")
    with pytest.raises(Refused, match=re.escape(str(path))):
        shown_by_user(os.environ["HOME"])


def test_nothing_runs_while_a_setting_is_wrong(
    home: Path, users_settings: Callable[[str], Path]
) -> None:
    assert level(str(home / "projects" / "app")).holds
    path = users_settings("[place]\nshow = 1\n")
    launcher = Path(ROOT, "bin", "planner")
    done = subprocess.run(
        [launcher, "ro", "-c", "echo ran"],
        cwd=home / "projects" / "app", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "ran\n" not in done.stdout
    assert f'at="{path} [place].show"' in done.stdout


@pytest.mark.parametrize(
    "text",
    [
        "cat ~/other/sub/a",
        "cat ../../other/sub/a",
        "cat $HOME/other/sub/a; true",
        "cat link/a",
        "cat --show-all link/a",
        "python3 -c \"open('link/a')\"",
        "./link/a",
    ],
)
def test_a_failure_names_what_is_not_shown_and_the_setting_that_shows_it(
    home: Path, seen: Callable[[str], str], text: str
) -> None:
    write(home, {"other/sub/a": "x\n", "other/.git/HEAD": "x\n"})
    (home / "projects" / "app" / "link").symlink_to("../../other/sub")
    said = seen(text).splitlines()[-1]
    assert said.startswith("planner: not shown: ~/other/sub/a")
    assert '[place] show = ["~/other"]' in said


@pytest.mark.requirement("PP-2")
def test_a_failure_names_what_lies_in_the_machines_folder_for_temporary_files(
    seen: Callable[[str], str],
) -> None:
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as file:
        said = seen(f"{file.name} --version").splitlines()[-1]
        assert said.startswith(f"planner: not shown: {file.name}, since a command has a /var/tmp")
        assert not seen(f"test -e {file.name} || echo no").startswith("planner:")


def test_a_failure_offers_no_setting_for_a_secret(home: Path, seen: Callable[[str], str]) -> None:
    write(home, {".ssh/id_rsa": "x\n"})
    said = seen("cat ~/.ssh/id_rsa").splitlines()[-1]
    assert said == "planner: not shown: ~/.ssh/id_rsa, which may hold a secret"


def test_a_failure_that_names_a_link_which_nobody_may_read_is_told_as_it_is(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In /proc lie links into other processes: following one is refused."""
    (home / "odd").symlink_to("elsewhere")
    real = os.readlink

    def readlink(path: str) -> str:
        if str(path).endswith("odd"):
            raise PermissionError(13, "Permission denied", path)
        return real(path)

    monkeypatch.setattr(os, "readlink", readlink)
    place = planning_place(str(home / "projects/app"), str(home / "projects/app"), None)
    place.look_around()
    assert note(place, ["cat ~/odd"]).startswith("not shown: ~/odd, since of a home")


def test_where_the_project_is_the_home_its_secrets_are_hidden_by_name() -> None:
    need_place()
    home = Path(os.environ["HOME"])
    subprocess.run(["git", "init", "-q", str(home)], check=True)
    write(home, {".ssh/a": "hunter2\n", ".env": "hunter2\n", "a": "seen\n"})
    done = enter(home, "cat ~/a; find ~ -type f -exec cat {} +; touch ~/new && echo wrote")
    assert "hunter2" not in done.stdout
    assert {"seen", "wrote"} <= {*done.stdout.split()}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_homes_of_others_are_absent_those_of_windows_too(tmp_path: Path) -> None:
    """The project is a third user's, as where root works; WSL shows homes of Windows below /mnt."""
    need_place()
    files = {"projects/a": "seen", ".ssh/id": "hunter2", "b/a": "hunter2", ".cargo/a": "tool-shown"}
    tops = ("/home/me", "/home/other", "/mnt/c/Users/me", "/mnt/c/Users/other", "/root")
    python = sys.base_prefix  # it may lie in one of them, and stays
    made = "".join(
        f"mkdir -p $(dirname {top}/{name}); echo {text} >{top}/{name};"
        for top in tops for name, text in files.items()
    )  # fmt: skip
    mounts = f"mount --bind {python} {tmp_path};"
    mounts += "".join(f"mount -t tmpfs none {top};" for top in ("/home", "/mnt", "/root"))
    mounts += f"mkdir -p {python}; mount --bind {tmp_path} {python};"
    for own in ("/home/me", "/mnt/c/Users/me"):
        find = f"find /home /mnt /root ~ -type f -not -path '*/.git*' -not -path '{python}/*'"
        find += " -exec cat {} +"
        command = words(Path(own, "projects"), f"{find}; touch {own}/x && echo wrote")
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c",
             f'{mounts}{made} git init -q {own}/projects; exec "$@"', "sh", *command],
            env={**os.environ, "PATH": f"{os.environ['PATH']}:/mnt/c/Users/other/b"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert sorted(done.stdout.split()) == ["seen", "tool-shown", "wrote"], done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
def test_the_interpreter_that_runs_us_is_there_in_another_users_home_and_off_path_too() -> None:
    need_place()
    inner = "/home/other/environment/bin/python3"
    made = f"{sys.executable} -m venv --without-pip /home/other/environment; echo x >/home/other/.a"
    command = [inner, *words(Path("/home/me"), f"{inner} -c 'print(1)'; cat /home/other/.a")[1:]]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c",
         f'mount -t tmpfs none /home; mkdir /home/me; {made}; git init -q /home/me; exec "$@"',
         "sh", *command],
        env={**os.environ, "HOME": "/home/me"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "1\n", done.stderr


@pytest.mark.parametrize("where", ["/", "/tmp", "/nonexistent", "{repo}", "{repo}/home", "{link}"])  # noqa: S108
def test_any_folder_may_be_the_home(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    need_place()
    write(tmp_path, {"real/.npm/a": "x\n"})
    write(repo.path, {"home/.netrc": "hunter2\n", ".netrc": "hunter2\n"})
    (tmp_path / "link").symlink_to("real")
    home = where.format(repo=repo.path, link=tmp_path / "link")
    monkeypatch.setenv("HOME", home)
    done = enter(repo.path, "cat README.md home/.netrc .netrc; git log --format=%s")
    assert done.stdout == "# Sample\nBegin\n", done.stderr


def test_without_a_variable_the_home_is_the_accounts(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, {".cargo/credentials.toml": "hunter2\n", ".cargo/config.toml": "seen\n"})
    app = home / "projects" / "app"
    expanded = f"import os\nos.path.expanduser = lambda _: {str(home)!r}\nimport sys"
    script = test_enter.ENTER.replace("import sys", expanded, 1)
    monkeypatch.setattr(test_enter, "ENTER", script)
    monkeypatch.delenv("HOME")
    done = enter(app, f"cat {home}/.cargo/config.toml {home}/.cargo/credentials.toml")
    assert done.stdout == "seen\n"


def test_what_else_is_shown_shows_no_secret(
    home: Path, seen: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook's folder may be any, such as one with keys."""
    write(home, {".ssh/id": "hunter2\n", "hooks/.env": "seen\n"})
    shows = f"place.shown += ('{home}/.ssh', '{home}', '{home}/hooks')\nreport = run("
    monkeypatch.setattr(test_enter, "ENTER", test_enter.ENTER.replace("report = run(", shows))
    assert seen("cat ~/.ssh/id ~/hooks/.env; ls ~").splitlines()[:2] == ["seen", "hooks"]


def test_a_file_of_the_home_is_shown_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.place.homes._LARGEST_FILE", 4)
    home = tmp_path / "home"
    write(home, {"empty": "", "small": "four", "large": "fives", "bin/tool": "", "hidden": "x"})
    homes = Homes(str(tmp_path / "app"), str(home), {})
    homes.emptied = (str(home),)
    for name in ("empty", "small", "large", "bin", "hidden", "missing"):
        homes._add_tool(str(home / name), {str(home / "hidden")})
    assert homes.files == {str(home / "empty"): b"", str(home / "small"): b"four"}
    assert homes.tools == [str(home / "bin")]
