"""What becomes of the settings that a user has: changed exactly, or shown and refused."""

from __future__ import annotations

import os
import re
from itertools import product
from typing import TYPE_CHECKING

import pytest

from shared.resources import launcher
from tests.cli.setup.homes import Checkout, Home
from tests.forms import part

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Kind = Callable[[Home, str], None]

pytestmark = pytest.mark.requirement("HO-2")

EVERY = 4  # of the kinds of settings with each client, one of so many in the short form
FILES = {
    "claude": (".claude/settings.json",),
    "codex": (".codex/hooks.json",),
    "vibe": (".vibe/config.toml", ".vibe/hooks.toml"),
    "gemini": (".gemini/settings.json",),
    "cursor": (".cursor/hooks.json",),
}
OTHERS = {
    ".claude/settings.json": """\
{
  "model": "opus",
  "permissions": {"deny": ["Read(./.env)"], "allow": ["Bash(ls:*)"]},
  "hooks": {
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh /x.sh"}]}]
  }
}
""",
    ".codex/hooks.json": """\
{
  "hooks": {
    "PreToolUse": [
      {
        "hooks": [
          {"type": "command", "command": "sh /x.sh"}
        ]
      }
    ],
    "Stop": []
  }
}
""",
    ".gemini/settings.json": """\
{
    "security": {"auth": {"selectedType": "oauth-personal"}},
    "hooks": {
        "BeforeTool": [
            {"matcher": "write_file", "hooks": [{"type": "command", "command": "sh /x.sh"}]}
        ]
    }
}
""",
    ".cursor/hooks.json": """\
{
  "version": 1,
  "hooks": {
    "afterFileEdit": [{ "command": "./hooks/format.sh" }],
    "preToolUse": []
  }
}
""",
    ".vibe/config.toml": """\
active_model = "mine"

[tools.bash]
permission = "ask"
allowlist = [
    "git",
    'ls',
]

[[models]]
name = "mine"
""",
    ".vibe/hooks.toml": """\
[[hooks]]
name = "lint"
type = "post_agent"
command = "eslint ."
""",
}
COMMENTED = {
    ".claude/settings.json": """\
// mine
{
  /* what may run */
  "permissions": {
    "allow": [
      "Bash(ls:*)", // to look
      "Bash(pwd)" // where am I
      // nothing else
    ],
  }, // the end
}
""",
    ".codex/hooks.json": '{"hooks": { // mine\n "Stop": [],\n}}',
    ".gemini/settings.json": '{ // mine\n  "ui": {"theme": "Dracula"}, // dark\n}\n',
    ".cursor/hooks.json": '{"hooks": {} /* none */, "version": 1 // always\n}\n',
    ".vibe/config.toml": """\
# mine
[ tools . bash ] # the shell
allowlist = [ # may run
  "git", # of course
  "ls" # ]
  # nothing else
]
""",
    ".vibe/hooks.toml": "# none yet, I think",
}


def nothing(home: Home, host: str) -> None:
    """Leave no folder of the assistant's."""
    del home, host


def folder_alone(home: Home, host: str) -> None:
    (home.path / f".{host}").mkdir()


def texts(content: dict[str, str], change: Callable[[str], str] = str) -> Kind:
    def write(home: Home, host: str) -> None:
        for name in FILES[host]:
            home.write(name, change(content[name]).encode())

    return write


def same(text: str) -> Kind:
    return texts({name: text for names in FILES.values() for name in names})


def for_json(text: str) -> Kind:
    """Write a text into files of JSON, and something of the same meaning into those of TOML."""
    return texts({name: "# {}" if "toml" in name else text for n in FILES.values() for name in n})


def linked(home: Home, host: str) -> None:
    """Keep the files in a folder of the user's own, as programs for dot files do."""
    for name in FILES[host]:
        kept = home.write(f"dotfiles/{name}", OTHERS[name])
        (home.path / name).parent.mkdir(exist_ok=True)
        (home.path / name).symlink_to(kept)


def by_hand(home: Home, host: str) -> None:
    """Have our entries there already, written by the user."""
    home.setup(host)
    for file in (home.path / ".state" / "planner" / "setup").iterdir():
        file.unlink()
    for name in FILES[host]:
        home.write(name, (home.path / name).read_bytes() + b"\n")


DONE: dict[str, Kind] = {
    "no folder": nothing,
    "a folder without files": folder_alone,
    "an empty file": same(""),
    "only a line end": same("\n"),
    "an empty object": for_json("{}"),
    "an object in one line": for_json('{"theme": "dark"}'),
    "other people's hooks and rules": texts(OTHERS),
    "no line end": texts(OTHERS, str.rstrip),
    "tabs": texts(OTHERS, lambda text: text.replace("    ", "\t\t").replace("  ", "\t")),
    "CRLF": texts(OTHERS, lambda text: text.replace("\n", "\r\n")),
    "comments": texts(COMMENTED),
    "comments and CRLF": texts(COMMENTED, lambda text: text.replace("\n", "\r\n")),
    "links to files elsewhere": linked,
    "our entries by hand": by_hand,
}


@pytest.mark.parametrize(("kind", "host"), part([*product(DONE, FILES)], EVERY))
def test_setup_twice_an_update_and_removal_leave_every_byte(
    kind: str, host: str, tmp_path: Path
) -> None:
    home = Home()
    DONE[kind](home, host)
    before = home.settings()
    assert home.setup(host).code == 0
    after = home.settings()
    assert after != before or kind == "our entries by hand"
    again = home.setup(host)
    assert (again.block.get("changes"), home.settings()) == ("0", after)
    if kind != "our entries by hand":
        newer = Checkout(tmp_path / "planner 2").planner("setup", host)
        assert newer.returncode == 0, newer.stdout + newer.stderr
        changed = [name for name, what in home.settings().items() if what != after[name]]
        assert changed == [".claude/skills/planner"] * (host == "claude")
    assert home.setup("--remove").code == 0
    assert home.settings() == before
    assert home.left_by_programs() == []


@pytest.mark.parametrize(
    ("kind", "host"), part([*product([k for k in DONE if "hand" not in k], FILES)], EVERY)
)
def test_what_the_user_adds_after_us_stays(kind: str, host: str) -> None:
    home = Home()
    DONE[kind](home, host)
    paths = [home.path / name for name in FILES[host]]
    before = [path.read_bytes() if path.exists() else b"" for path in paths]
    home.setup(host)
    for path in paths:
        path.write_bytes(b"\n\n" + path.read_bytes())
    assert home.setup(host).block.get("changes") == "0"
    assert home.setup("--remove").code == 0
    for path, old in zip(paths, before, strict=True):
        found = path.read_bytes() if path.exists() else b""
        assert found.removeprefix(b"\n\n") == old or not (found + old).strip(b"\r\n {}"), path


def broken(home: Home, host: str) -> None:
    for name in FILES[host]:
        home.write(name, OTHERS[name].replace('"', "", 1).replace("[[hooks]]", "[[hooks]"))


def not_utf8(home: Home, host: str) -> None:
    for name in FILES[host]:
        home.write(name, b"\xff\xfe" + OTHERS[name].encode("utf-16-le"))


def read_only(home: Home, host: str) -> None:
    for name in FILES[host]:
        home.write(name, OTHERS[name]).chmod(0o444)


def of_another_user(home: Home, host: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    for name in FILES[host]:
        os.chown(home.write(name, OTHERS[name]), 1, 1)


def folders(home: Home, host: str) -> None:
    for name in FILES[host]:
        (home.path / name).mkdir(parents=True)


def another_shape(home: Home, host: str) -> None:
    shapes = {
        ".claude/settings.json": '{"permissions": ["Bash"]}',
        ".codex/hooks.json": '{"hooks": []}',
        ".gemini/settings.json": '{"hooks": {"BeforeTool": {}}}',
        ".cursor/hooks.json": '{"hooks": "none"}',
        ".vibe/config.toml": 'tools = {bash = {permission = "ask"}}\n',
        ".vibe/hooks.toml": 'hooks = "none"\n',
    }
    for name in FILES[host]:
        home.write(name, shapes[name])


def another_skill(home: Home, host: str) -> None:
    home.write(f".{host}/skills/planner/SKILL.md", "---\nname: planner\n---\n")


REFUSED: dict[str, Kind] = {
    "broken": broken,
    "not UTF-8": not_utf8,
    "read-only": read_only,
    "another user's": of_another_user,
    "a folder in its place": folders,
    "another shape": another_shape,
    "another skill of our name": another_skill,
}


@pytest.mark.parametrize("host", FILES)
@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_changed_exactly_is_refused_and_named(kind: str, host: str) -> None:
    home = Home()
    REFUSED[kind](home, host)
    before = home.settings()
    answer = home.setup(host)
    assert answer.code == 1
    names = [f".{host}/skills/planner"] if "skill" in kind else FILES[host]
    assert [p.get("at") for p in answer.block] == [str(home.path / name) for name in names]
    assert home.settings() == before
    assert home.setup("--remove").code == 0
    assert home.settings() == before


def test_all_that_is_wrong_is_said_with_the_command_for_the_rest() -> None:
    home = Home()
    broken(home, "claude")
    broken(home, "vibe")
    answer = home.setup("claude", "codex", "vibe")
    assert len(answer.block) == 3
    assert (answer.block[-1].text or "").endswith(f"{launcher()} setup codex")
    assert not (home.path / ".codex").exists()


@pytest.mark.parametrize("host", ["codex", "vibe"])
def test_a_guard_of_another_place_is_not_joined_by_a_second(host: str) -> None:
    home = Home()
    home.setup(host)
    text = (home.path / FILES[host][-1]).read_text()
    home.setup("--remove")
    home.write(FILES[host][-1], re.sub(r"/[^ \"']*/hooks/guard", "/old/hooks/guard", text))
    answer = home.setup(host)
    assert answer.code == 1
    assert "/old/hooks/guard" in answer.text


def test_settings_that_the_assistant_has_written_anew_lose_our_entries_alone() -> None:
    """Claude Code writes its settings with two blanks and without comments."""
    home = Home()
    home.write(".claude/settings.json", '{"permissions":{"allow":["Bash(ls:*)"]}}')
    home.setup("claude")
    path = home.path / ".claude" / "settings.json"
    loaded = path.read_text().replace("[", '[\n"Bash(first)", ').replace(",", ",\n      ")
    path.write_text(loaded)
    assert home.setup("--remove").code == 0
    assert re.sub(r"\s", "", path.read_text()) == (
        '{"permissions":{"allow":["Bash(first)","Bash(ls:*)"]}}'
    )


def test_settings_below_a_link_to_itself_are_named_and_stay() -> None:
    home = Home()
    folder = home.path / ".claude"
    folder.symlink_to(folder)
    answer = home.setup("claude")
    assert answer.code == 1, answer.text
    assert "cannot be read" in answer.text
    assert "make it readable for you" in answer.text
    folder.unlink()
    assert home.setup("claude").code == 0
