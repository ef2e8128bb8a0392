"""Parse TOML of a limited size, so that a file which somebody else wrote costs no time (PP-6).

Cheap to import, since hooks read the user's own settings through it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the hook loads this module: neither typing nor dataclasses
if TYPE_CHECKING:
    from typing import Any

MOST_BYTES = 64 * 1024
# Python's parser takes seconds for a key of 20,000 parts, and a key cannot leave its line.
MOST_DOTS = 100


def parse(data: bytes) -> dict[str, Any]:
    """Return the tables of a TOML file; raise ValueError saying what is wrong with it."""
    if len(data) > MOST_BYTES:
        message = f"is longer than {MOST_BYTES // 1024} kB"
        raise ValueError(message)
    for number, line in enumerate(data.split(b"\n"), start=1):
        if line.count(b".") > MOST_DOTS:
            message = f"has more than {MOST_DOTS} dots in line {number}"
            raise ValueError(message)
    return _parse(data)


def read_table(path: str, name: str) -> dict[str, Any]:
    """Return one table of a TOML file, empty without one; raise ValueError saying what is wrong."""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    # Most files lack it, and reading TOML takes longer than a decision of the guard.
    if name.encode() not in data:
        return {}
    try:
        table = parse(data).get(name, {})
    except ValueError as error:
        message = f"{path} {error}"
        raise ValueError(message) from None
    if not isinstance(table, dict):
        message = f"{path}: [{name}] is not a table"
        raise ValueError(message)  # noqa: TRY004 – the file is wrong, not a type of ours
    return table


def _parse(data: bytes) -> dict[str, Any]:
    # Not at the top: hooks seldom need it, and it costs more than a decision.
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8 at line {line}"
    except tomllib.TOMLDecodeError as error:
        # Where the text ends too soon Python gives no line.
        last = data.count(b"\n") + 1
        message = f"is not TOML: {error}" + ("" if "line" in str(error) else f" (line {last})")
    except RecursionError:
        message = "is nested too deeply to be read"
    raise ValueError(message)
