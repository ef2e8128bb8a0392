"""Decide whether a shell command provably changes nothing, and how it must be run."""
