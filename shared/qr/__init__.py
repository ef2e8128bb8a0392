"""The review of a phase: its questions, which findings block, its rounds, the review file."""
