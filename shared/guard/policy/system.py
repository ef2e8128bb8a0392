"""Policy rules for shell commands that show machine, user, time, or versions of programs."""

from __future__ import annotations

from shared.guard.policy.rule import Exact, Options, Rule, Special


def _version(passes: str, denied: str, unless: str = "") -> Exact:
    return Exact("asks a program for its version", passes, denied, unless=unless)


SYSTEM: dict[str, Rule] = {
    "pwd": Options("prints the folder", "-L -P", builtin=True, passes="pwd -P", denied="pwd x"),
    "cd": Special(
        "enters a folder, for the commands after `&&`", "cd", builtin=True,
        passes="cd src && ls", denied="cd - && ls",
    ),
    "true": Options("does nothing", builtin=True, passes="true", denied="true x"),
    "false": Options("does nothing", builtin=True, passes="false", denied="false x"),
    "test": Special(
        "asks about a file or a text", "test", builtin=True,
        passes="test -f README.md", denied="test -f ~/.ssh/id_rsa",
    ),
    "[": Special(
        "asks about a file or a text", "[", builtin=True,
        passes="[ -d src ]", denied="[ -d src",
    ),
    "which": Options(
        "prints where a program is", "-a -s", "name+",
        passes="which git", denied="which ./git",
    ),
    "type": Options(
        "says what a name means to the shell", "-a -t -p", "name+", builtin=True,
        passes="type git", denied="type -f git",
    ),
    "command": Special(
        "says what a name means, with -v", "command", builtin=True,
        passes="command -v git", denied="command git push",
    ),
    "whereis": Options(
        "prints where a program is", "-b -m -s", "name+",
        passes="whereis git", denied="whereis -B src git",
    ),
    "date": Options(
        "prints the time; denied: an operand without `+`, which would set it",
        "-u -R -I?text -d:text -r:path --utc --universal --rfc-email --iso-8601?=text --date=text"
        " --rfc-3339=date|seconds|ns --reference=path",
        "stamp?",
        passes="date -u '+%F'", denied="date 01020304",
    ),
    "cal": Options(
        "prints a calendar", "-3 -y -m", "count? count?",
        passes="cal 1 2026", denied="cal now",
    ),
    "id": Options(
        "says who the user is", "-g -G -n -r -u -z --group --groups --name --real --user", "name?",
        passes="id -un", denied="id ./x",
    ),
    "whoami": Options("says who the user is", passes="whoami", denied="whoami x"),
    "logname": Options("says who the user is", passes="logname", denied="logname x"),
    "groups": Options(
        "says what groups the user is in", "", "name?",
        passes="groups", denied="groups ./x",
    ),
    "users": Options("says who is logged in", passes="users", denied="users /var/log/wtmp"),
    "who": Options(
        "says who is logged in", "-a -b -q -u",
        passes="who", denied="who /var/log/wtmp",
    ),
    "uptime": Options(
        "says how long the machine has been running", "-p -s --pretty --since",
        passes="uptime -p", denied="uptime x",
    ),
    "uname": Options(
        "names the system",
        "-a -i -m -n -o -p -r -s -v --all --kernel-name --nodename --kernel-release"
        " --kernel-version --machine --processor --operating-system",
        passes="uname -a", denied="uname x",
    ),
    "arch": Options("names the processor type", passes="arch", denied="arch x"),
    "hostname": Options(
        "names the machine; denied: an operand, which would rename it", "-s --short",
        passes="hostname -s", denied="hostname other",
    ),
    "nproc": Options(
        "counts processors", "--all --ignore=count",
        passes="nproc --all", denied="nproc x",
    ),
    "free": Options(
        "shows memory", "-b -k -m -g -h -t -w --human --total --wide",
        passes="free -h", denied="free -s 1",
    ),
    "vmstat": Options("shows memory", passes="vmstat", denied="vmstat 1"),
    "lscpu": Options("shows the processor", "-J --json", passes="lscpu", denied="lscpu -s /"),
    "lsblk": Options(
        "lists disks", "-a -f -l -J --json",
        passes="lsblk -f", denied="lsblk --sysroot /",
    ),
    "sw_vers": Exact(
        "names the system",
        passes="sw_vers -productVersion\nsw_vers -buildVersion", denied="sw_vers",
    ),
    "locale": Options(
        "prints the language settings", "-a -m",
        passes="locale -a", denied="locale -k LC_ALL",
    ),
    "getconf": Options(
        "prints a limit of the system", "", "name",
        passes="getconf PAGESIZE", denied="getconf ./x",
    ),
    "tty": Options("names the terminal", "-s", passes="tty", denied="tty x"),
    "ps": Options(
        "lists processes, without their environments",
        "-A -a -d -e -f -F -l -x -w -H -p:list -u:name -U:name -C:name -o:columns"
        " --forest --no-headers --sort=text --pid=list --ppid=list --user=name",
        "a|x|u|ax|ux|au|aux|axu|auxw|auxww|auxf|axf|axuf?",
        passes="ps aux", denied="ps auxe",
    ),
    "pgrep": Options(
        "lists processes by name", "-a -f -i -l -n -o -x -c -u:name", "text",
        passes="pgrep -l git", denied="pgrep -F file",
    ),
    "tput": Options(
        "says what the terminal can do", "", "cols|lines|colors",
        passes="tput cols", denied="tput reset",
    ),
    "git": Special(
        "reads the history and the state of a repository", "git",
        passes="git log -1", denied="git push",
    ),
    "python": _version("python --version\npython -V", "python src/app.py"),
    "python3": _version("python3 --version\npython3 -V\npython3 -VV", "python3 -c 1"),
    "pip": _version("pip --version", "pip install x"),
    "pip3": _version("pip3 --version", "pip3 install x"),
    "uv": _version("uv --version", "uv run x"),
    "node": _version("node --version\nnode -v", "node x.js"),
    "npm": _version("npm --version\nnpm -v", "npm test"),
    "go": _version("go version", "go build", unless="go.mod go.work"),
    "cargo": _version(
        "cargo --version\ncargo -V", "cargo build",
        unless="rust-toolchain rust-toolchain.toml",
    ),
    "rustc": _version(
        "rustc --version\nrustc -V", "rustc x.rs",
        unless="rust-toolchain rust-toolchain.toml",
    ),
    "java": _version("java --version\njava -version", "java X"),
    "javac": _version("javac --version\njavac -version", "javac X.java"),
    "ruby": _version("ruby --version", "ruby x.rb"),
    "perl": _version("perl --version\nperl -v", "perl -e 1"),
    "php": _version("php --version\nphp -v", "php x.php"),
    "gcc": _version("gcc --version", "gcc x.c"),
    "g++": _version("g++ --version", "g++ x.cc"),
    "clang": _version("clang --version", "clang x.c"),
    "make": _version("make --version", "make -n"),
    "cmake": _version("cmake --version", "cmake ."),
    "docker": _version("docker --version", "docker ps"),
    "bash": _version("bash --version", "bash -c ls"),
    "zsh": _version("zsh --version", "zsh -c ls"),
    "sqlite3": _version("sqlite3 --version", "sqlite3 data/s.db"),
    "dotnet": _version("dotnet --version", "dotnet build", unless="global.json"),
    "swift": _version("swift --version", "swift x.swift"),
}  # fmt: skip
