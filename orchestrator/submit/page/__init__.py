"""The parts of the review page: each returns a tree of what the plan and the run hold."""
