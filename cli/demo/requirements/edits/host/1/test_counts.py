"""What counts promises."""

from __future__ import annotations

import unittest

from counts import render


class Counts(unittest.TestCase):
    def test_the_noun_follows_the_number(self) -> None:
        self.assertEqual(render(0, "file"), "no files")
        self.assertEqual(render(1, "file"), "1 file")
        self.assertEqual(render(1200, "file"), "1,200 files")


if __name__ == "__main__":
    unittest.main()
