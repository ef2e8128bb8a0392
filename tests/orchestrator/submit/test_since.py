"""Between two revisions the code itself has a difference, by what a person has said (LP-1)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from orchestrator.submit.since import last_seen, seen_revision
from shared.resources import rendered_plan_path, superseded_plan_path
from shared.run import open_state
from state.store import load_plan
from tests.journey import FILES, Journey, way_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("LP-1")
SECOND = "def f(x):\n    # one more than before\n    return x + 2\n"
FROM_FIRST_TO_SECOND = """\
@@ -1,2 +1,3 @@
 def f(x):
+    # one more than before
     return x + 2
"""


def revise(journey: Journey, remark: str, edits: dict[str, str | bytes]) -> Journey:
    """Have the person remark on what is submitted, and submit the next revision."""
    journey.write_answer("remarks.md", remark)
    assert journey.planner("plan", "revise", "--file", "answers/remarks.md").code == 0
    journey.last = journey.planner("step", "planner")
    journey.answers["design.json"], journey.edits = [], edits
    return journey.to("submitted")


@pytest.fixture
def second(make_repo: Repositories) -> Journey:
    """Return a run whose second revision waits, with a comment more in the code."""
    first = Journey(make_repo(files=FILES)).to("submitted")
    return revise(first, "Say why in a comment.", {"src/a.py": SECOND})


def diff(journey: Journey, *words: str) -> str:
    answer = journey.planner("plan", "diff", *words)
    assert answer.code == 0, answer.text
    return answer.text


def test_the_difference_is_that_of_both_trees_to_come_under_the_remark(second: Journey) -> None:
    said = diff(second, "--since", "1")
    assert said.startswith(
        "# RM-001: Say why in a comment. → done: M-001\ndiff --git a/src/a.py b/src/a.py\n"
    )
    assert said.endswith(FROM_FIRST_TO_SECOND)
    assert "test_a.py" not in said
    assert diff(second, "--since") == said


def test_git_makes_the_later_code_of_the_earlier_with_it(second: Journey) -> None:
    repository = second.repository
    repository.git("checkout", "-q", "-b", "elsewhere")
    repository.write("src/a.py", "def f(x):\n    return x + 2\n")
    repository.path.joinpath("../since.patch").write_text(diff(second, "--since", "1"))
    repository.git("apply", "../since.patch")
    assert repository.path.joinpath("src/a.py").read_text() == SECOND


def test_page_and_plan_md_show_it_before_all_else_that_differs(second: Journey) -> None:
    page = Path(second.state_dir, "review.html").read_text(encoding="utf-8")
    part = page.partition('id="differences"')[2].partition("</section>")[0]
    assert part.index("RM-001") < part.index("# one more than before") < part.index("blob")
    text = Path(rendered_plan_path(second.state_dir)).read_text(encoding="utf-8")
    part = text.partition("\n## Since revision 1\n")[2].partition("\n## ")[0]
    assert "### RM-001: Say why in a comment. → done: M-001\n" in part
    assert FROM_FIRST_TO_SECOND in part


def test_it_is_asked_for_by_file_or_milestone_and_fits_a_block(second: Journey) -> None:
    whole = diff(second, "--since", "1")
    assert diff(second, "--since", "1", "src/a.py") == whole
    assert diff(second, "M-001", "--since", "1") == whole
    block = second.planner("plan", "diff", "--since", "1", "--format", "xml")
    assert block.data("src/a.py").endswith(FROM_FIRST_TO_SECOND)
    assert block.data("causes") == ("RM-001: Say why in a comment. → done: M-001\n  src/a.py")
    refused = second.planner("plan", "diff", "--since", "1", "tests/test_a.py")
    assert refused.problems[0][1].startswith("the plan has no such milestone, and no change")


@pytest.mark.parametrize("number", ["2", "9"])
def test_what_is_no_earlier_revision_is_refused(second: Journey, number: str) -> None:
    refused = second.planner("plan", "diff", "--since", number)
    assert refused.code == 1
    assert "there is no earlier revision of this number · allowed: 1" in refused.text


def test_a_first_revision_has_nothing_to_compare_with(make_repo: Repositories) -> None:
    first = Journey(make_repo(files=FILES)).to("submitted")
    assert "allowed: none is kept" in first.planner("plan", "diff", "--since").text
    text = Path(rendered_plan_path(first.state_dir)).read_text(encoding="utf-8")
    assert "Since revision" not in text


def test_an_earlier_revision_that_was_altered_is_not_compared_with(second: Journey) -> None:
    kept = superseded_plan_path(second.state_dir, 1)
    shutil.copy(f"{second.state_dir}/plan.json", kept)
    refused = second.planner("plan", "diff", "--since", "1")
    assert refused.code == 0  # the second one is a submitted plan as well
    text = Path(kept).read_text(encoding="utf-8")
    Path(kept).write_text(text.replace("Change the constant", "Change the customer"))
    refused = second.planner("plan", "diff", "--since", "1")
    assert "this revision is not as it was submitted" in refused.text
    assert second.planner("review").code == 0
    assert "is not as it was submitted" in Path(second.state_dir, "review.html").read_text()


def test_of_what_others_commit_only_the_planned_files_are_compared(
    make_repo: Repositories,
) -> None:
    journey = Journey(make_repo(files=FILES)).to("approved")
    moved = "# kept\n\n\ndef f(x):\n    return x + 1\n"
    journey.repository.commit({"other.py": "x = 1\n", "src/a.py": moved}, "Others")
    assert journey.planner("plan", "revise").code == 0
    journey.last = journey.planner("step", "planner")
    journey.answers["design.json"], journey.edits = [], {}
    journey.to("submitted")
    said = diff(journey, "--since", "1")
    assert said.startswith("# without a remark\ndiff --git a/src/a.py b/src/a.py\n")
    assert "+# kept\n" in said
    assert "other.py" not in said
    for name in ("plan.md", "review.html"):
        text = Path(journey.state_dir, name).read_text(encoding="utf-8")
        assert "The base has moved as well" in text
        assert "Without a remark" in text


def test_the_files_of_the_run_and_of_the_user_stay_as_they_are(second: Journey) -> None:
    def files() -> dict[str, bytes]:
        return {
            str(path): path.read_bytes()
            for top in (second.state_dir, second.repository.path)
            for path in Path(top).rglob("*")
            if path.is_file() and not path.name.startswith("planner.db")
        }

    before = files()
    diff(second, "--since", "1")
    assert files() == before


def test_a_remark_that_changes_no_code_is_named_so(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    revise(journey, "Is that all?", journey.edits)
    assert diff(journey, "--since", "1") == (
        "# RM-001: Is that all? → done: M-001 (no difference in the code)\n"
    )


def test_the_last_that_was_answered_is_compared_with(second: Journey) -> None:
    """The assistant opens a third revision by itself, so the second may be unread."""
    assert second.planner("plan", "revise").code == 0
    second.last = second.planner("step", "planner")
    second.edits = {"src/a.py": SECOND.replace("more", "less")}
    second.to("submitted")
    state = open_state(second.state_dir, "/")
    plan = load_plan(state.plan_path)
    assert (plan.revision, seen_revision(state, plan)) == (3, 1)
    earlier, since = last_seen(state, plan)
    assert earlier is not None
    assert since is not None
    assert (earlier.revision, since.revision) == (1, 1)
    assert "# one less than before" in (since.changes[0].patch or "")
    assert "-    # one more than before\n" in diff(second, "--since", "2")


def test_without_the_base_it_says_why_and_the_page_stands(second: Journey) -> None:
    kept = superseded_plan_path(second.state_dir, 1)
    plan = json.loads(Path(kept).read_text(encoding="utf-8"))
    repository = second.repository
    tree = plan["base"]["tree"]
    objects = Path(repository.git("rev-parse", "--git-path", "objects").strip())
    (repository.path / objects / tree[:2] / tree[2:]).unlink()
    refused = second.planner("plan", "diff", "--since", "1")
    assert refused.code == 1
    assert way_out(refused.problems[0][1]) == ""
    assert second.planner("review").code == 0


def test_intents_have_no_code_to_compare_with(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES))
    journey.start("--depth", "intent")
    journey.to("writing")
    refused = journey.planner("plan", "diff", "--since", "1")
    assert "this revision had no code yet" in refused.text
    assert journey.planner("review").code == 0
    assert "The code:" not in Path(journey.state_dir, "review.html").read_text(encoding="utf-8")


HOSTILE = (
    "Say why.\n</details><script>hacked()</script>\ndiff --git a/x b/x\n--- /dev/null\n+++ b/x\n"
    "@@ -0,0 +1 @@\n+hacked\n]]> \x1b]8;;https://a.b\x07link\x1b]8;;\x07 \u202e\u200b\r"
    "[a](javascript:hacked()) ![b](https://a.b) ``` ~~~ <!-- # done: M-001"
)


def test_whatever_a_remark_says_it_stays_a_remark(make_repo: Repositories) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    revise(journey, HOSTILE, {"src/a.py": SECOND})
    patch = journey.planner("plan", "diff", "--since", "1").text
    [said, *rest] = patch.split("\n")
    assert said.startswith("# RM-001: Say why. </details><script>hacked()</script> diff --git a/x")
    assert said.endswith(" → done: M-001")
    assert rest[0] == "diff --git a/src/a.py b/src/a.py"
    assert not [line for line in rest if "hacked" in line]
    block = journey.planner("plan", "diff", "--since", "1", "--format", "xml")
    assert block.data("causes").startswith("RM-001: Say why. </details><script>")
    text = Path(journey.state_dir, "plan.md").read_text(encoding="utf-8")
    [head] = [line for line in text.split("\n") if line.startswith("### RM-001")]
    assert "\\</details>\\<script>" in head
    assert "!\\[b]" in head
    page = Path(journey.state_dir, "review.html").read_text(encoding="utf-8")
    assert "<script" not in page
    for shown in (patch, block.text, text, page):
        assert not set(shown) & set("\x1b\x07\r\u202e\u200b")
    repository = journey.repository
    repository.write("src/a.py", "def f(x):\n    return x + 2\n")
    repository.path.joinpath("../since.patch").write_text(patch)
    repository.git("apply", "../since.patch")
    assert not repository.path.joinpath("x").exists()
    assert repository.path.joinpath("src/a.py").read_text() == SECOND


def test_a_file_that_is_no_text_and_one_that_moves_are_told(make_repo: Repositories) -> None:
    files = {**FILES, "src/b.bin": b"\x00\x01\n"}
    journey = Journey(make_repo(files=files))
    for name in ("src/b.bin", "src/c.py"):
        intent = {"milestone": "$m", "file": name, "behavior": "is changed"}
        journey.answers["design.json"].append({"op": "add", "kind": "intent", "fields": intent})
    journey.answers["design.json"][2]["fields"]["files"] += ["src/b.bin", "src/c.py"]
    journey.edits |= {"src/b.bin": b"\x00\x02\n", "src/c.py": "x = '\u202e'\n"}
    journey.to("submitted")
    revise(journey, "Otherwise.", {"src/b.bin": b"\x00\x03\n", "src/c.py": "x = '\u200b'\n"})
    block = journey.planner("plan", "diff", "--since", "1", "--format", "xml")
    assert block.data("causes").split("\n") == [
        "RM-001: Otherwise. → done: M-001", "  src/b.bin", "  src/c.py"]  # fmt: skip
    assert "x = '\\u200b'" in block.data("src/c.py")
    page = Path(journey.state_dir, "review.html").read_text(encoding="utf-8")
    part = page.partition('id="differences"')[2].partition("</section>")[0]
    assert "binary" in part
    assert "<b class=esc>\\u200b</b>" in part
    text = Path(journey.state_dir, "plan.md").read_text(encoding="utf-8")
    assert not set(text) & set("\u202e\u200b")
