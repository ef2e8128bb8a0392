"""Planning mode by command, also for a plan without a run."""
