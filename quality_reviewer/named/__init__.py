"""Finds what statements name by what can be looked up: numbers, identifiers, quotes, paths."""
