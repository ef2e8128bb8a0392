"""Where there is no place, no git hook runs unapproved code before a person has confirmed it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from shared.place.enter import CannotEnter
from shared.place.level import LANDLOCK, Level
from tests.e2e.conftest import set_hook
from tests.journey import FILES, Journey, way_out, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Repository


@pytest.fixture
def coding(make_repo: Callable[..., Repository], monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A run whose worktree holds an edit, with a hook that runs a file of it; without a place."""

    def refuse(*_: object, **__: object) -> None:
        raise CannotEnter("a test wants no place")

    monkeypatch.setattr("developer.verify.confined.run", refuse)
    monkeypatch.setattr("developer.verification.level", lambda _: Level(LANDLOCK))
    run = Journey(make_repo(files=FILES)).to("code")
    set_hook(run.repository, "pre-commit", "sh src/a.py\n")
    (Path(run.state_dir) / "worktree" / "src" / "a.py").write_text("echo it ran; exit 3\n")
    return run


@pytest.mark.requirement("PP-1", "PP-3")
def test_without_a_place_a_hook_runs_the_worktree_s_code_once_it_is_confirmed(
    coding: Journey,
) -> None:
    capture = ("plan", "capture")
    first = coding.planner(*capture)
    assert first.code == 1
    [(kind, text)] = first.problems
    assert (kind, "it ran" in first.text) == ("refused", False)
    assert "nobody has approved yet, nothing holds them here" in text
    assert "git hook pre-commit: SHA-256 " in text
    assert coding.planner(*words_of(way_out(text))).code == 0
    confirmed = coding.planner(*capture)
    assert "it ran" in confirmed.text, confirmed.text
    set_hook(coding.repository, "pre-commit", "sh src/a.py again\n")
    changed = coding.planner(*capture)
    assert "git hook pre-commit" in changed.problems[0][1], changed.text


@pytest.mark.requirement("PP-1", "PP-3")
def test_without_a_place_a_filter_runs_the_worktree_s_code_once_it_is_confirmed(
    coding: Journey,
) -> None:
    set_hook(coding.repository, "pre-commit", "exit 0\n")
    coding.repository.git("config", "filter.lfs.clean", "git-lfs clean -- %f")
    coding.repository.git("config", "filter.tidy.clean", "sh src/a.py\n#")
    (Path(coding.state_dir) / "worktree" / ".gitattributes").write_text("*.md filter=tidy\n")
    refused = coding.planner("plan", "capture")
    [(_, text)] = refused.problems
    assert "git config filter.tidy.clean: sh src/a.py\\n#\n" in text
    assert "lfs" not in text
    assert coding.planner(*words_of(way_out(text))).code == 0
    assert "nobody has approved yet" not in coding.planner("plan", "capture").text


@pytest.mark.requirement("PP-1")
def test_a_place_that_cannot_be_entered_after_all_counts_as_none(
    coding: Journey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("developer.verify.at_home.run", pytest.fail)
    monkeypatch.setattr("developer.verify.at_home.AtHome._try", lambda *_: None)
    monkeypatch.setattr("developer.verification.level", lambda _: Level("namespaces"))
    answer = coding.planner("plan", "capture")
    assert "nothing holds them here" in answer.problems[0][1]
    assert "it ran" not in answer.text
