"""Whatever the user's git, hooks and editors are set to, the commit holds the approved bytes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.sandbox import is_available
from tests.e2e.conftest import APP, NEW_APP, answer_two, assert_proved, committed, set_hook
from tests.e2e.drive import Host

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository


@pytest.mark.requirement("PL-33", "PL-29")
def test_the_plan_holds_what_a_reformatting_hook_makes_so_the_commit_is_not_reformatted(
    project: Repository,
) -> None:
    set_hook(
        project,
        "pre-commit",
        "for f in $(git diff --cached --name-only --diff-filter=ACM -- '*.py'); do\n"
        "  sed -i 's/[ \\t]*$//' \"$f\"; grep -q '^# tidy' \"$f\" || echo '# tidy' >> \"$f\"\n"
        '  git add "$f"\ndone\n',
    )
    untidy = NEW_APP.replace("2", "2   ")
    host = Host(project.path, lambda tree: (tree / "src/app.py").write_text(untidy), ["src/app.py"])
    assert_proved(project, host.to("committed").last, "src/app.py")
    assert committed(project, "src/app.py") == f"{NEW_APP}# tidy\n".encode()


def test_trailing_blanks_survive_apply_whitespace_fix(project: Repository) -> None:
    project.git("config", "--global", "apply.whitespace", "fix")
    text = "def answer():  \n\treturn 2\t\n\n\n"
    host = Host(project.path, lambda tree: (tree / "src/app.py").write_text(text), ["src/app.py"])
    assert_proved(project, host.to("committed").last, "src/app.py")
    assert committed(project, "src/app.py") == text.encode()


def test_settings_that_change_diffs_do_not_change_the_plan(
    make_repo: Callable[..., Repository], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = tmp_path / "ran"
    liar = tmp_path / "liar"
    liar.write_text(f'#!/bin/sh\necho "$0" >> {ran}\necho lies\n')
    liar.chmod(0o755)
    project = make_repo("project", {"src/app.py": "1\n", ".gitattributes": "*.py diff=lies\n"})
    for name, value in {
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.external": str(liar),
        "diff.lies.textconv": str(liar),
        "diff.renames": "copies",
        "diff.context": "0",
        "diff.algorithm": "patience",
        "diff.orderFile": "/dev/null",
        "color.ui": "always",
        "core.quotePath": "true",
    }.items():
        project.git("config", "--global", name, value)
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(liar))
    host = Host(project.path, answer_two, ["src/app.py"], processes=True)
    assert_proved(project, host.to("committed").last, "src/app.py")
    assert committed(project, "src/app.py") == NEW_APP.encode()
    assert not ran.exists(), ran.read_text()


def test_line_ends_follow_autocrlf_in_the_tree_and_stay_lf_in_the_commit(
    make_repo: Callable[..., Repository],
) -> None:
    project = make_repo("project", {"dos.txt": "one\ntwo\n", "unix.txt": "one\ntwo\n"})
    project.git("config", "core.autocrlf", "true")
    for name in ("dos.txt", "unix.txt"):
        (project.path / name).unlink()
    project.git("checkout", "--", "dos.txt")
    project.write("unix.txt", "one\ntwo\n")  # an editor that saves with LF
    assert (project.path / "dos.txt").read_bytes() == b"one\r\ntwo\r\n"

    def edit(tree: Path) -> None:
        (tree / "dos.txt").write_bytes(b"one\r\nzwei\r\n")
        (tree / "unix.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
        (tree / "new.txt").write_bytes(b"new\r\n")

    files = ["dos.txt", "new.txt", "unix.txt"]
    assert_proved(project, Host(project.path, edit, files).to("committed").last, *files)
    assert committed(project, "dos.txt") == b"one\nzwei\n"
    assert committed(project, "unix.txt") == b"one\ntwo\nthree\n"
    assert committed(project, "new.txt") == b"new\n"
    assert (project.path / "dos.txt").read_bytes() == b"one\r\nzwei\r\n"


def test_carriage_returns_that_are_committed_stay(make_repo: Callable[..., Repository]) -> None:
    project = make_repo("project", {"mixed.txt": b"one\r\ntwo\nthree\r\n"})
    mixed = b"one\r\nzwei\nthree\r\nfour"
    host = Host(project.path, lambda tree: (tree / "mixed.txt").write_bytes(mixed), ["mixed.txt"])
    assert_proved(project, host.to("committed").last, "mixed.txt")
    assert committed(project, "mixed.txt") == mixed


def test_a_latin_1_file_keeps_its_bytes(make_repo: Callable[..., Repository]) -> None:
    project = make_repo("project", {"süß.txt": "süß\nsauer\n".encode("latin-1")})
    new = "süß\nsäuerlich\n".encode("latin-1")
    host = Host(project.path, lambda tree: (tree / "süß.txt").write_bytes(new), ["süß.txt"])
    assert_proved(project, host.to("committed").last, "süß.txt")
    assert committed(project, "süß.txt") == new


@pytest.mark.skipif(not is_available(), reason="this kernel has no Landlock")
@pytest.mark.requirement("PL-32", "PL-33")
@pytest.mark.parametrize("route", ["husky", "lint script", "formatter"])
def test_an_edited_script_that_a_capture_runs_changes_nothing_of_the_users(
    make_repo: Callable[..., Repository], tmp_path: Path, route: str
) -> None:
    home = tmp_path / "their-home"
    home.mkdir()
    place = {"husky": ".husky/pre-commit", "lint script": "lint.sh", "formatter": "fmt.sh"}[route]
    files = {"src/app.py": APP, place: "#!/bin/sh\n", "notes.txt": "a note\n"}
    if route == "formatter":
        files["planner.toml"] = '[worktree]\nformat = ["sh fmt.sh"]\n'
    project = make_repo("project", files)
    if route == "husky":
        project.git("config", "core.hooksPath", ".husky")
    if route == "lint script":
        set_hook(project, "pre-commit", "sh lint.sh\n")
    git = project.path / ".git"
    evil = (
        f"#!/bin/sh\nexec 2>/dev/null\necho evil > {project.path}/notes.txt\n"
        f"echo evil > {home}/evil\necho evil > {git}/hooks/pre-push\n"
        f"git -C {project.path} config alias.evil '!true'\ngit update-ref refs/heads/evil HEAD\n"
        "for f in plan.json ../../planner.db lock answers/x; do echo evil > ../$f; done\n"
        "echo '# ran' >> src/app.py.new; mv src/app.py.new ran.txt; git add ran.txt; exit 0\n"
    )

    def edit(tree: Path) -> None:
        (tree / place).write_text(evil)
        (tree / place).chmod(0o755)
        (tree / "ran.txt").write_text("not yet\n")

    before = (git / "config").read_bytes()
    host = Host(project.path, edit, [place, "ran.txt"])
    host.to("submitted")
    assert "\\n+# ran\\n" in Path(host.state_dir, "plan.json").read_text()
    assert (project.path / "notes.txt").read_text() == "a note\n"
    assert not (home / "evil").exists()
    assert not (git / "hooks/pre-push").exists()
    assert (git / "config").read_bytes() == before
    assert "evil" not in project.git("for-each-ref")
    assert host.planner("status").code == 0
