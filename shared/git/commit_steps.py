"""What `git commit` does until there is a commit, as a script of the shell: no branch is moved.

The trial before the freeze and the commit after the approval run the same script, each where the
repository's own path shows the planned files, on the user's branch and with the user's git folder.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from shared.git.command import durable, user_environment
from shared.git.failure import unstartable
from shared.git.limited import run_for

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

    from shared.git.command import Git
    from shared.git.intended import Intended

POST_COMMIT = "post-commit"
MESSAGE = "COMMIT_EDITMSG"  # in a git folder
# In the folder of a script: the message as planned, and the id of the commit.
_PLANNED, COMMIT = "planned.text", "commit.text"
# As git runs hooks: it finds its own programs first, and nobody is asked by an editor.
_AS_GIT = """
GIT_EXEC_PATH="$(git --exec-path)" GIT_EDITOR=: GIT_PREFIX=
PATH="$GIT_EXEC_PATH:$PATH"
export PATH GIT_EXEC_PATH GIT_EDITOR GIT_PREFIX
"""
_HOOKS = f"""{_AS_GIT}hook() {{ name=$1; shift; [ ! -x "$folder/$name" ] || "$folder/$name" "$@"; }}
"""
_STEPS = f"""
git stripspace <"$folder/{_PLANNED}" >"$message" || exit
hook pre-commit || exit
tree=$(repository write-tree) || exit
hook prepare-commit-msg "$message" message || exit
hook commit-msg "$message" || exit
git stripspace <"$message" >"$folder/said.text"
[ -s "$folder/said.text" ] || {{ echo 'the hooks have left no message' >&2; exit 1; }}
commit "$tree" -p "$parent" -F "$folder/said.text" >"$folder/made.text" || exit
mv "$folder/made.text" "$folder/{COMMIT}"
"""


def steps_of_commit(
    folder: str, git: Sequence[str], intended: Intended, message: str, *, signed: bool = False
) -> str:
    """Return the script that makes the intended commit of what git's index holds.

    Its hooks are those that `wrapped_hooks` has prepared in `folder`; `git` are the words that call
    git, and `message` is its own file for the message. `made_in` tells the commit's id.
    """
    with open(os.path.join(folder, _PLANNED), "xb") as file:
        file.write(intended.message.encode())
    settings = [p for s in (*durable(), "i18n.commitEncoding=UTF-8") for p in ("-c", s)]
    committing = [*git, *settings, "commit-tree", *(["-S"] if signed else [])]
    named = f"folder={shlex.quote(folder)} message={shlex.quote(message)}"
    return f"""{named} parent={intended.at.commit}
repository() {{ {shlex.join(git)} "$@"; }}
commit() {{ {shlex.join(committing)} "$@"; }}
{_HOOKS}{_STEPS}"""


def on_branch(ref: str, commit: str) -> str:
    """Return the lines of a script that put HEAD on a branch, and the branch on a commit.

    They are for a place, or a private copy of git's folder: the user's own branch does not move.
    """
    quiet = ["git", "-c", "core.hooksPath=/dev/null"]
    moves = (("symbolic-ref", "HEAD", ref), ("update-ref", ref, commit))
    return "\n".join(shlex.join([*quiet, *words]) for words in moves)


def before_hooks(git: Git, ref: str, commit: str) -> str:
    """Return the lines by which a hook on its own finds branch and author as at the commit."""
    who = " ".join(f"{name}={shlex.quote(value)}" for name, value in author(git).items())
    return f"{on_branch(ref, commit)}{_AS_GIT}export {who}\n"


def made_in(folder: str) -> str:
    """Return the id of the commit that a script has made, "" if it came to none."""
    try:
        with open(os.path.join(folder, COMMIT), encoding="ascii") as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""


def step_after_commit(folder: str) -> str:
    """Return the script that tells the user's hook of a commit to which the branch has moved."""
    return f"folder={shlex.quote(folder)}{_HOOKS}hook {POST_COMMIT}"


def run_steps(
    git: Git, script: str, limit_s: float, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a script in git's working tree with the user's own environment; 124 after the limit."""
    folder = git.root or git.git_dir
    with unstartable(folder):
        return run_for(limit_s, ["sh", "-c", script], folder, user_environment() | variables, b"")


def message_file(git: Git) -> str:
    """Return git's file for the message of a commit, as git names it to hooks."""
    is_inside = git.git_dir == os.path.join(git.root or "", ".git")
    return os.path.join(".git" if is_inside else git.git_dir, MESSAGE)


def author(git: Git) -> Mapping[str, str]:
    """Return the variables by which git tells hooks, and itself, who the author is and since when.

    The author may be named by settings that count in the user's own folder alone.
    """
    name, _, rest = git.text("var", "GIT_AUTHOR_IDENT").rpartition(" <")
    address, _, when = rest.partition("> ")
    return {
        "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address, "GIT_AUTHOR_DATE": f"@{when}",
    }  # fmt: skip
