"""The forms in which `planner validate` tells CI what it found (PL-30, HO-7)."""
