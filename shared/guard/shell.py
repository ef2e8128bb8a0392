"""Decides about an assistant's shell command while it plans: it runs in the place, or is parsed.

Where the place holds and the client takes a changed text, any text passes that does not clearly
mean a change of the user's files (PP-4). Elsewhere only what provably changes nothing does.
"""

from __future__ import annotations

import os

from shared import resources
from shared.clients import Settings, client_of
from shared.guard import own, texts
from shared.guard.advice import check_text
from shared.guard.denial import Denied
from shared.place.level import level
from shared.resources import ROOT, answer_path, installed_path, launcher, launcher_path

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shared.clients import Client
    from shared.guard.targets import View
    from shared.mode.sessions import Session

TEXT_FILE = "command.sh"
_ASKED = "Planning mode: may this command run? Nothing that it changes lasts.\n"
_UNCOMPARED = "the user's settings hold rules for commands, and this text is more than those name"


class Changed:
    """The shell text that a client runs in place of another; `ask` is what its user is asked."""

    __slots__ = ("ask", "text")

    def __init__(self, text: str, ask: str = "") -> None:
        self.text = text
        self.ask = ask


class Shell:
    """The shell of an assistant that plans: its client, its folder, and what it may run there.

    `view` says which changes last, `refusal` why it may not run the planner command with these
    words.
    """

    def __init__(
        self, host: str, mode: str, cwd: str, session: Session, view: View,
        refusal: Callable[[list[str]], str | None],
    ) -> None:  # fmt: skip
        self.client = client_of(host)
        self.cwd = cwd
        self.session = session
        self.view = view
        self.refusal = refusal
        self.settings = read_settings(self.client, (cwd, session.repository), mode)
        self.home = session.state_dir or os.path.dirname(session.database)
        self.held = level(session.repository).holds

    def answer(self, command: str) -> Changed | None:
        """Return what runs in place of a command, None if it runs as it is; raises Denied."""
        words = self._own_words(command)
        if words is not None or self.settings.others or not self.held:
            return self._parsed(command, words)
        check_text(command, self.view)
        run = self._kept(command)
        if self.settings.allowed and not self.settings.rules:
            return Changed(run)
        shown = own.witness(command, self.cwd)
        if shown is not None:
            return Changed(f"{shown} || {run}")
        if self.client.ASKS:
            return Changed(run, _ASKED + command)
        if self.settings.rules:
            how = "send simple commands joined by `|`, `&&`, `||` or `;`, which the rules can match"
            raise Denied(_UNCOMPARED, how)
        return Changed(run)

    def _own_words(self, command: str) -> list[str] | None:
        """Return the words of one of our own commands, None for any other text."""
        try:
            commands = own.understand(command, self.cwd)
        except Denied:
            return None
        words = own.own_words(commands, self.cwd)
        if words is not None and words[:1] == ["ro"] and self.client.TAKES_CHANGED:
            self._check_ro(words)
        return words

    def _check_ro(self, words: list[str]) -> None:
        """Deny `planner ro` to a model whose user's rules would be compared with it alone."""
        if words[1:2] == ["--end"]:
            return
        if words[1:2] != ["--file"] or not self._takes_a_file():
            raise Denied(
                "`planner ro` is added by the guard only", "send the command without `planner ro`"
            )

    def _takes_a_file(self) -> bool:
        """Return whether the model may have a text run in the place by `planner ro --file`."""
        free = not self.client.TAKES_CHANGED or not self.settings.rules
        return self.held and self.settings.others and free

    def _parsed(self, command: str, words: list[str] | None) -> Changed | None:
        """Return the answer where the parser decides whether the command changes nothing.

        `words` are those of one of our own commands.
        """
        # Not at the top: only the parser needs the guard's tables.
        from shared.guard.decide import decide

        decision = decide(command, cwd=self.cwd, planner=self.refusal, extra=self.view.settings)
        if not decision.allowed and words is None and self._takes_a_file():
            check_text(command, self.view)
            raise Denied(decision.reason, self._by_file())
        if not decision.allowed:
            raise Denied(decision.reason, self.view.advised(decision.instead))
        if decision.rewritten is None:
            return None
        if self.client.TAKES_CHANGED:
            shown = own.witness(command, self.cwd)
            run = self._kept(command)
            return Changed(f"{shown} || {run}" if shown else run)
        # Not at the top: where the client takes a changed text, it runs hardened anyway.
        from shared.guard.harden import why_not_as_given

        why = why_not_as_given(own.understand(command, self.cwd), self.cwd)
        if why:
            other = f"; for any other text, {self._by_file()}" if self.held else ""
            raise Denied(why, f"run this safer form: {decision.rewritten}{other}")
        return None

    def _kept(self, command: str) -> str:
        """Store a text and return the command that runs it, which holds nothing of it."""
        return f"{launcher()} ro {texts.keep(command)}"

    def _by_file(self) -> str:
        path = answer_path(self.home, TEXT_FILE)
        run = resources.command("ro", "--file", path)
        return f"write the command into {path}, then send: {run}"


def read_settings(client: Client, folders: Iterable[str], mode: str = "") -> Settings:
    """Return what the settings of a client hold that works in these folders, the project's first.

    `mode` is the client's permission mode. One that takes no changed text counts as one with
    another hook.
    """
    plugins = [("hooks", name) for name in client.PLUGINS]
    ours = [
        ROOT,
        *(os.path.join(ROOT, *p) for p in plugins),
        *(installed_path(*p) for p in plugins),
    ]
    found = Settings(launcher_path(), tuple(map(os.path.realpath, ours)))
    client.read_settings(found, folders, mode)
    return found
