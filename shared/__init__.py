"""Code shared by the agent roles, the workflow steps and the command line."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 – a step script is run by any Python
    found = ".".join(map(str, sys.version_info[:2]))
    text = "this is Python " + found + " · allowed: Python 3.11 or newer; bin/planner finds it"
    print('<error>\n<problem kind="usage" at="python">' + text + "</problem>\n</error>")
    raise SystemExit(2)
