"""The hook's answers to shell commands: where the place holds, and where the parser decides."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.guard import hook, texts
from shared.guard.own import witness
from shared.place.level import Level
from shared.resources import launcher, launcher_path, quote
from tests.effort import within
from tests.forms import part
from tests.journey import FILES, LAUNCHER
from tests.shared.guard.client import SESSION, Client, planned_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

RO = f"{launcher()} ro"
LOOP = 'for f in src/*.py; do wc -l "$f"; done | sort -n  # longest last'
NO_RULES = {"permissions": {"allow": [f"Bash({launcher_path()} *)"]}}


@pytest.fixture
def repo(make_repo: Repositories) -> Repository:
    """A repository in which the session plans without a run."""
    return planned_in(make_repo(files=FILES))


@pytest.fixture(params=["namespaces", "landlock", "none"])
def any_level(
    repo: Repository, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> str:
    """Each level that a system may have."""
    del repo  # it comes first, since it is made anew once a part of the product is replaced
    monkeypatch.setattr("shared.guard.shell.level", lambda _: Level(request.param))
    return str(request.param)


@pytest.fixture
def held(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """The place holds."""
    del repo  # it comes first, since it is made anew once a part of the product is replaced
    monkeypatch.setattr("shared.guard.shell.level", lambda _: Level("namespaces"))


@pytest.fixture(params=["landlock", "none"])
def parsed(
    repo: Repository, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The place does not hold."""
    del repo  # it comes first, since it is made anew once a part of the product is replaced
    monkeypatch.setattr("shared.guard.shell.level", lambda _: Level(request.param))


@pytest.fixture
def claude(repo: Repository) -> Client:
    return Client(repo.path)


@pytest.fixture
def codex(repo: Repository) -> Client:
    return Client(repo.path, SESSION, "codex")


def settings(content: object, path: str = ".claude/settings.json") -> None:
    """Write the user's settings of Claude Code."""
    file = Path(os.environ["HOME"]) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content), encoding="utf-8")


def name_of(text: str) -> str:
    """Return the name by which a text has been kept; it must be kept whole."""
    name = texts.keep(text)
    assert texts.load(name) == text
    return name


# Any text, where the place holds


@pytest.mark.requirement("PP-4")
@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(
    "text",
    [LOOP, "pytest -q", "npm test 2>&1 | tail -20", "python3 - <<'EOF'\nprint(1)\nEOF", "make -j2",
     "cat *" + " *" * 1_500, 'x=$(git log -1); echo "$x"', "find . -exec wc -l {} +",
     "timeout 60 go test ./...", "if true; then ls; fi", "é'\"\\\n\t", "((", "cat ~/.ssh/id_rsa"],
)  # fmt: skip
def test_any_text_is_kept_and_runs_by_its_name(claude: Client, text: str) -> None:
    settings(NO_RULES)
    assert claude.changed(text) == f"{RO} {name_of(text)}"


@pytest.mark.requirement("PP-4")
@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("text", [LOOP, "$(touch /tmp/x)", "'; touch x; '", "a\nb", "`id`"])
def test_the_text_is_never_part_of_the_shell_line(claude: Client, text: str) -> None:
    settings(NO_RULES)
    words = claude.changed(text).split(" ")
    assert words[:-1] == RO.split(" ")
    assert texts.is_name(words[-1])


@pytest.mark.requirement("PP-4")
@pytest.mark.usefixtures("any_level")
@pytest.mark.parametrize(
    "text",
    ["rm a", "touch a", "sed -i s/a/b/ a", "echo x > a", "vim a", "pip install x", "npm ci",
     "git commit -m x", "git push"],
)  # fmt: skip
def test_a_text_that_clearly_changes_files_is_denied_at_every_level(
    claude: Client, text: str
) -> None:
    settings(NO_RULES)
    assert "Instead: " in claude.denial("Bash", command=text)


@pytest.mark.requirement("PP-4")
@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_where_the_user_has_rules_the_client_sees_what_they_name(claude: Client, kind: str) -> None:
    settings({"permissions": {**NO_RULES["permissions"], kind: ["Bash(git push:*)"]}})
    listed = "ls src; pytest -q tests | head -3 || git status"
    assert claude.changed(listed) == (
        f"false && ls src && pytest -q tests | head -3 && git status || {RO} {name_of(listed)}"
    )


@pytest.mark.requirement("PP-4")
@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(
    "given",
    [{"permissions": {"deny": ["Bash(git push:*)"]}}, {"permissions": {"ask": ["Read(x)"]}},
     {"permissions": 1}, {}],
)  # fmt: skip
@pytest.mark.parametrize("text", [LOOP, "if ls; then ls; fi", "time ls"])
def test_where_rules_cannot_be_compared_the_user_is_asked_with_the_whole_text(
    claude: Client, given: object, text: str
) -> None:
    settings(given)
    said = claude.asks("Bash", command=text)["hookSpecificOutput"]
    assert said["permissionDecision"] == "ask"
    assert text in said["permissionDecisionReason"]
    assert said["updatedInput"] == {"command": f"{RO} {name_of(text)}"}


@pytest.mark.usefixtures("held")
def test_vibe_cannot_ask_so_it_denies(repo: Repository) -> None:
    config = Path(os.environ["HOME"]) / ".vibe" / "config.toml"
    config.parent.mkdir()
    config.write_text(f'[tools.bash]\nallowlist = ["{launcher()}"]\n', encoding="utf-8")
    vibe = Client(repo.path, SESSION, "vibe")
    assert vibe.changed(LOOP) == f"{RO} {name_of(LOOP)}"
    config.write_text('[tools.bash]\ndenylist = ["git push"]\n', encoding="utf-8")
    assert "simple commands" in vibe.denial("file_system.bash", command=LOOP)
    assert vibe.changed("pytest -q") == f"false && pytest -q || {RO} {name_of('pytest -q')}"


@pytest.mark.requirement("PP-4", "PP-6")
@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("text", ["x" * 100_001, "a\0b", "\ud800"])
def test_a_text_that_no_shell_takes_is_denied(claude: Client, text: str) -> None:
    settings(NO_RULES)
    assert "no shell takes" in claude.denial("Bash", command=text)


@pytest.mark.requirement("PP-5")
@pytest.mark.usefixtures("any_level")
def test_our_own_commands_run_as_they_are_and_alone(claude: Client) -> None:
    settings(NO_RULES)
    assert claude.asks("Bash", command=f"{launcher()} status") == {}
    for text in (f"{launcher()} status | head", f"cd src && {launcher()} status"):
        assert f"it works from any folder: {launcher()} status" in claude.denial(
            "Bash", command=text
        )
    assert "only a person" in claude.denial("Bash", command=f"{launcher()} cancel")


@pytest.mark.requirement("PP-5")
@pytest.mark.usefixtures("any_level")
def test_our_own_command_may_follow_a_cd_to_the_folder_where_it_runs_anyway(claude: Client) -> None:
    settings(NO_RULES)
    ours = f"{launcher()} status"
    assert claude.asks("Bash", command=f"cd {quote(claude.cwd)} && {ours}") == {}
    folder = os.path.dirname(claude.cwd)
    for text in (
        f"cd {quote(folder)} && {ours}", f"cd . && {ours}", f"cd {quote(claude.cwd)}; {ours}",
        f"cd {quote(claude.cwd)} && {ours} && ls", f"cd {quote(claude.cwd)} > x && {ours}",
    ):  # fmt: skip
        assert claude.denial("Bash", command=text), text
    person = f"cd {quote(claude.cwd)} && {launcher()} cancel"
    assert "only a person" in claude.denial("Bash", command=person)


@pytest.mark.usefixtures("any_level")
@pytest.mark.parametrize("words", ["-- cat README.md", f"{'0' * 64}", "--file a", "-c ls"])
def test_the_model_must_not_type_ro_itself(claude: Client, words: str) -> None:
    """Otherwise the rule that allows our launcher would bypass the user's own rules."""
    assert "is added by the guard only" in claude.denial("Bash", command=f"{RO} {words}")


# Where another hook may replace the text


@pytest.mark.requirement("PP-4")
@pytest.mark.usefixtures("held")
def test_beside_another_hook_the_parser_decides_and_names_the_file(claude: Client) -> None:
    other = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}]}}
    settings({**NO_RULES, **other})
    assert claude.changed("ls") == f"false && ls || {RO} {name_of('ls')}"
    file = f"{claude.cwd}/.planner/answers/command.sh"
    assert f"{RO} --file {file}" in claude.denial("Bash", command=LOOP)
    assert claude.asks("Bash", command=f"{RO} --file {file}") == {}
    settings({**other, "permissions": {"deny": ["Bash(x:*)"]}})
    assert "--file" not in claude.denial("Bash", command=LOOP)
    assert claude.denial("Bash", command=f"{RO} --file {file}")


# The parser, where the place does not hold


@pytest.mark.requirement("PM-5")
@pytest.mark.usefixtures("parsed")
@pytest.mark.parametrize(("host", "tool"), [("claude", "Bash"), ("vibe", "file_system.bash")])
def test_without_the_place_only_what_the_parser_knows_passes(
    repo: Repository, host: str, tool: str
) -> None:
    client = Client(repo.path, SESSION, host)
    assert client.changed("git log -1") == f"false && git log -1 || {RO} {name_of('git log -1')}"
    listed = "ls src; cat README.md | head -3 || git status"
    assert client.changed(listed) == (
        f"false && ls src && cat README.md | head -3 && git status || {RO} {name_of(listed)}"
    )
    for text in (LOOP, "pytest -q", "cat ~/.ssh/id_rsa"):
        reason = client.denial(tool, command=text)
        assert "--file" not in reason


# codex, which takes no changed command


@pytest.mark.requirement("PP-4")
@pytest.mark.usefixtures("held")
def test_codex_is_told_the_file_by_which_any_text_runs(codex: Client) -> None:
    assert codex.asks("Bash", command="cat README.md") == {}
    file = f"{codex.cwd}/.planner/answers/command.sh"
    for text in ("git log -1", "pytest -q", LOOP):
        reason = codex.denial("Bash", command=text)
        assert f"write the command into {file}" in reason
        assert f"{RO} --file {file}" in reason
    assert codex.asks("Bash", command=f"{RO} --file {file}") == {}
    assert "changes files" in codex.denial("Bash", command="rm a")


@pytest.mark.usefixtures("parsed")
def test_codex_runs_what_passes_as_it_is_and_git_hardened(codex: Client) -> None:
    assert codex.asks("Bash", command="cat README.md") == {}
    assert f"{RO} -- git log -1" in codex.denial("Bash", command="git log -1")
    assert codex.asks("Bash", command=f"{RO} -- git log -1") == {}
    assert "--file" not in codex.denial("Bash", command=LOOP)


@pytest.mark.requirement("PP-2")
@pytest.mark.usefixtures("any_level")
def test_codex_is_told_the_form_in_which_a_folder_is_searched_without_its_secrets(
    codex: Client,
) -> None:
    (Path(codex.cwd) / ".env").write_text("TOKEN=1\n", encoding="utf-8")
    for text in (
        "grep -r TOKEN .", "grep -c TOKEN -r src", "egrep -rh TOKEN", "rg TOKEN", "rg -uu TOKEN",
        "rg --no-ignore --hidden TOKEN src | head", "cd src && rg TOKEN", "cat README.md; rg TOKEN",
        "rg -uu -e --files -e TOKEN", "rg TOKEN -- ./*", "rg TOKEN -- --files .", "diff -r . src",
        "diff . src", "rg -uu TOKEN README.md s?c", "cat README.md | rg TOKEN .",
        "rg TOKEN < README.md",
    ):  # fmt: skip
        _, said, safer = codex.denial("Bash", command=text).partition("run this safer form: ")
        assert said, text
        assert codex.asks("Bash", command=safer.partition("; for any other text, ")[0]) == {}, text
    for text in (
        "grep TOKEN README.md src/*.py", "cat README.md | rg TOKEN", "rg TOKEN README.md",
        "rg --files -uu", "diff README.md src/a.py", "ls -R", "find . -name '*.py'", "wc -l src/*",
    ):  # fmt: skip
        assert codex.asks("Bash", command=text) == {}, text


def patch(*lines: str) -> str:
    text = "\n".join(lines)
    return f"apply_patch <<'EOF'\n*** Begin Patch\n{text}\n*** End Patch\nEOF\n"


@pytest.mark.requirement("PM-3")
def test_codex_may_patch_answers_and_nothing_else(codex: Client) -> None:
    answers = f"{codex.cwd}/.planner/answers"
    assert codex.asks("Bash", command=patch(f"*** Add File: {answers}/a.json", "+{}")) == {}
    for lines in (
        ["*** Add File: src/b.py", "+x"],
        [f"*** Update File: {answers}/a.json", f"*** Move to: {codex.cwd}/src/a.py"],
        [f"*** Add File: {answers}/a.json", "+x", "  *** Delete File: src/a.py"],
        [f"*** Add File: {answers}/a.json", "+x", "EOF", "touch b"],
        [f"*** Add File: {answers}/a.json", "*** Unheard of: x"],
        ["*** Add File: .planner/answers/a.json", "+x"],
        # One name with a separator that codex takes for a letter.
        [f"*** Add File: {answers}/a\x0b/../../../src/b.py", "+x"],
        [f"*** Add File: {answers}/a\u2028/../../../src/b.py", "+x"],
    ):
        assert codex.denial("Bash", command=patch(*lines))


# The witness


@pytest.mark.parametrize("before", ["# why", '  # it\'s a "test" $(x)', "\n#\n\t# two"])
def test_comments_before_simple_commands_are_no_part_of_the_witness(before: str) -> None:
    assert witness(f"{before}\nls src | head", "/") == "false && ls src | head"
    assert witness(before, "/") is None
    assert witness(f"x {before}\nls", "/") is None


@pytest.mark.parametrize("shell", ["sh", "bash"])
@pytest.mark.parametrize("command", ["seen a", "seen a; seen b", "seen a || seen b\nseen c | seen"])
def test_the_original_command_does_not_run(tmp_path: Path, shell: str, command: str) -> None:
    log = tmp_path / "log"
    seen = tmp_path / "seen"
    seen.write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    seen.chmod(0o755)
    shown = witness(command, str(tmp_path))
    assert shown is not None
    text = f"{shown} || exit 7"
    done = subprocess.run(
        [shell, "-c", text], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False
    )
    assert done.returncode == 7
    assert not log.exists()


@pytest.mark.parametrize(
    "command",
    ["if a; then b; fi", "while a; do b; done", "time a", "! a", "[[ a ]]", "a; { b; }", "$(a)",
     "a & b", "repeat 2 a", "coproc a", "a > b", "(a)", "a # b"],
)  # fmt: skip
def test_a_text_that_is_more_than_simple_commands_has_no_witness(command: str) -> None:
    assert witness(command, "/") is None


@pytest.mark.parametrize(("session", "code"), [(SESSION, 0), ("session-2", 1)])
def test_ro_runs_for_an_assistant_only_while_it_plans(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, session: str, code: int
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", session)
    done = subprocess.run(
        [LAUNCHER, "ro", "--", "cat", "README.md"], cwd=repo.path, capture_output=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert (b"adds one" in done.stdout) is (code == 0)


@pytest.mark.requirement("PP-6")
@pytest.mark.usefixtures("held")
@pytest.mark.parametrize(
    "piece", part(["x", "a ", "$(", "a/", "../", '"', "é", "\n", ";P status "], 3)
)
def test_a_call_of_ten_megabytes_is_answered_within_a_second(claude: Client, piece: str) -> None:
    settings(NO_RULES)
    text = piece * (10_000_000 // len(piece.encode()))
    given = {"Bash": {"command": text}, "Write": {"file_path": text, "content": ""},
             "Edit": {"file_path": "a", "new_string": text}, "Read": {"file_path": text},
             "Skill": {"skill": text}, text: {}}  # fmt: skip
    for tool, values in given.items():
        event = {"session_id": SESSION, "tool_name": tool, "tool_input": values}
        raw = json.dumps({**event, "cwd": claude.cwd}, ensure_ascii=False).encode()
        with within(100):
            hook.answer("claude", "PreToolUse", raw, time.time())


@pytest.mark.requirement("PP-6")
@pytest.mark.usefixtures("held")
@pytest.mark.parametrize("piece", ["[", '{"a":', "9", '"', "\\", " ", '{"cwd": "/'])
def test_ten_megabytes_that_are_no_call_are_denied_within_a_second(piece: str) -> None:
    text = piece.encode() * (10_000_000 // len(piece))
    with within(100):
        answer = hook.answer("claude", "PreToolUse", text, 0)
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.requirement("PP-6")
@pytest.mark.parametrize("name", ["session_id", "cwd", "permission_mode", "hook_event_name"])
def test_a_long_value_of_the_event_itself_is_answered_within_a_second(
    claude: Client, name: str
) -> None:
    event = {"session_id": SESSION, "cwd": claude.cwd, "tool_name": "Bash",
             "tool_input": {"command": "ls"}, name: "/a" * 5_000_000}  # fmt: skip
    with within(100):
        hook.answer("claude", "PreToolUse", json.dumps(event).encode(), time.time())
