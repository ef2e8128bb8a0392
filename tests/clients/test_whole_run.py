"""A whole run in real clients: the model only follows blocks, with no permission but setup's rules.

Installed by README's two commands; codex also asks whether its user trusts the hooks.
The demo's sample and answers: a question, reviewers at once, a gate that fails, a fix, the approval
that a person types, the commit and its proof.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli.demo.command import make_sample
from shared.resources import ROOT, installed_path, quote
from shared.ssh_signature import message_of_form_1
from tests.clients.bot import CODE_MODE, WAITS, digest_in
from tests.clients.conftest import CLAUDES, SESSION
from tests.clients.real_clients import Claude, Codex, Gemini, Opencode, Vibe
from tests.journey import call
from tests.own_repository import make_own_repository
from tests.shared.software_key import Key

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.clients.real_clients import Follower, Played

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.requirement("HO-4", "HO-2")]

REQUEST = "Give every formatter a short form for narrow screens"
WHO = "ann@example.com"
ANSWER = "Rounded: 1,960 bytes read 2.0 kB"
MOST_CHARS = 30_000  # of a block; Claude Code cuts longer ones off


# Who may approve by a key that a person touches.
KEY = Key()


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The demo's repository, at a path with spaces."""
    folder = tmp_path / "a sample of it"
    make_sample(str(folder))
    (folder / "planning").mkdir()
    (folder / "planning" / "allowed_signers").write_text(KEY.line(WHO), encoding="utf-8")
    for words in (("add", "planning"), ("commit", "-qm", "Say who may sign")):
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)
    return folder


def install(host: str, program: str, folder: Path) -> None:
    """Install as README says in an empty home, in a folder with spaces; two commands, no edit.

    Only the address is replaced; setup has to find the client, which is on PATH.
    """
    text = Path(ROOT, "README.md").read_text(encoding="utf-8").partition("## Install\n")[2]
    commands = text.split("```\n")[1]
    source = make_own_repository(folder / "source")
    place, programs = folder / "my own programs", folder / "programs"
    for one in (place, programs):
        one.mkdir()
    (programs / host).symlink_to(program)
    path = f"{programs}:{os.environ['PATH']}"
    lines = commands.replace("ADDRESS-OF-THIS-REPOSITORY", quote(str(source))).splitlines()
    assert len(lines) == 2
    for line in lines:
        subprocess.run(
            ["sh", "-c", line], cwd=place, check=True, capture_output=True,
            env={**os.environ, "PATH": path, "PLANNER_PYTHON": sys.executable},
        )  # fmt: skip
    started = Path(installed_path("bin", "planner")).read_text(encoding="utf-8")
    assert f"{place}/planner/bin/planner" in started


class Session:
    """A session of a client whose model follows blocks, and what came of each prompt."""

    def __init__(self, kind: str, client: Follower, folder: Path) -> None:
        skill = f"{client.home}/.claude/skills/planner" if kind == "claude" else installed_path()
        start = f"{skill}/bin/planner start '{REQUEST}' --review full"
        self.state = folder / "bot.json"
        self.bot = (kind, start, str(self.state))
        self.client = client
        self.played: list[Played] = []

    def prompt(self, text: str) -> str:
        """Give the next prompt and return what a person has to do then, "" for nothing."""
        played = self.client.follow(text, self.bot, again=bool(self.played))
        self.played.append(played)
        return played.stdout.partition(WAITS)[2].strip()

    def plan(self) -> str:
        """Have the plan made, answer the question about it, and return its digest."""
        assert "rounded or cut off" in self.prompt("plan it"), self.end()
        waits = self.prompt(ANSWER)
        assert " approve " in waits, self.end()
        return digest_in(waits)

    def end(self) -> str:
        """Return how the last prompt has ended, to be read where a test fails."""
        last = self.played[-1]
        return "\n".join((last.stdout[-2000:], last.stderr[-1000:], *map(str, last.results[-2:])))

    def sign(self, sample: Path, digest: str) -> None:
        """Give the approval that a person signs by a key in their hand."""
        base = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=sample, check=True, capture_output=True, text=True
        ).stdout.strip()
        digest = json.loads(call(sample, "status", "--json").text)["digest"]
        sent = {"digest": digest, "base": base, "word": "signed", "who": WHO, "commit": None,
                "signature": KEY.sign(message_of_form_1(digest, base), flags=1)}  # fmt: skip
        path = self.state.with_name("sent.json")
        path.write_text(json.dumps(sent), encoding="utf-8")
        answer = call(sample, "approve", digest, "--approval", str(path))
        assert answer.code == 0, answer.text

    def check(self, sample: Path, approval: str, *, at_once: int) -> None:
        """Check that the commit is the plan, and that nothing on the way needed a permission."""
        status = json.loads(call(sample, "status", "--json").text)
        assert (status["stage"], status["approval"]) == ("inactive", approval), self.end()
        assert call(sample, "validate", "--commit", "HEAD").code == 0
        results = [result for played in self.played for result in played.results]
        refused = [r.text for r in results if r.is_error]
        assert all("<problem " in text for text in refused), refused
        assert max(len(result.text) for result in results) < MOST_CHARS
        kept = json.loads(self.state.read_text(encoding="utf-8"))
        # The second edit is for a check that failed, the third for the gate that did.
        assert kept["times"]["developer"] == 3
        assert kept["at_once"] == at_once


@pytest.mark.parametrize("name", CLAUDES)
def test_claude_code_does_all_of_it(name: str, sample: Path, tmp_path: Path) -> None:
    claude = Claude(name, sample, SESSION, linked=False)
    install("claude", claude.program, tmp_path)
    session = Session("claude", claude, tmp_path)
    digest = session.plan()
    session.prompt(f"/planner:approve {digest}")
    session.check(sample, "command (proven)", at_once=2)


FOLLOWERS: dict[str, Callable[[Path], Follower]] = {
    "vibe": lambda work: Vibe("vibe-3.0.2", work),
    "codex": lambda work: Codex("codex-0.169.0", work),
    CODE_MODE: lambda work: Codex("codex-0.169.0", work, Codex.OWN),
    "gemini": lambda work: Gemini("gemini-0.61.0", work),
    "opencode": lambda work: Opencode("opencode-1.18.33", work),
}
# As many agents as each starts at once; codex has no tool for it outside of code mode.
AT_ONCE = {CODE_MODE: 2, "gemini": 2, "opencode": 2, "vibe": 2}


@pytest.mark.parametrize("kind", FOLLOWERS)
def test_other_clients_do_all_of_it(kind: str, sample: Path, tmp_path: Path) -> None:
    client = FOLLOWERS[kind](sample)
    install(kind.partition(" ")[0], client.program, tmp_path)
    session = Session(kind, client, tmp_path)
    digest = session.plan()
    session.sign(sample, digest)
    session.prompt("it is approved")
    session.check(sample, f"signed (proven), by {WHO}", at_once=AT_ONCE.get(kind, 1))
