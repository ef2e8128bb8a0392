"""Planning mode: who plans, its stages, its time limits, what a session is told."""
