"""What counts promises."""

from __future__ import annotations

import unittest

from counts import render, short


class Counts(unittest.TestCase):
    def test_the_noun_follows_the_number(self) -> None:
        self.assertEqual(render(0, "file"), "0 files")
        self.assertEqual(render(1, "file"), "1 file")
        self.assertEqual(render(1200, "file"), "1,200 files")

    def test_the_short_form_ends_at_the_most(self) -> None:
        self.assertEqual(short(99), "99")
        self.assertEqual(short(100), "99+")
        self.assertEqual(short(7, most=5), "5+")


if __name__ == "__main__":
    unittest.main()
