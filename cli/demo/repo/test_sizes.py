"""What sizes promises."""

from __future__ import annotations

import unittest

from sizes import render


class Sizes(unittest.TestCase):
    def test_every_byte_is_told(self) -> None:
        self.assertEqual(render(1), "1 byte")
        self.assertEqual(render(1400000), "1,400,000 bytes")


if __name__ == "__main__":
    unittest.main()
