"""What `planner validate` tells CI: every form is valid, whatever the names hold."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

import jsonschema
import pytest

from orchestrator.ci.judged import ENOUGH, HELD, NOT_APPROVED, VERDICTS
from state.freeze import freeze
from state.store import parse_plan
from tests import ci_programs
from tests.forms import part
from tests.journey import FILES, Journey, call, parsed
from tests.planned import ONE, TWO, Planned

if TYPE_CHECKING:
    from collections.abc import Callable
    from xml.etree import ElementTree as ET

    from tests.conftest import Repository

    Repositories = Callable[..., Repository]

pytestmark = pytest.mark.requirement("PL-30", "HO-7")

SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"
FORMS = ("junit", "sarif", "github", "markdown")
HOSTILE = (
    b"50%25 off.json", b"two\nlines.json", b"::error::x.json", b"a,b:c.json", b"]]>&<b>.json",
    b"\x01\x1b[31m.json", b"\xff\xfe.json", "\u202eitalic.json".encode(), b"##[group]x.json",
    b"`@team`|x.json", b"%0A::set-output name=x::y.json", b"##vso[task.complete]x.json",
    b"##teamcity[x].json", b"###[x].json",
)  # fmt: skip


def sarif(text: str) -> dict[str, Any]:
    """Return the one run of a SARIF log, which its schema accepts."""
    log = json.loads(text)
    schema = json.loads((SCHEMAS / "sarif-2.1.0.json").read_text())
    jsonschema.Draft4Validator(schema).validate(log)
    [run] = log["runs"]
    for result in run["results"]:
        assert result["locations"], "code scanning takes no result without a place"
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    found: dict[str, Any] = run
    return found


def junit(text: str, folder: Path) -> ET.Element:
    """Return the tests of JUnit XML, which the schema of Jenkins accepts."""
    (folder / "junit.xml").write_text(text, encoding="utf-8")
    script = "import sys, xmlschema; xmlschema.XMLSchema(sys.argv[1]).validate(sys.argv[2])"
    done = ci_programs.run("-c", script, str(SCHEMAS / "junit-10.xsd"), "junit.xml", cwd=folder)
    assert done.returncode == 0, done.stderr
    root = parsed(text)
    suite = root[0]
    cases = suite.findall("testcase")
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.attrib[name]) == sum(case.find(tag) is not None for case in cases)
    assert int(suite.attrib["tests"]) == len(cases)
    return suite


def marks_in(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Read the log as GitHub's runner does: level, values and text of each annotation."""

    def plain(value: str) -> str:
        for code, char in (("%0A", "\n"), ("%0D", "\r"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
            value = value.replace(code, char)
        return value

    found = []
    assert "##[" not in text
    for line in text.removesuffix("\n").split("\n"):
        if line.lstrip().startswith("::"):
            command, _, said = line.removeprefix("::").partition("::")
            level, _, values = command.partition(" ")
            assert level in {"error", "warning", "notice"}
            named = dict(pair.split("=", 1) for pair in values.split(","))
            found.append((level, {k: plain(v) for k, v in named.items()}, plain(said)))
        else:
            assert line.startswith(("sound: ", "planner validate: ")), line
    return found


@pytest.fixture
def every_verdict(make_repo: Repositories) -> Planned:
    """Return a repository whose branch has a commit with each of the eight verdicts."""
    planned = Planned(make_repo)
    assert planned.journey.planner("undo").code == 0
    planned.git("revert", "--no-edit", "HEAD")
    planned.git("commit", "-q", "--amend", "-m", "##[group] Once more")
    planned.git("revert", "--no-edit", "HEAD")
    planned.git("commit", "-q", "--allow-empty", "-m", "Nothing at all")
    theirs = ONE.replace("# line 30\n", "# line thirty\n")
    planned.repository.commit({"src/a.py": theirs}, "Theirs `code` | <b> @team")
    planned.git("cherry-pick", planned.commit)
    planned.git("revert", "--no-edit", "HEAD")
    planned.git("cherry-pick", planned.commit)
    edited = TWO.replace("x + 2", "x + 3").replace("# line 30\n", "# line thirty\n")
    planned.repository.write("src/a.py", edited)
    planned.git("commit", "-q", "--all", "--amend", "--no-edit")
    planned.repository.commit({"b.txt": "b\n"}, f"Elsewhere\n\nPlan-Digest: {'0' * 64}")
    plan = parse_plan(planned.git("show", f"{planned.ref}:plan.json").encode(), "plan.json")
    data, digest = freeze(plan, "2026-01-02T03:04:05Z")
    planned.repository.write("planning/plans/copy.json", data)
    planned.repository.commit(message=f"A copy\n\nPlan-Digest: {digest}")
    assert {row["verdict"] for row in planned.rows(f"{planned.base}..HEAD")} == {*VERDICTS}
    return planned


@pytest.mark.requirement("CM-2")
def test_each_form_has_all_eight_verdicts_and_exits_by_what_is_required(
    every_verdict: Planned, tmp_path: Path
) -> None:
    between = f"{every_verdict.base}..HEAD"
    for number, require in enumerate(part([None, *ENOUGH], 2)):
        if number:  # that all of them say the same of one judgement is seen once
            check_forms(every_verdict.each_form(between, require), tmp_path, require)
            continue
        required = ("--require", require) if require else ()
        answers = {
            form: every_verdict.validate("--range", between, *required, "--format", form)
            for form in ("text", "json", *FORMS)
        }
        assert {answer.code for answer in answers.values()} == {1}
        texts = {form: answer.text for form, answer in answers.items()}
        check_forms(texts, tmp_path, require)


def check_forms(said: dict[str, str], tmp_path: Path, require: str | None) -> None:
    """Check what each form says of a branch where so much is required."""
    rows = json.loads(said["json"])["commits"]
    enough = ENOUGH.get(require or "", {*VERDICTS} - {NOT_APPROVED})
    bad = [row for row in rows if row["verdict"] not in enough]
    for form, text in said.items():
        missing = [word for word in VERDICTS if word not in text]
        assert not missing, form

    run = sarif(said["sarif"])
    checked = [one["verdict"] for one in run["properties"]["checked"]]
    assert checked == [row["verdict"] for row in rows]
    assert len(run["results"]) == len(bad)
    found = {result["ruleId"] for result in run["results"]}
    assert found == {row["verdict"].replace(",", "").replace(" ", "-") for row in bad}

    suite = junit(said["junit"], tmp_path)
    assert (suite.attrib["tests"], suite.attrib["failures"]) == (str(len(rows)), str(len(bad)))
    claimed = [row for row in rows if row["approved"] and row not in bad and row["verdict"] in HELD]
    counts = {one.attrib["name"]: one.attrib["value"] for one in suite.iter("property")}
    assert counts == {"approved": "0", "claimed": str(len(claimed))}
    assert f"only by a claim: {len(claimed)}," in said["github"]
    unknown = sum(row["verdict"] in {"no plan", "plan not here"} for row in rows)
    assert suite.attrib["skipped"] == ("0" if require else str(unknown))

    marks = marks_in(said["github"])
    assert [level for level, *_ in marks].count("error") == len(bad)
    if require is None:
        assert sorted({level for level, *_ in marks}) == ["error", "notice", "warning"]
    if require == "same":
        edited = next(mark for mark in marks if "edited afterwards" in mark[1]["title"])
        assert edited[1]["file"] == "src/a.py"

    table = said["markdown"].splitlines()
    assert len([line for line in table if line.startswith("| `")]) == len(rows)
    assert len([line for line in table if line.startswith("- ")]) == len(bad)
    assert not [line for line in table if "@" in re.sub(r"`[^`]*`", "", line)]


def test_a_sound_file_has_no_finding_in_any_form(make_repo: Repositories, tmp_path: Path) -> None:
    journey = Journey(make_repo(files=FILES)).to("submitted")
    said = {}
    for form in FORMS:
        answer = call(os.sep, "validate", f"{journey.state_dir}/plan.json", "--format", form)
        assert answer.code == 0
        said[form] = answer.text
    run = sarif(said["sarif"])
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True
    suite = junit(said["junit"], tmp_path)
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("1", "0")
    assert marks_in(said["github"]) == []
    assert "1 of 1 plan files are sound. Findings: 0." in said["markdown"]


def test_names_of_every_kind_stay_inside_their_place(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path / "plans")
    os.mkdir(folder)
    for name in HOSTILE:
        with open(os.path.join(folder, name.replace(b"/", b"")), "wb") as file:
            file.write(b"{")
    files = [os.fsdecode(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]
    said = {}
    for form in ("text", "json", *FORMS):
        answer = call(os.sep, "validate", *files, "--format", form)
        assert answer.code == 1, form
        said[form] = answer.text
    assert len(json.loads(said["json"])["files"]) == len(files)
    results = sarif(said["sarif"])["results"]
    uris = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results]
    assert [unquote_to_bytes(uri) for uri in uris] == [os.fsencode(file) for file in files]
    assert all(re.fullmatch(r"[\w./~%-]+", uri, re.ASCII) for uri in uris)
    cases = junit(said["junit"], tmp_path).findall("testcase")
    assert len({case.attrib["name"] for case in cases}) == len(files)
    marks = marks_in(said["github"])
    assert [level for level, *_ in marks] == ["error"] * len(files)
    shown = {values["file"] for _, values, _ in marks}
    assert f"{tmp_path}/plans/50%25 off.json" in shown
    assert f"{tmp_path}/plans/two\\nlines.json" in shown
    rows = [line for line in said["markdown"].splitlines() if line.startswith("- ")]
    assert len(rows) == len(files)
    assert all(re.fullmatch(r"- `[^`]+`: `[^`]+`", row) for row in rows)


@pytest.mark.requirement("CM-3")
def test_nothing_of_the_judged_is_a_command_of_a_ci_system(
    make_repo: Repositories, tmp_path: Path
) -> None:
    """Neither in what is found nor in what is refused, and JSON says the same all the same."""
    planned = Planned(make_repo)
    names = ("##vso[task.setvariable]x", "::error::x", "##teamcity[x]", "##[group]x")
    for name in names:
        planned.repository.write(name, "x\n")
    planned.git("add", "--all")
    planned.git("commit", "-q", "--amend", "-m", f"##vso[x]\n\nPlan-Digest: {planned.digest}")
    said = [planned.validate("--range", "HEAD~1..HEAD", "--format", f) for f in ("text", *FORMS)]
    shown = planned.validate("--range", "HEAD~1..HEAD", "--format", "json")
    assert json.loads(shown.text)["commits"][0]["additional"] == sorted(names)
    for name in names:
        refused = ("--range", f"{name}..HEAD")
        said += [planned.validate(*refused), planned.validate(*refused, "--format", "github")]
        (tmp_path / name).write_text("{")
        said += [call(tmp_path, "validate", name), call(tmp_path, "validate", f"{name}.none")]
    for answer in (*said, shown):
        assert not re.search(r"##[\w.-]*\[", answer.text), answer.text
        ours = re.compile(r"^::(error|notice|warning) (file=[^:]*,)?title=planner")
        lines = [line for line in answer.text.split("\n") if line.lstrip().startswith("::")]
        assert all(map(ours.match, lines)), lines


def test_a_commit_with_strange_names_is_judged_in_every_form(
    make_repo: Repositories, tmp_path: Path
) -> None:
    planned = Planned(make_repo)
    for name in HOSTILE:
        path = os.path.join(os.fsencode(planned.repository.path), name.replace(b"/", b""))
        with open(path, "wb") as file:
            file.write(b"x\n")
    planned.git("add", "--all")
    message = tmp_path / "message"
    line = f"Plan-Digest: {planned.digest}\n".encode()
    message.write_bytes(b"Odd \xff ::error:: %0A ]]> `|` @team\n\n" + line)
    planned.git("commit", "-q", "--amend", "-F", str(message))
    for form in ("text", "json", *FORMS):
        words = ("--range", "HEAD~1..HEAD", "--require", "same", "--format", form)
        answer = planned.validate(*words)
        assert answer.code == 1, form
        if form == "json":
            additional = json.loads(answer.text)["commits"][0]["additional"]
            assert len(additional) == len(HOSTILE)
            assert {"\u202eitalic.json", r"\xff\xfe.json"} <= {*additional}
            assert answer.text.replace("\n", " ").isprintable()
        if form == "sarif":
            [result] = sarif(answer.text)["results"]
            assert len(result["locations"]) >= len(HOSTILE)
        if form == "junit":
            junit(answer.text, tmp_path)
        if form == "github":
            assert len(marks_in(answer.text)) == 1
        if form == "markdown":
            [row] = [line for line in answer.text.splitlines() if line.startswith("| `")]
            assert row.count("|") == 6, "a bar divides cells in code too"


def test_an_approval_that_is_of_another_plan_is_a_finding_of_its_own(
    make_repo: Repositories, tmp_path: Path
) -> None:
    planned = Planned(make_repo)
    approval = json.loads(planned.git("show", f"{planned.ref}:approval.json"))
    (tmp_path / "approval.json").write_text(json.dumps({**approval, "digest": "1" * 64}))
    (tmp_path / "plan.json").write_text(planned.git("show", f"{planned.ref}:plan.json"))
    named = (str(tmp_path / "plan.json"), "--approval", str(tmp_path / "approval.json"))
    said = {form: planned.validate(*named, "--format", form) for form in FORMS}
    assert {answer.code for answer in said.values()} == {1}
    [result] = sarif(said["sarif"].text)["results"]
    assert result["ruleId"] == "approval"
    assert "not the plan" in result["message"]["text"]
    sound, wrong = junit(said["junit"].text, tmp_path).findall("testcase")
    assert sound.find("failure") is None
    failure = wrong.find("failure")
    assert failure is not None
    assert failure.attrib["type"] == "approval"
    assert [values["title"] for _, values, _ in marks_in(said["github"].text)] == [
        "planner: approval"
    ]


@pytest.mark.quick
def test_an_approval_that_proves_too_little_is_no_edit(make_repo: Repositories) -> None:
    """The commit is what was approved; what is wrong is how."""
    planned = Planned(make_repo)
    strict = '[approval]\nrequire = "proven"\n'
    planned.git("switch", "-q", "-c", "strict", planned.base)
    target = planned.repository.commit({"planner.toml": strict}, "Only proven approvals")
    planned.git("switch", "-q", "work")
    words = ("--range", f"{planned.base}..HEAD", "--target", target, "--format", "sarif")
    answer = planned.validate(*words)
    assert answer.code == 1
    run = sarif(answer.text)
    assert [result["ruleId"] for result in run["results"]] == ["approval"]
    assert [one["verdict"] for one in run["properties"]["checked"]] == ["exact"]


def test_a_thousand_findings_are_all_there(tmp_path: Path) -> None:
    files = []
    for number in range(1_000):
        files.append(str(tmp_path / f"{number:04}.json"))
        Path(files[-1]).write_text("{", encoding="utf-8")
    said = {form: call(os.sep, "validate", *files, "--format", form).text for form in FORMS}
    assert len(sarif(said["sarif"])["results"]) == 1_000
    assert junit(said["junit"], tmp_path).attrib["failures"] == "1000"
    assert len(marks_in(said["github"])) == 1_000
    assert said["github"].endswith("checked: 1000, findings: 1000\n")
    assert len(said["markdown"]) < 65_536
    left = re.search(r"(\d+) more lines do not fit", said["markdown"])
    assert left
    assert said["markdown"].count("\n- ") + int(left[1]) == 1_001  # an empty line among them


@pytest.mark.parametrize("form", FORMS)
def test_what_could_not_be_compared_is_told_in_the_form_that_was_asked_for(
    repo: Repository, tmp_path: Path, form: str
) -> None:
    """The most usual fault in CI: a clone with one commit, in which the range is not."""
    answer = call(repo.path, "validate", "--range", "main~5..HEAD", "--format", form)
    assert answer.code == 1
    assert "this clone does not have this commit" in answer.text
    if form == "sarif":
        run = sarif(answer.text)
        assert run["results"] == []
        assert run["invocations"][0]["executionSuccessful"] is False
    if form == "junit":
        assert junit(answer.text, tmp_path).attrib["errors"] == "1"
    if form == "github":
        assert [level for level, *_ in marks_in(answer.text)] == ["error"]
