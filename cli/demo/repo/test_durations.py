"""What parse and render promise."""

from __future__ import annotations

import unittest

from durations import parse, render


class Durations(unittest.TestCase):
    """Both directions, and what is refused."""

    def test_parts_add_up(self) -> None:
        """Spaces are free, and so is the case."""
        self.assertEqual(parse("1h 30m"), 5400)
        self.assertEqual(parse(" 2 M5s"), 125)

    def test_what_is_no_duration_is_refused(self) -> None:
        """Nothing is guessed and nothing is left over."""
        for text in ("", "soon", "5", "5y", "5m later"):
            with self.subTest(text), self.assertRaises(ValueError):
                parse(text)

    def test_render_is_the_way_back(self) -> None:
        """The largest units come first, empty ones are left out."""
        self.assertEqual(render(5400), "1h 30m")
        self.assertEqual(render(0), "0s")


if __name__ == "__main__":
    unittest.main()
