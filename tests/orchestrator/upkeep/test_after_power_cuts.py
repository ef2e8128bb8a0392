"""A file that a power cut left empty, half or zeros is named, set aside, and the run goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from orchestrator.requirements_lane import transition
from shared.git.journal import journal_state
from shared.git.kept import KEPT_FILES
from shared.run import open_state
from tests.conftest import Repository
from tests.forms import part
from tests.journey import FILES, Answer, Journey, way_out, words_of
from tests.requirement_rounds import SUMMARY, WANTED, Rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.journey import Driven

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PC-10")

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "half": lambda data: data[: len(data) // 2],
    "zeros": lambda data: bytes(len(data)),
}


class CutError(BaseException):
    """The power is cut."""


def repaired(run: Driven, path: Path, damage: str, *command: str) -> str:
    """Damage a file; return what the repair says, to which a command and the doctor lead."""
    data = DAMAGES[damage](path.read_bytes())
    path.write_bytes(data)
    refused = run.planner(*command)
    assert refused.code == 1, refused.text
    assert words_of(way_out(refused.problems[0][1]))[0] == "repair", refused.text
    doctor = run.call("doctor")
    assert doctor.code == 1
    assert path.name in doctor.data("findings"), doctor.text
    said = run.call(*words_of(way_out(refused.problems[0][1]))).data("set aside")
    ours = next(folder for folder in path.parents if folder.name == ".planner")
    kept = [p for p in ours.rglob("*.damaged-1*") if p.is_file()]
    assert data in [p.read_bytes() for p in kept]
    assert run.call("repair").block.get("damaged") == "0"
    return said


# the journal of an apply


def applied(journey: Journey) -> dict[str, str | bytes]:
    journey.to("applied")
    return journey.edits


def half_applied(journey: Journey) -> dict[str, str | bytes]:
    journey.to("applied")
    journey.repository.write("src/a.py", str(FILES["src/a.py"]))
    state = open_state(journey.state_dir, "/")
    with state.database:
        state.go_to("executor", 2)
    return journey.edits


def not_applied(journey: Journey) -> dict[str, str | bytes]:
    half_applied(journey)
    for name in journey.edits:
        journey.repository.write(name, str(FILES[name]))
    return journey.edits


@pytest.mark.parametrize("way", ["exec run", "undo"])
@pytest.mark.parametrize("damage", part([*DAMAGES], 3))
@pytest.mark.parametrize("prepare", [applied, half_applied, not_applied])
def test_the_journal_of_an_apply_is_written_again_as_far_as_the_apply_came(
    make_repo: Repositories,
    prepare: Callable[[Journey], dict[str, str | bytes]],
    damage: str,
    way: str,
) -> None:
    journey = Journey(make_repo("project", FILES))
    edits = prepare(journey)
    path = Path(journey.state_dir, "apply", "journal.json")
    whole = json.loads(path.read_bytes())
    said = repaired(journey, path, damage, "exec", "apply")
    assert way in said
    again = json.loads(path.read_bytes())
    assert again["moves"] == whole["moves"]
    assert again["folders"] == whole["folders"]
    came = {"applied": "applied", "half_applied": "applying", "not_applied": "undone"}
    assert again["state"] == came[prepare.__name__]
    assert journey.planner(*way.split()).code == 0
    wanted = edits if way == "exec run" else FILES
    for name in edits:
        assert (journey.repository.path / name).read_text() == wanted[name]
    assert (journey.repository.git("log", "-1", "--format=%s") == "Add two") == (way == "exec run")


def test_without_the_copies_the_plan_itself_takes_an_apply_back(make_repo: Repositories) -> None:
    journey = Journey(make_repo("project", FILES)).to("applied")
    path = Path(journey.state_dir, "apply", "journal.json")
    for copy in (*path.parent.glob("before/*"), *path.parent.glob("after/*")):
        copy.unlink()
    repaired(journey, path, "empty", "exec", "commit")
    assert journal_state(str(path.parent)) is None
    assert journey.planner("undo").code == 0
    assert journey.repository.git("status", "--porcelain", "--", "src") == ""


@pytest.mark.parametrize("damage", part([*DAMAGES], 3))
def test_an_interrupted_revert_goes_on_without_its_journal(
    make_repo: Repositories, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    journey = Journey(make_repo("project", FILES)).to("committed")

    def cut(*_: object, **__: object) -> None:
        raise CutError

    with monkeypatch.context() as patched:
        patched.setattr("orchestrator.execute.undo.commit", cut)
        with pytest.raises(CutError):
            journey.planner("undo")
    said = repaired(journey, Path(journey.state_dir, "revert", "journal.json"), damage, "undo")
    assert "undo" in said
    assert journey.planner("undo").code == 0
    assert journey.repository.git("log", "-1", "--format=%s") == 'Revert "Add two"'
    assert journey.repository.git("status", "--porcelain") == ""


# notes of a verification


@pytest.mark.parametrize(("name", "damage"), part([
    (name, damage) for name in ("result.json", "baseline.json", "job.json", "worker.json")
    for damage in DAMAGES
], 4))  # fmt: skip
def test_a_note_of_a_verification_is_lost_and_it_is_verified_again(
    make_repo: Repositories, name: str, damage: str
) -> None:
    verified = '[verify]\ncommands = ["PYTHONPATH=src python3 tests/test_a.py"]\n'
    journey = Journey(make_repo("project", {**FILES, "planner.toml": verified})).to("freeze")
    path = Path(journey.state_dir, "verify", name)
    assert path.exists(), [p.name for p in path.parent.iterdir()]
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert f"verify/{name}: damaged" in journey.call("doctor").data("findings")
    said = journey.call("repair").data("set aside")
    assert f"{path}.damaged-1" in said
    assert "plan verify" in said
    assert journey.call("repair").block.get("damaged") == "0"
    assert journey.planner("plan", "verify").code == 0
    journey.last = journey.planner("step", "planner")
    journey.to("committed")


@pytest.mark.parametrize("damage", part([*DAMAGES], 3))
def test_what_a_verification_had_broken_stays_beside_where_the_note_of_it_is_lost(
    make_repo: Repositories, damage: str
) -> None:
    journey = Journey(make_repo("project", FILES)).to("code")
    canary = Path(journey.state_dir, "verify", "canary")
    canary.mkdir(parents=True)
    (canary / "0").write_text("def f(x): ...\n")
    note = json.dumps({"worktree": f"{journey.state_dir}/worktree", "files": ["src/a.py"]})
    (canary / "files.json").write_bytes(DAMAGES[damage](note.encode()))
    refused = journey.planner("plan", "done", "--phase", "plan-code")
    assert words_of(way_out(refused.problems[0][1]))[0] == "repair", refused.text
    assert "verify/canary: damaged" in journey.call("doctor").data("findings")
    assert f"{canary}.damaged-1" in journey.call("repair").data("set aside")
    assert Path(f"{canary}.damaged-1", "0").read_text() == "def f(x): ...\n"
    journey.last = journey.planner("step", "planner")
    journey.to("committed")


# the requirements lane


def refined(rounds: Rounds) -> tuple[str, ...]:
    rounds.to_prompt()
    rounds.write("new_requirements.md", WANTED)
    return ("requirements", "refine")


def accepted(rounds: Rounds) -> tuple[str, ...]:
    rounds.to_accepted()
    rounds.write_answer("summary.md", SUMMARY)
    return ("requirements", "implement", "--summary", "answers/summary.md")


@pytest.mark.parametrize("done", [0, 1])
@pytest.mark.parametrize("damage", part([*DAMAGES], 3))
@pytest.mark.parametrize("prepare", [refined, accepted])
def test_a_transition_that_is_lost_is_due_again(
    make_repo: Repositories,
    monkeypatch: pytest.MonkeyPatch,
    prepare: Callable[[Rounds], tuple[str, ...]],
    damage: str,
    done: int,
) -> None:
    rounds = Rounds(make_repo("project", FILES))
    words, left, perform = prepare(rounds), [*range(done)], transition.perform

    def cut(*given: Any) -> None:  # noqa: ANN401 – what the function gets
        if not left:
            raise CutError
        left.pop()
        perform(*given)

    with monkeypatch.context() as patched:
        patched.setattr(transition, "perform", cut)
        with pytest.raises(CutError):
            rounds.planner(*words)
    path = Path(rounds.state_dir, "transition.json")
    assert path.exists()
    said = repaired(rounds, path, damage, *words)
    assert rounds.planner("step", "requirements").code == 0
    rounds.last = rounds.call(*words_of(said.rpartition("is there: ")[2].splitlines()[0]))
    assert rounds.last.code == 0, rounds.last.text
    texts = [found.read_text() for found in rounds.path("").glob("*requirements*.md")]
    assert sum("- f adds two" in text for text in texts) == 1
    if rounds.path("current_requirements.md").exists():
        rounds.begin_plan(rounds.follow("resume"))
    else:
        rounds.to_plan()
    assert not path.exists()


# the files of a folder without git


@pytest.mark.requirement("PL-35")
@pytest.mark.parametrize(("name", "damage"), part([
    (name, damage) for name in ("HEAD", "config", "index", "refs/heads/main") for damage in DAMAGES
], 4))  # fmt: skip
def test_what_is_kept_of_a_folder_without_git_is_read_again(
    tmp_path: Path, name: str, damage: str
) -> None:
    plain = Repository(tmp_path / "a project")
    plain.path.mkdir()
    for file, text in FILES.items():
        plain.write(file, text)
    journey = Journey(plain)
    journey.start("--depth", "intent")
    journey.to("approved")
    head = (plain.path / KEPT_FILES / "refs" / "heads" / "main").read_bytes()
    said = repaired(journey, plain.path / KEPT_FILES / name, damage, "exec", "run")
    assert said.startswith(f"{plain.path}/.planner/files.git.{name.rpartition('/')[2]}.damaged-1")
    assert (plain.path / KEPT_FILES / "refs" / "heads" / "main").read_bytes() == head
    assert journey.call("status").code == 0
    journey.last = journey.planner("step", "executor")
    assert isinstance(journey.to("writing").last, Answer)
