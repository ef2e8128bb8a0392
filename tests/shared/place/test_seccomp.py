"""The filter of system calls, simulated step by step to test all processors."""

from __future__ import annotations

import pytest

from shared.place import seccomp


def verdict(column: int, number: int, argument: int = 0, foreign: int = 0) -> bool:
    """Return whether the filter for a column of the tables allows a system call."""
    architecture = next(a for a, c in seccomp._PROCESSORS.values() if c == column)
    data = {0: number, 4: architecture + foreign, 24: argument}
    steps, at, loaded = seccomp._steps(architecture, column), 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == seccomp._RETURN:
            return operand == seccomp._ALLOW
        if code == seccomp._LOAD:
            loaded = data[operand]
        else:
            true = loaded == operand if code == seccomp._EQUAL else loaded >= operand
            at += if_true if true else if_false


@pytest.mark.parametrize("column", [0, 1])
def test_the_filter_forbids_exactly_the_calls_of_its_table_on_each_processor(
    column: int,
) -> None:
    taken = {numbers[column] for numbers in seccomp._CALLS.values() if numbers[column]}
    assert {n for n in range(600) if not verdict(column, n)} == taken
    ioctl = seccomp._IOCTL[column]
    requests = set(seccomp._REQUESTS.values())
    assert not any(verdict(column, ioctl, request) for request in requests)
    assert verdict(column, ioctl, 0x5401)
    assert not verdict(column, 0, foreign=1)
    assert verdict(column, 0x40000001) is bool(column)
