"""The filters of system calls, simulated step by step to test all processors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from shared.place import bpf, seccomp
from shared.place import filter as of_place

if TYPE_CHECKING:
    from shared.place.bpf import Step

MACHINES = sorted(bpf.PROCESSORS)


def verdict(steps: list[Step], machine: str, number: int, *arguments: int, foreign: int = 0) -> int:
    """Return how a filter answers a system call."""
    data = {0: number, 4: bpf.PROCESSORS[machine][0] + foreign}
    data |= {16 + 8 * at: value for at, value in enumerate((*arguments, 0, 0, 0)[:6])}
    at, loaded = 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == bpf.RETURN:
            return operand
        if code == bpf.LOAD:
            loaded = data[operand]
            continue
        true = {
            bpf.EQUAL: loaded == operand, bpf.AT_LEAST: loaded >= operand,
            bpf.ANY_BIT: bool(loaded & operand),
        }[code]  # fmt: skip
        at += if_true if true else if_false


def test_a_processor_that_is_not_known_has_no_filter() -> None:
    with pytest.raises(OSError, match="no filter of system calls is known for vax"):
        seccomp.program("vax")


@pytest.mark.requirement("PP-1", "PP-3")
@pytest.mark.parametrize("machine", MACHINES)
def test_the_lower_filter_forbids_exactly_the_calls_of_its_table(machine: str) -> None:
    column, steps = bpf.PROCESSORS[machine][1], seccomp.program(machine)
    taken = {numbers[column] for numbers in seccomp._CALLS.values() if numbers[column]}
    assert {n for n in range(600) if verdict(steps, machine, n) == bpf.DENY} == taken
    for request in bpf.IOCTLS.values():
        assert verdict(steps, machine, bpf.IOCTL[column], 0, request) == bpf.DENY
    assert verdict(steps, machine, bpf.IOCTL[column], 0, 0x5401) == bpf.ALLOW
    assert verdict(steps, machine, 0, foreign=1) == bpf.DENY
    assert verdict(steps, machine, 0x40000001) == (bpf.ALLOW if column else bpf.DENY)


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_of_the_place_decides_by_arguments_too(machine: str) -> None:
    column, steps = bpf.PROCESSORS[machine][1], of_place.program(machine, local_sockets=True)
    denied = {numbers[column] for numbers in of_place._DENIED.values() if numbers[column]}
    unknown = {numbers[column] for numbers in of_place._DENIED_AS_UNKNOWN.values()}
    sockets = {of_place._SOCKET[column], of_place._SOCKET_PAIR[column]}
    answers = {n: verdict(steps, machine, n) for n in range(600)}
    assert {n for n, said in answers.items() if said == bpf.DENY} == denied | sockets
    assert {n for n, said in answers.items() if said == bpf.UNKNOWN} == unknown
    for call, argument, bits in (of_place._NEWLY_SPACED | of_place._SETTING_IDS).values():
        if call[column]:
            given = [0] * argument + [bits & -bits]
            assert verdict(steps, machine, call[column], *given) == bpf.DENY
            given[-1] = ~bits & 0xFFFF
            assert verdict(steps, machine, call[column], *given) == bpf.ALLOW
    for name, (call, process) in of_place._OF_A_PROCESS.items():
        for number, said in ((0, bpf.ALLOW), (1, bpf.DENY), (2, bpf.ALLOW)):
            assert verdict(steps, machine, call[column], *[0] * process, number) == said
        if name in of_place._OF_A_USER:
            assert verdict(steps, machine, call[column], of_place._OF_A_USER[name], 0) == bpf.DENY
    for call, flags in of_place._OPENING.values():
        if call[column]:
            for made, said in ((0o100, bpf.DENY), (0o20000000, bpf.DENY), (0, bpf.ALLOW)):
                given = [*[0] * flags, made, 0o4755]
                assert verdict(steps, machine, call[column], *given) == said
    sealed = of_place.program(machine, local_sockets=False)
    for family in range(50):
        answer = verdict(steps, machine, of_place._SOCKET[column], family)
        assert answer == (bpf.ALLOW if family in (1, 2, 10, 16) else bpf.DENY)
        answer = verdict(sealed, machine, of_place._SOCKET[column], family)
        assert answer == (bpf.ALLOW if family in (2, 10, 16) else bpf.DENY)
        answer = verdict(sealed, machine, of_place._SOCKET_PAIR[column], family)
        assert answer == (bpf.ALLOW if family == 1 else bpf.DENY)


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("machine", MACHINES)
def test_where_nothing_lasts_bits_that_change_ids_may_be_set(machine: str) -> None:
    column = bpf.PROCESSORS[machine][1]
    fleeting = of_place.program(machine, local_sockets=True, lasting=False)
    for call, argument, bits in of_place._SETTING_IDS.values():
        if call[column]:
            given = [0] * argument + [bits]
            assert verdict(fleeting, machine, call[column], *given) == bpf.ALLOW
    for call, argument, bits in of_place._NEWLY_SPACED.values():
        given = [0] * argument + [bits & -bits]
        assert verdict(fleeting, machine, call[column], *given) == bpf.DENY


@pytest.mark.requirement("PP-1")
@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_newer_kernels_that_do_what_older_ones_may_not_are_forbidden_too(
    machine: str,
) -> None:
    """They have one number everywhere; what is not listed reads, or writes what the place drops."""
    in_place, below = of_place.program(machine, local_sockets=True), seccomp.program(machine)
    newer = {
        "setxattrat": (463, bpf.ALLOW, bpf.DENY), "getxattrat": (464, bpf.ALLOW, bpf.ALLOW),
        "listxattrat": (465, bpf.ALLOW, bpf.ALLOW), "removexattrat": (466, bpf.ALLOW, bpf.DENY),
        "open_tree_attr": (467, bpf.DENY, bpf.ALLOW), "file_getattr": (468, bpf.ALLOW, bpf.ALLOW),
        "file_setattr": (469, bpf.DENY, bpf.DENY), "listns": (470, bpf.DENY, bpf.ALLOW),
    }  # fmt: skip
    for name, (number, there, here) in newer.items():
        assert verdict(in_place, machine, number) == there, name
        assert verdict(below, machine, number) == here, name
