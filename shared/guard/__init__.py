"""Decides which tools an assistant that plans may call, and how its shell commands run."""
