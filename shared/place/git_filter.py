"""Runs a filter of git in the place: `git_filter.py REPOSITORY COMMAND [FILE]`, in the worktree.

Git starts it instead of the filter, gives it the content of files and reads what it makes of them.
Where there is no place, the filter runs unable to write, as far as the kernel can hold that.
"""

from __future__ import annotations

import os
import sys

# Git knows this file alone.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from shared import sandbox
from shared.place.enter import CannotEnter, run
from shared.place.level import forget
from shared.place.planning import capture_place
from shared.place.values import Limits

_LIMIT_S = 900.0
_MOST_OUTPUT = 1 << 31


def main(repository: str, *words: str) -> int:
    """Run the filter and return its exit code."""
    # Git would start us again for a git that the filter starts.
    os.environ.pop("GIT_CONFIG_PARAMETERS", None)
    command = ["sh", "-c", words[0], "sh", *words[1:]]
    place = capture_place(os.getcwd(), repository, os.environ, ())
    place.shown += (place.folder,)
    place.input = True
    place.limits = Limits(seconds=_LIMIT_S, output=_MOST_OUTPUT)
    try:
        report = run(place, command)
    except CannotEnter as error:
        forget(place, str(error))
        sandbox.become(sandbox.wrap((), command, strict=True), dict(os.environ))
    sys.stderr.writelines(f"{line}\n" for line in report.notes("a filter may only print"))
    return report.code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
