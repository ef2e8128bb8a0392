"""The todo list of requirements as text (RL-5)."""

from __future__ import annotations

from shared.todo import also_committed, as_completed, render_todo
from tests.shared.execution.scene import milestone
from tests.state.plans import empty_plan

MILESTONES = empty_plan(
    milestones=[milestone(1, "a.py") | {"name": "Parse\n dates"}, milestone(2, "b.py")]
).milestones


def test_a_list_names_requirements_hash_and_each_milestone() -> None:
    text = render_todo("abc", MILESTONES, {"M-002"})  # type: ignore[arg-type]
    assert text.splitlines()[3] == "SHA-256: abc"
    assert text.splitlines()[5:] == ["- [ ] M-001 Parse dates", "- [x] M-002 Part 2"]
    before = render_todo("abc", (), set())
    assert before.splitlines()[5].startswith("- [ ] plan ")
    name = before.splitlines()[2].removeprefix("Requirements: ")
    done = as_completed(text, "completed.md")
    assert done == text.replace(name, "completed.md", 1)
    assert as_completed(done, "again.md") == done


def test_other_files_of_the_commit_stand_at_the_end_and_may_go_again() -> None:
    text = render_todo("abc", (), set())
    one = also_committed(text, ["a.txt"])
    assert one == f"{text}\n## Committed as well, as the user agreed\n\n- a.txt\n"
    assert also_committed(one, ["b", "c"]) == one.replace("- a.txt\n", "- b\n- c\n")
    assert also_committed(one, []) == text
    assert also_committed(text, []) == text
