"""Decide whether a shell command provably changes no file or setting, and how to run it safely."""
