"""Finds the commands with which a project tests itself, each with its evidence (VR-1)."""
