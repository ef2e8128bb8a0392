"""The settings that a run keeps: what is not as we wrote it is refused in words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from state.errors import Refused
from state.kept_settings import read_settings
from tests.journey import FILES, Journey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Repository

pytestmark = pytest.mark.requirement("PP-10")


def test_what_an_earlier_version_did_not_keep_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    assert read_settings(str(path))["config"] == {}
    path.write_text('{"config": {"verify": ["make"]}}')
    assert read_settings(str(path)) == {
        "config": {"verify": ["make"]}, "hash": "", "text": "", "submodules": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    "kept", [[], None, 3, {}, {"verify": {}}, {"config": []}, {"config": {}, "hash": 3}]
)
def test_another_form_is_refused(tmp_path: Path, kept: Any) -> None:  # noqa: ANN401 – any JSON value
    path = tmp_path / "config.json"
    path.write_text(json.dumps(kept))
    with pytest.raises(Refused, match="not the settings"):
        read_settings(str(path))


def test_a_run_with_changed_settings_goes_on_with_nothing_and_can_be_cancelled(
    make_repo: Callable[..., Repository],
) -> None:
    journey = Journey(make_repo(files=FILES)).to("code")
    with open(f"{journey.state_dir}/config.json", "w", encoding="utf-8") as file:
        file.write('{"verify": {"commands": ["touch /elsewhere"]}}')
    for words in (("plan", "done", "--phase", "plan-code"), ("step", "planner"), ("status",)):
        answer = journey.run(*words, "--state-dir", str(journey.state_dir))
        assert "internal" not in answer.text, words
    assert journey.run("cancel", "--state-dir", str(journey.state_dir)).code == 0
