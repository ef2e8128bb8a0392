"""The parts of the plan's review page: each module returns HTML elements for one subject."""
