"""The quality review of a phase: its questions, blocking findings, rounds, and review file."""
