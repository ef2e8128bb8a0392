"""How files that changed meanwhile are named."""

from __future__ import annotations

import os

from developer.verify.trees import SHOWN_NAMES, show_names


def test_names_stand_in_order_with_odd_bytes_as_escapes_and_a_long_list_cut() -> None:
    assert show_names([]) == ""
    assert show_names(["b", "a"]) == "a, b"
    assert show_names([os.fsdecode(b"a\xff"), "é"]) == "a\\xff, é"
    names = [f"{n:03}" for n in range(SHOWN_NAMES + 2)]
    assert show_names(names[:SHOWN_NAMES]) == ", ".join(names[:SHOWN_NAMES])
    assert show_names(names) == ", ".join(names[:SHOWN_NAMES]) + " and 2 more"
