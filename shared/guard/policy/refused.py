"""Shell commands that are refused by name, in groups: why, and what to do instead."""

from __future__ import annotations

from shared.guard import writing
from shared.guard.denial import INSTALL, PLAN
from shared.guard.policy import COMMANDS

_TREE = (
    "in the run's worktree use `planner tree rm`, `tree mv` or `tree chmod`, in a milestone's with "
    f"`--milestone ID`; for the user's files {PLAN}"
)
_READ = "use cat, head, tail, sed -n, grep, rg, find, ls, git log, git diff"
_DIRECT = "send the command itself, without another one before it"
_TEST = "run it on the planned files by `planner tree run`, which the code step prints"

# With these a worktree is changed, too.
_IN_WORKTREES = ("rm", "mv", "chmod")
_FILES = [n for n in (*writing.OPERANDS, *writing.FURTHER) if n not in _IN_WORKTREES]
# Of the others it may be asked which version they are.
_MANAGERS = [n for n in (*writing.PACKAGES, *writing.PACKAGE_FILES) if n not in COMMANDS]

FAMILIES = (
    (" ".join(_FILES), "changes files", PLAN),
    (" ".join(_IN_WORKTREES), "changes files", _TREE),
    (" ".join(writing.EDITORS), "is an editor", PLAN),
    (
        " ".join((*_MANAGERS, *writing.PACKAGE_RUNNERS)),
        "manages packages: it writes files and runs what packages contain",
        f"read the manifest and lock files with cat or jq; {INSTALL}",
    ),
    (
        (
            "sh dash ksh fish csh tcsh pwsh busybox toybox lua tclsh expect osascript gdb"
            " nodejs ipython"
        ),
        "runs any program that it is given", _READ,
    ),
    (
        (
            "env sudo su doas nice ionice timeout stdbuf nohup setsid time xargs parallel"
            " watch script flock strace ltrace chroot setpriv unshare nsenter taskset chrt"
            " prlimit runuser start-stop-daemon chpst at batch crontab systemd-run"
        ),
        "starts another command", f"{_DIRECT}; instead of xargs use grep -r, rg, `wc -l -- ./*`",
    ),
    (
        (
            "eval source . exec builtin trap coproc alias unalias export declare typeset"
            " local readonly unset set shopt enable hash complete compgen bind mapfile"
            " readarray read let history fc function if for while until case select do then"
            " else fi done esac ! { [[ (( : pushd popd wait jobs kill pkill killall umask"
            " ulimit exit return"
        ),
        "is shell programming, or changes the shell's state", _DIRECT,
    ),
    (
        (
            "curl wget ssh scp sftp ftp nc ncat netcat socat telnet ping dig nslookup host gh"
            " aws gcloud az kubectl terraform traceroute whois openssl"
        ),
        "uses the network", "ask the user, or use your own tool for reading web pages",
    ),
    (
        "less more most man info pg bat", "is a pager, which can start programs",
        "use cat, head -50, sed -n '1,80p'",
    ),
    (
        "tar zip unzip gzip gunzip bzip2 xz zstd 7z cpio ar",
        "packs and unpacks files, and can start programs", "name the archive in the plan",
    ),
    (
        (
            "pytest tox nox jest vitest mocha ruff black isort mypy eslint prettier tsc rake"
            " ninja bazel ctest pre-commit hypothesis"
        ),
        "runs the project's code or writes caches", _TEST,
    ),
    ("gawk mawk nawk perl5", "is a programming language", "use `awk '{print $1}'`, cut, sed -n"),
    ("yes sleep top htop tailf inotifywait", "may never end", "use head, tail, ps aux"),
    (
        "printenv", "prints the environment, which may hold tokens",
        "ask the user which variables are set",
    ),
    ("planner", "is not found by its bare name", "use the absolute path that the planner printed"),
)  # fmt: skip
REFUSED = {name: (reason, instead) for names, reason, instead in FAMILIES for name in names.split()}
