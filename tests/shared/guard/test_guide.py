"""docs/guard.md repeats the policy tables: that part of the page is generated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shared.guard.policy import COMMANDS
from shared.guard.policy.git import GIT
from shared.guard.policy.refused import FAMILIES
from shared.resources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pytest

    from shared.guard.policy.rule import Rule

GUIDE = f"{ROOT}/docs/guard.md"
BEGIN, END = "<!-- from the table -->\n", "<!-- end of the table -->\n"


def rows(rules: Mapping[str, Rule]) -> Iterable[str]:
    """Yield a line for each reason, with all commands that have it."""
    for reason in dict.fromkeys(rule.reason for rule in rules.values()):
        names = [f"`{name}`" for name, rule in rules.items() if rule.reason == reason]
        yield f"| {' '.join(names)} | {reason} |"


def render_table() -> str:
    lines = ["## What passes", "", "| command | what it does |", "|---|---|", *rows(COMMANDS)]
    lines += ["", "## git", "", "| command | what it does |", "|---|---|", *rows(GIT)]
    lines += ["", "## What is refused by name", "", "| command | why | instead |", "|---|---|---|"]
    for names, reason, instead in FAMILIES:
        shown = " ".join(f"`{name}`" for name in names.split() if name != "|")
        lines.append(f"| {shown} | {reason} | {instead} |")
    return "\n".join(lines) + "\n"


def test_the_guide_repeats_the_table(request: pytest.FixtureRequest) -> None:
    with open(GUIDE, encoding="utf-8") as file:
        text = file.read()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    wanted = f"{before}{BEGIN}{render_table()}{END}{after}"
    if request.config.getoption("--update-golden"):
        with open(GUIDE, "w", encoding="utf-8") as file:
            file.write(wanted)
    else:
        assert text == wanted, "--update-golden rewrites docs/guard.md"
