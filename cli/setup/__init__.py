"""`planner setup`: make the planner known to assistants; `doctor` asks how that stands."""
