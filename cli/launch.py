"""Start a `bin/planner` command other than `step`: load the dependencies, then the commands.

Only the standard library at import: the commands themselves need what `ensure` provides.
"""

from __future__ import annotations

from cli import answers
from shared.builders import error_block
from shared.dependencies import ensure
from shared.resources import command
from state.errors import Problem, Refused

INTERRUPTED = 130


def run(argv: list[str]) -> int:
    """Run the planner command in `argv` and return its exit code; print why if it cannot start."""
    answers.choose(argv)
    try:
        ensure(fresh=argv[:1] == ["setup"] and "--fresh" in argv)
        # Not at the top: it needs click, which `ensure` has just provided.
        from cli.main import main
    except Refused as refusal:
        answers.write(error_block(refusal.problems, refusal.kept, argv))
        return 1
    except ImportError as error:
        return damaged(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    return main(argv)


def damaged(error: ImportError) -> int:
    """Print that the planner's commands cannot be loaded and how to reinstall; return 3."""
    import traceback

    traceback.print_exception(error)
    at, retry = error.name or "packages", command("setup", "--fresh")
    problem = Problem("internal", at, f"the commands cannot be loaded: {error}", retry=retry)
    answers.write(error_block([problem]))
    return 3
