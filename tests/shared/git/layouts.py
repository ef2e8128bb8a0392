"""Repositories to commit in: where git's folder lies, how commits are signed, what hooks do."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from tests.forms import LONG, SEED
from tests.shared.git.conftest import Project

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Setting = Callable[[Project, Path], None]


def plain(root: Path) -> Project:
    return filled(Project(root))


def linked(root: Path) -> Project:
    made = filled(Project(root.with_name("first")))
    made.git("worktree", "add", "-q", "-b", "side", str(root))
    return Project(root)


def beside_bare(root: Path) -> Project:
    made = filled(Project(root.with_name("first")))
    made.git("clone", "-q", "--bare", ".", str(root.with_name("bare.git")))
    bare = root.with_name("bare.git")
    made.git("worktree", "add", "-q", "-b", "side", str(root), cwd=bare)
    return Project(root)


def separate(root: Path) -> Project:
    root.mkdir()
    apart = str(root.with_name("apart.git"))
    subprocess.run(["git", "init", "-q", "--separate-git-dir", apart, str(root)], check=True)
    return filled(Project(root))


def behind_link(root: Path) -> Project:
    made = filled(Project(root))
    (root / ".git").rename(root.with_name("moved.git"))
    (root / ".git").symlink_to(root.with_name("moved.git"))
    return made


def submodule(root: Path) -> Project:
    inner = filled(Project(root.with_name("inner")))
    outer = Project(root.parent / "outer")
    outer.git("submodule", "--quiet", "add", str(inner.root), "part")
    outer.commit()
    return Project(outer.root / "part")


def borrowing(root: Path) -> Project:
    made = filled(Project(root.with_name("first")))
    made.git("clone", "-q", "--shared", ".", str(root))
    return Project(root)


def sparse(root: Path) -> Project:
    made = filled(Project(root))
    made.commit({"docs/x": b"x\n"})
    made.git("sparse-checkout", "set", "src")
    return made


def filled(project: Project) -> Project:
    """Commit a few files."""
    project.commit({"src/app.py": b"a = 1\n", "gone": b"x\n", "run.sh": b"#!/bin/sh\n"})
    return project


LAYOUTS: list[Callable[[Path], Project]] = [
    plain, linked, beside_bare, separate, behind_link, submodule, borrowing, sparse,
]  # fmt: skip


# How commits are signed: each sets a project up, with files of its own in a folder.


def unsigned(_project: Project, _folder: Path) -> None:
    pass


def by_ssh(project: Project, folder: Path) -> None:
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    _signing(project, {"gpg.format": "ssh", "user.signingKey": str(key)})


def by_openpgp(project: Project, folder: Path) -> None:
    _signing(project, {"gpg.program": played(folder, "PGP SIGNATURE")})


def by_x509(project: Project, folder: Path) -> None:
    program = played(folder, "SIGNED MESSAGE")
    _signing(project, {"gpg.format": "x509", "gpg.x509.program": program})


def played(folder: Path, name: str) -> str:
    """Make a program that signs as git calls it, without a key; return its path."""
    program = folder / "signs"
    program.write_text(
        "#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\n"
        f"printf -- '-----BEGIN {name}-----\\nx\\n-----END {name}-----\\n'\n"
    )
    program.chmod(0o755)
    return str(program)


def _signing(project: Project, settings: dict[str, str]) -> None:
    for name, value in {**settings, "commit.gpgSign": "true"}.items():
        project.git("config", name, value)


# What hooks do: each sets a project up; what its hook sees goes into the file `seen`.


def formatting(project: Project, seen: Path) -> None:
    names = "git diff --cached --name-only --diff-filter=AM -z -- '*.py'"
    add_hook(project, "pre-commit", seen, f"{names} | xargs -0 -r sed -i 's/[ \t]*$//'\n"
             f"{names} | xargs -0 -r git add --")  # fmt: skip


def adding_a_trailer(project: Project, seen: Path) -> None:
    add_hook(project, "commit-msg", seen, 'echo >>"$1"; echo "Change-Id: I1" >>"$1"')


def being_told(project: Project, seen: Path) -> None:
    add_hook(project, "post-commit", seen, f"git log -1 --format='%T %s %an' >>'{seen}'")


def naming_the_branch(project: Project, seen: Path) -> None:
    line = 'branch=$(git symbolic-ref --short HEAD) && sed -i "1s/^/[$branch] /" "$1"'
    add_hook(project, "prepare-commit-msg", seen, line)


def reading_gits_folder(project: Project, seen: Path) -> None:
    folder = add_hook(project, "pre-commit", seen, '. "$(git rev-parse --git-path hooks)/lib.sh"')
    (folder / "lib.sh").write_text(f"git rev-parse --git-dir >>'{seen}'\n")


def in_an_ignored_folder(project: Project, seen: Path) -> None:
    """As husky has it."""
    project.commit({".gitignore": b".husky/_\n"})
    project.git("config", "core.hooksPath", ".husky/_")
    add_hook(project, "pre-commit", seen, "test -x .husky/_/pre-commit")


def storing_large_files(project: Project, seen: Path) -> None:
    project.git("lfs", "install", "--local", "--force")
    project.commit({".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    add_hook(project, "pre-commit", seen, f"git lfs ls-files >>'{seen}'")


def add_hook(project: Project, name: str, seen: Path, line: str) -> Path:
    """Add a hook that tells which it is and on which branch; return the folder of the hooks."""
    folder = Path(project.root, project.git("rev-parse", "--git-path", "hooks"))
    folder.mkdir(parents=True, exist_ok=True)
    told = f"echo {name} $(git symbolic-ref HEAD) $(git var GIT_AUTHOR_IDENT | cut -d '>' -f 1)"
    (folder / name).write_text(f"#!/bin/sh\n{told} >>'{seen}'\n{line}\n")
    (folder / name).chmod(0o755)
    return folder


SIGNATURES = [unsigned, by_ssh, by_openpgp, by_x509]
HOOKS = [
    formatting, adding_a_trailer, being_told, naming_the_branch, reading_gits_folder,
    in_an_ignored_folder, *([storing_large_files] if shutil.which("git-lfs") else []),
]  # fmt: skip


def matrix() -> Sequence[tuple[Callable[[Path], Project], Setting, Setting]]:
    """Return each layout with each signature and each hook; in the short form two layouts.

    There each signature and each hook is in one case at least.
    """
    if LONG:
        return [*itertools.product(LAYOUTS, SIGNATURES, HOOKS)]
    two = [LAYOUTS[(SEED + turn * 3) % len(LAYOUTS)] for turn in range(2)]
    signatures, layouts = itertools.cycle(SIGNATURES), itertools.cycle(two)
    return [*zip(layouts, signatures, HOOKS, strict=False)]
