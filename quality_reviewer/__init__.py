"""The quality reviewer: checks by program, then questions that need judgement."""
