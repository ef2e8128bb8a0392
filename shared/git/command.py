"""Run git so that the caller's environment cannot change what git reads or where it acts."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from shared.clients import known
from shared.git.failure import CAUSE, error_text, failed, unstartable
from shared.git.known import Known
from shared.git.limited import run_for
from shared.paths import real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import IO

OLDEST = (2, 30)

# With these settings git starts no program that the repository names, and quotes no path.
SAFE = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotePath=false",
    "core.safecrlf=false",
    "core.sparseCheckout=false",
    "i18n.logOutputEncoding=UTF-8",
    "log.showSignature=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
)

# So that a temporary index leaves no shared part of itself in the user's git folder.
OWN_INDEX = ("core.splitIndex=false", "core.untrackedCache=false")

# Of git's variables, those that say who the user is and where the user's settings are. The others,
# such as GIT_DIR and GIT_INDEX_FILE when a hook calls us, would lead git to another repository.
_KEPT = re.compile(
    r"GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT)"
    r"|GIT_CONFIG_(KEY|VALUE)_\d+|GIT_ATTR_NOSYSTEM|GIT_EXEC_PATH|GIT_SSH(_COMMAND|_VARIANT)?"
    r"|GIT_ASKPASS|GIT_SSL_\w+|GIT_LFS_\w+|GIT_DISCOVERY_ACROSS_FILESYSTEM|GIT_CEILING_DIRECTORIES"
)


# Of those kept, the ones for a single call of git: hooks and formatters do not get them.
SINGLE_CALL = ("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")

# Our own variables, which tell a role and a state directory, are for no other program.
_OURS = ("PLANNER_", "PLAN_AGENT_")

_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
MOST_OF_A_PIECE = 1 << 20


def user_environment() -> dict[str, str]:
    """Return this process's environment without the planner's variables and git's redirections."""
    # Some clients hide the user's settings from every git that their shell starts: name, hooks,
    # signing. A commit that the user has approved is made with them, as with any other client.
    masks = [mask for mark, mask in known.HIDDEN_GIT.items() if mark in os.environ]
    hidden = "|".join(masks) if os.environ.get("GIT_CONFIG_GLOBAL") == os.devnull else ""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith((*_OURS, "GIT_")) or _KEPT.fullmatch(name)
        if not (hidden and re.fullmatch(hidden, name))
    }
    return kept | {"GIT_TERMINAL_PROMPT": "0"}


def project_environment(folder: str, *, with_settings: bool = False) -> dict[str, str]:
    """Return the environment variables for a project's command or hook run in the worktree.

    It has none of the names of `git rev-parse --local-env-vars`: with one of them, any git that the
    command starts would act on our repository. Git that looks for a repository does not leave the
    worktree, since the user's repository lies around it. `with_settings` keeps the variables that
    say who the user is and where the user's settings are.
    """
    unwanted = SINGLE_CALL if with_settings else ("GIT_",)
    kept = {k: v for k, v in user_environment().items() if not k.startswith(unwanted)}
    above = [os.path.dirname(real_path(folder)), kept.get("GIT_CEILING_DIRECTORIES", "")]
    return kept | {"GIT_CEILING_DIRECTORIES": os.pathsep.join(filter(None, above))}


class Object(NamedTuple):
    """A git object's id, kind and content, all empty where there is no such object."""

    id: str = ""
    kind: str = ""
    content: bytes = b""


class Git:
    """Runs git commands on one repository, with given environment variables and git settings.

    Git is always told the repository and its working tree. Left to search, it would find the user's
    repository whenever ours is damaged, so only `Repository` and `Vault` make a `Git`.
    """

    __slots__ = ("config", "env", "git_dir", "known", "root")

    def __init__(
        self,
        git_dir: str,
        root: str | None,
        *,
        env: Mapping[str, str] | None = None,
        config: Sequence[str] | None = SAFE,
        known: Known | None = None,
    ) -> None:
        self.git_dir = git_dir
        # The working tree; None means bare.
        self.root = root
        self.env = dict(env or {})
        # With None, git has just the user's settings, as needed to run the user's hooks.
        self.config = None if config is None else tuple(config)
        # What `settings` has read, for this one and all that share it.
        self.known = known or Known()

    def having(self, *config: str, **env: str) -> Git:
        """Return a copy of this Git with further git settings and environment variables."""
        given = (*(self.config or ()), *config)
        env = {**self.env, **env}
        return Git(self.git_dir, self.root, env=env, config=given, known=self.known)

    def in_tree(self, root: str) -> Git:
        """Return a copy of this Git with another working tree."""
        return Git(self.git_dir, root, env=self.env, config=self.config, known=self.known)

    def as_set_up(self) -> Git:
        """Return a copy of this Git with only the user's settings, so that the user's hooks run."""
        return Git(self.git_dir, self.root, env=self.env, config=None, known=self.known)

    def settings(self) -> Mapping[str, str]:
        """Return the user's git settings as git lists them, by key.

        A key has its section and name in lower case. One without a value has an empty one here. Git
        is asked again once a file that it had them from is another.
        """
        if not self.known.holds:
            words = ("config", "--list", "--show-scope", "--show-origin", "-z")
            self.known.read(self.as_set_up().run(*words), self._folder)
        return self.known.settings

    def on_index(self, index: str, **env: str) -> Git:
        """Return a copy of this Git that uses `index` as index file, which need not exist yet."""
        return self.having(*OWN_INDEX, GIT_INDEX_FILE=index, **env)

    def is_on(self, key: str, *, default: bool) -> bool:
        """Return whether a git setting is on that can be on or off."""
        value = self.settings().get(key.lower())
        if value not in ("true", "false", None):
            value = os.fsdecode(self.attempt("config", "--type=bool", key).stdout.strip())
        return {"true": True, "false": False}.get(value or "", default)

    def attempt(
        self, *args: str, stdin: bytes | None = None, limit_s: float | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a git command and return its output and exit code, even if it fails.

        After `limit_s` seconds, git and all that it started are ended: exit code 124.
        """
        words, folder, env = self.words(*args), self._folder, self._environment()
        if limit_s is None:
            return _start(words, folder, env, stdin)
        with unstartable(folder):
            return run_for(limit_s, words, folder, env, stdin or b"")

    @property
    def _folder(self) -> str:
        return os.path.dirname(self.git_dir) if self.root is None else self.root

    def _environment(self) -> dict[str, str]:
        environment = user_environment()
        if self.config is not None:
            environment |= {"LC_ALL": "C", "GIT_NO_REPLACE_OBJECTS": "1"}
        return environment | self.env

    def words(self, *args: str) -> list[str]:
        """Return the git command line for `args`, with options for repository and settings."""
        command = ["git", f"--git-dir={self.git_dir}"]
        if self.root is not None:
            command.append(f"--work-tree={self.root}")
        if self.config is not None:
            command += ["--no-pager", "--no-optional-locks"]
            command += [word for setting in self.config for word in ("-c", setting)]
        return [*command, *args]

    def run(self, *args: str, stdin: bytes | None = None) -> bytes:
        """Run git and return its output as bytes; raise Refused with git's error if it fails."""
        done = self.attempt(*args, stdin=stdin)
        if done.returncode:
            raise failed(f"git {args[0]}", error_text(done.stderr, done.returncode), CAUSE)
        return done.stdout

    def lasting(self, *args: str, of: Sequence[str]) -> bytes:
        """Return the same as `run`; git is asked once where the objects `of` are named by ids."""
        if not all(map(_ID.fullmatch, of)):
            return self.run(*args)
        if args not in self.known.facts:
            self.known.facts[args] = self.run(*args)
        return self.known.facts[args]

    def text(self, *args: str, stdin: bytes | None = None) -> str:
        """Run git and return its output as text, without the last newline."""
        return os.fsdecode(self.run(*args, stdin=stdin).removesuffix(b"\n"))

    def ok(self, *args: str, stdin: bytes | None = None) -> bool:
        """Run git and return whether it ended with exit code 0."""
        return self.attempt(*args, stdin=stdin).returncode == 0

    def names(self, *args: str, stdin: bytes | None = None) -> list[bytes]:
        """Run git and return its NUL-separated output as a list; the caller passes `-z`."""
        return _parts(self.run(*args, stdin=stdin))

    def objects(self, names: Sequence[str]) -> Iterator[Object]:
        """Yield the git object that each of `names` names, in order, all read by one process."""
        if not names:
            return
        stdin = "".join(f"{name}\n" for name in names)
        data, at = self.run("cat-file", "--batch", stdin=os.fsencode(stdin)), 0
        for _ in names:
            end = data.index(b"\n", at)
            *known, size = os.fsdecode(data[at:end]).split(" ")
            at = end + 1
            if size.isdigit():  # else a word that says why there is none
                yield Object(known[0], known[1], data[at : at + int(size)])
                at += int(size) + 1
            else:
                yield Object()

    def pieces(self, *args: str) -> Iterator[bytes]:
        """Run git and yield its output in pieces, as it comes; Refused at its end if it fails."""
        with tempfile.TemporaryFile() as stderr, self.started(args, stderr) as process:
            out = process.stdout.fileno() if process.stdout else -1
            while piece := os.read(out, MOST_OF_A_PIECE):
                yield piece
            if process.wait():
                stderr.seek(0)
                raise failed(f"git {args[0]}", error_text(stderr.read(), process.returncode), CAUSE)

    def started(
        self,
        args: Sequence[str],
        stderr: IO[bytes] | int = subprocess.PIPE,
        stdin: int = subprocess.DEVNULL,
    ) -> subprocess.Popen[bytes]:
        """Start a git command whose output is read while it runs."""
        with unstartable(self._folder):
            return subprocess.Popen(
                self.words(*args), cwd=self._folder, env=self._environment(),
                stdin=stdin, stdout=subprocess.PIPE, stderr=stderr,
            )  # fmt: skip

    @contextlib.contextmanager
    def names_beside(self, *args: str) -> Iterator[Callable[[], list[bytes]]]:
        """Start git, and yield what waits for its end and returns the same as `names`."""
        process = self.started(args)

        def names() -> list[bytes]:
            output, stderr = process.communicate()
            if process.returncode:
                raise failed(f"git {args[0]}", error_text(stderr, process.returncode), CAUSE)
            return _parts(output)

        with process:
            yield names


def _parts(output: bytes) -> list[bytes]:
    return [part for part in output.split(b"\0") if part]


def discover(path: str, ceiling: str, *args: str) -> subprocess.CompletedProcess[bytes]:
    """Run `git rev-parse` in the folder `path`; git searches for the repository around it.

    Only `find_repository` may call this. Git searches no higher than `ceiling`, unless it is empty.
    """
    environment = user_environment() | {"LC_ALL": "C"}
    if ceiling:
        environment["GIT_CEILING_DIRECTORIES"] = ceiling
    return _start(["git", "rev-parse", *args], path, environment, None)


def _start(
    command: Sequence[str], root: str, env: Mapping[str, str], stdin: bytes | None
) -> subprocess.CompletedProcess[bytes]:
    with unstartable(root):
        return subprocess.run(
            command,
            cwd=root,
            env=dict(env),
            input=b"" if stdin is None else stdin,
            capture_output=True,
            check=False,
        )


def version() -> tuple[int, ...]:
    """Return the version of the git on PATH, for example (2, 39, 5)."""
    done = _start(["git", "version"], os.sep, user_environment(), None)
    found = re.search(r"\d+(\.\d+)+", os.fsdecode(done.stdout))
    return tuple(int(part) for part in found[0].split(".")) if found else (0,)


# Settings that make any git fsync the objects it writes. Git from 2.36 on warns of the second,
# which `said` leaves out.
DURABLE = ("core.fsync=all", "core.fsyncObjectFiles=true")


def durable() -> tuple[str, ...]:
    """Return those of DURABLE that the git on PATH knows, for a git whose output is shown."""
    return DURABLE[:1] if version() >= (2, 36) else DURABLE[1:]
