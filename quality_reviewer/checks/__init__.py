"""The checks that a program decides (PL-24), before a reviewer is asked."""
