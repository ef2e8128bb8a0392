"""Tells from a command's output that it failed for want of something: a program, a service."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shared.config import commands_hash

if TYPE_CHECKING:
    from developer.verify.job import Job, Where

_MOST_CHARS = 120
# A plan is for other machines too.
_FOLDERS = re.compile(r"(?<![^\s'\"])/(?:[^\s'\"/]+/)+(?=\S)")
# Lines of shells, of Python's runners, of tox and pip, of node, of cargo, go and make.
_SIGNS = re.compile(
    r"""^.*(?:
    \bNo\ module\ named\b | \bImportError\b | \bcannot\ import\ name\b
    | \bfixture\ '\w+'\ not\ found | \bunrecognized\ arguments: | \bunknown\ hook\b
    | \bno\ tests\ ran\b | \bRan\ 0\ tests\b | \bcollected\ 0\ items\b
    | \bcommand\ not\ found\b | :\ not\ found$ | \bNo\ such\ file\ or\ directory\b
    | \bPermission\ denied$
    | \bNo\ matching\ distribution\ found\b | \bcould\ not\ find\ python\ interpreter\b
    | \bCannot\ find\ (?:module|package)\b | \bno\ matching\ package\ named\b
    | \bno\ required\ module\ provides\b | \bNo\ rule\ to\ make\ target\b
    ).*$""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


def lacking(output: str) -> str:
    """Return the last line of an output that says what was missing, or that no test ran; else ''.

    Of absolute paths only the last part stays. Such a line may also be part of what a test expects,
    so that it alone decides nothing.
    """
    lines = _SIGNS.findall(output)
    return " ".join(_FOLDERS.sub("", lines[-1]).split())[:_MOST_CHARS] if lines else ""


# What tells that a service was not reached: on the loopback, by a socket, by its name, anywhere.
_SERVICE = re.compile(
    r"""^.*(?:
    \bconnection\ ?refused | \bECONNREFUSED\b | \bErrno\ 111\b | \bConnect\ call\ failed\b
    | \bnetwork\ is\ unreachable\b | \bno\ route\ to\ host\b | \bENETUNREACH\b
    | \bcould\ not\ (?:resolve|translate\ host)\b | \bname\ resolution\b
    | \bname\ or\ service\ not\ known\b | \bENOTFOUND\b | \bEAI_AGAIN\b | \bno\ such\ host\b
    | \.s\.PGSQL\. | \bmysqld?\.sock\b | \bdocker\.sock\b | \bdocker\ daemon\b
    ).*$""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
CUT_OFF = "commands have no network but a loopback of their own, on which no service of yours is"


def wanting(job: Job, output: str, where: Where) -> str:
    """Return what a failed command says that it was in want of, a service or a program; else ''."""
    return (unreached(job, output) if where == "place" else "") or lacking(output)


def unreached(job: Job, output: str) -> str:
    """Return the last line that says which service a command of the place did not reach; else ''.

    With it stands how a person lets commands reach services.
    """
    lines = [] if job.has_network else _SERVICE.findall(output)
    line = " ".join(_FOLDERS.sub("", lines[-1]).split())[:_MOST_CHARS] if lines else ""
    return f"{line} – {CUT_OFF}; {network_way(job)}" if line else ""


def network_way(job: Job) -> str:
    """Return how a person lets the verify commands reach the machine's network."""
    setting = "`[verify] network = true`"
    if job.config.network:
        confirm = f"planner config confirm {commands_hash(job.to_confirm)}"
        return f"{setting} waits for a person, who types `{confirm}`"
    return f"a person may set {setting}: `planner init --network`"
