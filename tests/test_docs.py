"""What the documents say is so: links, commands, options, budgets, forms."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from cli.main import planner
from orchestrator.step import run_step
from shared.config_keys import KEYS as CONFIG_KEYS
from tests.generated_docs import context_of, leaves, render_commands, run_examples
from tests.rooms_picture import OLD_LINES, render_rooms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conftest import Golden, Repository

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
ROOMS = ROOT / "docs" / "rooms.svg"
SKILL = ROOT / "SKILL.md"
SKILL_FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def named(path: Path) -> str:
    """Return the name of a test's document."""
    return str(path.relative_to(ROOT))


def code_words(text: str) -> Iterator[str]:
    """Yield what stands in backticks within a line."""
    yield from re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)


def fenced_lines(text: str) -> Iterator[str]:
    """Yield the lines inside fenced blocks."""
    for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL):
        yield from block.splitlines()


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_link_inside_the_repository_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text())
    inside = [link for link in links if "://" not in link]
    assert not [link for link in inside if not (document.parent / link).exists()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=named)
def test_every_file_of_ours_that_is_named_exists(document: Path) -> None:
    """A word in backticks that begins with a folder of ours is a path."""
    folders = tuple(f"{p.name}/" for p in ROOT.iterdir() if p.is_dir() and p.name[0] != ".")
    words = [w.split()[0] for w in code_words(document.read_text()) if w.startswith(folders)]
    paths = [w.rstrip("/") for w in words if "<" not in w and "…" not in w]
    assert not [path for path in paths if not list(ROOT.glob(path))]


def commands_in(document: Path) -> list[list[str]]:
    """Return the words after `planner` of each command that a document shows."""
    text = document.read_text()
    found = []
    for line in (*fenced_lines(text), *code_words(text)):
        shown = re.match(r"\s*(?:\$ )?(?:<skill dir>/bin/|bin/)?planner ([a-z-].*)", line)
        if shown:
            found.append(shlex.split(shown[1].partition("  ")[0], comments=True))
    return found


def parse(words: list[str]) -> None:
    """Parse a command line without running it; raises click's usage errors."""
    command: click.Command = planner
    parent = context_of(planner, "planner", None)
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        following = command.get_command(parent, name)
        assert following is not None, f"there is no command {name} in {words}"
        command = following
    complete = bool(rest) or not isinstance(command, click.Group)
    command.make_context(words[-1], rest, parent=parent, resilient_parsing=not complete)


# The others show forms with blanks (`--file FILE`), or what is generated and held by other tests.
SHOWING = [
    *(ROOT / name for name in ("README.md", "SKILL.md", "CONTRIBUTING.md", "AGENTS.md")),
    *(
        ROOT / "docs" / f"{name}.md"
        for name in ("ci", "configuration", "control", "demo", "install", "place", "requirements")
    ),
]


@pytest.mark.parametrize("document", SHOWING, ids=named)
def test_every_command_that_is_shown_is_one(document: Path) -> None:
    """A bare name in a sentence, such as `planner cancel`, may leave its arguments out."""
    for words in commands_in(document):
        try:
            parse(words)
        except click.exceptions.Exit as help_shown:
            assert help_shown.exit_code == 0  # noqa: PT017 – --help ends the parsing
        except click.MissingParameter:
            assert all(re.fullmatch(r"[a-z-]+", word) for word in words), words


def test_every_command_has_help_with_an_example_that_parses() -> None:
    for context in leaves():
        path = context.command_path.removeprefix("planner ")
        if path != "step":
            example = re.search(r"\n  Example: planner (.+)", context.get_help())
            assert example, f"{path} has no example"
            assert example[1].startswith(path)
            parse(shlex.split(example[1]))


def test_the_help_of_step_has_an_example(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run_step(["--help"]) == 0
    assert b"Example: planner step planner" in capfdbinary.readouterr().out


def test_the_reference_of_commands_is_what_they_say(golden: Golden) -> None:
    golden("../../docs/commands.md", render_commands())


def test_the_picture_of_the_rooms_is_what_the_imports_say(golden: Golden) -> None:
    golden("../../docs/rooms.svg", render_rooms(ROOMS.read_text() if ROOMS.exists() else ""))


def test_only_a_hundred_lines_more_or_less_change_the_picture_of_the_rooms() -> None:
    drawn = render_rooms()

    def grown(lines: int) -> str:
        def count(match: re.Match[str]) -> str:
            old = match[2]
            return match[0].removesuffix(old) + f"{int(old.replace(',', '')) + lines:,}"

        return OLD_LINES.sub(count, drawn)

    assert render_rooms(drawn) == drawn
    assert render_rooms(grown(40)) == grown(40)
    assert render_rooms(grown(200)) == drawn


def test_the_examples_of_errors_are_real(golden: Golden, repo: Repository) -> None:
    document = ROOT / "docs" / "errors.md"
    run_examples('```\n$ planner start "Parse dates" --depth full\n```', repo.path)
    golden("../../docs/errors.md", run_examples(document.read_text(), repo.path))


# SKILL.md


def front_matter() -> dict[str, str]:
    """Return the fields of SKILL.md; each is one line."""
    block = SKILL.read_text().split("---\n")[1]
    return dict(line.split(": ", 1) for line in block.splitlines())


def test_the_skill_has_the_fields_of_the_format_and_no_others() -> None:
    fields = front_matter()
    assert set(fields) <= SKILL_FIELDS
    assert fields["name"] == "planner"
    assert 1 <= len(fields["description"]) <= 1_024
    assert len(fields["description"].split()) < 60
    assert len(fields["compatibility"]) <= 500
    assert not [value for value in fields.values() if ": " in value]


def test_the_skill_costs_little() -> None:
    text = SKILL.read_text()
    idle = text.split("---\n")[1]
    assert len(text.splitlines()) < 150
    assert len(text) / 4 <= 2_000
    assert len(idle) / 4 <= 300


def test_the_skill_explains_every_element_that_a_block_may_hold(
    golden_blocks: Callable[[], str],
) -> None:
    used = {"task", "rules", "data", "dispatch", "next", "ask", "person", "error"}
    explained = set(re.findall(r"^- `<(\w+)", SKILL.read_text(), re.MULTILINE))
    printed = set(
        re.findall(r"^<(task|rules|data|next|ask|person|dispatch)\b", golden_blocks(), re.MULTILINE)
    )
    assert explained == used
    assert printed <= explained


@pytest.fixture
def golden_blocks() -> Callable[[], str]:
    """Return a function that reads all golden files."""
    files = sorted((ROOT / "tests" / "golden").rglob("*"))
    return lambda: "\n".join(p.read_text() for p in files if p.is_file())


# The other documents


@pytest.mark.requirement("HO-6")
def test_the_page_of_the_demo_shows_what_it_prints() -> None:
    """Left out are only parts that a line `…` stands for; seconds and digests are its own."""
    texts = [(ROOT / "docs/demo.md").read_text(), (ROOT / "tests/golden/cli/demo.txt").read_text()]
    shown, printed = (re.sub(r"\d+\.\d s|\b[0-9a-f]{12}\b…?", "#", text) for text in texts)
    block = next(b for b in re.findall(r"```\n(.*?)```", shown, re.DOTALL) if "→" in b)
    at = 0
    for part in re.split(r" *…\n", block):
        assert part in printed[at:], part
        at = printed.index(part, at) + len(part)


@pytest.mark.requirement("HO-6")
def test_the_chat_of_the_readme_is_the_demos_run() -> None:
    """Who follows it meets the same question, the same finding, the same files."""
    chat = " ".join(re.findall(r"^> ?(.*)$", (ROOT / "README.md").read_text(), re.MULTILINE))
    demo = ROOT / "cli" / "demo"
    request = (demo / "request.txt").read_text().strip()
    [asked] = json.loads((demo / "answers" / "1" / "questions.json").read_text())
    assert request.lower() in chat.lower()
    assert asked["question"] in chat
    assert not [option for option in asked["options"] if option["label"] not in chat]
    printed = (ROOT / "tests" / "golden" / "cli" / "demo.txt").read_text()
    assert 'sizes.short(999960) is "1000.0 kB"' in printed
    assert 'sizes.short(999960)` is "1000.0 kB"' in chat
    [files] = re.findall(r"blob by blob, in (\d+) files", printed)
    plan = json.loads((ROOT / "examples" / "full.json").read_text())
    assert f"{files} files in {len(plan['milestones'])} milestones" in chat
    assert f"the {files} files that you approved" in chat


@pytest.mark.requirement("HO-6")
def test_the_readme_is_short_and_goes_from_installing_to_a_first_plan() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 130
    assert len(text.split("\n\n")[1].splitlines()) == 2
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles[:3] == ["Install", "Your first plan", "Why not plan mode?"]
    blocks = re.findall(r"```\n(.*?)```", text, re.DOTALL)
    assert blocks[0].splitlines() == [
        "git clone ADDRESS-OF-THIS-REPOSITORY planner",
        "planner/bin/planner setup",
    ]
    assert blocks[1].splitlines() == ["bin/planner demo", "bin/test"]


def test_the_page_of_the_configuration_names_every_key() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    keys = [f"`[{table}] {key}`" for table, known in CONFIG_KEYS.items() for key in known]
    assert not [key for key in [*keys, "`[run] NAME`"] if key not in text]


def test_the_map_of_the_house_has_every_folder() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    folders = [p.name for p in ROOT.iterdir() if p.is_dir() and p.name[0] not in "._"]
    rows = " ".join(line.split(" | ")[0] for line in text.splitlines() if line.startswith("| `"))
    assert not [name for name in folders if f"`{name}/`" not in rows]


def test_the_rules_for_agents_are_short_and_give_reasons() -> None:
    text = (ROOT / "AGENTS.md").read_text()
    assert len(text.splitlines()) <= 60
    assert not [rule for rule in re.split(r"\n- ", text)[1:] if "because" not in rule]


def test_the_changelog_keeps_its_form() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    heads = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert heads[0].startswith(f"[{version}] - ")
    form = r"\[\d+\.\d+\.\d+\] - (\d{4}-\d\d-\d\d|unreleased)"
    assert not [head for head in heads if not re.fullmatch(form, head)]
    assert set(re.findall(r"^### (.*)$", text, re.MULTILINE)) <= CHANGES


def test_a_decision_is_a_title_and_one_paragraph() -> None:
    files = sorted((ROOT / "docs" / "decisions").iterdir())
    numbers = [f.name[:5] for f in files]
    assert all(number[:4].isdigit() and number[4] == "-" for number in numbers)
    assert len(set(numbers)) == len(numbers)
    for file in files:
        title, _, paragraph = file.read_text().removesuffix("\n").partition("\n\n")
        assert title.startswith("# ")
        assert "\n" not in title
        assert paragraph
        assert "\n\n" not in paragraph
