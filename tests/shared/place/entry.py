"""Run one text in the place as planning does: `entry.py STATE_DIR TEXT`, in the repository."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from shared.place.enter import run
from shared.place.planning import planning_place


def main() -> None:
    """Enter the place, print what was lost, end as the command ended."""
    state, text = sys.argv[1:]
    here = str(Path.cwd())
    report = run(planning_place(here, here, state_dir=state), ["bash", "-c", text])
    sys.stderr.writelines(f"{line}\n" for line in report.notes("edit in the worktree"))
    sys.exit(report.code)


if __name__ == "__main__":
    main()
