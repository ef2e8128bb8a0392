"""What the roles, the workflows and the commands have in common."""
