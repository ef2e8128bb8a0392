"""The review of a phase: items, what blocks, the loop, the review file."""
