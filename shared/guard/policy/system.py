"""Commands that say something about the machine, the user, the time; version questions."""

from __future__ import annotations

from shared.guard.policy.rule import Rule

_VERSION = "asks a program for its version"


def _version(*ways: str, unless: str = "") -> Rule:
    return Rule(_VERSION, exact="\n".join(ways), unless=unless)


SYSTEM = {
    "pwd": Rule("prints the folder", "-L -P", builtin=True),
    "cd": Rule("goes to a folder, for the commands behind `&&`", whole="cd", builtin=True),
    "true": Rule("does nothing", builtin=True),
    "false": Rule("does nothing", builtin=True),
    "test": Rule("asks about a file or a text", whole="test", builtin=True),
    "[": Rule("asks about a file or a text", whole="[", builtin=True),
    "which": Rule("prints where a program is", "-a -s", "name+"),
    "type": Rule("says what a name means to the shell", "-a -t -p", "name+", builtin=True),
    "command": Rule("says what a name means, with -v", whole="command", builtin=True),
    "whereis": Rule("prints where a program is", "-b -m -s", "name+"),
    "date": Rule(
        "prints the time; an operand without `+` would set it",
        "-u -R -I?text -d:text -r:path --utc --universal --rfc-email --iso-8601?=text --date=text"
        " --rfc-3339=date|seconds|ns --reference=path",
        "stamp?",
    ),
    "cal": Rule("prints a calendar", "-3 -y -m", "count? count?"),
    "id": Rule(
        "says who the user is", "-g -G -n -r -u -z --group --groups --name --real --user", "name?"
    ),
    "whoami": Rule("says who the user is"),
    "logname": Rule("says who the user is"),
    "groups": Rule("says what groups the user is in", "", "name?"),
    "users": Rule("says who is logged in"),
    "who": Rule("says who is logged in", "-a -b -q -u"),
    "uptime": Rule("says how long the machine runs", "-p -s --pretty --since"),
    "uname": Rule(
        "names the system",
        "-a -i -m -n -o -p -r -s -v --all --kernel-name --nodename --kernel-release"
        " --kernel-version --machine --processor --operating-system",
    ),
    "arch": Rule("names the processor"),
    "hostname": Rule("names the machine; an operand would rename it", "-s --short"),
    "nproc": Rule("counts processors", "--all --ignore=count"),
    "free": Rule("shows memory", "-b -k -m -g -h -t -w --human --total --wide"),
    "vmstat": Rule("shows memory"),
    "lscpu": Rule("shows the processor", "-J --json"),
    "lsblk": Rule("lists disks", "-a -f -l -J --json"),
    "sw_vers": Rule("names the system", exact="-productVersion\n-buildVersion"),
    "locale": Rule("prints the language settings", "-a -m"),
    "getconf": Rule("prints a limit of the system", "", "name"),
    "tty": Rule("names the terminal", "-s"),
    "ps": Rule(
        "lists processes, without their environments",
        "-A -a -d -e -f -F -l -x -w -H -p:list -u:name -U:name -C:name -o:columns"
        " --forest --no-headers --sort=text --pid=list --ppid=list --user=name",
        "a|x|u|ax|ux|au|aux|axu|auxw|auxww|auxf|axf|axuf?",
    ),
    "pgrep": Rule("lists processes by name", "-a -f -i -l -n -o -x -c -u:name", "text"),
    "tput": Rule("says what the terminal can do", "", "cols|lines|colors"),
    "git": Rule("reads the history and the state of a repository", whole="git"),
    "python": _version("--version", "-V"),
    "python3": _version("--version", "-V", "-VV"),
    "pip": _version("--version"),
    "pip3": _version("--version"),
    "uv": _version("--version"),
    "node": _version("--version", "-v"),
    "npm": _version("--version", "-v"),
    "go": _version("version", unless="go.mod go.work"),
    "cargo": _version("--version", "-V", unless="rust-toolchain rust-toolchain.toml"),
    "rustc": _version("--version", "-V", unless="rust-toolchain rust-toolchain.toml"),
    "java": _version("--version", "-version"),
    "javac": _version("--version", "-version"),
    "ruby": _version("--version"),
    "perl": _version("--version", "-v"),
    "php": _version("--version", "-v"),
    "gcc": _version("--version"),
    "g++": _version("--version"),
    "clang": _version("--version"),
    "make": _version("--version"),
    "cmake": _version("--version"),
    "docker": _version("--version"),
    "bash": _version("--version"),
    "zsh": _version("--version"),
    "sqlite3": _version("--version"),
    "dotnet": _version("--version", unless="global.json"),
    "swift": _version("--version"),
}  # fmt: skip
