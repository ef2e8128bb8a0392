"""A frozen plan against every command, as it is and edited by hand (PL-15)."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from cli.main import main
from shared.commands import COMMANDS
from tests.e2e.drive import design
from tests.forms import part
from tests.journey import printed
from tests.prepared import kept
from tests.state.plans import add

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PL-15")

# Commands that change nothing of a plan or its execution, by what they do instead.
HARMLESS = {
    "start": "begins, or prints where the run is",
    "step": "prints",
    "status": "prints",
    "cancel": "ends the run, whatever its plan is",
    "plan show": "prints",
    "tree run": "what it writes is lost",
    "init": "writes planner.toml for later runs",
    "setup": "is about assistants",
    "plan list": "prints",
    "plan check": "stores nothing",
    "plan schema": "prints",
    "plan diff": "prints",
    "plan render": "derives plan.md anew",
    "review": "derives review.html anew",
    "pr": "shows or proposes what is committed",
    "qr list": "prints",
    "workflow new": "makes a bundle, which is no plan",
    "workflow check": "prints",
    "workflow list": "prints",
    "workflow run": "has a state of its own",
    "recall": "prints; its index is derived",
    "strategy set": "works before there is a plan",
    "strategy context": "works before there is a plan",
    "strategy verdict": "works before there is a plan",
    "strategy show": "prints",
    "config show": "prints",
    "config confirm": "is about the project's commands",
    "validate": "prints",
    "doctor": "prints",
    "demo": "works elsewhere",
    "help": "prints",
    "audit": "prints",
    "guard check": "prints",
    "ro": "reads",
    "pause": "is about the mode",
    "resume": "is about the mode",
    "mode enter": "is about the mode",
    "mode status": "prints",
    "mode submit": "is about light plans",
    "mode step": "is about light plans",
    "mode reject": "ends the run, whatever its plan is",
    "mode edit": "opens the next revision, as plan revise does",
    "mode rebase": "is about the user's tree",
    "exec next": "works while agents write, when nothing is frozen",
    "exec done": "works while agents write, when nothing is frozen",
    "exec limited": "works while agents write, when nothing is frozen",
    "exec ask": "works while agents write, when nothing is frozen",
    "exec reconcile": "works while agents write, when nothing is frozen",
    "retry": "is about a milestone that an agent writes",
    "auto on": "is about approval in advance",
    "auto off": "is about approval in advance",
    "repair": "changes nothing that is whole",
    "prune": "changes no run that has not ended",
    "events": "prints",
    "export": "prints",
    "queue add": "is about runs to come",
    "queue list": "prints",
    "queue next": "begins, or prints where the run is",
    "queue remove": "is about runs to come",
    "template save": "is about runs to come",
    "template list": "prints",
    "template use": "is about runs to come",
    "stats": "prints",
    **dict.fromkeys(
        (
            f"requirements {word}"
            for word in (
                "startup",
                "refine",
                "accept",
                "implement",
                "complete",
                "commit",
                "history",
            )
        ),
        "is about the requirements, which have a run of their own",
    ),
}
CHANGING: dict[str, tuple[str, ...]] = {
    "edit": (),
    "undo": (),
    "plan add": ("plan", "add", "risk", "--risk", "r"),
    "plan set": ("plan", "set", "M-001", "--version", "1", "--name", "x"),
    "plan remove": ("plan", "remove", "M-001", "--version", "1"),
    "plan batch": ("plan", "batch", "--file", "answers/more.json"),
    "plan import": ("plan", "import", "{dir}/plan.json"),
    "plan capture": (),
    "plan verify": (),
    "plan done": ("plan", "done", "--phase", "impl-code"),
    "plan freeze": (),
    "plan revise": (),
    "qr set": ("qr", "set", "qa-001", "--phase", "plan-code", "--status", "PASS"),
    "qr add": ("qr", "add", "--phase", "plan-code", "--file", "answers/more.json"),
    "qr own": ("qr", "own", "--phase", "plan-docs"),
    "qr gate": ("qr", "gate", "--phase", "plan-docs", "--verdict", "fail"),
    "qr decline": (
        "qr",
        "decline",
        "qa-001",
        "--phase",
        "plan-docs",
        "--file",
        "answers/more.json",
    ),
    "qr accept": ("qr", "accept", "qa-001", "--phase", "plan-docs", "--reason", "r"),
    "context set": ("context", "set", "--file", "answers/context.json"),
    "context add-quote": ("context", "add-quote", "more"),
    "context ask": ("context", "ask", "--file", "answers/more.json"),
    "decide": ("decide", "CP-001", "a"),
    "approve": ("approve", "{digest}"),
    "exec run": (),
    "exec apply": (),
    "exec commit": (),
    "exec deviate": ("exec", "deviate", "M-001", "--file", "src/app.py", "--reason", "r"),
    "exec accept": ("exec", "accept", "--file", "src/app.py", "--reason", "r"),
    "tree rm": ("tree", "rm", "src/app.py"),
    "tree mv": ("tree", "mv", "src/app.py", "src/b.py"),
    "tree chmod": ("tree", "chmod", "+x", "src/app.py"),
    "tree restore": ("tree", "restore", "src/app.py"),
}

# Their refusal names the way on.
EDITING = {
    "plan add", "plan set", "plan remove", "plan batch", "plan capture", "plan verify", "qr gate",
    "context add-quote", "tree rm",
}  # fmt: skip


class Run:
    """A run in a real repository, driven through the real commands in this process."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.state_dir = Path()

    def __call__(self, *words: str) -> tuple[int, ET.Element]:
        """Run a command; returns its exit code and the block that it printed."""
        tail = ("--state-dir", str(self.state_dir)) if self.state_dir.is_absolute() else ()
        with printed() as (out, err):
            code = main([*words, *tail])
        assert "Traceback" not in err.getvalue(), err.getvalue()
        return code, ET.fromstring(out.getvalue().decode())  # noqa: S314 – our own output

    def good(self, *words: str) -> ET.Element:
        code, block = self(*words)
        assert code == 0, ET.tostring(block).decode()
        return block

    @kept
    def begin(self) -> None:
        """Start the run, and store what it is about."""
        started = self.good("start", "Change it", "--review", "none")
        self.state_dir = Path(started.get("state_dir", ""))
        self.answer("context.json", {"task_spec": ["change it"]})
        self.good("context", "set", "--file", "answers/context.json")

    @kept
    def freeze(self) -> None:
        """Go on until the plan is frozen and submitted."""
        self.answer("design.json", design(["src/app.py"]))
        self.answer("more.json", [add("risk", risk="r")])
        self.good("plan", "done", "--phase", "plan-design", "--batch", "answers/design.json")
        (self.state_dir / "worktree" / "src" / "app.py").write_text("A = 2\n")
        self.good("plan", "done", "--phase", "plan-code")
        self.good("plan", "freeze")

    def answer(self, name: str, value: object) -> None:
        (self.state_dir / "answers" / name).write_text(json.dumps(value))

    @property
    def plan(self) -> Path:
        return self.state_dir / "plan.json"

    def everything(self) -> tuple[bytes, list[str], dict[str, bytes]]:
        """Return what no refused command may change: plan, database, files of both trees."""
        connection = sqlite3.connect(self.repository.path / ".planner" / "planner.db")
        rows = list(connection.iterdump())
        connection.close()
        trees = [self.repository.path / "src", self.state_dir / "worktree" / "src"]
        files = {str(p): p.read_bytes() for t in trees for p in sorted(t.rglob("*"))}
        return self.plan.read_bytes(), rows, files


@pytest.fixture
def run(make_repo: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a run whose plan is being designed."""
    repository = make_repo("project", {"src/app.py": "A = 1\n"})
    monkeypatch.chdir(repository.path)
    made = Run(repository)
    made.begin()
    return made


@pytest.fixture
def frozen(run: Run) -> Run:
    """Return a run whose plan is frozen and submitted."""
    run.freeze()
    return run


def words_of(name: str, run: Run) -> list[str]:
    digest = json.loads(run.plan.read_bytes())["digest"]
    filled = {"{digest}": digest, "{dir}/plan.json": str(run.plan)}
    return [filled.get(w, w) for w in CHANGING[name] or name.split()]


def test_every_command_is_known_to_change_or_not_to_change() -> None:
    assert set(HARMLESS) | set(CHANGING) == set(COMMANDS)
    assert set(HARMLESS).isdisjoint(CHANGING)


def test_a_frozen_plan_is_refused_by_every_command_that_would_change_it(frozen: Run) -> None:
    """Approving it, freezing it again and opening the next revision are what may be done."""
    before = frozen.everything()
    for name in CHANGING:
        if name in ("approve", "plan freeze", "plan revise"):
            continue
        code, block = frozen(*words_of(name, frozen))
        assert (code, block.tag) == (1, "error"), name
        assert frozen.everything() == before, name
        if name in EDITING:
            assert [p.get("kind") for p in block] == ["frozen"], name
            assert "plan revise" in ET.tostring(block).decode(), name
    again = frozen.good("plan", "freeze")
    assert (again.tag, frozen.everything()) == ("step", before)


def edit_name(data: dict[str, Any]) -> str:
    data["milestones"][0]["name"] = "Something else"
    return "M-001"


def edit_patch(data: dict[str, Any]) -> str:
    data["milestones"][0]["code_changes"][0]["patch"] += " "
    return "CC-001"


def edit_out_of_range(data: dict[str, Any]) -> str:
    data["milestones"][0]["code_intents"][0]["params"] = {"n": 2**60}
    return "CI-001"


def unfreeze(data: dict[str, Any]) -> str:
    data["frozen_at"] = None
    return "frozen_at"


def unfreeze_all(data: dict[str, Any]) -> str:
    data.update(frozen_at=None, digest=None, seals={})
    return ""


@pytest.mark.parametrize(
    ("edit", "formatted"),
    part(
        [
            (edit_name, False),
            (edit_patch, False),
            (edit_out_of_range, False),
            (unfreeze, False),
            (unfreeze_all, False),
            (edit_name, True),
            (edit_patch, True),
        ],
        3,
    ),
)
def test_a_plan_edited_by_hand_is_refused_by_every_command_with_the_place(
    frozen: Run, edit: Callable[[dict[str, Any]], str], *, formatted: bool
) -> None:
    data = json.loads(frozen.plan.read_bytes())
    commands = {name: words_of(name, frozen) for name in CHANGING}
    place = edit(data)
    form: dict[str, Any] = {"indent": 2} if formatted else {"separators": (",", ":")}
    frozen.plan.write_text(json.dumps(data, sort_keys=True, ensure_ascii=False, **form))
    before = frozen.everything()
    for name, words in commands.items():
        code, block = frozen(*words)
        text = ET.tostring(block).decode()
        assert (code, block.tag) == (1, "error"), f"{name}: {text}"
        assert frozen.everything() == before, name
        if name != "undo":  # nothing is applied, whatever the plan is
            # What is imported is a file to this command, so the place is told by its path.
            places = (place, "milestones[0].") if name == "plan import" else (place,)
            assert any(p.get("at", "").startswith(places) for p in block), f"{name}: {text}"


@pytest.mark.requirement("PL-30")
def test_validate_names_the_place_of_an_edit_by_hand(frozen: Run) -> None:
    sound = frozen.state_dir
    frozen.state_dir = Path()
    assert frozen("validate", "--require-frozen", str(sound / "plan.json"))[0] == 0
    for edit in (edit_name, edit_patch, edit_out_of_range, unfreeze):
        data = json.loads((sound / "plan.json").read_bytes())
        place = edit(data)
        edited = sound / "answers" / "edited.json"
        edited.write_text(json.dumps(data, separators=(",", ":"), ensure_ascii=False))
        code, block = frozen("validate", str(edited))
        assert code == 1
        found = [p.get("at", "") for p in block.iter("problem")]
        assert any(place in at or "CI-001" in at or "params" in at for at in found), found


@pytest.mark.requirement("PL-11", "PL-12")
def test_the_same_batch_twice_in_a_row_is_done_once_with_the_same_answer(run: Run) -> None:
    run.answer("batch.json", design(["src/app.py"]))
    words = ("plan", "batch", "--file", "answers/batch.json")
    first = ET.tostring(run.good(*words))
    after = run.plan.read_bytes()
    assert ET.tostring(run.good(*words)) == first
    assert run.plan.read_bytes() == after
    assert b"add M-001 v1" in first


@pytest.mark.requirement("PL-11")
def test_a_refused_edit_leaves_the_file_as_it_was_byte_for_byte(run: Run) -> None:
    run.answer("batch.json", design(["src/app.py"]))
    run.good("plan", "batch", "--file", "answers/batch.json")
    before = run.everything()
    listing = os.listdir(run.state_dir)
    run.answer("bad.json", [add("risk", risk="fine"), {"op": "drop"}])
    for words in (
        ("plan", "set", "M-001", "--version", "9", "--name", "x"),
        ("plan", "set", "M-001", "--version", "1", "--file", "../x"),
        ("plan", "set", "M-099", "--version", "1", "--name", "x"),
        ("plan", "remove", "M-099", "--version", "1"),
        ("plan", "add", "intent", "--milestone", "M-009", "--file", "a", "--behavior", "b"),
        ("plan", "add", "risk", "--risk", "r", "--role", "developer"),
        ("plan", "add", "risk", "--mitigation", "m"),
        ("plan", "batch", "--file", "answers/bad.json"),
        ("plan", "batch", "--file", "answers/none.json"),
    ):
        code, block = run(*words)
        assert (code, block.tag) == (1, "error"), words
        assert run.everything() == before, words
        assert os.listdir(run.state_dir) == listing


@pytest.mark.requirement("PL-11")
def test_wrong_words_are_wrong_usage_with_what_is_allowed(run: Run) -> None:
    before = run.plan.read_bytes()
    for words, allowed in (
        (("plan", "add", "epic", "--name", "x"), "milestone"),
        (("plan", "add", "change", "--file", "x"), "milestone"),
        (("plan", "add", "milestone", "--nmae", "x"), "--name"),
        (("plan", "add", "milestone", "--code-intents", "[]"), "--name"),
        (("plan", "set", "X-001", "--version", "1"), "M-001"),
        (("plan", "set", "overview", "--title", "x"), "--version"),
        (("plan", "drop", "M-001"), "remove"),
    ):
        code, block = run(*words)
        assert (code, block.tag) == (2, "error"), words
        assert allowed in ET.tostring(block).decode(), words
    assert run.plan.read_bytes() == before


@pytest.mark.requirement("PL-11")
def test_repeated_options_make_a_list_and_commas_split_nothing(run: Run) -> None:
    run.good(
        "plan", "add", "milestone", "--name", "A, b", "--file", "a,b.py", "--file", "c.py",
        "--acceptance-criterion", "one, two", "--acceptance-criterion", "three",
    )  # fmt: skip
    (milestone,) = json.loads(run.plan.read_bytes())["milestones"]
    assert milestone["name"] == "A, b"
    assert milestone["files"] == ["a,b.py", "c.py"]
    assert milestone["acceptance_criteria"] == ["one, two", "three"]


@pytest.mark.requirement("PL-11")
def test_nested_fields_are_given_as_json_and_in_no_other_way(run: Run) -> None:
    file = run.state_dir / "answers" / "fields.json"
    file.write_text(json.dumps({"tests": {"files": ["t.py"]}}))
    run.good("plan", "add", "milestone", "--name", "A", "--json", str(file))
    (milestone,) = json.loads(run.plan.read_bytes())["milestones"]
    assert milestone["tests"]["files"] == ["t.py"]
    assert run("plan", "set", "M-001", "--version", "1", "--tests", "x")[0] == 2
    assert run("plan", "add", "diagram", "--title", "x", "--nodes", "x")[0] == 2


@pytest.mark.requirement("PL-13")
def test_a_role_comes_from_the_environment_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    before = run.plan.read_bytes()
    monkeypatch.setenv("PLAN_AGENT_ROLE", "quality-reviewer")
    code, block = run("plan", "add", "risk", "--risk", "r")
    assert (code, block[0].get("kind")) == (1, "refused")
    assert run.plan.read_bytes() == before
    run.good("plan", "add", "risk", "--risk", "r", "--role", "architect")


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "no utf-8": lambda data: data.replace(b"2", b"\xff", 1),
    "bare": lambda _: b'{"schema_version": 2}',
    "newer": lambda data: data.replace(b'"schema_version": 2', b'"schema_version": 3'),
    "deep": lambda _: b"[" * 200_000,
    "wrong types": lambda data: data.replace(b'"milestones": [', b'"milestones": [7, ', 1),
    "list": lambda _: b"[]",
}


@pytest.mark.requirement("PL-10")
@pytest.mark.parametrize("damage", part([*DAMAGE], 3))
def test_a_damaged_plan_is_an_error_for_every_command_and_is_left_as_it_is(
    run: Run, damage: str
) -> None:
    run.answer("batch.json", design(["src/app.py"]))
    run.good("plan", "batch", "--file", "answers/batch.json")
    run.answer("more.json", [])
    data = DAMAGE[damage](run.plan.read_bytes())
    run.plan.write_bytes(data)
    before = run.everything()
    reading = [("status",), ("plan", "show"), ("plan", "show", "M-001"), ("step", "planner")]
    reading += [("plan", "list", "milestones"), ("plan", "render"), ("doctor",)]
    reading += [("plan", "check", "--phase", "plan-design")]
    changing = [["plan", "freeze"], *(list(w or n.split()) for n, w in CHANGING.items())]
    for words in (*reading, *changing):
        given = [str(run.plan) if "{" in w else w for w in words]
        code, block = run(*given)
        assert code == 1 or (words == ("doctor",) and code in (0, 1)), given
        assert "internal" not in {p.get("kind") for p in block.iter("problem")}, given
        assert run.everything() == before, given
