"""Skips tests of the place where the kernel gives none; where only ours is broken, they fail."""

from __future__ import annotations

import functools
import subprocess

import pytest

from shared.place.level import try_again
from shared.resources import ROOT

_SPACES = ("--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts")


def need_place() -> None:
    """Skip the calling test if this machine gives no namespaces; fail it if we cannot use them."""
    reason = _reason()
    if not reason:
        return
    command = ["unshare", *_SPACES, "--fork", "--mount-proc", "true"]
    try:
        given = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        given = False
    if given:
        pytest.fail(f"the kernel gives namespaces, but the place cannot be entered: {reason}")
    pytest.skip(f"no place here: {reason}")


@functools.cache
def _reason() -> str:
    found = try_again(ROOT)
    return "" if found.holds else found.reason
