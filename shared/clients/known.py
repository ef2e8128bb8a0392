"""What concerns every client at once, made from their files by `bin/test --update-golden`.

A hook and most commands need it without any client's file. `Client` in `shared/clients/__init__.py`
says what each name means.
"""

from __future__ import annotations

TAKE_CHANGED = (
    "claude",
    "gemini",
    "opencode",
    "vibe",
)
SESSION_VARIABLES = (
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_SESSION_ID",
)
MARKS = (
    "CLAUDECODE",
    "AI_AGENT",
    "CODEX_SESSION_ID",
    "CODEX_CI",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "OPENCODE",
    "VIBE_APP_SERVER_BIN",
)
PROGRAMS = (
    "claude",
    "codex",
    "cursor-agent",
    "gemini",
    "opencode",
    "vibe",
    "vibe-acp",
)
PROGRAM_PATHS = (
    "/claude/versions/",
    "/@anthropic-ai/claude-code",
    "/@openai/codex",
    "/@google/gemini-cli",
    "/opencode-ai/",
    "/mistral-vibe/",
    "/mistral_vibe/",
)
SECRETS = (
    ".claude.json",
    ".claude/.credentials.json",
    ".config/anthropic",
    ".codex/auth.json",
    ".config/openai",
    ".cursor/mcp.json",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    ".vibe/.env",
)
OWN_FILES = (".claude/scheduled_tasks.lock",)
PLUGINS = ("opencode.js",)
SECRET_VARIABLES = {
    "CLAUDE_CONFIG_DIR": ".credentials.json",
    "CODEX_HOME": "auth.json",
}
HIDDEN_GIT = {
    "GEMINI_CLI": "GIT_CONFIG_\\w+|GIT_ASKPASS",
}
