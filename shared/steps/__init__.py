"""Steps of a workflow: the table of steps, how a step is printed, what an agent is told to do."""
