"""What lists promises."""

from __future__ import annotations

import unittest

from lists import render


class Lists(unittest.TestCase):
    def test_the_last_name_follows_an_and(self) -> None:
        self.assertEqual(render([]), "no one")
        self.assertEqual(render(["Ann"]), "Ann")
        self.assertEqual(render(["Ann", "Bob", "Eve"]), "Ann, Bob and Eve")


if __name__ == "__main__":
    unittest.main()
