"""Code that the roles, the workflows and the commands share."""
