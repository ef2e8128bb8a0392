"""Session files: one for each agent that plans, so that a hook finds the agent from any folder.

A file is only a pointer; the stage is read from the database that it names. Its mtime is the last
call of a tool. Hooks read through this module, so it imports little.
"""

from __future__ import annotations

import os

from shared.clients import known
from shared.mode.lineage import identities_above
from shared.resources import DATABASE, PLANNER_FOLDER, sessions_path
from state.quick_json import read_json

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from state.database import Planning, Run


# What a session file holds; of these only the last two may be null.
_FIELDS = ("agent", "database", "repository", "session", "state_dir", "run_id")
_CLIENT = "client "  # begins the name of a client that is known by its process


class Session:
    """One session file, read-only: an agent that plans, and the database that holds its stage.

    `session` is the client's session that it is for: the agent itself, or one that has joined it.
    `damage` says why nothing but that is known of it, "" where all is.
    """

    __slots__ = (*_FIELDS, "damage", "path")
    agent: str
    session: str
    database: str
    repository: str
    state_dir: str | None
    run_id: str | None
    path: str
    damage: str

    def __init__(self, path: str, values: dict[str, object], damage: str = "") -> None:
        self.path = path
        self.damage = damage
        for name in _FIELDS:
            setattr(self, name, values[name])

    @property
    def home(self) -> str:
        """The real path of the state directory in which it plans."""
        return os.path.realpath(self.state_dir or os.path.dirname(self.database))

    def touch(self) -> None:
        """Record that this session's agent calls a tool now."""
        touch(self.agent)


def path_of(agent: str) -> str:
    """Return the path of an agent's session file, whether or not it exists."""
    return os.path.join(sessions_path(), sha256(agent.encode("utf-8", "surrogateescape"))[:16])


def repository_root(start: str) -> str:
    """Return the innermost folder around `start` with git's or the planner's data, else `start`."""
    real = os.path.realpath(start)
    # A scratch worktree lies inside .planner and is not a repository of the user's.
    outside = real.partition(f"{os.sep}{PLANNER_FOLDER}{os.sep}")[0]
    found = outside or os.sep
    while not os.path.exists(os.path.join(found, ".git")):
        parent = os.path.dirname(found)
        if parent == found:
            return outside
        found = parent
    return found


def agent_name(given: str | None, repository: str) -> str:
    """Return an agent's name: the given one, else the client's session id, else the repository."""
    return given or client_session(os.environ) or repository


def client_session(environ: Mapping[str, str]) -> str:
    """Return the id that a client gives its session in the environment of its commands, or ""."""
    return next(filter(None, map(environ.get, known.SESSION_VARIABLES)), "")


def publish(row: Planning, database: str, run: Run | None) -> bool:
    """Write an agent's session file, or remove it after planning; return whether that worked.

    An agent that plans has one. Without it no hook guards the session; the fingerprint of the tree
    still does.
    """
    path = path_of(row.agent_name)
    if row.phase == "inactive":
        return remove(row.agent_name)
    home = os.path.dirname(os.path.realpath(database))
    inside = os.path.basename(home) == PLANNER_FOLDER
    values: dict[str, object] = {
        "agent": row.agent_name,
        "session": row.agent_name,
        "database": os.path.realpath(database),
        "repository": run.repository if run else os.path.dirname(home) if inside else home,
        "state_dir": run.state_dir if run else home,
        "run_id": row.run_id,
    }
    if _read(path) == values:
        return True
    for other in _joined(row.agent_name):
        _write(other.path, {**values, "session": other.session})
    return _write(path, values)


def remove(agent: str) -> bool:
    """Remove the session files of an agent and of who has joined it; return whether that worked.

    Hooks leave the agent alone from then on.
    """
    own = path_of(agent)
    paths = (
        [own] if os.path.lexists(own) else [s.path for s in all_sessions() if s.session == agent]
    )
    return all([*map(_remove, paths), *(_remove(one.path) for one in _joined(agent))])


def join(session: str, agent: str) -> bool:
    """Let hooks find a further client's session as this agent; return whether that worked."""
    values = _read(path_of(agent))
    return values is not None and _write(path_of(session), {**values, "session": session})


def join_client(agent: str) -> None:
    """Let hooks find the client that runs this command as this agent, from whatever folder it asks.

    Nothing is done where the client gives its commands its session's id, which its hooks have too.
    """
    if client_session(os.environ):
        return
    # Not at the top: most hooks have a session's id.
    from shared.guard.ancestry import client_above

    client = client_above(os.getpid())
    if client is not None:
        join(_CLIENT + client.identity, agent)


def is_published(agent: str) -> bool:
    """Return whether the agent's session file exists, so that hooks can find the agent."""
    return os.path.lexists(path_of(agent))


def last_call(agent: str) -> float:
    """Return when the agent last called a tool, in seconds since the epoch; 0 if not known."""
    try:
        return os.stat(path_of(agent), follow_symlinks=False).st_mtime
    except OSError:
        return 0


def touch(agent: str) -> None:
    """Record that an agent calls a tool now; running a planner command counts as a tool call."""
    _touch(path_of(agent))


def keep(agent: str, rows: Iterable[Planning], database: str, run: Run) -> None:
    """Record that an agent calls a tool now, and rewrite session files that are missing or damaged.

    `rows` are the agents of the run; a crash may have kept a file from being written. A client
    that was started anew is another process.
    """
    touch(agent)
    for row in rows:
        if row.phase != "inactive" and _load(path_of(row.agent_name)) is None:
            publish(row, database, run)
        if row.phase != "inactive" and row.agent_name == agent:
            join_client(agent)


def find(session_id: str, cwd: str) -> Session | None:
    """Return the session of a client's id, of its process, or of the nearest repository of `cwd`.

    Whether its database still knows it is for `memory.py` to say.
    """
    found = _placed(session_id) if session_id else None
    names = _names() if found is None else ()
    strays = _strays() if names else {}
    for name in _meant(session_id, cwd) if names else ():
        path = path_of(name)
        found = _placed(name) if os.path.basename(path) in names else strays.get(path)
        if found is not None:
            break
    return found


def _meant(session_id: str, cwd: str) -> Iterable[str]:
    """Yield the names that a client's session may have, those before that are surer."""
    if session_id:
        yield session_id
    for identity in identities_above(os.getpid()):
        yield _CLIENT + identity
    around = os.path.realpath(cwd)
    while True:
        yield around
        if around == os.path.dirname(around):
            return
        around = os.path.dirname(around)


def is_anyone_there() -> bool:
    """Return whether any session of this user plans, or carries out what it planned."""
    return bool(_names())


def of_agent(agent: str) -> Session | None:
    """Return the session file of the agent, or of the session that has joined one, of this name.

    Of a damaged file, or one that names another session, only its own name is known.
    """
    return _placed(agent) or _strays().get(path_of(agent))


def _placed(agent: str) -> Session | None:
    """Return the session of the file that an agent's session has by its name, None without one."""
    path = path_of(agent)
    found = _load(path)
    if found is not None and found.session == agent:
        return found
    if found is None and not os.path.lexists(path):
        return None
    values: dict[str, object] = {
        "agent": agent, "session": agent, "database": os.path.join(path, DATABASE),
        "repository": agent if os.path.isabs(agent) else repository_root(os.getcwd()),
        "state_dir": None, "run_id": None,
    }  # fmt: skip
    text = f"its file {path} "
    return Session(path, values, text + ("names another session" if found else "is damaged"))


def _strays() -> dict[str, Session]:
    """Return the sessions whose files have others' names, by the path that each would have."""
    found = {path_of(one.session): one for one in all_sessions()}
    return {path: one for path, one in found.items() if path != one.path}


def _joined(agent: str) -> list[Session]:
    """Return the session files of the sessions that have joined an agent."""
    found = [one for one in all_sessions() if one.agent == agent != one.session]
    return [one for one in found if one.path == path_of(one.session)]


def sha256(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal digits."""
    # hashlib would load OpenSSL, which costs a hook more than all else here.
    for name in ("_sha2", "_sha256", "hashlib"):
        try:
            return str(__import__(name).sha256(data).hexdigest())
        except ImportError:
            continue
    raise ImportError("this Python has no SHA-256")


def all_sessions() -> list[Session]:
    """Return the session file of every agent of this user that plans or carries out a plan."""
    loaded = (_load(os.path.join(sessions_path(), name)) for name in _names())
    return [session for session in loaded if session is not None]


def _names() -> Collection[str]:
    """Return the names of the session files, without those that are being written."""
    try:
        return {name for name in os.listdir(sessions_path()) if "." not in name}
    except OSError:
        return ()


def _load(path: str) -> Session | None:
    """Return the session of a file, None if there is none or it is damaged."""
    values = _read(path)
    if values is None:
        return None
    values.setdefault("session", values.get("agent"))  # not in a file of an earlier release
    if set(values) != set(_FIELDS):
        return None
    texts = [values[name] for name in _FIELDS[:4]] + [v for v in values.values() if v is not None]
    sound = all(isinstance(one, str) and "\0" not in one for one in texts)
    return Session(path, values) if sound else None


def _read(path: str) -> dict[str, object] | None:
    try:
        values = read_json(path)
    except (OSError, ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _write(path: str, values: dict[str, object]) -> bool:
    import json  # not at the top: most commands only read

    text = json.dumps(values, ensure_ascii=False)
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except OSError:
        return False
    return True


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _touch(path: str) -> None:
    try:
        os.utime(path, follow_symlinks=False)
    except OSError:
        return
