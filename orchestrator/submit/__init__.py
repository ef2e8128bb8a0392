"""Freeze a plan, show it to a person, revise it."""
