"""The real clients as tests see them: found or skipped, run with a scripted model, read afterwards.

`CLIENT_ROOT` names the folder of the clients (docs/hosts.md says how they get there). Each runs in
an environment of its own with a dummy key.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import pytest

from shared.resources import ROOT
from tests.clients.scripted_model import Result
from tests.hook_entries import hooks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.clients.scripted_model import Turn

# By name: where each is below CLIENT_ROOT.
PROGRAMS = {
    "claude-2.1.330": "cc330/node_modules/.bin/claude",
    "claude-2.1.197": "cc/node_modules/.bin/claude",
    "vibe-3.0.2": "vibe/venv/bin/vibe",
    "codex-0.169.0": "codex/node_modules/.bin/codex",
    "gemini-0.61.0": "gemini/node_modules/.bin/gemini",
    "opencode-1.18.33": "opencode/node_modules/opencode-linux-x64/bin/opencode",
    "ripgrep": "opencode/node_modules/@vscode/ripgrep-linux-x64/bin/rg",
    "skills-ref-0.1.1": "skillsref/venv/bin/agentskills",
}
PATH = "/usr/local/bin:/usr/bin:/bin"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
}  # fmt: skip


def program(name: str) -> str:
    """Return a client's program; skips the test where it is not installed."""
    folder = os.environ.get("CLIENT_ROOT") or os.path.join(REAL_HOME, ".cache", "client-rig")
    path = os.path.join(folder, PROGRAMS[name])
    if not os.path.exists(path):
        pytest.skip(f"{name} is not installed as {path}; docs/hosts.md says how")
    return path


# Tests have a home of their own; the clients are in the developer's.
REAL_HOME = os.path.expanduser("~")


class Played(NamedTuple):
    """What a client did: its output, what its tools answered, every text that the model heard."""

    code: int
    stdout: str
    stderr: str
    results: list[Result]
    heard: list[str]

    def of(self, tool: str, *, sub: bool = False) -> list[Result]:
        """Return the answers of a tool in the main conversation, or in its sub-agents."""
        return [r for r in self.results if r.tool == tool and bool(r.agent) is sub]

    @property
    def only(self) -> Result:
        """Return the one answer of the main conversation."""
        found = [r for r in self.results if not r.agent]
        assert len(found) == 1, (found, self.stdout[-2000:], self.stderr[-2000:])
        return found[0]


class Request(NamedTuple):
    """One run of a client; `typed` is typed on a terminal, `{port}` is the model's.

    On a terminal it ends when the model has heard `until` and it has been quiet for `quiet_s`.

    With `bot` – client, first command, file of its state – the model follows printed blocks.
    """

    command: list[str]
    cwd: str
    environment: dict[str, str]
    turns: Sequence[Turn]
    sub: Sequence[Turn] = ()
    files: Sequence[tuple[str, str]] = ()
    typed: Sequence[str] = ()
    until: str = ""
    quiet_s: float = 0
    timeout_s: float = 120
    bot: Sequence[str] = ()


@functools.cache
def _enclosed() -> tuple[str, ...]:
    """Return what ends, with the client, all that it has started: a process space of its own."""
    inside = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    found = shutil.which("unshare")
    usable = found and subprocess.run([*inside, "true"], capture_output=True, check=False)
    return inside if usable and usable.returncode == 0 else ()


def play(request: Request) -> Played:
    """Run a client to its end."""
    program = Path(__file__).with_name("run_client.py")
    done = subprocess.run(
        [*_enclosed(), sys.executable, "-I", str(program)],
        input=json.dumps(request._asdict()),
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": PATH, "HOME": os.environ["HOME"]},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return Played(**{**found, "results": [Result(**r) for r in found["results"]]})


def environment(**more: str) -> dict[str, str]:
    """Return what a client finds: the test's home, nothing else of this process."""
    more = {"PATH": PATH, **more}
    kept = {n: v for n, v in os.environ.items() if n.startswith("XDG_") or n == "HOME"}
    return {"LANG": "C.UTF-8", "TERM": "dumb", **kept, **more}


class Client:
    """One client in a repository, with a home of its own."""

    def __init__(self, name: str, work: Path) -> None:
        self.program = program(name)
        self.home = Path(os.environ["HOME"])
        self.work = work
        self.more: dict[str, str] = {}  # of the environment

    def write(self, name: str, text: str) -> None:
        """Write a file of the client's home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Follower(Client):
    """A client that can be given one prompt after the other, with a model that follows blocks."""

    def follow(self, prompt: str, bot: Sequence[str], *, again: bool) -> Played:
        """Give a prompt, at first or `again`; `bot` is that of Request."""
        raise NotImplementedError


class Claude(Follower):
    """Claude Code with the planner as a skill of the user, in one session.

    Without `linked` the home is left as it is.
    """

    def __init__(self, name: str, work: Path, session: str, *, linked: bool = True) -> None:
        super().__init__(name, work)
        self.session = session
        if not linked:
            return
        skills = self.home / ".claude" / "skills"
        skills.mkdir(parents=True)
        (skills / "planner").symlink_to(ROOT)
        self.permit()

    def break_hooks(self) -> None:
        """Let the installed hooks name a program that is not there."""
        skill = self.home / ".claude" / "skills" / "planner"
        skill.unlink()
        skill.mkdir()
        for name in ("SKILL.md", ".claude-plugin", "commands", "bin"):
            (skill / name).symlink_to(os.path.join(ROOT, name))
        entries = hooks_of("claude")
        self.write(str(skill / "hooks" / "claude.json"), entries.replace("sh ", "/nowhere/sh "))

    def permit(self, *allow: str, **rules: Sequence[str]) -> None:
        """Write the user's permission rules: our launcher may run, `allow` too; deny, ask."""
        allowed = [f"Bash({ROOT}/bin/planner *)", *allow]
        settings = {"permissions": {"allow": allowed, **rules}}
        self.write(".claude/settings.json", json.dumps(settings))

    def follow(self, prompt: str, bot: Sequence[str], *, again: bool) -> Played:
        session = ("--resume" if again else "--session-id", self.session)
        command = [self.program, "-p", prompt, *session]
        found = self._environment()
        return play(Request(command, str(self.work), found, (), timeout_s=900, bot=bot))

    def play(
        self, turns: Sequence[Turn], prompt: str = "go", sub: Sequence[Turn] = (),
    ) -> Played:  # fmt: skip
        """Give a prompt without a terminal, and let the model take its turns."""
        command = [self.program, "-p", prompt, "--session-id", self.session]
        return play(Request(command, str(self.work), self._environment(), turns, sub))

    def type(
        self, *typed: str, turns: Sequence[Turn] = (), quiet_s: float = 5, until: str = ""
    ) -> Played:
        """Type into the client on a terminal, as a person does, until it is quiet for so long.

        Before that the model has to hear the text `until`, for which there are 150 seconds.
        """
        known = {
            "hasCompletedOnboarding": True,
            "customApiKeyResponses": {"approved": ["test-key"], "rejected": []},
            "projects": {str(self.work): {"hasTrustDialogAccepted": True}},
        }
        self.write(".claude.json", json.dumps(known))
        command = [self.program, "--permission-mode", "default", "--session-id", self.session]
        found = self._environment(TERM="xterm-256color")
        return play(
            Request(command, str(self.work), found, turns, typed=typed, until=until,
                    quiet_s=quiet_s, timeout_s=150)
        )  # fmt: skip

    def _environment(self, **more: str) -> dict[str, str]:
        temporary = self.home / "tmp"
        temporary.mkdir(exist_ok=True)
        return environment(
            ANTHROPIC_BASE_URL="http://127.0.0.1:{port}", ANTHROPIC_API_KEY="test-key",
            TMPDIR=str(temporary), CLAUDE_CODE_TMPDIR=str(temporary), **(QUIET | self.more | more),
        )  # fmt: skip


class Vibe(Follower):
    """Mistral vibe with our entry in the user's hooks."""

    CONFIG = """\
active_model = "scripted"
enable_telemetry = false
enable_update_checks = false
{settings}
[session_logging]
generate_titles = false
[[providers]]
name = "scripted"
api_base = "http://127.0.0.1:{{port}}/v1"
api_key_env_var = "SCRIPTED_KEY"
api_style = "openai"
backend = "generic"
[[models]]
name = "scripted"
provider = "scripted"
alias = "scripted"
"""

    def play(
        self, turns: Sequence[Turn], *options: str, sub: Sequence[Turn] = (), settings: str = "",
        hooks: bool = True, other_hooks: str = "",
    ) -> Played:  # fmt: skip
        """Give a prompt without a terminal; `settings`, `other_hooks`: the user's, as TOML."""
        (self.home / ".vibe").mkdir(exist_ok=True)
        if hooks:
            self.write(".vibe/hooks.toml", hooks_of("vibe") + other_hooks)
        command = [self.program, "-p", "go", "--trust", "--output", "text", *options]
        files = [(self._config, self.CONFIG.format(settings=settings))]
        return play(Request(command, str(self.work), self._environment(), turns, sub, files))

    def follow(self, prompt: str, bot: Sequence[str], *, again: bool) -> Played:
        """Give a prompt in a session of its own; the repository is what plans."""
        command = [self.program, "-p", prompt, "--trust", "--output", "text"]
        if not again:
            with open(self._config, encoding="utf-8") as file:
                self._written_by_setup = file.read()
        files = [(self._config, self.CONFIG.format(settings=self._written_by_setup))]
        return play(
            Request(command, str(self.work), self._environment(), (), files=files,
                    timeout_s=900, bot=bot)
        )  # fmt: skip

    @property
    def _config(self) -> str:
        return str(self.home / ".vibe" / "config.toml")

    def _environment(self) -> dict[str, str]:
        keyring = "keyring.backends.null.Keyring"
        return environment(
            SCRIPTED_KEY="test-key", MISTRAL_API_KEY="test-key", PYTHON_KEYRING_BACKEND=keyring,
            **self.more,
        )  # fmt: skip


class Codex(Follower):
    """Codex with our entry in the user's hooks.

    `model` is one that codex does not know, and so offers single tools; its own have code mode.
    """

    OWN = "gpt-5.6-sol"

    CONFIG = """\
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "http://127.0.0.1:{port}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
[sandbox_workspace_write]
exclude_slash_tmp = true
"""

    def __init__(self, name: str, work: Path, model: str = "scripted") -> None:
        super().__init__(name, work)
        self.model = model

    def play(
        self, turns: Sequence[Turn], *, sub: Sequence[Turn] = (), hooks: bool = True,
        sandbox: str = "workspace-write",
    ) -> Played:  # fmt: skip
        """Give a prompt without a terminal; `sandbox` is codex's own."""
        (self.home / ".codex").mkdir(exist_ok=True)
        if hooks:
            self.write(".codex/hooks.json", hooks_of("codex"))
        options = ("--sandbox", sandbox, "-c", f'model="{self.model}"')
        return play(self._request(*options, "go", turns=turns, sub=sub))

    def follow(self, prompt: str, bot: Sequence[str], *, again: bool) -> Played:
        """Give a prompt, at first or `again`."""
        (self.home / ".codex").mkdir(exist_ok=True)
        chosen = ("-c", 'sandbox_mode="workspace-write"', "-c", f'model="{self.model}"')
        words = ("resume", "--last", *chosen, prompt) if again else (*chosen, prompt)
        return play(self._request(*words)._replace(timeout_s=900, bot=bot))

    def _request(
        self, *words: str, turns: Sequence[Turn] = (), sub: Sequence[Turn] = ()
    ) -> Request:
        first, *rest = words
        bypass = "--dangerously-bypass-hook-trust"
        options = [first, bypass, *rest] if first == "resume" else [bypass, *words]
        files = [(str(self.home / ".codex" / "config.toml"), self.CONFIG)]
        # Its sandbox makes an empty `.git` in every folder that it may write to, for all to see.
        temporary = self.home / "tmp"
        temporary.mkdir(exist_ok=True)
        found = environment(SCRIPTED_KEY="test-key", TMPDIR=str(temporary), **self.more)
        command = [self.program, "exec", *options]
        return Request(command, str(self.work), found, turns, sub, files)


class Gemini(Follower):
    """Gemini CLI of a user who has chosen a key, with our entries in their settings."""

    def __init__(self, name: str, work: Path) -> None:
        super().__init__(name, work)
        chosen = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
        }
        self.write(".gemini/settings.json", json.dumps(chosen))

    def settings(self) -> dict[str, Any]:
        """Return the user's settings."""
        text = (self.home / ".gemini" / "settings.json").read_text(encoding="utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    def add_hooks(self, **more: object) -> None:
        """Add our entries, and other settings of the user."""
        found = self.settings() | json.loads(hooks_of("gemini")) | more
        self.write(".gemini/settings.json", json.dumps(found))

    def play(self, turns: Sequence[Turn], *options: str, sub: Sequence[Turn] = ()) -> Played:
        """Give a prompt without a terminal."""
        return play(self._request("go", *options)._replace(turns=turns, sub=sub))

    def follow(self, prompt: str, bot: Sequence[str], *, again: bool) -> Played:
        """Give a prompt, at first or `again`."""
        options = ("--resume", "latest") if again else ()
        return play(self._request(prompt, *options)._replace(timeout_s=900, bot=bot))

    def _request(self, prompt: str, *options: str) -> Request:
        command = [self.program, "-m", "scripted", "-p", prompt, *options]
        found = environment(
            GEMINI_API_KEY="test-key", GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:{port}",
            GEMINI_CLI_TRUST_WORKSPACE="true", **self.more,
        )  # fmt: skip
        return Request(command, str(self.work), found, ())


class Opencode(Follower):
    """Opencode with our plugin, and ripgrep, which its tool for skills needs."""

    CONFIG: ClassVar = {
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "autoupdate": False,
        "share": "disabled",
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": "http://127.0.0.1:{port}/v1", "apiKey": "test-key"},
                "models": {"scripted": {"tool_call": True}},
            }
        },
    }

    def __init__(self, name: str, work: Path) -> None:
        super().__init__(name, work)
        self.config = Path(os.environ.get("XDG_CONFIG_HOME") or self.home / ".config", "opencode")

    def add_hooks(self) -> None:
        """Link the plugin, as setup does."""
        (self.config / "plugins").mkdir(parents=True)
        (self.config / "plugins" / "planner.js").symlink_to(Path(ROOT, "hooks", "opencode.js"))

    def play(self, turns: Sequence[Turn], sub: Sequence[Turn] = (), **settings: object) -> Played:
        """Give a prompt without a terminal; `settings` are the user's."""
        return play(self._request("go", settings)._replace(turns=turns, sub=sub))

    def follow(self, prompt: str, bot: Sequence[str], *, again: bool) -> Played:
        """Give a prompt, at first or `again`."""
        options = ("--continue",) if again else ()
        return play(self._request(prompt, {}, *options)._replace(timeout_s=900, bot=bot))

    def _request(self, prompt: str, settings: dict[str, object], *options: str) -> Request:
        ripgrep = os.path.dirname(program("ripgrep"))
        found = environment(
            PATH=f"{ripgrep}:{PATH}", OPENCODE_DISABLE_MODELS_FETCH="1",
            OPENCODE_DISABLE_AUTOUPDATE="1", NPM_CONFIG_REGISTRY="http://127.0.0.1:{port}/",
            **self.more,
        )  # fmt: skip
        files = [(str(self.config / "opencode.json"), json.dumps(self.CONFIG | settings))]
        command = [self.program, "run", *options, prompt]
        return Request(command, str(self.work), found, (), files=files)
