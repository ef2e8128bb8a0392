"""Finds where a project's environment leads: other folders that its files and links name.

That are an editable install, a linked package, a local path of a build, an interpreter elsewhere.
Files are read and links followed; nothing of the project runs.
"""

from __future__ import annotations

import os

from shared.paths import followed, lies_in

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from shared.secret_walk import Also

    # By path of a file or link: its time of change, its size, and the paths that it names.
    Read = dict[str, tuple[int, int, list[str]]]

# Files of a project in which paths of other projects may stand; some only in a folder of a name.
_FILES = frozenset((
    "go.work", "go.mod", "Cargo.toml", ".cargo/config.toml", ".cargo/config", "rust-toolchain.toml",
    "pyproject.toml", "setup.cfg", "Pipfile", "requirements.txt", "package.json",
    "pnpm-workspace.yaml", "deno.json", "tsconfig.json", "tsconfig.base.json", "composer.json",
    "Gemfile", ".bundle/config", "pom.xml", "settings.gradle", "settings.gradle.kts",
    "build.gradle", "build.gradle.kts", "CMakeLists.txt", "pubspec.yaml", "pubspec_overrides.yaml",
    "mix.exs", "Package.swift", "stack.yaml", "cabal.project", "deps.edn", "Directory.Build.props",
))  # fmt: skip
_ENDINGS = (".csproj", ".fsproj", ".vbproj", ".sln")
# Of what was installed: lines that Python adds to its search path, and the interpreter's folder.
_OF_PYTHON = (".pth", ".egg-link")
_FINDER, _ENVIRONMENT = "__editable__", "pyvenv.cfg"
# Of git: its hooks name the interpreter that they were installed with.
_HOOKS = "hooks"
# Folders of which links are followed that lie in them, or that are links themselves.
_LINKED = ("node_modules", ".venv", "venv", "vendor")
# Looked for in the folders above a project too, where tools look for them.
_ABOVE = (
    "go.work", "go.work.sum", ".cargo", "node_modules", ".tool-versions", ".mise.toml", "mise.toml",
    ".python-version", ".node-version", ".nvmrc", ".ruby-version", "rust-toolchain.toml",
    "rust-toolchain", ".editorconfig",
)  # fmt: skip
_LONGEST = 1 << 16
_MOST = 200  # files and links of one project, and paths in one file
# A path after what stands before one in the files above; on Windows `\` divides it.
_PATH = r"""(?:^|[\s"'=(\[,>:])((?:\.{1,2}[/\\]|~/|/)[^\s"'<>|;,)\]}]+|\.\.(?=["'\s]))"""
# One of these lies at the top of a project.
_OF_PROJECTS = (
    "pyproject.toml", "setup.py", "package.json", "Cargo.toml", "go.mod", "pom.xml", "Gemfile",
    "composer.json",
)  # fmt: skip
_BESIDE_PROGRAMS = ("lib", "lib64", "libexec", "share", "include")
_PROGRAMS = ("bin", "sbin", "shims", ".bin")


def noted(root: str) -> Also:
    """Return what tells, in a walk over the project at `root`, which names lead elsewhere."""

    def leads(folder: str, entry: os.DirEntry[str], installed: bool) -> bool:
        name, within = entry.name, os.path.basename(folder)
        if entry.is_symlink():
            if within in _LINKED or within.startswith("@") or name in _LINKED:
                return not lies_in(target(entry.path), (root,))
            return False
        if installed and within == _HOOKS:
            return not name.endswith(".sample")
        if installed:
            return name.endswith(_OF_PYTHON) or name.startswith(_FINDER) or name == _ENVIRONMENT
        return name in _FILES or name.endswith(_ENDINGS) or f"{within}/{name}" in _FILES

    return leads


def named_paths(paths: Iterable[str], kept: Read) -> Read:
    """Return by file or link the paths that it names; what has not changed is as in `kept`."""
    found: Read = {}
    for path in paths:
        try:
            status = os.lstat(path)
        except OSError:
            continue
        before = kept.get(path)
        if before and tuple(before[:2]) == (status.st_mtime_ns, status.st_size):
            found[path] = before
        else:
            found[path] = (status.st_mtime_ns, status.st_size, _named_in(path))
        if len(found) == _MOST:
            break
    return found


def all_named(read: Read) -> list[str]:
    """Return the paths that files and links name, in their order."""
    return [path for *_, paths in read.values() for path in paths]


def above(project: str, home: str) -> Iterator[str]:
    """Yield what tools read of the folders that lie between a home and a project in it."""
    folder = os.path.dirname(project)
    while home and lies_in(folder, (home,)):
        yield from filter(os.path.lexists, (os.path.join(folder, name) for name in _ABOVE))
        folder = os.path.dirname(folder)


def site_packages(prefix: str) -> Iterator[str]:
    """Yield what leads elsewhere from the packages of a Python that is installed at `prefix`."""
    library = os.path.join(prefix, "lib")
    for version in names(library):
        if version.startswith("python"):
            folder = os.path.join(library, version, "site-packages")
            for name in names(folder):
                if name.endswith(_OF_PYTHON) or name.startswith(_FINDER):
                    yield os.path.join(folder, name)
    yield os.path.join(prefix, _ENVIRONMENT)


def whole(path: str, home: str, project: str) -> str:
    """Return what to show where something leads to `path` in a home: a whole project or program.

    That is what is installed around a `bin`, else its git repository, else the folder above with a
    file of a project, else the folder; "" if this would show a home, or all beside the project.
    """
    is_folder = os.path.isdir(path)
    folder = path if is_folder else os.path.dirname(path)
    prefix = installation(folder)
    if prefix != folder and lies_in(prefix, (home,)) and not lies_in(project, (prefix,)):
        return prefix
    at, found = folder, ""
    while at != home and lies_in(at, (home,)):
        if os.path.lexists(os.path.join(at, ".git")):
            return at
        named = (os.path.join(at, name) for name in _OF_PROJECTS)
        if not found and not lies_in(project, (at,)) and any(map(os.path.lexists, named)):
            found = at
        at = os.path.dirname(at)
    if found:
        return found
    if lies_in(project, (folder,)) or lies_in(home, (folder,)):
        return "" if is_folder else path
    return folder


def installation(folder: str) -> str:
    """Return where a program is installed whose folder of programs this is, else the folder."""
    base, name = os.path.split(folder)
    if name in ("shims", ".bin"):
        return base
    beside = (os.path.join(base, other) for other in _BESIDE_PROGRAMS)
    return base if name in _PROGRAMS and any(map(os.path.isdir, beside)) else folder


def _named_in(path: str) -> list[str]:
    """Return the paths that a link or a text file names."""
    if os.path.islink(path):
        return [target(path), followed(path)]
    import re  # not at the top: mostly no file has changed

    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read(_LONGEST)
    except (OSError, ValueError):
        return []
    folder, found = os.path.dirname(path), dict[str, None]()
    for token in re.findall(_PATH, text, re.MULTILINE)[:_MOST]:
        plain = re.split(r"[*?{$\0]", token.replace("\\", "/"), maxsplit=1)
        named = plain[0] if len(plain) == 1 else os.path.dirname(plain[0])
        named = f"/{named.lstrip('/')}" if named.startswith("/") else os.path.expanduser(named)
        found[os.path.normpath(os.path.join(folder, named))] = None
    return list(found)


def target(link: str) -> str:
    """Return the path that a link names; its own if it is none any more."""
    try:
        return os.path.normpath(os.path.join(os.path.dirname(link), os.readlink(link)))
    except OSError:
        return link


def names(folder: str) -> list[str]:
    """Return the names in a folder, none if it can't be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []
