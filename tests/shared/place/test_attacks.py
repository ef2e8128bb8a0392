"""Attacks on the place: none has an effect there; without it, the arena notices most.

The short form tries one attack of an eighth of the ideas.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from tests.forms import LONG, part
from tests.shared.place.arena import load
from tests.shared.place.scene import NAME, PLANNER, ROOT, SEARCH

FOLDER = Path(__file__).parent / "attacks"
FILES = sorted(FOLDER.glob("*.jsonl"))
PLAIN = "games"  # an account of every Linux system that runs nothing
USERS = ("root", "plain") if os.getuid() == 0 else ("plain",)
IDEAS = tuple(dict.fromkeys(attack.idea for attack in load(FILES)))
HELD_BY_LAYERS = ("write", "socket", "consent")
LEFT_BY_LAYERS = ("read a secret of the repository", "leave a daemon behind from a program")
NOTICED = 0.7  # of the control's attacks, at least

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the place is made of Linux namespaces"),
]


def outcomes(user: str, *options: str) -> list[dict[str, object]]:
    """Run the arena as a user in a folder of its own and return what it printed."""
    account = PLAIN if user == "plain" and os.getuid() == 0 else None
    python = _python_for(account)
    top = Path(tempfile.mkdtemp(prefix=NAME, dir=scene_folder()))
    try:
        if account:
            shutil.chown(top, account)
        command = [python, "-m", "tests.shared.place.arena", "--base", str(top / "scene")]
        done = subprocess.run(
            [*command, *options, *map(str, FILES)],
            cwd=ROOT,
            env={"PATH": SEARCH, "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"},
            user=account,
            group=pwd.getpwnam(account).pw_gid if account else None,
            extra_groups=[] if account else None,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        # An attack may leave folders nested deeper than shutil.rmtree can follow.
        subprocess.run(["rm", "-rf", top], check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def scene_folder() -> Path:
    """Return where scenes are made: not in /tmp or /var/tmp, which are empty in the place."""
    choices = (Path("/srv"), Path("/opt"), Path(pwd.getpwuid(os.getuid()).pw_dir))
    return next(folder for folder in choices if os.access(folder, os.W_OK))


def _python_for(account: str | None) -> str:
    """Return an interpreter that the account can start; skip where it cannot read our files."""
    if account is None:
        return sys.executable
    for python in (sys.executable, shutil.which("python3", path=SEARCH) or ""):
        probe = [python, "-c", f"open({str(PLANNER)!r}).close()"]
        try:
            tried = subprocess.run(probe, user=account, cwd="/", capture_output=True, check=False)
        except PermissionError:
            continue
        if tried.returncode == 0:
            return python
    pytest.skip(f"the account {account} can reach neither a python3 nor {PLANNER}")


def told(rows: list[dict[str, object]]) -> str:
    """Describe the attacks that had an effect: id, text, effects."""
    return "\n\n".join(f"{row['id']}\n{row['text']}\n=> {row['effects']}" for row in rows)


def warn_of_missing(rows: list[dict[str, object]]) -> None:
    """Print which attacks could not be tried."""
    for row in rows:
        if row["missing"]:
            sys.stdout.write(f"not tried: {row['id']} needs {row['missing']}\n")


def test_there_are_enough_attacks_of_enough_ideas() -> None:
    attacks = list(load(FILES))
    ideas = Counter(attack.idea for attack in attacks)
    assert len(attacks) >= 2000
    assert len(ideas) >= 150
    assert max(ideas.values()) <= 20
    assert len({attack.id for attack in attacks}) == len({a.text for a in attacks}) == len(attacks)


@pytest.mark.parametrize("user", USERS)
def test_no_attack_has_an_effect_in_the_place(user: str) -> None:
    share = part(IDEAS[USERS.index(user) :: len(USERS)], 24)  # each idea is tried by one user
    rows = outcomes(user, *([] if LONG else ["--first"]), "--only", ";".join(share))
    warn_of_missing(rows)
    failed = [row for row in rows if row["effects"]]
    assert not failed, told(failed)
    assert all(row["ran"] for row in rows if not row["missing"])


def has_reached(row: dict[str, object]) -> bool:
    """Return whether an attack had an effect besides a process that stays behind.

    Without namespaces that is possible whatever else an attack does, if its client is killed.
    """
    effects = row["effects"]
    assert isinstance(effects, list)
    return any(not str(effect).startswith("still running") for effect in effects)


@pytest.mark.requirement("PP-3")
def test_landlock_and_seccomp_alone_hold_what_the_table_says() -> None:
    """The table in docs/place.md, on the first attack of some ideas; parsed, none has an effect."""
    attacks = list(load(FILES))
    held = list(dict.fromkeys(a.idea for a in attacks if a.kind in HELD_BY_LAYERS))
    ideas = [*part(held, 36), *LEFT_BY_LAYERS]
    options = ["--first", "--only", ";".join(ideas)]
    rows = [row for row in outcomes("plain", "--way", "layers", *options) if row["ran"]]
    failed = [row for row in rows if has_reached(row) and row["kind"] in HELD_BY_LAYERS]
    assert not failed, told(failed)
    left = {row["idea"] for row in rows if row["effects"]}
    # Which of them show an effect differs on a busy machine.
    assert left & {*LEFT_BY_LAYERS}
    parsed = outcomes("plain", "--way", "parser", *options)
    failed = [row for row in parsed if row["effects"]]
    assert not failed, told(failed)


@pytest.mark.long
def test_the_arena_notices_the_same_attacks_outside_the_place() -> None:
    options = ["--first", "--only", ";".join(IDEAS[::5])]
    rows = [row for row in outcomes("plain", "--way", "bash", *options) if row["ran"]]
    noticed = [row for row in rows if row["effects"]]
    assert len(noticed) >= NOTICED * len(rows), told([row for row in rows if not row["effects"]])
