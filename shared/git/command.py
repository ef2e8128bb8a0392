"""Run git so that nothing in the caller's surroundings bends what is read from it."""

from __future__ import annotations

import functools
import os
import re
import subprocess
from typing import TYPE_CHECKING

from state.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OLDEST = (2, 30)

# Settings under which git starts no program of the repository's and names every path as it is.
SAFE = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.safecrlf=false",
    "core.sparseCheckout=false",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
)

# A temporary index must not leave a shared part of itself in the user's git folder.
OWN_INDEX = ("core.splitIndex=false", "core.untrackedCache=false")

# Of git's variables only those stay that say who the user is and where their settings lie:
# GIT_DIR, GIT_INDEX_FILE and their kin, set when a hook calls us, would lead elsewhere.
_KEPT = re.compile(
    r"GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT)"
    r"|GIT_CONFIG_(KEY|VALUE)_\d+|GIT_ATTR_NOSYSTEM|GIT_EXEC_PATH|GIT_SSH(_COMMAND|_VARIANT)?"
    r"|GIT_ASKPASS|GIT_SSL_\w+|GIT_LFS_\w+|GIT_DISCOVERY_ACROSS_FILESYSTEM|GIT_CEILING_DIRECTORIES"
)

_SAID_MAX_CHARS = 2_000
_LOCK = re.compile(r"Unable to create '([^']+\.lock)': File exists")


def user_environment() -> dict[str, str]:
    """Return the process's environment without the variables that would redirect git."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or _KEPT.fullmatch(k)}
    kept["GIT_TERMINAL_PROMPT"] = "0"
    return kept


class Git:
    """Git in one folder, with one environment and one set of settings; holds no state.

    `config` None is git just as the user has it, for what runs their hooks.
    """

    __slots__ = ("config", "env", "root")

    def __init__(
        self,
        root: str,
        *,
        env: Mapping[str, str] | None = None,
        config: Sequence[str] | None = SAFE,
    ) -> None:
        self.root = root
        self.env = dict(env or {})
        self.config = None if config is None else tuple(config)

    def having(self, *config: str, **env: str) -> Git:
        """Return the same git with further settings and variables."""
        return Git(self.root, env={**self.env, **env}, config=(*(self.config or ()), *config))

    def on_index(self, index: str, **env: str) -> Git:
        """Return the same git working on the index file `index`, which need not exist yet."""
        return self.having(*OWN_INDEX, GIT_INDEX_FILE=index, **env)

    def attempt(self, *args: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run git and return what came of it, whatever the exit code."""
        command, surroundings = ["git"], user_environment()
        if self.config is not None:
            command += ["--no-pager", "--no-optional-locks"]
            command += [word for setting in self.config for word in ("-c", setting)]
            surroundings |= {"LC_ALL": "C", "GIT_NO_REPLACE_OBJECTS": "1"}
        return _start([*command, *args], self.root, surroundings | self.env, stdin)

    def run(self, *args: str, stdin: bytes | None = None) -> bytes:
        """Return what git printed; a failure is `Refused` with git's own words."""
        done = self.attempt(*args, stdin=stdin)
        if done.returncode:
            raise failed(f"git {args[0]}", said(done.stderr, done.returncode))
        return done.stdout

    def text(self, *args: str, stdin: bytes | None = None) -> str:
        """Return what git printed as text, without the newline that ends it."""
        return os.fsdecode(self.run(*args, stdin=stdin).removesuffix(b"\n"))

    def ok(self, *args: str, stdin: bytes | None = None) -> bool:
        """Return whether git ended with exit code 0."""
        return self.attempt(*args, stdin=stdin).returncode == 0

    def names(self, *args: str, stdin: bytes | None = None) -> list[bytes]:
        """Return git's NUL-separated output as a list; the caller passes `-z`."""
        return [part for part in self.run(*args, stdin=stdin).split(b"\0") if part]


def _start(
    command: Sequence[str], root: str, env: Mapping[str, str], stdin: bytes | None
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            command,
            cwd=root,
            env=dict(env),
            input=b"" if stdin is None else stdin,
            capture_output=True,
            check=False,
        )
    except (FileNotFoundError, NotADirectoryError) as missing:
        if not os.path.isdir(root):
            raise Refused("not_found", root, "there is no such folder") from missing
        allowed = "git 2.30 or newer"
        raise Refused("not_found", "git", "git is not on PATH", allowed) from missing
    except OSError as error:
        text = f"git could not be run: {error.strerror or error}"
        raise Refused("refused", "git", text, "mend that, then the same command again") from error


def failed(at: str, text: str, allowed: str = "", retry: str = "") -> Refused:
    """Return the refusal for what git would not do; a lock that is held says how to get past it."""
    held = _LOCK.search(text)
    if held is None:
        return Refused("refused", at, text, allowed, retry)
    way = "wait for the git command that holds it; a killed one left it where none runs: remove it"
    return Refused("locked", held[1], "git's lock file is there", way, retry)


def said(stderr: bytes, code: int) -> str:
    """Return git's complaint without its hints: some of those lose work when followed."""
    kept: list[str] = []
    for line in stderr.decode("utf-8", "replace").splitlines():
        if not line.strip() and kept:
            break
        if line.strip() and not line.startswith(("hint:", "warning:")):
            kept.append(re.sub(r"^(fatal|error): ", "", line))
    return "; ".join(kept)[:_SAID_MAX_CHARS] or f"git ended with exit code {code} and said nothing"


@functools.cache
def version() -> tuple[int, ...]:
    """Return the version of the git on PATH, for example (2, 39, 5)."""
    found = re.search(r"\d+(\.\d+)+", Git(os.sep).text("version"))
    return tuple(int(part) for part in found[0].split(".")) if found else (0,)


def durable() -> tuple[str, ...]:
    """Return the settings under which git fsyncs the objects that it writes."""
    return ("core.fsync=all",) if version() >= (2, 36) else ("core.fsyncObjectFiles=true",)
