"""Denies commands that read files with secrets: keys, passwords, tokens, environment files."""

from __future__ import annotations

import os
import stat

from shared.guard.denial import Denied

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.guard.lexer import Word

# Compared in lower case: some file systems ignore case.
FOLDERS = frozenset((
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store", ".pki", "keychains", "keyrings",
    ".mozilla", ".thunderbird", ".gcloud", "gcloud", "google-chrome", "chromium", ".chef",
))  # fmt: skip
NAMES = frozenset((
    ".netrc", "_netrc", ".pgpass", ".my.cnf", ".mylogin.cnf", ".npmrc", ".pypirc", ".dockercfg",
    ".git-credentials", ".htpasswd", ".s3cfg", ".boto", ".vault-token", ".yarnrc.yml",
    ".credentials", ".credentials.json", "credentials.json", "credentials.db", "client_secret.json",
    "service-account.json", "secrets.json", "secrets.yml", "secrets.yaml", "secrets.toml",
    "shadow", "shadow-", "gshadow", "gshadow-", "sudoers", "opasswd", "wallet.dat", "rclone.conf",
    "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "master.key",
))  # fmt: skip
BEGINNINGS = (".env", "id_rsa.", "id_ed25519.", "id_ecdsa.", "id_dsa.", "ssh_host_")
ENDINGS = (
    ".pem", ".key", ".p12", ".pfx", ".p8", ".jks", ".keystore", ".kdbx", ".kdb", ".ppk", ".env",
    ".pkcs12", ".keychain", ".keychain-db", "_history", ".ovpn", ".tfstate", ".tfvars", "_rsa",
    "_ed25519", "_ecdsa", "_dsa",
)  # fmt: skip
# Files whose names alone say nothing, with their folders.
PLACES = (
    "/.docker/config.json", "/.config/gh/hosts.yml", "/.m2/settings.xml", "/.gem/credentials",
    "/.cargo/credentials", "/.cargo/credentials.toml", "/.codex/auth.json", "/.claude.json",
    "/.config/hub", "/.gradle/gradle.properties", "/.local/share/opencode/auth.json",
    "/.terraform.d/credentials.tfrc.json", "/.kaggle/kaggle.json", "/.composer/auth.json",
)  # fmt: skip
TREES = ("/etc/ssl/private", "/run/secrets", "/var/run/secrets", "/etc/sudoers.d", "/etc/shadow")
OPEN_IN_PROC = frozenset((
    "cpuinfo", "meminfo", "version", "loadavg", "uptime", "filesystems", "mounts", "partitions",
    "swaps", "stat",
))  # fmt: skip
# Reading these recursively would read other people's files, devices and secrets.
WIDE = frozenset((
    "/", "/etc", "/proc", "/sys", "/dev", "/run", "/var", "/var/run", "/home", "/users", "/root",
    "/private", "/private/etc", "/private/var", "/mnt", "/media", "/opt", "/volumes", "/library",
))  # fmt: skip
# Names that a pattern written for secrets would match.
_EXAMPLES = (
    ".env", "prod.env", "id_rsa", "id_ed25519", ".netrc", ".npmrc", ".git-credentials", "shadow",
    *FOLDERS,
)  # fmt: skip
HOMES = ("/home", "/users")
MAX_EXPANDED = 3_000

_INSTEAD = "ask the user for what you need to know, but never for the secret itself"
_NARROWER = "name the folder of the project that you mean"


def check_read(path: str, folder: str) -> None:
    """Deny reading `path` if it, or the file it links to, may hold secrets or be endless."""
    for full in _both(path, folder):
        lowered = full.lower()
        name = lowered.rpartition("/")[2]
        if _is_secret_name(name) or _in_secret_place(lowered):
            raise Denied(f"{path} may hold a key, a password or a token", _INSTEAD)
        _check_system(path, lowered)
    _check_endless(path, folder)


def check_look(path: str, folder: str) -> None:
    """Deny listing a folder of keys or a file in it; asking whether a .env file exists passes."""
    for full in _both(path, folder):
        lowered = full.lower()
        if _in_secret_place(lowered):
            raise Denied(f"{path} is where keys, passwords or tokens are kept", _INSTEAD)
        _check_processes(path, lowered)


def check_tree(path: str, folder: str, home: str) -> None:
    """Deny reading all files below `path` if they include a home folder or system folders."""
    check_read(path, folder)
    homes = {home.lower(), os.path.realpath(home).lower()} if home else set()
    for full in _both(path, folder):
        lowered = full.lower().rstrip("/") or "/"
        above = lowered if lowered == "/" else f"{lowered}/"
        # A folder there may be a project instead of a home.
        home_of_one = os.path.dirname(lowered) in HOMES and not os.path.lexists(f"{full}/.git")
        wide = lowered in WIDE or home_of_one
        inside = (f"{h}{place}/" for h in homes for place in ("", *PLACES))
        if wide or any(secret.startswith(above) for secret in inside):
            raise Denied(f"reading all below {path} would read secrets", _NARROWER)


def check_pattern(pattern: str) -> None:
    """Deny a file name pattern that looks for files with secrets; an excluding `!…` passes."""
    pieces = [] if pattern.startswith("!") else pattern.lower().split("/")
    for piece in pieces:
        written = piece.startswith(".") or sum(map(str.isalnum, piece)) > 1
        shape = Pattern(piece)
        found = written and any(
            shape.matches(example) and example.startswith(".") <= piece.startswith(".")
            for example in _EXAMPLES
        )
        if found or _is_secret_name(piece) or piece in FOLDERS:
            raise Denied(f"the pattern {pattern} matches files that hold secrets", _INSTEAD)


def expand(word: Word, folder: str) -> Iterator[str]:
    """Yield every path to which a shell could expand the pattern `word`, maybe also others."""
    whole = word.value
    begin, pieces = 0, []
    for piece in whole.split("/"):
        pieces.append((piece, [g - begin for g in word.globs if begin <= g < begin + len(piece)]))
        begin += len(piece) + 1
    found = [""]
    for at, (piece, globs) in enumerate(pieces):
        slash = "/" if at < len(pieces) - 1 else ""
        found = [
            f"{path}{name}{slash}"
            for path in found
            for name in (_entries(os.path.join(folder, path), piece, globs) if globs else (piece,))
        ]
        if len(found) > MAX_EXPANDED:
            raise Denied(
                f"the pattern {word.raw} matches too many files",
                "name a folder, or use a narrower pattern",
            )
    yield from found


class Pattern:
    """A shell pattern for file names; here a bracket `[…]` matches any one character."""

    __slots__ = ("_least", "_pieces")

    def __init__(self, pattern: str) -> None:
        pieces, at = list[str](), 0
        while at < len(pattern):
            end = pattern.find("]", at + 2) if pattern[at] == "[" else -1
            piece = "?" if end > 0 else pattern[at]
            if piece != "*" or pieces[-1:] != ["*"]:
                pieces.append(piece)
            at = max(at, end) + 1
        self._pieces = pieces
        self._least = len(pieces) - pieces.count("*")

    def matches(self, name: str) -> bool:
        """Return whether the file name pattern could match `name`."""
        if len(name) < self._least:
            return False
        ways = {0}
        for piece in self._pieces:
            if piece == "*":
                ways = set(range(min(ways), len(name) + 1))
            else:
                ways = {at + 1 for at in ways if at < len(name) and piece in ("?", name[at])}
            if not ways:
                return False
        return len(name) in ways


def excluded() -> Iterator[str]:
    """Yield name patterns of files with secrets, to exclude when a whole folder is read."""
    yield from NAMES
    yield from (f"{begin}*" for begin in BEGINNINGS)
    yield from (f"*{end}" for end in ENDINGS)


def _entries(folder: str, piece: str, globs: list[int]) -> Iterator[str]:
    """Yield names in `folder` that match a pattern; hidden ones only if it starts with a dot."""
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return
    shape = Pattern(piece)
    for name in names:
        if name.startswith(".") <= (globs[0] > 0) and shape.matches(name):
            yield name


def _both(path: str, folder: str) -> Iterator[str]:
    """Yield a path as absolute path, then with all symbolic links resolved."""
    written = os.path.normpath(os.path.join(folder, path))
    yield written
    try:
        yield os.path.realpath(os.path.join(folder, path))
    except (OSError, ValueError):
        raise Denied(
            f"{path} can't be followed to a file (a loop of symbolic links?)", _NARROWER
        ) from None


def _is_secret_name(name: str) -> bool:
    if name.endswith(".pub"):
        return False
    return name in NAMES or name.startswith(BEGINNINGS) or name.endswith(ENDINGS)


def _in_secret_place(lowered: str) -> bool:
    return (
        not FOLDERS.isdisjoint(lowered.split("/"))
        or lowered.endswith(PLACES)
        or any(lowered == tree or lowered.startswith(f"{tree}/") for tree in TREES)
    )


def _check_processes(path: str, lowered: str) -> None:
    if lowered.startswith("/proc/") and lowered[6:] not in OPEN_IN_PROC:
        raise Denied(f"{path} shows the environment or memory of programs", _INSTEAD)


def _check_system(path: str, lowered: str) -> None:
    _check_processes(path, lowered)
    if lowered.startswith(("/dev/", "/sys/kernel/", "/inet")) and lowered != "/dev/null":
        raise Denied(f"{path} is a device: reading a device may never end or may change something")


def _check_endless(path: str, folder: str) -> None:
    try:
        mode = os.stat(os.path.join(folder, path)).st_mode
    except (OSError, ValueError):
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISCHR(mode)):
        raise Denied(f"{path} is a pipe or a socket: reading one may never end")
