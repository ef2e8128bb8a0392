"""What durations promises."""

from __future__ import annotations

import unittest

from durations import render


class Durations(unittest.TestCase):
    def test_empty_parts_are_left_out(self) -> None:
        self.assertEqual(render(5400), "1h 30m")
        self.assertEqual(render(86401), "1d 1s")
        self.assertEqual(render(0), "0s")


if __name__ == "__main__":
    unittest.main()
