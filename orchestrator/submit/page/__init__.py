"""The parts of the review page: each returns HTML elements for what plan and run hold."""
