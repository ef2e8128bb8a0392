"""Make `shared/clients/known.py` from the clients' files; the committed file must be the same."""

from __future__ import annotations

import json
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING

import shared.clients
from shared.clients import client_of
from shared.resources import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

KNOWN = Path(ROOT, "shared", "clients", "known.py")
_HEAD = '''\
"""What concerns every client at once, made from their files by `bin/test --update-golden`.

A hook and most commands need it without any client's file. `Client` in `shared/clients/__init__.py`
says what each name means.
"""

from __future__ import annotations

'''
_LISTS = (
    "SESSION_VARIABLES", "MARKS", "PROGRAMS", "PROGRAM_PATHS", "SECRETS", "OWN_FILES", "PLUGINS",
)  # fmt: skip
_MAPPINGS = ("SECRET_VARIABLES", "HIDDEN_GIT")


def names() -> list[str]:
    """Return the names of the clients that have a file."""
    found = (module.name for module in pkgutil.iter_modules(shared.clients.__path__))
    return sorted(name for name in found if name != "known")


def clients_text() -> str:
    """Return what `shared/clients/known.py` has to be."""
    clients = [client_of(name) for name in names()]
    takes = [name for name, client in zip(names(), clients, strict=True) if client.TAKES_CHANGED]
    parts = [_listed("TAKE_CHANGED", takes)]
    for attribute in _LISTS:
        merged = dict.fromkeys(value for client in clients for value in getattr(client, attribute))
        parts.append(_listed(attribute, merged))
    for attribute in _MAPPINGS:
        rows = {k: v for client in clients for k, v in getattr(client, attribute).items()}
        lines = "".join(f"    {_quoted(k)}: {_quoted(v)},\n" for k, v in rows.items())
        parts.append(f"{attribute} = {{\n{lines}}}\n")
    return _HEAD + "".join(parts)


def _listed(name: str, values: Iterable[str]) -> str:
    found = [_quoted(value) for value in values]
    if len(found) == 1:
        return f"{name} = ({found[0]},)\n"
    return f"{name} = (\n{''.join(f'    {value},{chr(10)}' for value in found)})\n"


def _quoted(value: str) -> str:
    return json.dumps(value)
