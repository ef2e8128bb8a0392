"""Thin commands: parse, call, print. What they do is in shared/ and state/."""
