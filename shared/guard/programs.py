"""Names of programs that may stand above a command: shells, terminals, multiplexers, assistants.

Names as Linux shows them: of the file that was started, or what a program calls itself, cut to 15
characters. They are data for `shared/guard/ancestry.py`; a name alone never proves anything.
"""

from __future__ import annotations

from shared.clients import known

# They pass on what is typed into the program above them.
PASSING = frozenset({
    "sh", "bash", "dash", "zsh", "fish", "ksh", "ksh93", "mksh", "ash", "busybox", "nu", "xonsh",
    "elvish", "tcsh", "csh", "pwsh", "sudo", "su", "doas", "env",
})  # fmt: skip

# They let a person in. They run as root, and only such a one counts.
LOGINS = frozenset({
    "login", "sshd", "sshd-session", "sshd-auth", "agetty", "getty", "mingetty", "dropbear",
    "in.telnetd", "mosh-server",
})  # fmt: skip

TERMINALS = frozenset({
    "xterm", "uxterm", "urxvt", "urxvtd", "rxvt", "st", "foot", "footclient", "kitty", "alacritty",
    "wezterm", "wezterm-gui", "ghostty", "rio", "contour", "konsole", "yakuake", "gnome-terminal",
    "gnome-terminal-server", "gnome-terminal-", "kgx", "ptyxis", "ptyxis-agent", "tilix",
    "terminator", "xfce4-terminal", "lxterminal", "mate-terminal", "qterminal", "terminology",
    "cool-retro-term", "guake", "tilda", "sakura", "termite", "terminix", "blackbox", "warp",
    "warp-terminal", "hyper", "tabby", "deepin-terminal", "elementary-terminal",
    "io.elementary.terminal",
})  # fmt: skip

# A program can type into what they hold.
MULTIPLEXERS = frozenset({
    "tmux", "tmux: server", "tmux: client", "screen", "SCREEN", "zellij", "byobu", "dtach", "dvtm",
    "abduco", "mosh-client", "script", "expect", "unbuffer", "ttyd", "gotty", "asciinema", "rlwrap",
    "reptyr", "wetty", "shpool",
})  # fmt: skip
EDITORS = frozenset({
    "code", "code-insiders", "code-server", "codium", "vscodium", "cursor", "windsurf", "zed",
    "zed-editor", "emacs", "emacsclient", "vim", "nvim", "vi", "gvim", "helix", "hx", "kak",
    "kakoune", "sublime_text", "subl", "idea", "pycharm", "webstorm", "goland", "clion", "rider",
    "phpstorm", "rubymine", "rustrover", "fleet", "studio", "eclipse", "jupyter", "jupyter-lab",
    "jupyter-notebook", "theia", "positron", "void", "trae", "kiro",
})  # fmt: skip

# Clients of coding assistants: those that have a file, and others. One that is an editor too counts
# by what it is above.
CLIENTS = frozenset({
    *known.PROGRAMS, "aider", "goose", "goosed", "amp", "crush", "droid", "qwen", "kimi", "copilot",
    "auggie", "openhands", "plandex", "cline", "kilocode", "kiro-cli", "qchat", "rovodev", "junie",
    "grok",
})  # fmt: skip
# Parts of the path of a client's program, where its own name says nothing.
CLIENT_PATHS = (*known.PROGRAM_PATHS, "/@github/copilot", "/@qwen-code/", "/@sourcegraph/amp")
# They run what another file says: that file's name counts.
INTERPRETERS = ("python", "node", "nodejs", "bun", "deno", "ruby", "perl")

# Folders whose programs the user did not put there: only from these a terminal counts.
SYSTEM = (
    "/usr/", "/bin/", "/sbin/", "/opt/", "/snap/", "/nix/store/", "/gnu/store/", "/app/",
    "/var/lib/flatpak/", "/run/current-system/",
)  # fmt: skip
