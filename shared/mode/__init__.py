"""Planning mode: its stages, time limits and session files, and what a session is told."""
