from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from developer.candidates.settle import write_commands
from shared.config import (
    Config,
    commands_hash,
    load_config,
    named_commands,
    parse_config,
    render_commands,
    write_paths,
)
from shared.git.repository import find_repository
from state.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from state.errors import Problem
    from tests.conftest import Repository

WHOLE = """
[worktree]
setup = ["npm ci"]
link = ["node_modules", "a b/.venv"]
format = ["npx prettier --write ."]
[verify]
commands = ["npm test", "npm run lint"]
write = ["node_modules/.cache", "~/.npm", "/var/cache/x"]
time_limit_s = 60
[run]
types = "npx tsc"
[guard]
any = { thing = 1 }
[providers.anthropic.fast]
model = "x"
"""


def problems_of(text: str | bytes) -> list[Problem]:
    with pytest.raises(Refused) as refusal:
        parse_config(text.encode() if isinstance(text, str) else text)
    assert all(p.kind == "invalid" and p.allowed for p in refusal.value.problems)
    return list(refusal.value.problems)


def test_every_setting_is_read_and_later_tables_are_left_alone() -> None:
    config = parse_config(WHOLE.encode())
    assert config == Config(
        setup=("npm ci",),
        link=("node_modules", "a b/.venv"),
        format=("npx prettier --write .",),
        verify=("npm test", "npm run lint"),
        write=("node_modules/.cache", "~/.npm", "/var/cache/x"),
        time_limit_s=60,
        run={"types": "npx tsc"},
    )
    assert Config.from_json(config.to_json()) == config


@pytest.mark.requirement("PL-34")
def test_the_base_commit_counts_and_not_the_working_tree(repo: Repository) -> None:
    without = repo.git("rev-parse", "HEAD")
    with_it = repo.commit({"planner.toml": '[verify]\ncommands = ["true"]\n'})
    (repo.path / "planner.toml").write_text("[verify]\ncommands = ['rm -r /']\n")
    (repo.path / "below").mkdir()
    for folder in (repo.path, repo.path / "below"):
        git = find_repository(str(folder)).git
        assert load_config(git, with_it).verify == ("true",)
        assert load_config(git, without) == Config()


def test_a_link_or_folder_in_place_of_the_file_is_refused(repo: Repository) -> None:
    (repo.path / "planner.toml").symlink_to("/etc/passwd")
    linked = repo.commit()
    (repo.path / "planner.toml").unlink()
    folder = repo.commit({"planner.toml/x": "y"})
    for commit in (linked, folder):
        with pytest.raises(Refused, match="not a plain file"):
            load_config(find_repository(str(repo.path)).git, commit)


def test_all_mistakes_are_told_at_once() -> None:
    text = """
    verify = "true"
    [worktree]
    setup = "npm ci"
    link = ["/etc", "../x", ".git", 3]
    speed = 1
    [typo]
    [run]
    "a b" = "true"
    verify = "true"
    lint = ["x"]
    empty = " "
    """
    found = {(p.at, p.problem) for p in problems_of(text)}
    assert found == {
        ("planner.toml [verify]", "is not a table"),
        ("planner.toml [worktree].setup", "is not a list"),
        ("planner.toml [worktree].link", "'/etc' is not the relative path of a file"),
        (
            "planner.toml [worktree].link",
            "'../x' leaves the repository or has a part that is '.', '..' or empty",
        ),
        (
            "planner.toml [worktree].link",
            "'.git' lies in .git or .planner, which no plan may change",
        ),
        ("planner.toml [worktree].link", "3 is not text"),
        ("planner.toml [worktree].speed", "there is no such key"),
        ("planner.toml [typo]", "there is no such table"),
        ("planner.toml [run].a b", "is not a name for a command"),
        (
            "planner.toml [run].verify",
            "this name is reserved: `tree run verify` runs the commands in the list verify",
        ),
        ("planner.toml [run].lint", '["x"] is not text'),
        ("planner.toml [run].empty", "' ' is not a command"),
    }


def test_a_mistake_comes_with_what_is_allowed_and_an_example() -> None:
    (problem,) = problems_of("[verify]\ncommands = 'pytest'\n")
    assert problem.at == "planner.toml [verify].commands"
    assert problem.allowed == 'a list of shell commands, for example ["python -m pytest -q"]'


@pytest.mark.parametrize("value", ["0", "true", "1.5", '"60"', "90000"])
def test_a_time_limit_is_a_number_of_seconds_within_a_day(value: str) -> None:
    (problem,) = problems_of(f"[verify]\ntime_limit_s = {value}\n")
    assert "seconds per command" in problem.allowed


@pytest.mark.parametrize("path", ["~/../x", "/a/../b", "~", "~/.git/x", "", "/"])
def test_a_path_to_write_to_is_normal(path: str) -> None:
    (problem,) = problems_of(f"[verify]\nwrite = ['{path}']\n")
    assert problem.at == "planner.toml [verify].write"


@pytest.mark.requirement("PP-2")
def test_a_person_confirms_which_secrets_commands_may_read() -> None:
    config = parse_config(b'[verify]\nsecrets = [".env.test"]\n')
    assert config.secrets == (".env.test",)
    assert "[verify] secrets: .env.test" in render_commands(config)
    other = replace(config, secrets=(".env",))
    assert len({commands_hash(one) for one in (Config(), config, other)}) == 3
    (problem,) = problems_of("[verify]\nsecrets = ['~/.netrc', 'a']\n".replace("~", "/etc"))
    assert problem.at == "planner.toml [verify].secrets"


def test_paths_to_write_to_are_found_in_repository_and_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    config = Config(write=("cache", "~/.npm", "/var/x"))
    assert write_paths(config, "/repo") == ["/repo/cache", f"{tmp_path}/.npm", "/var/x"]


def test_what_is_no_toml_is_refused_with_its_line() -> None:
    (broken,) = problems_of("[verify]\n\ncommands = [\n")
    assert "line" in broken.problem
    (bytes_,) = problems_of(b"[verify]\n# caf\xe9\n")
    assert "line 2" in bytes_.problem


def test_a_byte_order_mark_and_windows_line_ends_are_read() -> None:
    config = parse_config(b"\xef\xbb\xbf[verify]\r\ncommands = ['true']\r\n")
    assert config.verify == ("true",)


def test_without_commands_there_is_nothing_to_confirm() -> None:
    assert commands_hash(Config(link=("node_modules",))) == ""


def test_where_hooks_may_write_is_confirmed_though_no_command_is_named() -> None:
    assert commands_hash(Config(write=("x",)))
    assert render_commands(Config(link=("node_modules",))) == ""


def test_the_hash_covers_every_command_and_where_it_may_write() -> None:
    texts = ("setup", "format", "verify")
    hashes = {commands_hash(Config.from_json({name: ["a"]})) for name in texts}
    hashes.add(commands_hash(Config(run={"x": "a"})))
    hashes.add(commands_hash(Config(run={"y": "a"})))
    hashes.add(commands_hash(Config(verify=("a", "a"))))
    hashes.add(commands_hash(Config(verify=("a",), write=("x",))))
    assert len(hashes) == 7
    assert all(len(digest) == 64 for digest in hashes)


def test_the_hash_leaves_out_links_the_time_limit_and_the_order_of_names() -> None:
    plain = Config(verify=("a",), run={"x": "1", "y": "2"})
    other = Config(("a",)[:0], ("l",), (), ("a",), (), 9, run={"y": "2", "x": "1"})
    assert commands_hash(plain) == commands_hash(other)


def test_what_is_confirmed_shows_every_command_and_hides_no_character() -> None:
    config = Config(setup=("a\nb",), verify=("rm \u202egpj.x",), write=("x",), run={"t": "\x1b[2J"})
    assert render_commands(config).splitlines() == [
        r'[worktree] setup: "a\nb"',
        r'[verify] commands: "rm \u202egpj.x"',
        "[verify] write: x",
        r'[run] t: "\u001b[2J"',
    ]


def test_commands_have_names_to_run_them_by() -> None:
    config = Config(verify=("a", "b"), run={"lint": "c"})
    assert named_commands(config) == {"lint": ("c",), "verify": ("a", "b")}


ANOTHER_TOOLS = '[planner]\nstrategy = "astar"\n[grid]\nsize = 10\n[robot]\nname = "r2"\n'


@pytest.mark.parametrize(
    "text",
    [
        ANOTHER_TOOLS,
        'title = "Trips"\n[[stops]]\nname = "Rome"\n',
        "[grid]\nsize = 10\n",
        "[planner]\nstrategy = 1\n[plan]\nhorizon = 10\n",
    ],
)
def test_another_tools_file_is_refused_once_with_a_way_out(text: str) -> None:
    (problem,) = problems_of(text)
    assert "seems to be another tool's" in problem.problem
    assert ".planner.toml" in problem.allowed
    assert "[verify]" in problem.allowed, "it may be a slip of the pen"
    assert problem.retry.startswith("touch .planner.toml && git add .planner.toml")


@pytest.mark.parametrize(
    "text",
    ["[verify]\ncomands = []\n", "[verify]\ncommands = []\n[typo]\n", "[run]\nx = 'y'\n[a]\n"],
)
def test_a_file_with_anything_of_ours_is_told_key_by_key(text: str) -> None:
    assert not any("another tool" in problem.problem for problem in problems_of(text))


def test_settings_beside_another_tools_file_are_read_from_a_file_of_their_own(
    repo: Repository,
) -> None:
    git = find_repository(str(repo.path)).git
    repo.commit({"planner.toml": ANOTHER_TOOLS})
    with pytest.raises(Refused, match="another tool's"):
        load_config(git, "HEAD")
    written = write_commands(str(repo.path), ["make test"])
    assert written.endswith("/.planner.toml")
    assert (repo.path / "planner.toml").read_text(encoding="utf-8") == ANOTHER_TOOLS
    repo.commit({})
    assert load_config(git, "HEAD").verify == ("make test",)
    repo.commit({".planner.toml": ""})
    assert load_config(git, "HEAD") == Config()
