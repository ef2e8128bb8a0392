"""What durations promises."""

from __future__ import annotations

import unittest

from durations import render, short


class Durations(unittest.TestCase):
    def test_empty_parts_are_left_out(self) -> None:
        self.assertEqual(render(5400), "1h 30m")
        self.assertEqual(render(86401), "1d 1s")
        self.assertEqual(render(0), "0s")

    def test_the_short_form_keeps_two_units(self) -> None:
        self.assertEqual(short(96000), "1d 3h")
        self.assertEqual(short(86399), "1d")
        self.assertEqual(short(45), "45s")
        self.assertEqual(short(0), "0s")


if __name__ == "__main__":
    unittest.main()
