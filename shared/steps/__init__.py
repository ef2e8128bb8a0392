"""Steps of a workflow: the table, printing, what a role is told."""
