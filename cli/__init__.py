"""The command line: each command parses its arguments, calls other packages, prints the result."""

import sys

if sys.argv[:1] == ["-m"]:
    # By hand, as `python -m cli.plan`: Python then comes here first, and the command needs click.
    from cli.by_hand import provide

    provide()
