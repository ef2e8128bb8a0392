"""Which files formatters get, and which failure of them counts (PL-33)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from shared.git.capture import _round, _Tools
from shared.git.settle import Ran, Tool, Trial

if TYPE_CHECKING:
    from shared.git.capture import _Work
    from shared.git.settle import Runner

pytestmark = pytest.mark.requirement("PL-33")

WHERE_TO = {"a.py": True, "gone.py": False, "new.py": True}


@pytest.mark.parametrize(
    ("codes", "failed"),
    [((0, 0, 0), None), ((0, 3, 4), "second"), ((5, 0, 4), "first"), ((0, 0, 1), "third")],
)
def test_each_formatter_gets_the_files_that_are_there_and_the_first_failure_counts(
    codes: tuple[int, ...], failed: str | None
) -> None:
    names = ("first", "second", "third")
    trees = iter(("one", "two", "three", "tidied"))
    fields = {"base": "base", "paths": lambda *_: WHERE_TO, "stage": lambda: next(trees)}
    asked: list[tuple[str, Tool]] = []

    def home(tree: str, tool: Tool) -> Trial:
        asked.append((tree, tool))
        return Trial(Ran(codes[names.index(tool.name)], f"{tool.name} said"))

    tools = _Tools(names, hook=False, owned=None, runner=cast("Runner", None), home=home)
    done = _round(cast("_Work", SimpleNamespace(**fields)), "begun", tools)
    assert [tree for tree, _ in asked] == ["begun", "one", "two"]
    assert [tool for _, tool in asked] == [Tool(name, ["a.py", "new.py"]) for name in names]
    assert (done.tree, done.strays, done.output) == ("tidied", [], "")
    assert (done.failed and done.failed[0]) == failed
