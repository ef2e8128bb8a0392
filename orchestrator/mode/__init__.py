"""Planning mode (read-only until a plan is approved) and light plans (steps without a run)."""
