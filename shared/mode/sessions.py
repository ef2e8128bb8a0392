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


_CLIENT = "client "  # begins the name of a client that is known by its process


class Session:
    """One session file, read-only: an agent that plans, and the database that holds its stage.

    `session` is the client's session that it is for: the agent itself, or one that has joined it.
    """

    __slots__ = ("agent", "database", "path", "repository", "run_id", "session", "state_dir")
    agent: str
    session: str
    database: str
    repository: str
    state_dir: str | None
    run_id: str | None
    path: str

    def __init__(self, path: str, values: dict[str, object]) -> None:
        self.path = path
        for name in self.__slots__:
            if name != "path":
                setattr(self, name, values[name])

    def touch(self) -> None:
        """Record that this session's agent calls a tool now."""
        touch(self.agent)


def folder() -> str:
    """Return the path of the folder that holds all session files."""
    return sessions_path()


def path_of(agent: str) -> str:
    """Return the path of an agent's session file, whether or not it exists."""
    return os.path.join(folder(), sha256(agent.encode("utf-8", "surrogateescape"))[:16])


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
    return all([_remove(path_of(agent)), *(_remove(s.path) for s in _joined(agent))])


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
    return os.path.isfile(path_of(agent))


def last_call(agent: str) -> float:
    """Return when the agent last called a tool, in seconds since the epoch; 0 if not known."""
    try:
        return os.stat(path_of(agent)).st_mtime
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
    found = of_agent(session_id) if session_id else None
    names = [] if found else _names()
    found = found or _of_client(names)
    around = os.path.realpath(cwd) if names else os.sep
    while found is None and names:
        found = of_agent(around) if os.path.basename(path_of(around)) in names else None
        if around == os.path.dirname(around):
            break
        around = os.path.dirname(around)
    return found


def _of_client(names: Collection[str]) -> Session | None:
    """Return the session that a client above this hook has joined by its process."""
    for identity in identities_above(os.getpid()) if names else ():
        name = _CLIENT + identity
        if os.path.basename(path_of(name)) in names:
            return of_agent(name)
    return None


def is_anyone_there() -> bool:
    """Return whether any session of this user plans, or carries out what it planned."""
    return bool(_names())


def of_agent(agent: str) -> Session | None:
    """Return the session file of the agent, or of the session that has joined one, of this name.

    Of a damaged file only the name is known, so its database is one that cannot be there.
    """
    path = path_of(agent)
    found = _load(path)
    if found is None and os.path.lexists(path):
        repository = agent if os.path.isabs(agent) else repository_root(os.getcwd())
        values: dict[str, object] = {
            "agent": agent, "session": agent, "database": os.path.join(path, DATABASE),
            "repository": repository, "state_dir": None, "run_id": None,
        }  # fmt: skip
        return Session(path, values)
    return found if found is not None and found.session == agent else None


def _joined(agent: str) -> list[Session]:
    """Return the session files of the sessions that have joined an agent."""
    return [found for found in all_sessions() if found.agent == agent != found.session]


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
    loaded = (_load(os.path.join(folder(), name)) for name in _names())
    return [session for session in loaded if session is not None]


def _names() -> Collection[str]:
    """Return the names of the session files, without those that are being written."""
    try:
        return {name for name in os.listdir(folder()) if "." not in name}
    except OSError:
        return ()


def _load(path: str) -> Session | None:
    """Return the session of a file, None if there is none or it is damaged."""
    values = _read(path)
    if values is None:
        return None
    values.setdefault("session", values.get("agent"))  # not in a file of an earlier release
    if set(values) != set(Session.__slots__) - {"path"}:
        return None
    return Session(path, values)


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
        os.utime(path)
    except OSError:
        return
