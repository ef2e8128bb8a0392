"""The parts of the review page: each returns markup for what the plan and the run hold."""
