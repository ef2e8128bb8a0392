"""The commands of planning mode, also for a light plan (a list of steps without a run)."""
