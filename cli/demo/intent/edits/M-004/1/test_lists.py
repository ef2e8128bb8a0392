"""What lists promises."""

from __future__ import annotations

import unittest

from lists import render, short


class Lists(unittest.TestCase):
    def test_the_last_name_follows_an_and(self) -> None:
        self.assertEqual(render([]), "nobody")
        self.assertEqual(render(["Ann"]), "Ann")
        self.assertEqual(render(["Ann", "Bob", "Eve"]), "Ann, Bob and Eve")

    def test_the_short_form_counts_who_is_left(self) -> None:
        self.assertEqual(short(["Ann", "Bob"]), "Ann and Bob")
        self.assertEqual(short(["Ann", "Bob", "Eve"]), "Ann, Bob and 1 other")
        self.assertEqual(short(["Ann", "Bob", "Eve", "Joe"]), "Ann, Bob and 2 others")


if __name__ == "__main__":
    unittest.main()
