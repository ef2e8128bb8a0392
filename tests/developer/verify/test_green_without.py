"""Tests of a change that pass without it show nothing of it (VR-4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.developer.verify.conftest import PYTHON
from tests.developer.verify.test_in_place import outcome
from tests.place import need_place

if TYPE_CHECKING:
    from tests.developer.verify.conftest import Site

pytestmark = pytest.mark.requirement("VR-4")

BLIND = "from app import ANSWER\nassert ANSWER\n# more\n"
SEEING = "from app import ANSWER\nassert ANSWER == 2\n"


@pytest.fixture(autouse=True)
def _with_a_place() -> None:
    need_place()


@pytest.mark.parametrize(
    ("test", "command", "green"),
    [
        (BLIND, "test_app.py", True),
        (SEEING, "test_app.py", False),
        # It is not known whether the command runs the test.
        (BLIND, "-c 'import app'", None),
        ("", "test_app.py", None),
    ],
)
def test_the_tests_of_a_change_are_run_once_more_on_the_base(
    site: Site, test: str, command: str, *, green: bool | None
) -> None:
    site.write("app.py", "ANSWER = 2\n")
    if test:
        site.write("test_app.py", test)
    assert outcome(site, f"{PYTHON} {command}").green_without is green


def test_a_new_test_is_known_by_the_number_of_tests(site: Site) -> None:
    site.write("app.py", "ANSWER = 2\n")
    head = "import unittest\nfrom app import ANSWER\nclass T(unittest.TestCase):\n"
    for name in "ab":
        site.write(f"test_{name}.py", f"{head}    def test_{name}(self): self.assertTrue(ANSWER)\n")
    site.write("test_app.py", "")
    assert outcome(site, f"{PYTHON} -m unittest -q").green_without is True


def test_what_changes_no_test_or_no_code_is_not_run_again(site: Site) -> None:
    site.write("test_app.py", BLIND)
    assert outcome(site, f"{PYTHON} test_app.py").green_without is None
