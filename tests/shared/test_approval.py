"""approval.json: what is written, what is read of both forms, and what is refused (PP-7)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from shared.approval import Approval, load, note_commit, parse, path_in, save
from state.errors import Refused
from tests.state.plans import refusal

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.requirement("PP-7")

DIGEST, BASE, TREE, COMMIT = "d" * 64, "b" * 40, "e" * 40, "c" * 40
SIGNED = {"kind": "ssh", "signature": "-----BEGIN SSH SIGNATURE-----"}
WHOLE = Approval(
    DIGEST, BASE, TREE, ("planning/", "notes.md"), "A <a@x>", "C <c@x>", "key", "terminal", "A",
    SIGNED, COMMIT, ("staged.txt",),
)  # fmt: skip
FORM_1: dict[str, Any] = {
    "digest": DIGEST, "base": BASE, "word": "terminal", "who": "A", "signature": None,
    "commit": COMMIT, "beside": ["staged.txt"],
}  # fmt: skip


def stored(approval: Approval) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(json.dumps(approval._asdict()))
    return data


def problems(value: object) -> list[tuple[str, str]]:
    found = refusal(parse, json.dumps(value).encode(), "F")
    assert {p.kind for p in found} == {"invalid"}
    return [(p.at, p.problem) for p in found]


@pytest.mark.parametrize(
    "approval",
    [WHOLE, Approval(DIGEST, ""), Approval(DIGEST, BASE, proof={"kind": "typed"})],
    ids=["whole", "without git", "typed"],
)
def test_what_is_saved_is_loaded(approval: Approval, tmp_path: Path) -> None:
    save(str(tmp_path), approval)
    assert load(path_in(str(tmp_path))) == approval


@pytest.mark.parametrize("signature", [None, "-----BEGIN"])
def test_form_1_is_read_and_written_as_it_was(signature: str | None, tmp_path: Path) -> None:
    value = {**FORM_1, "signature": signature}
    approval = parse(json.dumps(value).encode(), "F")
    assert approval.signature == signature
    assert (approval.form, approval.staged, approval.beside) == (1, ("staged.txt",), ())
    assert (approval.tree, approval.author, approval.commit) == (None, "", COMMIT)
    save(str(tmp_path), approval)
    assert json.loads((tmp_path / "approval.json").read_text()) == value
    early = {name: one for name, one in value.items() if name != "beside"}
    assert parse(json.dumps(early).encode(), "F").staged == ()


def test_a_signature_is_over_what_is_approved_and_not_over_who_gave_it() -> None:
    fields: list[dict[str, Any]] = [
        {"tree": None}, {"beside": ()}, {"author": "X"}, {"signing": None},
    ]  # fmt: skip
    for covered in fields:
        assert WHOLE._replace(**covered).message != WHOLE.message, covered
    free: dict[str, Any] = {
        "word": "unproven",
        "who": "",
        "proof": None,
        "commit": None,
        "staged": (),
    }
    assert WHOLE._replace(**free).message == WHOLE.message
    first = Approval(DIGEST, BASE, form=1)
    assert first._replace(tree=TREE, author="X").message == first.message
    assert first.message != Approval(DIGEST, BASE).message


def test_an_approval_has_a_signature_only_where_ssh_made_one() -> None:
    assert WHOLE.signature == SIGNED["signature"]
    assert Approval(DIGEST, BASE).signature is None
    assert Approval(DIGEST, BASE, proof={"kind": "typed"}).signature is None
    assert Approval(DIGEST, BASE).with_signature("s").proof == {"kind": "ssh", "signature": "s"}


def test_beside_the_plan_stand_the_paths_that_are_named_and_all_below_a_folder() -> None:
    for path in ("planning/todo.md", "planning/a/b", "notes.md"):
        assert WHOLE.lets_stand(path), path
    for path in ("planning", "planning2/a", "notes.md/a", "a/notes.md", ""):
        assert not WHOLE.lets_stand(path), path


@pytest.mark.parametrize("value", [[], "text", None, 1])
def test_what_is_no_object_is_refused(value: object) -> None:
    assert problems(value) == [("F", "is not an object of JSON")]


@pytest.mark.parametrize("form", [1, 3, "2", None])
def test_a_form_that_nobody_knows_is_refused_with_those_that_are(form: object) -> None:
    value = {**stored(WHOLE), "form": form}
    assert problems(value) == [("F", f"has the form {form}, and this planner knows 1 and 2")]


@pytest.mark.parametrize("name", [name for name in Approval._fields if name != "form"])
def test_a_field_that_is_missing_or_is_none_is_refused(name: str) -> None:
    fields = f"does not have the fields {', '.join(Approval._fields)}"
    whole = stored(WHOLE)
    less = {key: one for key, one in whole.items() if key != name}
    for value in (less, {**less, f"{name}2": whole[name]}, {**whole, "more": 1}):
        assert problems(value) == [("F", fields)]


@pytest.mark.parametrize("name", [name for name in FORM_1 if name != "beside"])
def test_a_field_that_form_1_lacks_is_refused(name: str) -> None:
    less = {key: one for key, one in FORM_1.items() if key != name}
    assert problems(less) == [("F", f"does not have the fields {', '.join(Approval._fields)}")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("form", 2.0), ("digest", "d" * 63), ("digest", "D" * 64), ("digest", None),
        ("base", "b" * 39), ("base", None), ("tree", "x" * 40), ("commit", ""),
        ("beside", "a"), ("beside", [1]), ("staged", None), ("staged", [None]),
        ("author", None), ("committer", 1), ("who", []), ("who", "\ud800"), ("signing", 1),
        ("word", "nobody"), ("word", None), ("word", []), ("proof", "ssh"), ("proof", {}),
        ("proof", {"kind": "ssh"}), ("proof", {"kind": "typed", "signature": "s"}),
        ("proof", {"kind": "wax"}), ("proof", {"kind": "ssh", "signature": 1}),
    ],
)  # fmt: skip
def test_a_value_that_a_field_cannot_have_is_refused_by_the_fields_name(
    name: str, value: object
) -> None:
    with pytest.raises(Refused) as refused:
        parse(json.dumps({**stored(WHOLE), name: value}).encode(), "F")
    assert [(p.at, p.problem) for p in refused.value.problems] == [
        (f"F {name}", "is not a value of this field")
    ]


def test_every_wrong_field_is_named_at_once() -> None:
    value = {**stored(WHOLE), "base": 1, "who": 1, "proof": 1}
    assert [at for at, _ in problems(value)] == ["F base", "F who", "F proof"]


def test_a_commit_is_added_to_the_approval_of_the_same_digest_alone(tmp_path: Path) -> None:
    folder = str(tmp_path)
    given = Approval(DIGEST, BASE, commit=COMMIT, staged=("a.txt",))
    note_commit(folder, given)
    assert load(path_in(folder)) == given
    save(folder, WHOLE._replace(commit=None, staged=()))
    note_commit(folder, given)
    assert load(path_in(folder)) == WHOLE._replace(commit=COMMIT, staged=("a.txt",))
    note_commit(folder, given._replace(digest="f" * 64))
    assert load(path_in(folder)) == given._replace(digest="f" * 64)
