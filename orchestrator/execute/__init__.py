"""Carry out a finished plan: approve, apply, commit and prove it, or undo it."""
