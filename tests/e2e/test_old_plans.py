"""Plans that earlier planners wrote are read, approved, applied and validated (SD-9).

`tests/state/fixtures/plans` has a plan for each form that a frozen plan has had, named by the
commit that brought the form, and the commits that these plans were made on. The first are the
demo's; those since remarks are entries of their own have a question and a remark.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.run import open_state
from state.shape import as_json
from state.store import load_plan, read_plan
from tests.forms import part
from tests.journey import FILES, Journey, call
from tests.state.plans import without_defaults

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

PLANS = Path(__file__).parents[1] / "state/fixtures/plans"
EVERY = 4  # of the plans one is carried out on a commit, all in the long form
NAMES = sorted(path.stem for path in PLANS.glob("*.json"))

pytestmark = pytest.mark.requirement("SD-9")


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_of_an_earlier_form_is_read_both_ways_and_is_sound(name: str) -> None:
    path = str(PLANS / f"{name}.json")
    assert as_json(read_plan(path)) == load_plan(path).model_dump(mode="json")
    answer = call("/", "validate", "--require-frozen", path)
    assert answer.code == 0, answer.text


def laid_out(name: str, repository: Repository, folder: Path) -> Path:
    """Check a plan's base out, put the plan alone into a folder, and return that."""
    repository.git("fetch", "--quiet", str(PLANS / "bases.bundle"), f"refs/heads/{name}")
    repository.git("checkout", "--quiet", "-B", "main", "FETCH_HEAD")
    alone = folder / "alone"
    alone.mkdir()
    (alone / "plan.json").write_bytes((PLANS / f"{name}.json").read_bytes())
    return alone


@pytest.mark.parametrize("name", part(NAMES, EVERY))
def test_a_plan_of_an_earlier_form_is_shown_in_each_way(
    name: str, make_repo: Repositories, tmp_path: Path
) -> None:
    repository = make_repo()
    alone = laid_out(name, repository, tmp_path)
    plan = json.loads((alone / "plan.json").read_bytes())
    # An approval makes it a run that can be looked at.
    assert call(repository.path, "approve", plan["digest"], "--state-dir", str(alone)).code == 0
    shown = {
        words: call(repository.path, *words, "--state-dir", str(alone))
        for words in (("plan", "show", "said"), ("plan", "show", "--md"), ("status",), ("review",))
    }
    assert {words: answer.code for words, answer in shown.items()} == dict.fromkeys(shown, 0)
    said = shown["plan", "show", "said"].data("said")
    for one in (*plan["task_spec"], *plan.get("user_remarks", ())):
        assert f"{one['id']}, " in said
        assert " ".join(one["text"].split()) in said
    page = (alone / "review.html").read_text("utf-8")
    for text in (said, shown["plan", "show", "--md"].text, page):
        assert all(asked["question"] in text for asked in plan.get("checkpoints", ()))


@pytest.mark.parametrize("name", part(NAMES, EVERY))
def test_a_plan_of_an_earlier_form_is_approved_applied_and_proved(
    name: str, make_repo: Repositories, tmp_path: Path
) -> None:
    repository = make_repo()
    alone = laid_out(name, repository, tmp_path)
    plan = json.loads((alone / "plan.json").read_bytes())
    for words in (("approve", plan["digest"]), ("exec", "run")):
        answer = call(repository.path, *words, "--state-dir", str(alone))
        assert answer.code == 0, answer.text
    assert f"Plan-Digest: {plan['digest']}" in repository.git("log", "-1", "--format=%B")
    frozen = ("validate", "--require-frozen", str(alone / "plan.json"))
    assert call(repository.path, *frozen, "--repo", ".", "--commit", "HEAD").code == 0


@pytest.mark.parametrize("stage", ["design", "code"])
def test_a_run_under_way_whose_plan_lacks_every_later_field_goes_on_to_its_commit(
    stage: str, make_repo: Repositories
) -> None:
    """Fields come with a default, so a plan without any of these is older than every form."""
    journey = Journey(make_repo(files=FILES)).to(stage)
    path = Path(journey.state_dir, "plan.json")
    bare = without_defaults(json.loads(path.read_bytes()), "Plan")
    path.write_text(json.dumps(bare))
    assert journey.planner("step", "planner").text == journey.last.text
    journey.to("committed")
    assert open_state(journey.state_dir, "/").run.commit_id
    words = ("validate", str(path), "--repo", ".", "--commit", "HEAD")
    assert call(journey.repository.path, *words).code == 0
