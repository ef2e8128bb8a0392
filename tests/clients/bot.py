"""A model that does nothing but follow printed blocks; what it would have to invent is the demo's.

It loads the skill, runs the command that SKILL.md names, and from then on does what each block says
by the tools of its client: writes the answers, edits in the worktree, starts sub-agents, asks, and
waits where a person has to act. Its state outlives the client, since a person acts in between.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import ParseError
from xml.sax.saxutils import unescape

from cli.demo.driver import Answer
from cli.demo.recorded import RECORDED, Recorded
from tests.clients.scripted_model import TASK, Script

if TYPE_CHECKING:
    from collections.abc import Generator
    from xml.etree.ElementTree import Element

    from tests.clients.scripted_model import JSON, Call, Turn

    Talk = Generator[Turn, str, None]

_TOLD = f"{TASK}run this and follow what it prints: "
WAITS = "A person has to act: "
_BLOCK = re.compile(r"<(step|result|error)[ >].*</\1>", re.DOTALL)
_MOST_CALLS = 60
# The ways out that are not for an assistant.
_OF_OTHERS = re.compile(r" · (?:person|user): ([^\n<]+)")


CODE_MODE = "codex in code mode"
# A command that takes longer than codex waits for goes on, and is asked again.
_JS_RUN = """\
// @exec: {"yield_time_ms": 600000, "max_output_tokens": 12000}
const more = {yield_time_ms: 30000, max_output_tokens: 12000};
try {
  let done = await tools.exec_command({cmd: %s, ...more});
  let out = done.output;
  while (done.exit_code === undefined) {
    done = await tools.write_stdin({session_id: done.session_id, chars: "", ...more});
    out += done.output;
  }
  text(out);
} catch (error) { text(String(error)); }"""
_JS_SPAWN = """\
const made = [];
for (const [name, message] of %s) made.push(await tools.agents.spawn({name, message}));
return made"""
# How codex and vibe say that a sub-agent has ended.
_ENDED = re.compile(r'Message Type: FINAL_ANSWER|"type":"subagent"[^}]*"status":"completed"')
_JS_PATCH = """\
try { text(await tools.apply_patch(%s)); } catch (error) { text(String(error)); }"""


class Tools:
    """The tools of one client, as the model calls them.

    In code mode codex's own models write JavaScript that calls the tools, except for sub-agents.
    """

    def __init__(self, client: str) -> None:
        self.client = client

    def skill(self) -> Call | None:
        """Load the planner's skill, None where the model reads it by its shell."""
        return {
            "claude": ("Skill", {"skill": "planner"}),
            "vibe": ("skill", {"name": "planner"}),
            "gemini": ("activate_skill", {"name": "planner"}),
            "opencode": ("skill", {"name": "planner"}),
        }.get(self.client)

    def shell(self, command: str) -> Call:
        """Run a command."""
        if self.client == CODE_MODE:
            return "exec", {"input": _JS_RUN % json.dumps(command)}
        if self.client == "codex":
            return "exec_command", {"cmd": command, "yield_time_ms": 120_000}
        name = {"claude": "Bash", "gemini": "run_shell_command"}.get(self.client, "bash")
        said = {} if self.client == "vibe" else {"description": "as the block says"}
        return name, {"command": command, **said}

    def read(self, path: str) -> Call | None:
        """Read a file, which some clients want before it is written; None for the others."""
        name = {"claude": "Read", "opencode": "read"}.get(self.client)
        field = "file_path" if self.client == "claude" else "filePath"
        return (name, {field: path}) if name else None

    def write(self, path: str, text: str) -> Call:
        """Write a file."""
        if self.client in ("codex", CODE_MODE):
            there = "Update" if os.path.exists(path) else "Add"
            old = _lines(path, "-") if there == "Update" else []
            body = [f"*** {there} File: {path}", *(["@@"] if old else []), *old]
            new = [f"+{line}" for line in text.splitlines()]
            patch = "\n".join(["*** Begin Patch", *body, *new, "*** End Patch"])
            if self.client == CODE_MODE:
                return "exec", {"input": _JS_PATCH % json.dumps(patch)}
            return "exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"}
        if self.client == "vibe":
            return "write_file", {"path": path, "content": text}
        name = {"claude": "Write", "opencode": "write"}.get(self.client, "write_file")
        field = "filePath" if self.client == "opencode" else "file_path"
        return name, {field: path, "content": text}

    def agents(self, commands: list[str]) -> list[Call]:
        """Start a sub-agent for each command, all at once; none without such a tool."""
        prompts = [_TOLD + command for command in commands]
        if self.client == "claude":
            given: JSON = {"description": "a task", "subagent_type": "general-purpose"}
            given["run_in_background"] = False
            return [("Agent", {**given, "prompt": p}) for p in prompts]
        if self.client == "opencode":
            given = {"description": "a task", "subagent_type": "general"}
            return [("task", {**given, "prompt": p}) for p in prompts]
        if self.client == "gemini":
            return [("invoke_agent", {"agent_name": "generalist", "prompt": p}) for p in prompts]
        names = [f"part_{secrets.token_hex(3)}" for _ in prompts]
        if self.client == "vibe":
            told = json.dumps([list(one) for one in zip(names, prompts, strict=True)])
            return [("run_typescript", {"code": _JS_SPAWN % told})]
        if self.client == CODE_MODE:
            given = {"fork_turns": "none"}
            return [
                ("collaboration.spawn_agent", {**given, "task_name": name, "message": p})
                for name, p in zip(names, prompts, strict=True)
            ]
        return []

    def wait(self) -> Call | None:
        """Wait for sub-agents that answer later; None where their call is itself their answer."""
        name = {CODE_MODE: "collaboration.wait_agent", "vibe": "wait"}.get(self.client)
        return (name, {"timeout_ms": 60_000}) if name else None


class Bot(Script):
    """The model's side of a session that follows blocks; `path` keeps its state between prompts."""

    def __init__(self, client: str, first: str, path: str) -> None:
        super().__init__([], [])
        self.tools = Tools(client)
        self.first = first
        self.path = path
        self.recorded = Recorded(RECORDED)
        self.kept: dict[str, Any] = {
            "times": {},
            "block": "",
            "worktree": "",
            "editor": "",
            "at_once": 1,
        }
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.kept = json.load(file)
        self.recorded.times = Counter(self.kept["times"])
        self._talks: dict[str, tuple[Talk, list[Turn], int]] = {}
        self._of_others: set[str] = set()

    def turn(self, agent: str, said: int, heard: str) -> Turn:
        """Return the next turn of a conversation, or the same again for a repeated request."""
        _, turns, base = self._talks.get(agent, (None, [], 0))
        # An agent that is told the same again is another: some clients give it no id.
        if not turns or (agent and said == base and len(turns) > 1):
            talk = self._agent(heard) if agent else self._host(heard)
            self._talks[agent] = (talk, [next(talk)], said)
        talk, turns, base = self._talks[agent]
        while len(turns) <= said - base:
            try:
                turns.append(talk.send(heard))
            except StopIteration:
                turns.append("done")
        return turns[said - base]

    def _host(self, heard: str) -> Talk:
        """Begin, or go on with the block in which a person had to act."""
        block = _block_in(heard)
        if block is None and self.kept["block"]:
            block = Answer(0, self.kept["block"])
        if block is None:
            skill = self.tools.skill()
            if skill:
                yield skill
            yield from self._play(self.first, "host")
            return
        command = yield from self._follow(block, "host", heard)
        if command:
            yield from self._play(command, "host")

    def _agent(self, heard: str) -> Talk:
        """Do what a sub-agent is told."""
        role = self.kept["editor"]
        told = re.search(rf"{_TOLD}(.+)", heard)
        assert told is not None, heard[-2000:]
        yield from self._play(told[1], role)

    def _play(self, command: str, name: str) -> Talk:
        """Run a command, then those that printed blocks ask for."""
        for _ in range(_MOST_CALLS):
            assert command not in self._of_others, f"only a person or the user runs {command}"
            text = yield self.tools.shell(command)
            self._of_others |= {unescape(way).strip() for way in _OF_OTHERS.findall(text)}
            answer = _block_in(text)
            if answer is None:
                yield f"this is not a block: {text}"
                return
            if answer.block.tag == "error" or answer.block.get("partial"):
                following = command if (yield from self._edit(name)) else ""
                following = following or f"! {text}"
            else:
                following = yield from self._follow(answer, name, "")
            if following.startswith("! ") or not following:
                yield following or "done"
                return
            command = following

    def _follow(self, answer: Answer, name: str, said: str) -> Generator[Turn, str, str]:
        """Do what a block asks for; return the next command, "" where there is none for us."""
        asks, persons = answer.block.findall("ask"), answer.all("person")
        if (asks or persons) and not said:
            self._keep(answer.text)
            asked = [ask.findtext("question", "") for ask in asks]
            yield WAITS + " | ".join(asked or persons)
            return ""
        self._keep("")
        texts = self.recorded.answers(answer)
        for path, text in texts.items():
            yield from self._put(path, text)
        if place := answer.worktree():
            self.kept["worktree"] = place[0]
            yield from self._edit(name)
        for dispatch in answer.block.findall("dispatch"):
            yield from self._send(dispatch)
        return answer.way(texts, said)

    def _edit(self, name: str) -> Generator[Turn, str, bool]:
        """Make the next recorded edits in the worktree; return whether there were any."""
        folder = self.recorded.next_edit(name) if self.kept["worktree"] else ""
        for file in sorted(os.listdir(folder)) if folder else ():
            path = os.path.join(folder, file)
            if os.path.isfile(path):
                with open(path, encoding="utf-8") as opened:
                    yield from self._put(os.path.join(self.kept["worktree"], file), opened.read())
        return bool(folder)

    def _put(self, path: str, text: str) -> Talk:
        """Write a file, after reading one that is there."""
        look = self.tools.read(path)
        if look and os.path.exists(path):
            yield look
        yield self.tools.write(path, text)

    def _send(self, dispatch: Element) -> Talk:
        """Start all agents of a dispatch at once, or do their work where there are none."""
        commands = [run.text or "" for run in dispatch.findall("run")]
        self.kept["editor"] = dispatch.get("agent", "")
        calls = self.tools.agents(commands)
        self.kept["at_once"] = max(self.kept["at_once"], len(commands) if calls else 1)
        if calls:
            heard = yield calls
            wait = self.tools.wait()
            while wait and len(_ENDED.findall(heard)) < len(commands):
                heard += yield wait
            return
        alone = dispatch.findtext("alone")
        for command in [alone] if alone else commands:
            yield from self._play_part(command, dispatch.get("agent", ""))

    def _play_part(self, command: str, name: str) -> Talk:
        """Do an agent's work in its place; its last text is not the end of our turn."""
        part = self._play(command, name)
        text = ""
        while True:
            try:
                turn = part.send(text) if text else next(part)
            except StopIteration:
                return
            if isinstance(turn, str):
                return
            text = yield turn

    def _keep(self, block: str) -> None:
        """Write down where the session stands."""
        self.kept |= {"block": block, "times": self.recorded.times}
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(self.kept, file)


def _lines(path: str, sign: str) -> list[str]:
    with open(path, encoding="utf-8") as file:
        return [f"{sign}{line}" for line in file.read().splitlines()]


def _block_in(text: str) -> Answer | None:
    """Return the block in what a client passes on of a command's output; None without one."""
    if text.lstrip().startswith('{"'):
        found = json.loads(text)
        text = str(found.get("stdout", "")) + str(found.get("output", ""))
    match = _BLOCK.search(text)
    answer = Answer(0, match[0] if match else "")
    try:
        answer.block  # noqa: B018 – parses it
    except ParseError:
        return None
    return answer


def digest_in(text: str) -> str:
    """Return the digest in the command of the approval for which the bot waits."""
    words = shlex.split(text)
    return words[words.index("approve") + 1]
