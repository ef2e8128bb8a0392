"""The quality reviewer: judges what no program can decide."""
