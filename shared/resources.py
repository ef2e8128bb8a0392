"""File paths, prompt texts and printed commands of the planner, each defined once (PL-8).

A state directory is all that a command needs to be given; what lies in it is found here.
"""

from __future__ import annotations

import os

from shared.paths import check_one_reading
from state.errors import Refused
from state.journals import APPLY_JOURNAL, MILESTONES, PLANNER, REVERT_JOURNAL

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "bin", "planner")
PLANNER_FOLDER = PLANNER
# Set by the launcher of setup, which assistants start.
LAUNCHED = "PLANNER_HOST"
DATABASE = "planner.db"
MEMORY = "memory.db"
ARCHIVE_FOLDER = "planning/plans"
APPROVAL = "approval.json"
CONFIG_FILE = "planner.toml"
# The first that is there is read: where another tool has the usual name, a person makes the other.
OWN_CONFIG_FILE = f".{CONFIG_FILE}"
CONFIG_FILES = (OWN_CONFIG_FILE, CONFIG_FILE)
PLANNING_FOLDER = "planning"
CANARY = "canary"  # the folder of a verification with what the files held that it breaks
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")
_SPECIAL = frozenset('"$`\\!')  # what a shell reads within double quotes


# files of a run


def plan_path(state_dir: str) -> str:
    """Return the path of the run's plan.json."""
    return os.path.join(state_dir, "plan.json")


def rendered_plan_path(state_dir: str) -> str:
    """Return the path of plan.md, the readable plan that is made from plan.json."""
    return os.path.join(state_dir, "plan.md")


def review_page_path(state_dir: str) -> str:
    """Return the path of the HTML page on which a person reads the plan."""
    return os.path.join(state_dir, "review.html")


def superseded_plan_path(state_dir: str, revision: int) -> str:
    """Return the path of a frozen plan revision that a later revision replaced."""
    return os.path.join(state_dir, f"plan.r{revision}.json")


def get_context_path(state_dir: str) -> str:
    """Return the path of the run's context.json."""
    return os.path.join(state_dir, "context.json")


def review_path(state_dir: str, phase: str) -> str:
    """Return the path of a phase's review file, which exists only during that phase's review."""
    return os.path.join(state_dir, f"qr-{phase}.json")


def answer_path(state_dir: str, name: str) -> str:
    """Return the path of the file in which the assistant writes an answer for a command."""
    return os.path.join(state_dir, "answers", name)


def answer_word(name: str) -> str:
    """Return an answer file's path as printed commands name it, from the state directory."""
    return f"answers/{name}"


def worktree_path(state_dir: str) -> str:
    """Return the path of the run's scratch worktree."""
    return os.path.join(state_dir, "worktree")


def part_worktree_path(state_dir: str) -> str:
    """Return the path of the worktree in which only some milestones are verified."""
    return os.path.join(state_dir, "part")


def milestones_path(state_dir: str) -> str:
    """Return the folder with the worktrees in which agents write milestones (depth intent)."""
    return os.path.join(state_dir, MILESTONES)


def milestone_worktree_path(state_dir: str, milestone: str) -> str:
    """Return the path of the worktree in which an agent writes one milestone."""
    return os.path.join(milestones_path(state_dir), milestone)


def worktrees(state_dir: str) -> list[str]:
    """Return the paths of the run's worktrees in which agents may write, that of the run first."""
    folder = milestones_path(state_dir)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    paths = [milestone_worktree_path(state_dir, name) for name in names]
    return [worktree_path(state_dir), *filter(os.path.isdir, paths)]


def all_trees(state_dir: str) -> list[str]:
    """Return the folders of a run in which copies of the repository's files lie."""
    return [path(state_dir) for path in (worktree_path, part_worktree_path, milestones_path)]


def writing_folder(state_dir: str) -> str:
    """Return the folder in which files are to be changed now: of the milestones being written.

    Where none is, that is the run's worktree.
    """
    trees = worktrees(state_dir)[1:] or [worktree_path(state_dir)]
    return trees[0] if len(trees) == 1 else milestones_path(state_dir)


def kept_work_path(state_dir: str, milestone: str) -> str:
    """Return the path of the file that keeps a milestone's work while its worktree is renewed."""
    return os.path.join(milestones_path(state_dir), f"{milestone}.json")


def vault_path(state_dir: str) -> str:
    """Return the path of the run's bare repository, in which patches are made and applied."""
    return os.path.join(state_dir, "vault.git")


def verification_path(state_dir: str) -> str:
    """Return the folder with what verifications of a run keep: notes and logs."""
    return os.path.join(state_dir, "verify")


def broken_files_path(folder: str) -> str:
    """Return the path of the note of the files that a verification has broken on purpose."""
    return os.path.join(folder, "files.json")


def journal_path(state_dir: str) -> str:
    """Return the folder with the journal by which `exec apply` can be undone."""
    return os.path.join(state_dir, APPLY_JOURNAL)


def revert_journal_path(state_dir: str) -> str:
    """Return the folder with the journal of an `undo` that makes a revert commit."""
    return os.path.join(state_dir, REVERT_JOURNAL)


def approval_path(state_dir: str) -> str:
    """Return the path of a run's approval."""
    return os.path.join(state_dir, APPROVAL)


def revert_message_path(state_dir: str) -> str:
    """Return the path of the message of a revert commit that hooks have refused."""
    return os.path.join(state_dir, "revert-message.txt")


def run_config_path(state_dir: str) -> str:
    """Return the path of the file with the project's settings from the run's base commit."""
    return os.path.join(state_dir, "config.json")


def fingerprint_path(state_dir: str) -> str:
    """Return the folder with the fingerprint of the user's tree, taken when planning started."""
    return os.path.join(state_dir, "fingerprint")


def scene_path(state_dir: str) -> str:
    """Return the path of the file that keeps what `git status` reported after the apply."""
    return os.path.join(journal_path(state_dir), "tree.json")


def user_config_path() -> str:
    """Return the path of the user's own settings, which no repository can change."""
    return os.path.join(_of_the_user("XDG_CONFIG_HOME", ".config"), "config.toml")


def sessions_path() -> str:
    """Return the folder of the files by which hooks find who plans; hooks/guard looks there too."""
    return os.path.join(_of_the_user("XDG_STATE_HOME", ".local/state"), "sessions")


def _of_the_user(variable: str, default: str) -> str:
    folder = os.environ.get(variable, "")
    if not os.path.isabs(folder):  # the XDG rule: a relative one is as if unset
        folder = os.path.join(_home(), default)
    return os.path.join(folder, "planner")


def _home() -> str:
    """Return the user's home: HOME if that is absolute, else what the account has, else the root.

    A relative one would be another folder for each program, and may lie in a repository.
    """
    home = os.environ.get("HOME", "")
    if os.path.isabs(home):
        return home
    try:
        import pwd  # nearly everybody has HOME

        home = pwd.getpwuid(os.getuid()).pw_dir
    except (ImportError, KeyError):
        return os.sep
    return home if os.path.isabs(home) else os.sep


def packages_path() -> str:
    """Return the folder in the user's cache that holds the packages which our commands need."""
    return os.path.join(_of_the_user("XDG_CACHE_HOME", ".cache"), "packages")


def installed_path(*names: str) -> str:
    """Return a path in the skill folder that `planner setup` writes for the user's assistants."""
    return os.path.join(_of_the_user("XDG_DATA_HOME", ".local/share"), *names)


def setup_path(*names: str) -> str:
    """Return a path in the folder where `planner setup` remembers what it has changed."""
    return os.path.join(_of_the_user("XDG_STATE_HOME", ".local/state"), "setup", *names)


def template_path(name: str) -> str:
    """Return the file of the user's template of plans with a given name."""
    return os.path.join(os.path.dirname(user_config_path()), "templates", f"{name}.json")


def tree_runs_path(state_dir: str) -> str:
    """Return the path of the record of what an assistant has run on the plan's files."""
    return os.path.join(state_dir, "tree-runs.json")


def candidates_path(state_dir: str) -> str:
    """Return the path of the commands that could verify the run, found when it started."""
    return os.path.join(state_dir, "candidates.json")


def chosen_commands_path(state_dir: str) -> str:
    """Return the path of the verify commands that the run's assistant has chosen."""
    return os.path.join(state_dir, "verify-commands.json")


def lock_path(state_dir: str) -> str:
    """Return the path of a state directory's lock file, which is never renamed or removed."""
    return os.path.join(state_dir, "lock")


def turns_path(state_dir: str) -> str:
    """Return the path of the lock by which commands of the place and others take turns."""
    return os.path.join(state_dir, "turns")


def archived_plan(run_id: str) -> str:
    """Return the path inside the repository of a committed copy of a run's plan."""
    return f"{ARCHIVE_FOLDER}/{run_id}.json"


def archived_text(run_id: str) -> str:
    """Return the path inside the repository of a committed copy of a run's plan.md."""
    return f"{ARCHIVE_FOLDER}/{run_id}.md"


def database_path(state_dir: str) -> str:
    """Return the path of a state directory's database: in its repository, else inside itself."""
    folder = state_dir
    while (parent := os.path.dirname(folder)) != folder:
        if os.path.basename(folder) == PLANNER_FOLDER:
            return os.path.join(folder, DATABASE)
        folder = parent
    return os.path.join(state_dir, DATABASE)


def is_database(path: str) -> bool:
    """Return whether there is a database at a path; a link counts, which opening it refuses."""
    return os.path.isfile(path) or os.path.islink(path)


def repository_database(folder: str) -> str | None:
    """Return the path of the planner's database for the repository around `folder`, or None."""
    # A scratch worktree lies inside .planner, and may have a .planner of its own.
    folder = os.path.abspath(folder).partition(f"{os.sep}{PLANNER_FOLDER}{os.sep}")[0] or os.sep
    while True:
        candidate = os.path.join(folder, PLANNER_FOLDER, DATABASE)
        if is_database(candidate):
            return candidate
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


# the requirements lane


def requirements_folder(root: str, codepath: str) -> str:
    """Return the state directory of the requirements lane for the code at `codepath`."""
    inside = os.path.relpath(codepath, root)
    name = "root" if inside == os.curdir else inside.replace("%", "%25").replace(os.sep, "%2F")
    return os.path.join(root, PLANNER_FOLDER, "requirements", name)


def requirements_record_path(state_dir: str) -> str:
    """Return the path of what the requirements lane remembers between two commands."""
    return os.path.join(state_dir, "lifecycle.json")


def transition_path(state_dir: str) -> str:
    """Return the path of the file operations that a transition of the lane is making."""
    return os.path.join(state_dir, "transition.json")


def lane_path(state_dir: str) -> str:
    """Return the path of the file that says which requirements a run implements."""
    return os.path.join(state_dir, "requirements.json")


# files of the choice of a strategy


def strategy_path(state_dir: str) -> str:
    """Return the path of what the choice of a strategy remembers between two commands."""
    return os.path.join(state_dir, "strategy.json")


def strategy_document_path(state_dir: str) -> str:
    """Return the path of context.md, the numbered sections that are made from it for readers."""
    return os.path.join(state_dir, "context.md")


def recalled_path(state_dir: str) -> str:
    """Return the path of what earlier plans say to a run's request, kept for its design."""
    return os.path.join(state_dir, "recalled.json")


# prompts


def read_prompt(role: str, script: str, name: str) -> str:
    """Return the text of `<role>/prompts/<script>/<name>.md`."""
    path = os.path.join(ROOT, role, "prompts", script, f"{name}.md")
    with open(path, encoding="utf-8") as file:
        return file.read().rstrip("\n")


def fill(template: str, slots: Mapping[str, str]) -> str:
    """Return `template` with each `{{slot}}` replaced by its value; slots inside values stay.

    Raises ValueError for a slot that has no value and for a value that has no slot.
    """
    first, *rest = template.split("{{")
    parts, used = [first], set()
    for piece in rest:
        name, closed, text = piece.partition("}}")
        if not closed or name not in slots:
            message = f"the prompt has a slot {name!r}, but no value was given for it"
            raise ValueError(message)
        used.add(name)
        parts += [slots[name], text]
    if unused := set(slots) - used:
        message = f"the prompt has no slot for {sorted(unused)}"
        raise ValueError(message)
    return "".join(parts)


# printed commands


def quote(word: str) -> str:
    """Return `word` quoted for a shell; plain words stay as they are."""
    if word and _PLAIN.issuperset(word):
        return word
    if "'" in word and _SPECIAL.isdisjoint(word):
        return f'"{word}"'
    return "'" + word.replace("'", "'\"'\"'") + "'"


def launcher_text(program: str) -> str:
    """Return the launcher that starts `program`: a fixed path, whatever version lies behind it."""
    return f"""\
#!/bin/sh
# Written by `planner setup`, which removes it too. Permission rules name this path, since that of
# the program may change with each version. Assistants start it, some of them in a terminal: the
# variable says that the answer is not for a person to read.
program={quote(program)}
export {LAUNCHED}=1
[ -x "$program" ] && exec "$program" "$@"
echo '<error>'
echo '<problem kind="not_found" at="planner">the planner has moved or is gone · allowed: the user'
echo 'runs bin/planner setup in its new folder</problem>'
echo '</error>'
exit 2
"""


def launcher_path() -> str:
    """Return the path of the program that printed commands name.

    It is the launcher of `planner setup` if that starts this version, else this version's own.
    """
    path = installed_path("bin", "planner")
    try:
        with open(path, encoding="utf-8") as file:
            ours = file.read() == launcher_text(PROGRAM)
    except (OSError, ValueError):
        ours = False
    return path if ours else PROGRAM


def launcher() -> str:
    """Return the quoted path of the planner program, the first word of every printed command."""
    return quote(launcher_path())


def command(*words: str, state_dir: str | None = None, role: str | None = None) -> str:
    """Return a planner command line that can be run unchanged from any working directory."""
    tail = [] if role is None else ["--role", role]
    tail += [] if state_dir is None else ["--state-dir", state_dir]
    return " ".join([launcher(), *(quote(w) for w in (*words, *tail))])


def known_state_dir(path: str) -> str:
    """Return the real path of a state directory; Refused if it is not one of the planner's."""
    check_one_reading(path)
    real = os.path.realpath(path)
    if not os.path.isdir(real):
        text = "there is no such state directory (the folder of a run)"
        raise Refused("not_found", path, text, "use the --state-dir that `planner start` printed")
    if not os.path.isfile(plan_path(real)) and not os.path.isfile(lock_path(real)):
        text = "is not a state directory of the planner: it has no plan.json"
        raise Refused("not_found", path, text, "use the --state-dir that `planner start` printed")
    return real
