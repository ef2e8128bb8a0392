"""What sizes promises."""

from __future__ import annotations

import unittest

from sizes import render, short


class Sizes(unittest.TestCase):
    def test_every_byte_is_told(self) -> None:
        self.assertEqual(render(1), "1 byte")
        self.assertEqual(render(1400000), "1,400,000 bytes")

    def test_the_short_form_keeps_one_decimal(self) -> None:
        self.assertEqual(short(999), "999 bytes")
        self.assertEqual(short(1960), "2.0 kB")
        self.assertEqual(short(1400000), "1.4 MB")

    def test_what_rounds_to_a_thousand_takes_the_next_unit(self) -> None:
        self.assertEqual(short(999949), "999.9 kB")
        self.assertEqual(short(999960), "1.0 MB")
        self.assertEqual(short(10**18), "1000000.0 TB")


if __name__ == "__main__":
    unittest.main()
