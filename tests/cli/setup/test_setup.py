"""`planner setup`: what it finds, shows, writes and removes, and the launcher that rules name."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.installed import interpreter, keep_current
from shared.resources import PROGRAM, ROOT, installed_path, launcher, launcher_path, quote
from tests.cli.setup.homes import Checkout, Home
from tests.journey import call, shell, way_out
from tests.terminal import started

if TYPE_CHECKING:
    from tests.conftest import Golden, Repository

pytestmark = pytest.mark.requirement("HO-2")

ALL = ("claude", "codex", "vibe", "opencode", "gemini", "cursor")


def test_without_an_assistant_it_prepares_the_machine_and_names_all(home: Home) -> None:
    answer = home.setup()
    assert answer.code == 0
    assert "claude, codex, vibe, opencode, gemini, cursor" in answer.text
    assert home.settings() == {".gitconfig": home.settings()[".gitconfig"]}
    assert Path(installed_path("python")).read_text() == f"{interpreter()}\n"


def test_it_finds_assistants_by_their_folder_and_by_their_program(
    home: Home, tmp_path: Path
) -> None:
    (home.path / ".claude").mkdir()
    program = tmp_path / "programs" / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    found = (home.setup("--dry-run").block.findtext("data") or "").splitlines()
    assert [line.partition(":")[0] for line in found] == ["claude", "codex"]


def test_what_it_writes_for_each_assistant(home: Home, golden: Golden) -> None:
    home.write(".claude/settings.json", '{\n  "model": "opus"\n}\n')
    shown = home.setup("--dry-run", *ALL)
    assert home.settings().keys() == {".gitconfig", ".claude", ".claude/settings.json"}
    assert not Path(installed_path()).exists()
    text = shown.text.replace(ROOT, "/opt/planner").replace(str(home.path), "/home/user")
    golden("setup/every-assistant.xml", text)
    written = home.setup(*ALL)
    assert written.block.findtext("data[@name='changes']") == shown.block.findtext(
        "data[@name='changes']"
    )


def test_a_folder_that_is_a_link_to_nowhere_is_named_and_nothing_is_left(home: Home) -> None:
    folder = home.path / ".codex"
    folder.symlink_to(home.path / "not there")
    answer = home.setup("claude", "codex")
    ((kind, text),) = answer.problems
    assert (answer.code, kind) == (1, "refused")
    assert f'at="{folder}"' in answer.text
    assert "every file is as it was" in text
    assert not (home.path / ".claude").exists()
    (home.path / "not there").mkdir()
    assert home.setup("claude", "codex").code == 0
    assert (home.path / ".claude").is_dir()


def test_beside_our_plugin_of_claude_code_no_link_loads_us_twice(home: Home) -> None:
    home.write(".claude/settings.json", '{"enabledPlugins": {"planner@planner": true}}')
    assert "come with the plugin" in home.setup("claude").text
    assert not (home.path / ".claude" / "skills").exists()
    assert "Bash(" in (home.path / ".claude" / "settings.json").read_text()


@pytest.mark.parametrize("source", ["git", "directory"])
def test_the_rule_names_the_program_of_the_plugin_and_follows_its_version(
    home: Home, source: str
) -> None:
    """SKILL.md's first command is called by the plugin's folder, which has the version in it."""
    before = '{"enabledPlugins": {"planner@ours": true, "other@ours": true}}'
    home.write(".claude/settings.json", before)
    settings = home.path / ".claude" / "settings.json"
    known = {"ours": {"source": {"source": source, "path": "/in/place"}}}
    home.write(".claude/plugins/known_marketplaces.json", json.dumps(known))
    for version in ("0.1.0", "0.2.0"):
        path = f"/cache/planner/{version}"
        plugins = {"planner@ours": [{"installPath": path}], "other@ours": [{"installPath": "/x"}]}
        home.write(".claude/plugins/installed_plugins.json", json.dumps({"plugins": plugins}))
        assert home.setup("claude").code == 0
        allowed = json.loads(settings.read_text())["permissions"]["allow"]
        bash = [rule for rule in allowed if rule.startswith("Bash(")]
        program = "/in/place" if source == "directory" else path
        installed = installed_path("bin", "planner")
        assert bash == [f"Bash({program}/bin/planner *)", f"Bash({installed} *)"], "the old is gone"
    assert home.setup("--remove").code == 0
    assert settings.read_text() == before


@pytest.mark.quick
def test_one_assistant_is_removed_and_the_others_stay(home: Home) -> None:
    home.setup("claude", "codex")
    assert home.setup("--remove", "codex").code == 0
    assert not (home.path / ".codex").exists()
    assert (home.path / ".claude" / "skills" / "planner").is_symlink()
    assert Path(installed_path("bin", "planner")).exists()
    home.setup("--remove", "claude")
    assert not Path(installed_path()).exists()


def test_removing_what_was_never_set_up_changes_nothing(home: Home) -> None:
    before = home.settings()
    answer = home.setup("--remove", "vibe")
    assert (answer.code, home.settings()) == (0, before)
    assert "vibe: nothing to remove" in answer.text


def test_a_project_of_its_own(home: Home, repo: Repository) -> None:
    before = repo.git("status", "--porcelain", "--ignored")
    answer = call(repo.path, "setup", "--project", *ALL)
    assert answer.code == 0
    assert home.settings().keys() == {".gitconfig"}
    rules = json.loads((repo.path / ".claude" / "settings.local.json").read_text())
    assert f"Bash({launcher_path()} *)" in rules["permissions"]["allow"]
    for name in (f".{host}" for host in ALL):
        assert (repo.path / name / "skills" / "planner" / "SKILL.md").exists()
    assert call(repo.path, "setup", "--project", "--remove").code == 0
    assert repo.git("status", "--porcelain", "--ignored") == before
    assert not Path(installed_path()).exists()


@pytest.mark.parametrize(
    ("host", "name"),
    [("claude", ".claude"), ("claude", ".claude/settings.local.json"), ("claude", ".claude/skills"),
     ("codex", ".codex/rules"), ("opencode", ".opencode/plugins")],
)  # fmt: skip
def test_a_project_is_set_up_behind_no_link_of_its_own(
    home: Home, repo: Repository, tmp_path: Path, host: str, name: str
) -> None:
    theirs = tmp_path / "theirs"
    folder = "." not in Path(name).name[1:]
    if folder:
        theirs.mkdir()
    else:
        theirs.write_text("{}\n")
    path = repo.path / name
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(theirs)
    before = home.settings()
    answer = call(repo.path, "setup", "--project", host)
    assert answer.code == 1, answer.text
    assert f"{path}" in answer.text
    assert "is a symbolic link" in answer.text
    assert [*theirs.iterdir()] == [] if folder else theirs.read_text() == "{}\n"
    assert home.settings() == before
    path.unlink()
    assert call(repo.path, "setup", "--project", host).code == 0
    assert call(repo.path, "setup", "--project", "--remove").code == 0


@pytest.mark.parametrize("variable", ["CLAUDECODE", "CODEX_CI", "GEMINI_CLI"])
def test_an_assistant_may_look_and_not_write(
    home: Home, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    before = home.settings()
    answer = home.setup("claude")
    assert (answer.code, home.settings()) == (1, before)
    assert f"only a person may run `planner setup`, and {variable}" in answer.text
    assert home.setup("claude", "--dry-run").code == 0
    assert home.settings() == before


@pytest.mark.parametrize(("typed", "written"), [("n\n", False), ("y\n", True), ("\n", True)])
def test_on_a_terminal_it_shows_and_asks_before_it_writes(
    home: Home,
    typed: str,
    written: bool,
) -> None:
    home.write(".claude/settings.json", "{}\n")
    answer = started(
        home.path, PROGRAM, "setup", "claude", keys=typed, PLANNER_PYTHON=sys.executable
    )
    assert f'+      "Bash({home.path}/.claude/skills/planner/bin/planner *)",' in answer.text
    assert "Write this? [Y/n]" in answer.text
    assert answer.code == (0 if written else 130)
    assert ((home.path / ".claude" / "settings.json").read_text() != "{}\n") is written


def test_a_folder_that_no_rule_can_name_is_refused(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(home.path / "my data"))
    answer = home.setup("claude")
    assert answer.code == 1
    assert "XDG_DATA_HOME" in answer.text
    assert not (home.path / "my data").exists()


RULES = {"codex": ".codex/rules/planner.rules", "gemini": ".gemini/policies/planner.toml"}


@pytest.mark.parametrize("host", RULES)
def test_a_file_of_our_name_that_is_not_ours_is_refused(home: Home, host: str) -> None:
    path = home.write(RULES[host], "# mine\n")
    before = home.settings()
    answer = home.setup(host)
    assert [p.get("at") for p in answer.block] == [str(path)]
    assert home.settings() == before


@pytest.mark.parametrize("host", RULES)
def test_a_file_of_ours_that_the_user_has_changed_stays_and_is_named(home: Home, host: str) -> None:
    home.setup(host)
    path = home.path / RULES[host]
    path.write_text("# mine now\n")
    assert home.setup(host).code == 1
    answer = home.setup("--remove")
    assert f"{path} was changed and stays" in answer.text
    assert path.read_text() == "# mine now\n"
    assert not (home.path / f".{host}" / "skills").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_the_home_of_another_user_is_refused(home: Home) -> None:
    os.chown(home.path, 1, 1)
    answer = home.setup("claude")
    assert (answer.code, not (home.path / ".claude").exists()) == (1, True)
    assert "run setup as that user" in answer.text


@pytest.mark.parametrize("damaged", ['{"placed": {"claude": {}}}', '{"placed": {"cl', "[]", ""])
@pytest.mark.parametrize("name", ["record.json", "journal.json"])
def test_a_damaged_record_is_named_with_the_command_that_does_without_it(
    home: Home, name: str, damaged: str
) -> None:
    home.setup("claude")
    before = home.settings()
    record = home.path / ".state" / "planner" / "setup" / name
    record.write_text(damaged)
    for words in (("claude",), ("--remove",)):
        answer = home.setup(*words)
        assert [p.get("at") for p in answer.block] == [str(record)]
    assert home.settings() == before
    retry = way_out(answer.problems[0][1])
    answer = shell(f"PATH=$PATH:/bin:/usr/bin; {retry}", home.path)
    assert answer.code == 0, answer
    assert home.settings() == before
    assert (record.parent.parent / "setup.damaged" / name).read_text() == damaged


# the launcher


@pytest.mark.requirement("HO-3")
def test_printed_commands_name_the_launcher_once_it_is_there(home: Home, repo: Repository) -> None:
    assert launcher() == quote(PROGRAM)
    home.setup("claude")
    assert launcher() == installed_path("bin", "planner")
    answer = shell(f"{launcher()} start --depth full 'Add a file'", repo.path)
    assert answer.code == 0, answer
    assert f"{launcher()} plan done" in answer.text


def test_another_checkout_prints_its_own_path(home: Home, tmp_path: Path) -> None:
    home.setup("claude")
    other = Checkout(tmp_path / "a planner with spaces")
    assert f"'{other.path}/bin/planner'" in other.planner("status", cwd=tmp_path).stdout


def test_a_launcher_whose_program_is_gone_says_so(home: Home, tmp_path: Path) -> None:
    gone = Checkout(tmp_path / "gone")
    gone.planner("setup", "claude")
    shutil.rmtree(gone.path)
    answer = shell(f"{installed_path('bin', 'planner')} status", tmp_path)
    assert answer.code == 2
    assert answer.block.find("problem") is not None
    assert home.setup("claude", "--dry-run").code == 0


@pytest.mark.requirement("HO-3")
def test_a_start_of_a_plugins_new_version_takes_the_launcher_over(
    home: Home, tmp_path: Path, repo: Repository
) -> None:
    """Rules and hooks name the launcher; the client keeps each version in a folder of its own."""
    versions = tmp_path / "plugins" / "cache" / "planner" / "planner"
    old, new = (Checkout(versions / number) for number in ("0.1.0", "0.2.0"))
    assert old.planner("setup", "codex").returncode == 0
    settings = home.settings()
    answer = new.planner("start", "--depth", "full", "Add a file", cwd=repo.path)
    assert f"{installed_path('bin', 'planner')} plan done" in answer.stdout
    assert str(new.path) in Path(installed_path("bin", "planner")).read_text()
    assert home.settings() == settings
    keep_current()  # this checkout is no version of that plugin
    assert str(new.path) in Path(installed_path("bin", "planner")).read_text()


def test_a_start_writes_what_is_missing_or_old_beside_the_launcher(
    home: Home, repo: Repository
) -> None:
    home.setup("codex")
    skill = Path(installed_path("SKILL.md"))
    skill.unlink()
    shutil.rmtree(installed_path("hooks"))
    assert call(repo.path, "start", "--depth", "full", "Add a file").code == 0
    assert skill.read_bytes() == Path(ROOT, "SKILL.md").read_bytes()
    home.setup("codex")
    assert Path(installed_path("hooks", "guard")).exists()


@pytest.mark.parametrize("words", [("cancel",), ("setup", "claude")])
def test_the_guard_knows_the_launcher(home: Home, words: tuple[str, ...]) -> None:
    from shared.guard.calls import check_person_only
    from shared.guard.denial import Denied

    home.setup("codex")
    for program in (launcher_path(), f"{home.path}/.codex/skills/planner/bin/planner"):
        with pytest.raises(Denied):
            check_person_only(f"{program} {' '.join(words)}", str(home.path))
        check_person_only(f"{program} status", str(home.path))
