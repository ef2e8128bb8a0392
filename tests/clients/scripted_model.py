"""A scripted model behind the three protocols that the clients speak; standard library, loopback.

A turn is a text, or a tool with its input. A conversation takes its next turn at each request, the
main one from `turns`, a sub-agent's from `sub`; what the tools answered is collected.
"""

from __future__ import annotations

import json
import secrets
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

JSON = dict[str, Any]
Call = tuple[str, JSON]
Turn = str | Call | list[Call]
TASK = "sub-agent: "  # begins what a script has a sub-agent told
SUB_AGENT = "x-claude-code-agent-id"


SPOKE: JSON = {"blocks": []}  # stands for what the model itself has said


class Result(NamedTuple):
    """What a tool answered; `agent` is empty for the main conversation."""

    agent: str
    tool: str
    text: str
    is_error: bool


class Script:
    """The turns, and what has come of them; safe to use from several threads."""

    def __init__(self, turns: Sequence[Turn], sub: Sequence[Turn]) -> None:
        self.turns = turns
        self.sub = sub
        self.results: dict[str, Result] = {}
        self.heard: list[str] = []  # every text that the model was sent, once
        self._names: dict[str, str] = {}
        # A session that goes on in another process must not meet an id again.
        self._run = secrets.token_hex(3)
        self._lock = threading.Lock()

    def reply(self, agent: str, said: int, messages: list[JSON]) -> tuple[str, Turn]:
        """Return id and turn for a conversation in which the model has spoken `said` times."""
        with self._lock:
            for message in messages:
                self._hear(agent, message)
            spoke = max((at for at, message in enumerate(messages) if message is SPOKE), default=0)
            new = (block["text"] for message in messages[spoke:] for block in message["blocks"])
            heard = "\n".join(new)
            try:
                turn = self.turn(agent, said, heard)
            except Exception:  # noqa: BLE001 – a client would try again for minutes
                turn = f"the script failed: {traceback.format_exc()}"
            call = f"{'s' if agent else 'm'}{self._run}{len(self._names):06d}"
            for number, (name, _) in enumerate(calls_of(turn)):
                self._names[f"{call}{number}"] = name
            return call, turn

    def turn(self, agent: str, said: int, heard: str) -> Turn:
        """Return the turn of a conversation, which has just heard a text."""
        del heard
        turns = self.sub if agent else self.turns
        return turns[said] if said < len(turns) else "done"

    def _hear(self, agent: str, message: JSON) -> None:
        for block in message["blocks"]:
            text = block["text"]
            if text not in self.heard:
                self.heard.append(text)
            if block.get("call"):
                name = self._names.get(block["call"], "?")
                self.results[block["call"]] = Result(agent, name, text, block["is_error"])


def calls_of(turn: Turn) -> list[Call]:
    """Return the calls of tools in a turn, made at once."""
    return [] if isinstance(turn, str) else turn if isinstance(turn, list) else [turn]


# What the clients send, as one shape


def _flat(content: Any) -> str:  # noqa: ANN401 – any JSON value
    if isinstance(content, str):
        return content
    return "\n".join(
        part if isinstance(part, str) else part.get("text") or _flat(part.get("content") or "")
        for part in content or []
    )


def _sub_agent(heard: list[JSON]) -> str:
    """Name a sub-agent of a client that says so nowhere but in the first message it gives it."""
    texts = (block["text"] for message in heard for block in message["blocks"])
    return next((text for text in texts if text.startswith(TASK)), "")


def _result(call: str, content: Any, *, is_error: bool = False) -> JSON:  # noqa: ANN401 – JSON
    return {"call": call, "text": _flat(content), "is_error": is_error}


def from_messages(body: JSON) -> tuple[int, list[JSON]]:
    """Read a request of Claude Code."""
    heard: list[JSON] = [{"blocks": [{"text": _flat(body.get("system"))}]}]
    said = 0
    for message in body["messages"]:
        if message["role"] == "assistant":
            said += 1
            heard.append(SPOKE)
            continue
        content = message["content"]
        blocks = [{"text": content}] if isinstance(content, str) else []
        for part in content if isinstance(content, list) else []:
            if part["type"] == "tool_result":
                error = bool(part.get("is_error"))
                blocks.append(_result(part["tool_use_id"], part.get("content"), is_error=error))
            elif part["type"] == "text":
                blocks.append({"text": part["text"]})
        heard.append({"blocks": blocks})
    return said, heard


def from_chat(body: JSON) -> tuple[int, list[JSON]]:
    """Read a request of vibe."""
    heard: list[JSON] = []
    said = 0
    for message in body["messages"]:
        if message["role"] == "assistant":
            said += 1
            heard.append(SPOKE)
        elif message["role"] == "tool":
            heard.append({"blocks": [_result(message["tool_call_id"], message["content"])]})
        else:
            heard.append({"blocks": [{"text": _flat(message["content"])}]})
    return said, heard


def from_responses(body: JSON) -> tuple[int, list[JSON]]:
    """Read a request of codex."""
    heard: list[JSON] = []
    said = 0
    for item in body["input"]:
        kind = item.get("type", "message")
        if kind in ("function_call", "custom_tool_call") or item.get("role") == "assistant":
            # Calls that were made at once come one after the other.
            said += not (heard and heard[-1] is SPOKE)
            heard.append(SPOKE)
        elif kind.endswith("_output"):
            heard.append({"blocks": [_result(item["call_id"], item["output"])]})
        elif kind == "message":
            heard.append({"blocks": [{"text": _flat(item["content"])}]})
        elif kind == "agent_message":
            parts = (p.get("text") or p["encrypted_content"] for p in item["content"])
            heard.append({"blocks": [{"text": text} for text in parts]})
    return said, heard


def from_contents(body: JSON) -> tuple[int, list[JSON]]:
    """Read a request of Gemini."""
    system = body.get("systemInstruction") or {}
    heard: list[JSON] = [{"blocks": [{"text": _flat(system.get("parts"))}]}]
    said = 0
    for content in body["contents"]:
        if content["role"] == "model":
            said += 1
            heard.append(SPOKE)
            continue
        blocks: list[JSON] = []
        for part in content["parts"]:
            answer = part.get("functionResponse")
            if answer:
                given = answer["response"]
                text = given.get("output") or given.get("error") or ""
                blocks.append(_result(answer["id"], text, is_error="error" in given))
            else:
                blocks.append({"text": part.get("text") or ""})
        heard.append({"blocks": blocks})
    return said, heard


# What they are answered, as streams of events

USAGE = {"input_tokens": 1, "output_tokens": 1}


def as_messages(call: str, turn: Turn) -> list[JSON]:
    """Answer Claude Code."""
    message: JSON = {
        "id": f"msg_{call}", "type": "message", "role": "assistant", "model": "scripted",
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": USAGE,
    }  # fmt: skip
    blocks: list[tuple[JSON, JSON]] = [
        (
            {"type": "tool_use", "id": f"{call}{number}", "name": name, "input": {}},
            {"type": "input_json_delta", "partial_json": json.dumps(given)},
        )
        for number, (name, given) in enumerate(calls_of(turn))
    ]
    stop = "tool_use" if blocks else "end_turn"
    blocks = blocks or [({"type": "text", "text": ""}, {"type": "text_delta", "text": turn})]
    events: list[JSON] = [{"type": "message_start", "message": message}]
    for at, (block, delta) in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": at, "content_block": block},
            {"type": "content_block_delta", "index": at, "delta": delta},
            {"type": "content_block_stop", "index": at},
        ]
    return [
        *events,
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def as_chat(call: str, turn: Turn) -> list[JSON]:
    """Answer vibe and opencode."""
    delta: JSON = {"role": "assistant", "content": turn if isinstance(turn, str) else ""}
    calls = [
        {"index": number, "id": f"{call}{number}", "type": "function",
         "function": {"name": name, "arguments": json.dumps(given)}}
        for number, (name, given) in enumerate(calls_of(turn))
    ]  # fmt: skip
    delta |= {"tool_calls": calls} if calls else {}
    base = {"id": call, "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    ends = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": ends}], "usage": usage},
    ]


def as_responses(call: str, turn: Turn) -> list[JSON]:
    """Answer codex."""
    content = [{"type": "output_text", "text": turn, "annotations": []}]
    items: list[JSON] = [
        {"id": f"fc_{call}{number}", "call_id": f"{call}{number}", "status": "completed",
         **_codex_call(name, given)}
        for number, (name, given) in enumerate(calls_of(turn))
    ] or [{"type": "message", "id": call, "role": "assistant", "content": content,
           "status": "completed"}]  # fmt: skip
    response = {"id": f"resp_{call}", "object": "response", "created_at": 0, "model": "scripted"}
    done = {**response, "status": "completed", "output": items, "usage": None}
    return [
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        *(
            {"type": "response.output_item.done", "output_index": at, "item": item}
            for at, item in enumerate(items)
        ),
        {"type": "response.completed", "response": done},
    ]


def _codex_call(name: str, given: JSON) -> JSON:
    """Write one call; a tool in a namespace is named with it, `input` alone is for free text."""
    if set(given) == {"input"}:
        return {"type": "custom_tool_call", "name": name, **given}
    space, _, name = name.rpartition(".")
    more = {"namespace": space} if space else {}
    return {"type": "function_call", "name": name, "arguments": json.dumps(given), **more}


def as_contents(call: str, turn: Turn) -> list[JSON]:
    """Answer Gemini."""
    parts: list[JSON] = [
        {"functionCall": {"id": f"{call}{number}", "name": name, "args": given}}
        for number, (name, given) in enumerate(calls_of(turn))
    ] or [{"text": turn}]
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return [{"candidates": [candidate], "usageMetadata": usage}]


def _has_tools(body: JSON) -> bool:
    """Return whether a request offers tools; codex names those of newer models in its input."""
    given = body.get("input") or []
    return bool(body.get("tools")) or any(i.get("type") == "additional_tools" for i in given)


PROTOCOLS = {
    "/v1/messages": (from_messages, as_messages),
    "/v1/chat/completions": (from_chat, as_chat),
    "/v1/responses": (from_responses, as_responses),
    ":streamGenerateContent": (from_contents, as_contents),
}


class Handler(BaseHTTPRequestHandler):
    """Answers one request from the server's script."""

    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 – the base class's name
        """Say nothing."""

    def do_GET(self) -> None:
        """Know no models."""
        self._send({"data": [], "object": "list", "has_more": False})

    def do_HEAD(self) -> None:
        """Be there."""
        self._send({})

    def do_POST(self) -> None:
        """Take the conversation's next turn."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        path = path[path.rfind(":") :] if ":" in path else path  # Gemini's begins with the model
        if path not in PROTOCOLS:
            self._send({"input_tokens": 1})
            return
        read, write = PROTOCOLS[path]
        said, heard = read(body)
        agent = self.headers.get(SUB_AGENT) or _sub_agent(heard)
        if not _has_tools(body):  # a title, a summary: not the conversation itself
            events = write("u", "scripted")
        else:
            events = write(*self.script.reply(agent, said, heard))
        data = b"".join(
            f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode()
            if "type" in e
            else f"data: {json.dumps(e)}\n\n".encode()
            for e in events
        )
        self._send(data + (b"data: [DONE]\n\n" if write is as_chat else b""))

    def _send(self, answer: JSON | bytes) -> None:
        stream = isinstance(answer, bytes)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if stream else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def serve(script: Script) -> ThreadingHTTPServer:
    """Serve a script on a free port of the loopback interface."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("H", (Handler,), {"script": script}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
