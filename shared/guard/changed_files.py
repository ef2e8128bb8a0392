"""Says which files a simple command of a shell text changes, by its name and operands.

`taken_back` finds the commands of a text whose changes the same text undoes: an assistant that
tries something and cleans up after itself wants no change (PP-4).
"""

from __future__ import annotations

import os
import re

from shared.guard import writing
from shared.guard.words import UNKNOWN, is_assignment

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Iterator

    from shared.guard.targets import View
    from shared.guard.words import Command

_DURATION = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_WRAPPERS = frozenset({
    "sudo", "doas", "env", "nice", "ionice", "nohup", "command", "builtin", "exec", "timeout",
    "stdbuf", "setsid", "xargs",
})  # fmt: skip
_REMOVES = ("rm", "rmdir")
_GIT_RESTORES = ("checkout", "restore")
_PUTS_BACK = 2  # operands of a `mv` or `cp` that can put a file back


def unwrapped(words: list[str]) -> tuple[list[str], bool]:
    """Return a command without others before it, such as `timeout 5`, and whether it is fed."""
    fed = False
    while words and words[0] in _WRAPPERS and not {"-v", "-V"} & {*words[1:2]}:
        fed = fed or words[0] == "xargs"
        at = 1
        while at < len(words) and _belongs_to_wrapper(words[at]):
            at += 1
        words = words[at:]
    return words, fed


def changed_files(name: str, rest: list[str]) -> list[str] | None:
    """Return the operands that a command changes, None if it is not one for changing files."""
    which = writing.OPERANDS.get(name)
    if which is None:
        return _edited_in_place(rest) if name == "sed" else None
    operands = list(_operands(name, rest))
    if name == "mktemp" and {"-t", "--tmpdir"} & {*rest}:
        return []
    return {writing.ALL: operands, writing.REST: operands[1:], writing.LAST: operands[-1:]}[which]


def git_verb(rest: list[str]) -> tuple[str, list[str], list[str]]:
    """Return the verb of a git command, the words after it, and the folders of its `-C`."""
    at, folders = 0, []
    while at < len(rest) and rest[at].startswith("-"):
        folders += rest[at + 1 : at + 2] if rest[at] == "-C" else []
        at += 2 if rest[at] in ("-C", "-c") else 1
    verb, *words = rest[at:] or [""]
    return verb, words, folders


def git_writes(verb: str, words: list[str]) -> bool:
    """Return whether `git VERB WORDS` clearly writes into its repository."""
    if verb in writing.GIT_WRITES:
        return not {"-n", "--dry-run"} & {*words} or verb == "commit"
    if verb in writing.GIT_WRITES_BUT:
        return not writing.GIT_WRITES_BUT[verb] & {*words}
    if writing.GIT_WRITES_WITH.get(verb, frozenset()) & {*words}:
        return True
    if verb in writing.GIT_MAKES:
        return bool(words) and not any(word.startswith("-") for word in words)
    return verb == "config" and _sets(words)


def taken_back(commands: list[Command], view: View) -> set[int]:
    """Return the numbers of the commands whose changes the text takes back, and of what does so."""
    if len(commands) == 1:
        return set()
    split = [unwrapped(found.called)[0] or [""] for found in commands]
    return _tries_of_git(split) | _tries_of_files(commands, split, view)


def _tries_of_git(split: list[list[str]]) -> set[int]:
    """Return the numbers of commands such as `git stash` and the `git stash pop` after them."""
    verbs = [git_verb(words[1:]) if words[0] == "git" else ("", [], []) for words in split]
    found = set[int]()
    for verb, back in writing.GIT_TAKES_BACK.items():
        numbers = [number for number, one in enumerate(verbs) if one[0] == verb]
        ends = [number for number in numbers if back in verbs[number][1]]
        if ends and numbers[0] not in ends:
            found |= {number for number in numbers if number <= ends[-1]}
    return found


def _tries_of_files(commands: list[Command], split: list[list[str]], view: View) -> set[int]:
    """Return the numbers of commands that write files, and of those that restore or remove them."""
    written: list[set[str]] = []
    made, back, undoing, folder = set[str](), set[str](), set[int](), view.folder
    for number, (found, words) in enumerate(zip(commands, split, strict=True)):
        restored = _restored(words, made, view)
        if restored:
            back |= restored
            undoing.add(number)
        changed = changed_files(os.path.basename(words[0]), words[1:]) or []
        paths = {view.full(path) for path in (*found.written, *changed) if view.lasts(path)}
        written.append(set() if restored else paths)
        made |= written[-1] if os.path.basename(words[0]) not in _REMOVES else set()
        back -= written[-1]
        if words[0] == "cd":
            view.enter(words)
    view.folder = folder
    return undoing | {number for number, paths in enumerate(written) if paths and paths <= back}


def _restored(words: list[str], made: set[str], view: View) -> set[str]:
    """Return the files written before that a command takes back; none if it changes others too."""
    name, rest = os.path.basename(words[0]), words[1:]
    removes = name in _REMOVES
    if name == "git":
        verb, rest, _ = git_verb(rest)
    operands = list(_operands(name, rest))
    if UNKNOWN in "".join(operands):
        return set()
    paths = [view.full(path) for path in operands]
    if name in ("mv", "cp") and len(paths) == _PUTS_BACK:
        copied = paths[0] in made and not os.path.lexists(paths[0])
        return made & {*paths} if copied and paths[1] in made else set()
    if not removes and not (name == "git" and verb in _GIT_RESTORES):
        return set()
    below = [{one for one in made if f"{one}/".startswith(f"{path}/")} for path in paths]
    if not all(below) or (removes and any(map(os.path.lexists, paths))):
        return set()
    return {one for found in below for one in found}


def _belongs_to_wrapper(word: str) -> bool:
    return word.startswith(("-", "{")) or bool(_DURATION.fullmatch(word)) or is_assignment(word)


def _operands(name: str, rest: list[str]) -> Iterator[str]:
    skipped = plain = False
    for word in rest:
        if plain or skipped or not word.startswith("-") or word == "-":
            if not skipped:
                yield word
            skipped = False
        else:
            plain = word == "--"
            skipped = word in writing.VALUED.get(name, ())


def _edited_in_place(rest: list[str]) -> list[str]:
    """Return the files that sed changes; none if it only prints."""
    if not any(re.match(r"-[nErsuz]*i|--in-place", word) for word in rest):
        return []
    scripted = any(re.match(r"-[nErsuzi]*[ef]|--expression|--file", word) for word in rest)
    operands = [word for word in rest if not word.startswith("-")]
    return operands if scripted else operands[1:]


def _sets(words: list[str]) -> bool:
    """Return whether `git config WORDS` is `git config KEY VALUE`."""
    reads = any(word.startswith(("--get", "-l", "--list", "-f", "--file")) for word in words)
    operands = [word for word in words if not word.startswith("-")]
    return not reads and len(operands) > 1 and operands[0] not in ("get", "list")
