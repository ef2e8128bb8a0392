"""Steps of a workflow: the table of steps, how a step is printed, what a role is told."""
