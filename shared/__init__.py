"""Code shared by the agent roles, the workflow steps and the command line."""
