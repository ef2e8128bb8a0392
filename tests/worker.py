"""The background process of a verification, for tests of it that have no run and no database.

A file and not the text of a command, so that `--refusals` sees what it refuses.
"""

from __future__ import annotations

import os
import sys


def main(state_dir: str) -> int:
    """Verify as the job in the state directory says."""
    sys.path[0] = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    from developer.verify.worker import worker_main

    return worker_main(state_dir)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
