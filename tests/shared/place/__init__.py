"""Attacks on the place, and the arena that runs each of them for real."""
