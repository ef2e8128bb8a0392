"""Decides whether a shell command provably changes no file or setting; any error denies it."""

from __future__ import annotations

import os

from shared.guard.denial import ASK, Denied
from shared.guard.kinds import check_kind
from shared.guard.match import match_exact, match_options
from shared.guard.own import is_ours, own_words, understand
from shared.guard.policy import COMMANDS
from shared.guard.policy.rule import Exact, Special
from shared.guard.scene import Scene
from shared.guard.settings import Settings
from shared.resources import launcher, quote

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable

    from shared.guard.words import Command, Word

    Own = Callable[[list[str]], str | None]

_READ = "use cat, head, tail, sed -n, grep, rg, find, ls, wc, git log, git show, git diff"
_NOTHING = Settings()
_MAX_SHOWN = 600


class Decision:
    """Whether a shell command may run; `rewritten` is a command to run in its place, or None."""

    __slots__ = ("allowed", "instead", "reason", "rewritten")

    def __init__(
        self, *, allowed: bool, reason: str = "", instead: str = "", rewritten: str | None = None
    ) -> None:
        self.allowed = allowed
        self.reason = reason
        self.instead = instead
        self.rewritten = rewritten


def decide(
    command: str, *, cwd: str, planner: Own | None = None, extra: Settings = _NOTHING
) -> Decision:
    """Return the decision whether shell command `command`, run in `cwd`, provably changes nothing.

    `planner` returns why the words after our own launcher are refused; without it, all are.
    """
    try:
        return _decide(command, cwd, planner, extra)
    except Denied as denied:
        return Decision(
            allowed=False, reason=_visible(denied.reason), instead=_visible(denied.instead)
        )
    except Exception as error:  # noqa: BLE001 – a fault of ours must not let a command through
        reason = f"the guard failed on this command: {type(error).__name__}"
        return Decision(allowed=False, reason=reason, instead=ASK)


def _visible(text: str) -> str:
    """Return `text`, shortened if long, with control and invisible characters escaped."""
    shown = text if text.isprintable() else ascii(text)[1:-1]
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[:_MAX_SHOWN]}…"


def _decide(command: str, cwd: str, planner: Own | None, extra: Settings) -> Decision:
    commands = understand(command, cwd)
    first = commands[0].words
    own = own_words(commands, cwd)
    if own is not None:
        return _own(own, planner)
    scene = Scene(cwd)
    for at, one in enumerate(commands):
        scene.budget.spend()
        scene = scene.at(scene.folder, fed=one.joiner == "|")
        if one.words[0].raw == "cd":
            scene = scene.at(_enter(at, commands, scene))
        else:
            _check(one, scene, extra)
    if len(commands) == 1 and first[0].raw == "cd":
        return Decision(allowed=True, reason="enters a folder")
    return Decision(allowed=True, reason=_reason(commands), rewritten=_rewrite(command, commands))


def _own(words: list[str], planner: Own | None) -> Decision:
    refusal = planner(words) if planner else "planner commands are not accepted here"
    if refusal is not None:
        raise Denied(refusal, "ask the user to run it")
    return Decision(allowed=True, reason="is the planner's own command")


def _enter(at: int, commands: list[Command], scene: Scene) -> str:
    """Return the folder that a leading `cd` of a shell command line changes to."""
    words = commands[at].words
    # It must happen for certain, in this shell, whatever the commands before it return.
    certain = commands[at].joiner in ("", ";") or all(c.words[0].raw == "cd" for c in commands[:at])
    after = commands[at + 1].joiner if at + 1 < len(commands) else ";"
    if not certain or after not in ("&&", ";") or commands[at].redirects:
        raise Denied(
            "`cd` is accepted only as `cd FOLDER && …` at the beginning",
            "write `cd FOLDER && …`, or use `ls FOLDER`",
        )
    if any("$PWD" in command.text for command in commands[at + 1 :]):
        raise Denied("`$PWD` has another value after `cd`", "write the path itself")
    target = words[1].value if len(words) == 2 and not words[1].globs else "-"  # noqa: PLR2004
    if target.startswith("-") or os.environ.get("CDPATH"):
        raise Denied("`cd` takes the path of one folder", "write `cd FOLDER && …`")
    entered = os.path.normpath(os.path.join(scene.folder, target))
    if not os.access(entered, os.X_OK) or not os.path.isdir(entered):
        raise Denied(f"{target} is not a folder that can be entered", "name a folder that exists")
    check_kind("path", words[1], scene)
    return entered


def _check(command: Command, scene: Scene, extra: Settings) -> None:
    for redirect in command.redirects:
        if redirect.form == "<" and redirect.target is not None:
            if redirect.target.globs:
                raise Denied("`<` is followed by a pattern such as `*`", "name one file after `<`")
            check_kind("file", redirect.target, scene)
            scene.fed = True
    plain = [word.value for word in command.words]
    extra.check(plain)
    name = command.words[0]
    if any(word.globs for word in command.words[1:]) or not extra.allows(plain):
        _check_table(name, command.words[1:], scene)
    elif name.raw != name.value:
        raise Denied("the name of the command is quoted", "write the name without quotes")


def _check_table(name: Word, words: list[Word], scene: Scene) -> None:
    """Deny a shell command unless the policy tables have a rule for it that accepts its words."""
    rule = COMMANDS.get(name.raw)
    if rule is None:
        _refuse(name)
    elif isinstance(rule, Exact):
        match_exact(name.raw, words, rule, scene)
    elif isinstance(rule, Special):
        # Not at the top: most commands do without it.
        from shared.guard.special import SPECIAL

        SPECIAL[rule.judge](words, scene)
    elif [word.value for word in words] not in (["--version"], ["--help"]):
        match_options(name.raw, words, rule, scene)


def _refuse(name: Word) -> None:
    shown = name.value[:80]
    if "=" in shown:
        raise Denied(
            "a variable set before a command can change what the command does",
            "send the command without the variable",
        )
    if "/" in shown and is_ours(name.value):
        reason = "a planner command is judged only where no other command is around it"
        raise Denied(reason, "send the planner command alone, in its plain form")
    if name.raw != name.value or "/" in shown or shown != shown.lower():
        reason = f"`{shown}` is not a command name in lower case, without path and quotes"
        raise Denied(reason, f"{_READ}, each by its bare name")
    from shared.guard.policy.refused import REFUSED

    if shown in REFUSED:
        reason, instead = REFUSED[shown]
        raise Denied(f"`{shown}` {reason}", instead)
    raise Denied(f"`{shown}` is not on the guard's list of commands that change nothing", _READ)


def _reason(commands: list[Command]) -> str:
    found = (COMMANDS.get(command.words[0].raw) for command in commands)
    return "; ".join(
        dict.fromkeys(rule.reason if rule else "is allowed by your settings" for rule in found)
    )


def _rewrite(text: str, commands: list[Command]) -> str:
    first = commands[0]
    rule = COMMANDS.get(first.words[0].raw)
    plain = not first.redirects and not any(word.globs for word in first.words[1:])
    if len(commands) == 1 and plain and not (rule and rule.builtin):
        return " ".join([launcher(), "ro", "--", *(quote(word.value) for word in first.words)])
    return f"{launcher()} ro -c {quote(text)}"
