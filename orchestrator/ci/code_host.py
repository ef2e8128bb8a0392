"""Read an issue and open a pull request through the user's own `gh` (GitHub) or `glab` (GitLab).

Both are logged in by the user; the planner has no token and asks for none.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from shared.git.repository import find_repository
from state.errors import Problem, Refused

if TYPE_CHECKING:
    from shared.git.command import Git

_LIMIT_S = 60
_MOST_OUTPUT = 1_000


class Program(NamedTuple):
    """A program for a code host: what it is called, and what it calls the text of an issue."""

    name: str
    site: str
    text_key: str
    in_json: tuple[str, ...]


GH = Program("gh", "github", "body", ("--json", "title,body"))
GLAB = Program("glab", "gitlab", "description", ("--output", "json"))


def find_program(folder: str) -> Program | None:
    """Return the program for the host of the repository around `folder`, None without one.

    A remote whose address names neither host may be either, so there the first on PATH counts.
    """
    urls = _remotes(find_repository(folder).git)
    named = [program for program in (GH, GLAB) if program.site in urls]
    return next((one for one in named or (GH, GLAB) if shutil.which(one.name)), None)


def read_issue(folder: str, number: int) -> str:
    """Return the words of an issue as a request: its number and title, then its text.

    Refused, with what to do instead, where the program is missing, logged out or finds no issue.
    """
    allowed = 'paste the text of the issue instead, as `planner start "TEXT"`'
    program = find_program(folder)
    if program is None:
        text = "an issue is read by gh (GitHub) or glab (GitLab), and neither is on PATH"
        raise Refused("not_found", f"--issue {number}", text, allowed)
    words = ("issue", "view", str(number), *program.in_json)
    done = _run(program, folder, *words)
    try:
        issue = json.loads(done.stdout)
        title, body = issue["title"], issue[program.text_key] or ""
    except (ValueError, LookupError, TypeError):
        text = f"{program.name} did not give the issue (exit code {done.returncode})"
        way = f"log in with `{program.name} auth login`, or {allowed}"
        problem = Problem("refused", f"--issue {number}", text, way, output=_output_of(done))
        raise Refused.of([problem]) from None
    words_of_it = "\n\n".join(filter(None, (title.strip(), body.replace("\r\n", "\n").strip())))
    return f"Issue #{number}: {words_of_it}"


def open_request(folder: str, program: Program, branch: str, title: str, body: str) -> str:
    """Open a pull request (or merge request) for a pushed branch; return what the program says."""
    with tempfile.TemporaryDirectory(prefix="planner-") as scratch:
        path = os.path.join(scratch, "body.md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(body)
        if program == GH:
            words = ["pr", "create", "--title", title, "--body-file", path, "--head", branch]
        else:
            words = ["mr", "create", "--title", title, "--description", body, "--yes"]
            words += ["--source-branch", branch]
        done = _run(program, folder, *words)
    if done.returncode:
        text = f"{program.name} did not open it (exit code {done.returncode})"
        way = f"log in with `{program.name} auth login`, or open it by hand with the printed text"
        retry = "planner pr --print"
        raise Refused.of([Problem("refused", "pr", text, way, retry, _output_of(done))])
    return done.stdout.strip()


def _run(program: Program, folder: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the program without a terminal, so that it asks nothing."""
    environment = {**os.environ, "GH_PROMPT_DISABLED": "1", "NO_PROMPT": "1", "NO_COLOR": "1"}
    command = [program.name, *words]
    try:
        return subprocess.run(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, encoding="utf-8", errors="replace", timeout=_LIMIT_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no answer within {_LIMIT_S} s")
    except OSError as error:
        return subprocess.CompletedProcess(command, 127, "", error.strerror or "")


def _output_of(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr or done.stdout).strip()[:_MOST_OUTPUT]


def _remotes(git: Git) -> str:
    """Return the addresses of all remotes in one text."""
    return git.attempt("config", "--get-regexp", r"^remote\..*\.url$").stdout.decode(
        "utf-8", "replace"
    )
