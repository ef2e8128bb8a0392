"""Runs the launcher in a process of its own and notes from which lines `Refused` was made.

`wrapper` makes the interpreter that tests start in place of Python: it is Python, but where the
script is a launcher, or the worker of tests, this file comes between. The product knows nothing
of it.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DEFINITION = os.path.join("state", "errors.py")
_PYTHON = sys.executable  # of which --refusals makes a wrapper
# Only the script itself counts: after -c and -m a launcher's path is an argument like any other.
_WRAPPER = """\
#!/bin/sh
look=yes
for word do
  shift
  case $look$word in
    yes-c | yes-m) look=no ;;
    yes*/bin/planner | yes*/tests/worker.py) look=no; set -- "$@" '{program}' '{notes}' "$0" ;;
  esac
  set -- "$@" "$word"
done
exec '{python}' "$@"
"""


def wrapper(folder: str) -> tuple[str, str]:
    """Write the interpreter into a folder; return its path and that of the file of notes."""
    path, notes = os.path.join(folder, "python"), os.path.join(folder, "notes")
    program = os.path.realpath(__file__)
    with open(path, "w", encoding="utf-8") as file:
        file.write(_WRAPPER.format(program=program, notes=notes, python=_PYTHON))
    with open(notes, "wb"):
        pass
    # Some tests become another user.
    os.chmod(folder, 0o711)  # noqa: S103
    os.chmod(path, 0o755)  # noqa: S103
    os.chmod(notes, 0o666)  # noqa: S103
    return path, notes


def note_refusals(root: str, note: Callable[[str, int], object]) -> None:
    """Call `note` with file and line of each refusal that this process makes from here on."""
    from state.errors import Refused

    make = Refused.__init__

    def note_and_make(refusal: Refused, *values: object, **named: object) -> None:
        frame = sys._getframe(1)
        if frame.f_code.co_filename.endswith(_DEFINITION) and frame.f_back:
            frame = frame.f_back
        note(os.path.relpath(frame.f_code.co_filename, root), frame.f_lineno)
        make(refusal, *values, **named)  # type: ignore[arg-type]

    Refused.__init__ = note_and_make  # type: ignore[method-assign,assignment]


def main(notes: str, python: str, launcher: str) -> None:
    """Run the launcher as Python would, with the arguments that are left."""
    import runpy

    root = os.path.dirname(os.path.dirname(os.path.realpath(launcher)))

    def note(path: str, line: int) -> None:
        try:
            handle = os.open(notes, os.O_WRONLY | os.O_APPEND)
        except OSError:  # the product has shut this process off from the files of the tests
            return
        os.write(handle, f"{path}:{line}\n".encode())
        os.close(handle)

    sys.path[0] = root
    note_refusals(root, note)
    # What the product starts by its own interpreter is seen too.
    sys.executable = python
    sys.argv = [launcher, *sys.argv[4:]]
    runpy.run_path(launcher, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:4])
