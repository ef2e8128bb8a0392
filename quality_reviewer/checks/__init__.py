"""Checks of a plan that a program decides, before a reviewer is asked anything (PL-24)."""
