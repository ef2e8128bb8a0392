"""The decision as a whole: corpus, rewriting, our own commands, settings, `guard check`."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from shared.config import parse_config
from shared.guard.decide import decide
from shared.guard.denial import Denied
from shared.guard.permissions import refusal_for_assistant
from shared.guard.settings import Settings, load_settings
from shared.resources import ROOT, launcher
from tests.journey import call
from tests.shared.guard.corpus.corpus import must_be_denied, must_pass
from tests.shared.guard.scene import PROJECT, build

if TYPE_CHECKING:
    from pathlib import Path

RO = f"{launcher()} ro"
PLANNER = launcher()
AVOIDED = {
    "argparse", "click", "contextlib", "dataclasses", "fnmatch", "inspect", "json", "pathlib",
    "pydantic", "re", "shlex", "subprocess", "tomllib", "typing",
}  # fmt: skip

# Commands that only read, and that the guard denies all the same, each with the reason.
DENIED_BY_DESIGN = {
    "git config --list": "it prints every setting, the secret ones too",
    "git submodule status": "it starts git in repositories that have settings of their own",
    'grep -Rn "text" src': "-R follows links out of the folder that was checked",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home with a project that has all files that the corpus names."""
    home = tmp_path_factory.mktemp("scene")
    build(home, bait=True)
    return home


@pytest.fixture
def project(home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USER", "u")
    return str(home / PROJECT)


@pytest.mark.requirement("PM-5")
def test_nothing_that_must_be_denied_is_allowed(project: str) -> None:
    commands = must_be_denied()
    assert len(commands) >= 800
    assert not [c for c in commands if decide(c.text, cwd=project).allowed]


@pytest.mark.requirement("PM-5")
def test_what_assistants_read_with_is_allowed_but_for_named_exceptions(project: str) -> None:
    denied = {c.text for c in must_pass() if not decide(c.text, cwd=project).allowed}
    assert denied == set(DENIED_BY_DESIGN)


def test_no_denial_of_the_corpus_is_a_fault_of_the_guard(project: str) -> None:
    answers = [decide(c.text, cwd=project) for c in must_be_denied()]
    assert not [a.reason for a in answers if "the guard failed" in a.reason]


@pytest.mark.parametrize(
    ("command", "rewritten"),
    [
        ("git log --oneline -5", f"{RO} -- git log --oneline -5"),
        ("grep -n 'a b' \"x\"", f"{RO} -- grep -n 'a b' x"),
        ("ls $HOME", f"{RO} -- ls {{home}}"),
        ("cat a | head -3", f"{RO} -c 'cat a | head -3'"),
        ("wc -l ./*.py", f"{RO} -c 'wc -l ./*.py'"),
        ("ls 2>/dev/null", f"{RO} -c 'ls 2>/dev/null'"),
        ("cd src && ls", f"{RO} -c 'cd src && ls'"),
        ("echo 'it is'", f"{RO} -c \"echo 'it is'\""),
        ("[ -f a ]", f"{RO} -c '[ -f a ]'"),
        ("cd src", None),
        (f"{PLANNER} status", None),
    ],
)
def test_what_passes_is_rewritten_into_the_runner(
    command: str, rewritten: str | None, project: str
) -> None:
    answer = decide(command, cwd=project, planner=lambda _: None)
    assert answer.allowed, answer.reason
    home = os.environ["HOME"]
    assert answer.rewritten == (rewritten and rewritten.replace("{home}", home))


def test_the_text_after_c_is_the_command_itself(project: str) -> None:
    for command in must_pass():
        answer = decide(command.text, cwd=project)
        if answer.rewritten and f"{RO} -c " in answer.rewritten:
            script = f'set -- {answer.rewritten}\nprintf %s "$4"'
            shown = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True)
            assert shown.stdout.decode() == command.text


def test_the_runner_allows_the_words_that_the_guard_gives_it(project: str) -> None:
    """The runner asks again, with the words joined."""
    for command in must_pass():
        answer = decide(command.text, cwd=project)
        if answer.rewritten and f"{RO} -- " in answer.rewritten:
            assert decide(answer.rewritten.removeprefix(f"{RO} -- "), cwd=project).allowed


@pytest.mark.requirement("PM-3")
def test_the_planners_own_commands_are_judged_by_who_may_run_them(project: str) -> None:
    asked: list[list[str]] = []

    def judge(words: list[str]) -> str | None:
        asked.append(words)
        return refusal_for_assistant(words)

    def allowed(command: str) -> bool:
        return decide(command, cwd=project, planner=judge).allowed

    assert allowed(f"{PLANNER} plan show --json 2>&1")
    assert asked == [["plan", "show", "--json"]]
    assert not allowed(f"{PLANNER} approve abc")
    assert not allowed(f"{PLANNER} status | cat")
    assert not allowed(f"{PLANNER} status; ls")
    assert not allowed(f"ls && {PLANNER} status")
    assert not allowed(f"{PLANNER} plan show ./*")
    assert not allowed(f"{PLANNER} status > f")
    assert not allowed("planner status")
    assert not allowed("./bin/planner status")
    assert not decide(f"{PLANNER} status", cwd=project).allowed


def test_the_launcher_is_known_by_where_it_leads(project: str, tmp_path: Path) -> None:
    (tmp_path / "planner").symlink_to(os.path.join(ROOT, "bin", "planner"))
    (tmp_path / "other").write_text("#!/bin/sh\n")
    assert decide(f"{tmp_path}/planner status", cwd=project, planner=lambda _: None).allowed
    assert not decide(f"{tmp_path}/other status", cwd=project, planner=lambda _: None).allowed


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("cd src && ls", True),
        ("cd src; ls", True),
        ("cd src && cd util && cat text.py", True),
        ("ls; cd src; ls", True),
        ("cd src && cat ../README.md | head -1", True),
        ("cd nowhere && ls", False),
        ("cd README.md && ls", False),
        ("cd && ls", False),
        ("cd - && ls", False),
        ("cd -P src && ls", False),
        ("cd src util && ls", False),
        ("cd src || ls", False),
        ("cd src | ls", False),
        ("ls && cd src && cat app.py", False),
        ("ls | cd src", False),
        ("cd src 2>/dev/null && ls", False),
        ("cd ./* && ls", False),
        ("cd .. && cat .netrc", False),
        ("cd ../.ssh && ls", False),
        ("cd .. && grep -r x .", False),
        ("cd evil && git status", False),
        ("cd src && cat $PWD/app.py", False),
        ("cd link-to-home && cat .netrc", False),
    ],
)
def test_cd_is_accepted_only_if_it_certainly_enters_the_folder(
    command: str, allowed: bool, project: str
) -> None:
    assert decide(command, cwd=project).allowed is allowed


def test_cd_is_denied_if_cdpath_is_set(project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDPATH", "/elsewhere")
    assert not decide("cd src && ls", cwd=project).allowed


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        ("rm -rf x", "planner tree rm"),
        ("npm install", "npm --version"),
        ("pytest", "planner tree run"),
        ("sed -i s/a/b/ f", "-n"),
        ("cat x > y", "leave the redirection out"),
        ("find . -exec ls {} +", "grep"),
        ("ls | xargs cat", "grep -r"),
        ("git push", "git log"),
        ("git branch new", "--list"),
        ("curl http://x", "ask the user"),
        ("less x", "cat"),
        ("./run.sh", "bare name"),
        ("FOO=1 ls", "without the variable"),
        ("ls $(pwd)", "single quotes"),
        ("cat", "name the file"),
        ("cat *", None),
        ("rg x *", "./*"),
    ],
)
def test_a_denial_says_what_to_do_instead(command: str, instead: str | None) -> None:
    answer = decide(command, cwd="/nonexistent")
    assert answer.allowed is (instead is None)
    assert (instead or "") in answer.instead


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("git commit -m x", "`git commit` writes into the repository"),
        ("git frobnicate", "not on the guard's list of git commands"),
        ("rm x", "changes files"), ("truncate x", "changes files"), ("view x", "is an editor"),
        ("twine upload x", "manages packages"), ("npx x", "manages packages"),
    ],
)  # fmt: skip
def test_what_clearly_writes_is_denied_as_such(command: str, reason: str) -> None:
    assert reason in decide(command, cwd="/nonexistent").reason


def test_a_reason_shows_hostile_characters_as_escapes(project: str) -> None:
    answer = decide("'\x1b[2J\u202e' x", cwd=project)
    assert answer.reason.isprintable()
    assert len(decide("x" * 3_000, cwd=project).reason) < 700


# settings


def write_settings(user: str | None, project_file: Path, project: str | None = None) -> None:
    folder = os.path.join(os.environ["XDG_CONFIG_HOME"], "planner")
    os.makedirs(folder, exist_ok=True)
    if user is not None:
        with open(os.path.join(folder, "config.toml"), "w", encoding="utf-8") as file:
            file.write(user)
    if project is not None:
        stored = {"config": parse_config(project.encode()).to_json()}
        (project_file / "config.json").write_text(json.dumps(stored))


@pytest.mark.requirement("PM-5")
def test_only_the_users_own_file_allows_more(tmp_path: Path) -> None:
    write_settings(
        '[guard]\nallow = ["mytool show *", "cargo tree"]\ntools = ["mcp__x"]\n',
        tmp_path,
        '[guard]\nallow = ["rm *"]\ntools = ["mcp__y"]\ndeny = ["git log", "rg"]\n',
    )
    extra = load_settings(str(tmp_path))

    def allowed(command: str) -> bool:
        return decide(command, cwd=str(tmp_path), extra=extra).allowed

    assert extra.tools == ("mcp__x",)
    assert [allowed(c) for c in ("mytool show", "mytool show a b", "cargo tree")] == [True] * 3
    for command in (
        "mytool", "mytool show --exec x", "mytool run", "cargo tree x", "cargo build", "rm x",
        "git log -1", "rg x", "mytool show > f", "mytool show ./*", "'mytool' show a",
    ):  # fmt: skip
        assert not allowed(command), command
    assert allowed("git show")


def test_without_files_nothing_is_added() -> None:
    extra = load_settings(None)
    assert (extra.allow, extra.deny, extra.tools) == ((), (), ())


@pytest.mark.parametrize(
    "text",
    ["[guard", "guard = 1", "[guard]\ndeny = 'rg'", "[guard]\ndeny = [1]", "[guard]\ndeny = ['']"],
)
def test_settings_that_cannot_be_read_deny(text: str, tmp_path: Path) -> None:
    write_settings(text, tmp_path, None)
    with pytest.raises(Denied):
        load_settings(None)
    assert "exit" not in call(tmp_path, "guard", "check", "ls").text
    assert call(tmp_path, "guard", "check", "ls").code == 1


def test_an_allowed_line_is_exact() -> None:
    extra = Settings(allow=(("tool", "a"),))
    assert extra.allows(["tool", "a"])
    assert not extra.allows(["tool", "a", "b"])
    assert not extra.allows(["tool"])


# planner guard check


def test_one_command_is_answered_for_a_person_and_for_a_program(tmp_path: Path) -> None:
    shown = call(tmp_path, "guard", "check", "git log -1")
    assert shown.code == 0
    assert shown.block.get("decision") == "allow"
    assert shown.data("runs") == f"{RO} -- git log -1"
    denied = call(tmp_path, "guard", "check", "rm x")
    assert denied.code == 1
    assert denied.block.get("decision") == "deny"
    assert denied.data("instead")
    answer = json.loads(call(tmp_path, "guard", "check", "rm x", "--json").text)
    assert answer["decision"] == "deny"
    assert answer["rewritten"] is None
    assert call(tmp_path, "guard", "check", f"{PLANNER} approve x").code == 1
    assert call(tmp_path, "guard", "check", f"{PLANNER} status").code == 0


def test_a_file_of_commands_is_answered_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (
        b'{"command": "ls -la"}\n{"command": "rm x"}\nnot json\n[]\n{"command": 7}\n{}\n'
        b'{"command": "cat \\ud800"}\n\xff\n\n{"command": "git log"}'
    )
    (tmp_path / "corpus.jsonl").write_bytes(lines)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))
    wanted = ["allow", *["deny"] * 8, "allow"]
    for words in (("--file", "corpus.jsonl"), ("-",), ("--file", "corpus.jsonl", "--json")):
        answer = call(tmp_path, "guard", "check", *words)
        assert answer.code == 0
        found = [json.loads(line) for line in answer.text.splitlines()]
        assert [one["decision"] for one in found] == wanted
        assert all(one["reason"] for one in found)


@pytest.mark.parametrize("words", [(), ("ls", "--file", "x"), ("--file", "missing.jsonl")])
def test_wrong_usage_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    answer = call(tmp_path, "guard", "check", *words)
    assert answer.code in (1, 2)
    assert answer.problems


@pytest.mark.parametrize("name", [".env", "link", "pipe", "folder", "/dev/zero"])
def test_a_file_of_commands_is_a_regular_file_and_no_secret(name: str, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("TOKEN=hunter2\n", encoding="utf-8")
    (tmp_path / "link").symlink_to(".env")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    answer = call(tmp_path, "guard", "check", "--file", name)
    assert answer.code == 1
    assert answer.problems
    assert "hunter2" not in answer.text


# what it costs to start


def test_the_decision_imports_nothing_slow() -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules);"
        "import shared.guard.decide; print(*sorted(set(sys.modules) - before))"
    )
    loaded = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, ROOT],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not AVOIDED & {name.partition(".")[0] for name in loaded.stdout.split()}
