"""Planning mode: its stages, time limits and session files, and what an assistant is told."""
