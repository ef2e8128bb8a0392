from __future__ import annotations

from pathlib import Path

import pytest

from developer.verify.background import verify
from developer.verify.job import Done
from developer.verify.prepare import prepare
from shared.config import commands_hash
from shared.resources import quote
from shared.sandbox import is_available
from state.errors import Refused
from tests.developer.verify.conftest import Site, yes

pytestmark = pytest.mark.requirement("PL-34")


def test_without_commands_nothing_is_verified(site: Site) -> None:
    assert site.verify(site.job()) == Done()


def test_commands_that_no_person_confirmed_do_not_run(site: Site) -> None:
    job = site.job("touch ran.seen", setup=["touch set-up.seen"])
    for attempt in (verify, prepare):
        with pytest.raises(Refused) as refusal:
            attempt(job, lambda _digest: False)
        (problem,) = refusal.value.problems
        assert problem.kind == "refused"
        assert "touch ran.seen" in problem.problem
        assert "touch set-up.seen" in problem.problem
        assert f"config confirm {commands_hash(job.config)} --state-dir" in problem.retry
    assert not list(site.worktree.glob("*.seen"))


def test_what_fails_at_the_base_too_is_a_known_failure(site: Site) -> None:
    site.write("app.py", "ANSWER = 2\n")
    job = site.job("echo broken before; exit 3", "grep -q 'ANSWER = 1' app.py")
    answer = site.done(job)
    known, new = answer.results
    assert (known.baseline, known.outcome) == ("fail", "known-failure")
    assert (new.baseline, new.outcome) == ("pass", "fail")
    assert answer.failures == (new,)
    assert known.tail == "broken before"
    assert new.tree == answer.tree
    assert new.exercised is None


def test_the_base_is_measured_once(site: Site) -> None:
    count = Path(site.state, "count")
    job = site.job(f'echo "$PWD" >> {quote(str(count))}', write=[str(site.state)])
    site.done(job)
    site.write("app.py", "ANSWER = 2\n")
    site.done(job)
    lines = count.read_text().splitlines()
    assert [line for line in lines if line.endswith("/verify/base")] == lines[:1]
    assert not Path(site.state, "verify", "base").exists()


def test_a_result_for_the_same_tree_is_returned_without_running(site: Site) -> None:
    count = Path(site.state, "count")
    job = site.job(f"echo run >> {quote(str(count))}", write=[str(site.state)])
    first = site.done(job)
    before = count.read_text()
    assert site.done(job) == first
    assert count.read_text() == before
    site.done(job, again=True)
    assert count.read_text() == before + "run\n"


def test_a_change_of_the_users_own_tree_is_told(site: Site) -> None:
    mine = site.repo.path / "app.py"
    job = site.job(f"echo >> {quote(str(mine))}", write=["app.py"])
    assert site.done(job).touched.endswith(": app.py")
    assert "app.py" in site.done(job, again=True).touched, "a second change of a changed file"


def test_what_commands_leave_in_the_worktree_is_told(site: Site) -> None:
    site.write("app.py", "ANSWER = 2\n")
    job = site.job("echo made > report.txt")
    first = site.done(job)
    assert first.wrote.endswith(": report.txt")
    assert site.done(job).wrote == ""


@pytest.mark.requirement("VR-2")
@pytest.mark.skipif(not is_available(), reason="this kernel cannot limit writes")
def test_a_setup_writes_only_in_the_worktree_and_where_the_project_says(
    site: Site, tmp_path: Path
) -> None:
    for name in ("cache", "else"):
        (tmp_path / name).mkdir()
    hooks = f"{site.repo.path}/.git/hooks/x"
    setup = f"! echo x >{tmp_path}/else/x; ! echo x >{hooks}; echo x >{tmp_path}/cache/x; pwd >in"
    done = site.done(site.job("cat in", setup=[setup], write=[str(tmp_path / "cache")]))
    assert done.results[0].outcome == "pass"
    assert [p.name for p in (tmp_path / "else").iterdir()] == []
    assert (tmp_path / "cache" / "x").exists()
    assert not Path(hooks).exists()


def test_a_setup_that_fails_is_refused_with_its_output_and_tried_again(site: Site) -> None:
    job = site.job("true", setup=["echo no network; test -e fixed.seen"])
    with pytest.raises(Refused, match="no network") as refusal:
        site.verify(job)
    assert "[worktree].setup" in refusal.value.problems[0].at
    (site.worktree / "fixed.seen").touch()
    answer = site.done(job)
    assert answer.results[0].outcome == "pass"
    assert answer.results[0].baseline == "not-run"
    assert "the base could not be set up" in answer.notes[0]


@pytest.mark.requirement("PL-33")
def test_a_worktree_is_linked_and_set_up_once(site: Site) -> None:
    (site.repo.path / "modules").mkdir()
    (site.repo.path / "modules" / "m.txt").write_text("theirs")
    job = site.job("cat modules/m.txt", setup=["echo x >> set-up.seen"], link=["modules", "none"])
    notes = prepare(job, yes)
    assert notes == (
        "none is not in your working tree, so it could not be linked into the worktree",
    )
    assert prepare(job, yes) == notes
    assert (site.worktree / "set-up.seen").read_text() == "x\n"
    answer = site.done(job)
    assert [(r.baseline, r.outcome) for r in answer.results] == [("pass", "pass")]
    assert answer.wrote == ""
    assert (site.worktree / "set-up.seen").read_text() == "x\n"
