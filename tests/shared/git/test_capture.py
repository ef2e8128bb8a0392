"""Capture holds the worktree against the base, after formatters and the hook have come to rest."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import TYPE_CHECKING, Unpack

import pytest

from developer.verify.confined import Confined
from shared.git.worktree import open_worktree, set_executable
from shared.sandbox import is_available
from state.errors import Refused
from tests.shared.git.conftest import Options, Project, add_hook

if TYPE_CHECKING:
    from pathlib import Path

    from shared.git.capture import Capture


def _files(capture: Capture) -> list[str]:
    return [change.file for change in capture.changes]


def _refused(project: Project, **options: Unpack[Options]) -> Refused:
    with pytest.raises(Refused) as caught:
        project.capture(**options)
    return caught.value


@pytest.mark.requirement("PL-10")
def test_a_change_holds_exactly_what_git_says_of_the_file(project: Project) -> None:
    project.write({"src/app.py": b"a = 1\nb = 3\n"}, project.begin())
    (change,) = project.capture().changes
    before, after = (
        project.git("hash-object", "-w", "--stdin", stdin=data)
        for data in (b"a = 1\nb = 2\n", b"a = 1\nb = 3\n")
    )
    assert vars(change) == {
        "file": "src/app.py",
        "old_file": None,
        "old_mode": "100644",
        "mode": "100644",
        "before": before,
        "after": after,
        "patch": "diff --git a/src/app.py b/src/app.py\n"
        f"index {before}..{after} 100644\n--- a/src/app.py\n+++ b/src/app.py\n"
        "@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n",
        "encoding": None,
    }


def test_a_worktree_without_edits_has_no_changes(project: Project) -> None:
    project.begin()
    capture = project.capture(formatters=["exit 1"])
    assert (capture.changes, capture.rounds) == ([], 0)


def test_capturing_twice_gives_the_same(project: Project) -> None:
    project.write({"new.py": b"x\n", "src/app.py": b"y\n"}, project.begin())
    assert project.capture() == project.capture()


def test_what_was_staged_committed_or_hidden_in_the_worktree_has_no_say(project: Project) -> None:
    worktree = project.begin()
    project.write({"src/app.py": b"first\n", "new.py": b"n\n"}, worktree)
    plain = project.capture(hook=False)
    project.git("commit", "-qm", "of the agent's own", cwd=worktree)
    project.git("checkout", "-qb", "a-branch", cwd=worktree)
    project.git("rm", "-q", "--cached", "README.md", cwd=worktree)
    project.git("update-index", "--assume-unchanged", "src/app.py", cwd=worktree)
    project.git("update-index", "--skip-worktree", "run.sh", cwd=worktree)
    project.write({"run.sh": b"hidden\n"}, worktree)
    assert _files(project.capture(hook=False)) == ["new.py", "run.sh", "src/app.py"]
    project.write({"run.sh": b"#!/bin/sh\n"}, worktree)
    assert project.capture(hook=False) == plain
    head = (project.root / ".git/worktrees/worktree/HEAD").read_text().strip()
    assert head == project.git("rev-parse", "main")


def test_a_second_capture_reads_no_file_again_and_writes_no_index(project: Project) -> None:
    worktree = project.begin()
    project.write({"src/app.py": b"changed\n", "new/file.py": b"n\n", "README.md": None}, worktree)
    first = project.capture()
    index = project.root / ".git/worktrees/worktree/index"
    written = index.stat()
    assert project.capture() == first
    assert index.stat() == written


@pytest.mark.parametrize("what", ["ignored", "by-product", "left out", "ignored and back"])
def test_what_an_earlier_capture_staged_has_no_say_in_the_next(project: Project, what: str) -> None:
    project.write({".gitignore": b"*.log\n", "kept.log": b"1\n"})
    project.git("add", "-f", "kept.log", ".gitignore")
    project.git("commit", "-qm", "log")
    worktree = project.begin()
    project.write({"made/one.txt": b"n\n", "kept.log": None}, worktree)
    assert _files(project.capture()) == ["kept.log", "made/one.txt"]
    project.git("add", "--all", cwd=worktree)
    expected, left = ["kept.log", "made/one.txt"], []
    if what == "ignored":
        project.write({".gitignore": b"*.log\nmade/\n"}, worktree)
        expected = [".gitignore", "kept.log"]
    elif what == "by-product":
        project.write({"made/__pycache__/x.pyc": b"x"}, worktree)
        project.git("add", "made/__pycache__/x.pyc", cwd=worktree)
    elif what == "left out":
        expected, left = ["kept.log"], ["made"]
    else:
        project.write({"kept.log": b"2\n"}, worktree)
    assert _files(project.capture(leave_out=left)) == expected


@pytest.mark.requirement("PL-32")
def test_capture_touches_neither_index_nor_refs_nor_stash_of_the_user(project: Project) -> None:
    project.write({"run.sh": b"staged\n"})
    project.git("add", "run.sh")
    project.write({"src/app.py": b"new\n"}, project.begin())
    index, refs = (project.root / ".git/index").read_bytes(), project.git("for-each-ref")
    project.capture()
    assert (project.root / ".git/index").read_bytes() == index
    assert project.git("for-each-ref") == refs
    assert not (project.root / ".git/logs/refs/stash").exists()


def test_ignored_files_are_left_out_and_named(project: Project) -> None:
    project.commit({".gitignore": b"*.log\nbuild/\n"})
    project.write({"a.log": b"x", "build/out/x": b"x", "src/app.py": b"n\n"}, project.begin())
    capture = project.capture()
    assert _files(capture) == ["src/app.py"]
    assert capture.ignored == ["a.log", "build/"]


def test_a_tracked_file_that_is_ignored_is_captured_all_the_same(project: Project) -> None:
    project.write({".gitignore": b"*.log\n", "kept.log": b"1\n"})
    project.git("add", "-f", "kept.log", ".gitignore")
    project.git("commit", "-qm", "log")
    project.write({"kept.log": b"2\n"}, project.begin())
    assert _files(project.capture()) == ["kept.log"]


def test_what_is_to_be_left_out_is_left_out(project: Project) -> None:
    worktree = project.begin()
    (worktree / "node_modules").symlink_to(project.root)
    project.write({"venv/x": b"x", "*": b"star\n", "n": b"n\n"}, worktree)
    capture = project.capture(leave_out=["node_modules", "venv/", "*"])
    assert _files(capture) == ["n"]


def test_a_name_that_is_no_utf8_is_refused_and_shown_escaped(project: Project) -> None:
    worktree = project.begin()
    with open(os.path.join(os.fsencode(worktree), b"caf\xe9"), "wb"):
        pass
    for _ in range(2):
        refusal = _refused(project)
        assert [problem.at for problem in refusal.problems] == ["caf\\xe9"]


@pytest.mark.parametrize(
    ("link", "target"),
    [("l", "/etc/passwd"), ("l", "../x"), ("src/l", "../../x"), ("l", "src/../../x")],
)
def test_a_link_that_leads_out_of_the_repository_is_refused(
    project: Project, link: str, target: str
) -> None:
    (project.begin() / link).symlink_to(target)
    assert _refused(project).problems[0].at == link


def test_links_inside_the_repository_are_captured(project: Project) -> None:
    (project.begin() / "src/l").symlink_to("../run.sh")
    assert project.capture().changes[0].mode == "120000"


def test_the_planners_own_folder_is_never_part_of_a_plan(project: Project) -> None:
    project.write({".planner/x": b"x"})
    project.git("add", "-f", ".planner/x")
    project.git("commit", "-qm", "by mistake")
    project.write({".planner/x": b"y"}, project.begin())
    assert _refused(project).problems[0].at == ".planner/x"


# repositories inside the repository


@pytest.fixture
def with_library(project: Project, tmp_path: Path) -> Project:
    Project(tmp_path / "library").commit({"l.txt": b"l\n"})
    project.git("submodule", "add", "-q", str(tmp_path / "library"), "lib")
    project.git("commit", "-qm", "submodule")
    return project


@pytest.mark.requirement("PL-32")
def test_gitlinks_are_never_captured(with_library: Project) -> None:
    worktree = with_library.begin()
    with_library.git("submodule", "update", "-q", "--init", cwd=worktree)
    with_library.git("commit", "-q", "--allow-empty", "-m", "moved", cwd=worktree / "lib")
    with_library.git("add", "lib", cwd=worktree)
    with_library.write({"n": b"n\n"}, worktree)
    assert _files(with_library.capture()) == ["n"]
    shutil.rmtree(worktree / "lib")
    with_library.git("rm", "-rq", "--cached", "lib", cwd=worktree)
    assert _files(with_library.capture()) == ["n"]


@pytest.mark.requirement("PL-32")
@pytest.mark.parametrize("populated", [True, False])
def test_work_inside_a_submodule_is_refused_by_name(with_library: Project, populated: bool) -> None:
    worktree = with_library.begin()
    if populated:
        with_library.git("submodule", "update", "-q", "--init", cwd=worktree)
    with_library.write({"lib/l.txt": b"changed\n"}, worktree)
    problem = _refused(with_library).problems[0]
    assert (problem.at, "l.txt" in problem.problem) == ("lib", True)


@pytest.mark.requirement("PL-32")
def test_a_user_whose_git_recurses_into_submodules_can_capture(with_library: Project) -> None:
    with_library.git("config", "submodule.recurse", "true")
    with_library.write({"n": b"n\n"}, with_library.begin())
    assert _files(with_library.capture()) == ["n"]


@pytest.mark.requirement("PL-33")
@pytest.mark.skipif(not is_available(), reason="needs Landlock")
def test_a_filter_of_a_repository_made_in_place_of_a_submodule_writes_nowhere_else(
    with_library: Project, tmp_path: Path
) -> None:
    nested = Project(with_library.begin() / "lib")
    nested.commit({"f": b"1\n", ".gitattributes": b"* filter=x\n"})
    nested.git("config", "filter.x.clean", f"touch {tmp_path}/ran; cat")
    os.utime(nested.root / "f", (1, 1))
    with contextlib.suppress(Refused):
        with_library.capture()
    assert not (tmp_path / "ran").exists()


def test_a_file_in_place_of_a_submodule_is_refused(with_library: Project) -> None:
    worktree = with_library.begin()
    (worktree / "lib").rmdir()
    (worktree / "lib").write_text("file\n")
    assert _refused(with_library).problems[0].at == "lib"


@pytest.mark.parametrize("empty", [True, False])
def test_a_repository_made_in_the_worktree_is_refused_by_name(
    project: Project, empty: bool
) -> None:
    worktree = project.begin()
    project.write({"nested/first": b"captured\n"}, worktree)
    project.capture()
    nested = Project(worktree / "nested")
    if not empty:
        nested.commit({"x": b"x"})
    assert _refused(project).problems[0].at == "nested/"


def test_a_submodule_added_in_the_worktree_is_refused_by_name(
    project: Project, tmp_path: Path
) -> None:
    Project(tmp_path / "library").commit({"l.txt": b"l\n"})
    worktree = project.begin()
    project.git("submodule", "add", "-q", str(tmp_path / "library"), "lib", cwd=worktree)
    assert _refused(project).problems[0].at == "lib/"


# formatters and the hook

TIDY = 'for f in $(git diff --cached --name-only); do sed -i "s/ *$//" "$f"; done; '


@pytest.mark.requirement("PL-33")
def test_formatters_get_the_captured_files_and_what_they_change_is_captured(
    project: Project,
) -> None:
    project.write({"a b.py": b"x  \n", "src/app.py": b"y  \n"}, project.begin())
    (project.worktree / "run.sh").unlink()
    seen = project.state / "seen"
    seen.touch()
    capture = project.capture(
        formatters=['sed -i "s/ *$//" "$@"; echo "$@" >> ../seen'],
        runner=Confined((str(seen),)),
    )
    assert (project.worktree / "a b.py").read_bytes() == b"x\n"
    assert [(change.patch or "")[-4:] for change in capture.changes if change.after] == [
        "\n+x\n",
        "\n+y\n",
    ]
    assert seen.read_text() == "a b.py src/app.py\n" * 2
    assert capture.rounds == 2


@pytest.mark.requirement("PL-33")
@pytest.mark.parametrize("end", ["git add -u", "exit 1", "git add -u; exit 1"])
def test_a_hook_that_reformats_has_its_way_before_the_plan_is_made(
    project: Project, end: str
) -> None:
    add_hook(project, "pre-commit", f"{TIDY}\nif ! git diff --quiet; then {end}; fi\necho fine\n")
    project.write({"new.py": b"x  \n"}, project.begin())
    capture = project.capture()
    assert (capture.changes[0].patch or "").endswith("\n+x\n")
    assert (capture.rounds, capture.hook_output) == (2, "fine")


@pytest.mark.requirement("PL-33")
def test_a_hook_that_fails_and_changes_nothing_refuses_with_the_end_of_its_output(
    project: Project,
) -> None:
    add_hook(project, "pre-commit", "seq 5000\necho no good >&2\nexit 3\n")
    project.write({"new.py": b"x\n"}, project.begin())
    problem = _refused(project).problems[0]
    assert problem.at == "pre-commit hook"
    assert "exit code 3" in problem.problem
    assert problem.output.endswith("no good")
    assert len(problem.output) == 4_000


@pytest.mark.requirement("PL-33")
def test_a_formatter_that_fails_and_changes_nothing_refuses(project: Project) -> None:
    project.write({"new.py": b"x\n"}, project.begin())
    problem = _refused(project, formatters=["true", "echo broken; exit 2"]).problems[0]
    assert (problem.at, problem.output) == ("echo broken; exit 2", "broken")


@pytest.mark.requirement("PL-33")
def test_what_never_comes_to_rest_is_refused_with_the_files(project: Project) -> None:
    add_hook(project, "pre-commit", "echo x >> new.py\n")
    project.write({"new.py": b"x\n", "other.py": b"o\n"}, project.begin())
    problem = _refused(project).problems[0]
    assert problem.at == "new.py"
    assert (project.worktree / "new.py").read_bytes() == b"x\n" * 6


@pytest.mark.requirement("PL-33")
@pytest.mark.parametrize("where", ["relative", "absolute", "none"])
def test_the_hook_is_the_one_that_git_would_run(
    project: Project, tmp_path: Path, where: str
) -> None:
    folder = {"relative": project.root / "hooks", "absolute": tmp_path / "hooks"}.get(where)
    if folder:
        folder.mkdir()
        (folder / "pre-commit").write_text("#!/bin/sh\necho chosen; exit 1\n")
        (folder / "pre-commit").chmod(0o755)
        project.commit()
        project.git("config", "core.hooksPath", "hooks" if where == "relative" else str(folder))
    add_hook(project, "pre-commit", "echo default; exit 1\n")
    project.write({"new.py": b"x\n"}, project.begin())
    assert _refused(project).problems[0].output == ("chosen" if folder else "default")


@pytest.mark.requirement("PL-33")
def test_the_hook_sees_what_is_staged_in_the_worktree(project: Project) -> None:
    project.write({"new.py": b"x\n"}, project.begin())
    assert project.capture().rounds == 0
    add_hook(project, "pre-commit", "git diff --cached --name-only; exit 1\n")
    assert _refused(project).problems[0].output == "new.py"


def test_what_the_plan_does_not_own_is_put_back_after_a_formatter(project: Project) -> None:
    project.write({"src/app.py": b"mine\n"}, project.begin())
    every = "for f in README.md src/app.py; do echo formatted > $f; done; echo x > made.txt"
    capture = project.capture(formatters=[every], owned=lambda path: path == "run.sh")
    assert _files(capture) == ["src/app.py"]
    assert capture.put_back == ["README.md", "made.txt"]
    assert (project.worktree / "README.md").read_bytes() == b"Hello\n"
    assert not (project.worktree / "made.txt").exists()
    everything = project.capture(formatters=[every])
    assert _files(everything) == ["README.md", "made.txt", "src/app.py"]


def test_what_the_hook_stages_itself_is_captured_as_the_commit_would_hold_it(
    project: Project,
) -> None:
    add_hook(project, "pre-commit", "echo index > INDEX; git add INDEX; echo stray > README.md\n")
    project.write({"src/app.py": b"mine\n"}, project.begin())
    capture = project.capture(owned=lambda _path: False)
    assert _files(capture) == ["INDEX", "src/app.py"]
    assert capture.put_back == ["README.md"]


def test_the_users_environment_of_git_does_not_lead_elsewhere(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = Project(tmp_path / "elsewhere")
    elsewhere.commit({"x": b"x"})
    project.write({"new.py": b"x\n"}, project.begin())
    monkeypatch.setenv("GIT_DIR", str(elsewhere.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(elsewhere.root / ".git/index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(elsewhere.root))
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setenv("GIT_DIFF_OPTS", "-u0")
    capture = project.capture(project_tree(project))
    assert _files(capture) == ["new.py"]


def project_tree(project: Project) -> str:
    from shared.git.repository import find_repository, head

    return head(find_repository(str(project.root))).tree


def test_an_x_bit_is_captured_also_where_the_file_system_has_none(project: Project) -> None:
    project.git("config", "core.fileMode", "false")
    worktree = project.begin()
    set_executable(open_worktree(project.repo, str(worktree)), "run.sh", executable=True)
    for _ in range(2):
        (change,) = project.capture().changes
        assert (change.file, change.old_mode, change.mode) == ("run.sh", "100644", "100755")
    set_executable(open_worktree(project.repo, str(worktree)), "run.sh", executable=False)
    assert project.capture().changes == []


def test_a_sparse_checkout_of_the_user_hides_nothing(project: Project) -> None:
    project.git("sparse-checkout", "set", "src")
    worktree = project.begin()
    assert (worktree / "README.md").exists()
    project.write({"docs/new.md": b"n\n", "README.md": b"edited\n"}, worktree)
    assert _files(project.capture()) == ["README.md", "docs/new.md"]


def test_a_stale_lock_of_a_killed_git_does_not_stop_capture(project: Project) -> None:
    project.write({"n": b"n\n"}, project.begin())
    (project.root / ".git/worktrees/worktree/index.lock").touch()
    assert _files(project.capture()) == ["n"]


@pytest.mark.requirement("PL-32")
def test_compiled_python_is_never_captured_if_the_project_does_not_ignore_it(
    project: Project,
) -> None:
    """Verify and the agent run Python in the worktree; what that leaves is never captured."""
    cache = project.begin() / "__pycache__"
    cache.mkdir()
    (cache / "a.cpython-311.pyc").write_bytes(b"\0")
    assert project.capture().changes == []
