"""The table of each client's tools, and what the guard checks when one is called (PM-3).

A tool that is not in the table is denied unless the user's own configuration names it: clients
gain tools with every release, and servers can add any.
"""

from __future__ import annotations

READ, ASK, AGENTS, TASKS = "read", "ask", "agents", "tasks"
FILE, FOLDER, SEARCH = "file", "folder", "search"
SHELL, WRITE, PATCH, SKILL, DENY = "shell", "write", "patch", "skill", "deny"
OWN_SKILL = "planner"
PASSING = (READ, ASK, AGENTS, TASKS)
# With these an assistant keeps a list of its own; who reviews requirements has none (RL-7).
TODO_LISTS = (
    "TodoWrite", "TaskCreate", "TaskUpdate", "vibe.todo", "update_plan", "write_todos", "todowrite",
)  # fmt: skip

LATER = (
    "a prompt that this tool sends later could be taken for the user's",
    "end your turn; the user writes when they are ready",
)
ELSEWHERE = (
    "this tool makes a session or program act that the guard does not check",
    "start a sub-agent, which the guard checks, and wait for its answer",
)


class Tool:
    """One tool of a client: `kind` says what to check, `field` holds the path or command.

    `names` is the field of a search with the patterns of file names to which it is limited,
    `folder` that of a shell command with the folder in which it is to run.
    """

    __slots__ = ("field", "folder", "kind", "names", "why")

    def __init__(
        self, kind: str, field: str = "", why: tuple[str, str] = ("", ""), names: str = "",
        folder: str = "",
    ) -> None:  # fmt: skip
        self.kind = kind
        self.field = field
        self.why = why
        self.names = names
        self.folder = folder


_CLAUDE = {
    **dict.fromkeys(
        ("LSP", "WebFetch", "WebSearch", "ToolSearch", "ListAgents", "ReportFindings", "CronList"),
        Tool(READ),
    ),
    "Read": Tool(FILE, "file_path"),
    "NotebookRead": Tool(FILE, "notebook_path"),
    "Glob": Tool(FOLDER, "path"),
    "LS": Tool(FOLDER, "path"),
    "Grep": Tool(SEARCH, "path", names="glob"),
    **dict.fromkeys(("AskUserQuestion", "EnterPlanMode", "ExitPlanMode"), Tool(ASK)),
    **dict.fromkeys(("Agent", "Task"), Tool(AGENTS)),
    **dict.fromkeys(
        ("TodoWrite", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskOutput", "TaskStop",
         "AgentOutputTool", "BashOutput", "KillShell"), Tool(TASKS),
    ),
    "Bash": Tool(SHELL, "command"),
    "Write": Tool(WRITE, "file_path"),
    "Edit": Tool(WRITE, "file_path"),
    "MultiEdit": Tool(WRITE, "file_path"),
    "NotebookEdit": Tool(WRITE, "notebook_path"),
    "Skill": Tool(SKILL, "skill"),
    **dict.fromkeys(("CronCreate", "CronDelete", "ScheduleWakeup"), Tool(DENY, why=LATER)),
    **dict.fromkeys(("SendMessage", "Workflow", "RemoteTrigger"), Tool(DENY, why=ELSEWHERE)),
}  # fmt: skip
_VIBE = {
    **dict.fromkeys(("web_search.web_search", "web_fetch.web_fetch"), Tool(READ)),
    "file_system.read_file": Tool(FILE, "file_path"),
    "file_system.list_dir": Tool(FOLDER, "path"),
    "file_system.grep": Tool(SEARCH, "path"),
    "ask_user_question.ask_user_question": Tool(ASK),
    **dict.fromkeys(("agents.spawn", "agents.list", "agents.wait", "agents.send_message",
                     "agents.interrupt"), Tool(AGENTS)),
    **dict.fromkeys(("vibe.todo", "process.list", "process.output", "process.stop"), Tool(TASKS)),
    "file_system.bash": Tool(SHELL, "command"),
    **dict.fromkeys(("file_system.write_file", "file_system.edit", "file_system.search_replace"),
                    Tool(WRITE, "file_path")),
    "vibe.skill": Tool(SKILL, "name"),
}  # fmt: skip
_CODEX = {
    "web_search": Tool(READ),
    "view_image": Tool(FILE, "path"),
    "request_user_input": Tool(ASK),
    **dict.fromkeys(("update_plan", "get_goal", "create_goal", "update_goal"), Tool(TASKS)),
    # Two generations of tools for sub-agents, whose calls come with the same session.
    **dict.fromkeys(
        ("spawn_agent", "wait_agent", "send_input", "close_agent", "resume_agent"), Tool(AGENTS)
    ),
    **dict.fromkeys(
        (f"collaboration{name}" for name in ("spawn_agent", "wait_agent", "list_agents",
         "send_message", "followup_task", "interrupt_agent")), Tool(AGENTS),
    ),
    "Bash": Tool(SHELL, "command"),
    "apply_patch": Tool(PATCH, "command"),
}  # fmt: skip
_GEMINI = {
    **dict.fromkeys(
        ("web_fetch", "google_web_search", "get_internal_docs", "list_mcp_resources"), Tool(READ)
    ),
    "read_file": Tool(FILE, "file_path"),
    **dict.fromkeys(("list_directory", "glob"), Tool(FOLDER, "dir_path")),
    "grep_search": Tool(SEARCH, "dir_path"),
    **dict.fromkeys(("ask_user", "enter_plan_mode", "exit_plan_mode"), Tool(ASK)),
    **dict.fromkeys(("invoke_agent", "codebase_investigator", "cli_help"), Tool(AGENTS)),
    **dict.fromkeys(
        ("write_todos", "update_topic", "complete_task", "tracker_create_task",
         "tracker_update_task", "tracker_get_task", "tracker_list_tasks", "tracker_add_dependency",
         "tracker_visualize"), Tool(TASKS),
    ),
    "run_shell_command": Tool(SHELL, "command", folder="dir_path"),
    **dict.fromkeys(("write_file", "replace"), Tool(WRITE, "file_path")),
    "activate_skill": Tool(SKILL, "name"),
}  # fmt: skip
_OPENCODE = {
    **dict.fromkeys(("webfetch", "websearch", "codesearch", "lsp"), Tool(READ)),
    "read": Tool(FILE, "filePath"),
    **dict.fromkeys(("list", "glob"), Tool(FOLDER, "path")),
    "grep": Tool(SEARCH, "path"),
    **dict.fromkeys(("question", "plan_enter", "plan_exit"), Tool(ASK)),
    "task": Tool(AGENTS),
    **dict.fromkeys(("todowrite", "todoread"), Tool(TASKS)),
    "bash": Tool(SHELL, "command", folder="workdir"),
    **dict.fromkeys(("write", "edit", "multiedit"), Tool(WRITE, "filePath")),
    "skill": Tool(SKILL, "name"),
}
_CURSOR = {
    "Read": Tool(FILE, "file_path"),
    "Grep": Tool(SEARCH, "file_path"),
    "Task": Tool(AGENTS),
    "Shell": Tool(SHELL, "command", folder="working_directory"),
    **dict.fromkeys(("Write", "Delete"), Tool(WRITE, "file_path")),
}
TOOLS = {
    "claude": _CLAUDE, "vibe": _VIBE, "codex": _CODEX, "gemini": _GEMINI, "opencode": _OPENCODE,
    "cursor": _CURSOR,
}  # fmt: skip

_UNKNOWN_INSTEAD = (
    "use the tools for reading and searching; if this tool only reads, the user may name it in"
    ' their own ~/.config/planner/config.toml: [guard] tools = ["…"]'
)
UNKNOWN = Tool(
    DENY, why=("the guard does not know this tool, which may change something", _UNKNOWN_INSTEAD)
)


def find_tool(host: str, name: str) -> Tool:
    """Return the table's entry for a client's tool: what the guard checks when it is called."""
    return TOOLS[host].get(name, UNKNOWN)
