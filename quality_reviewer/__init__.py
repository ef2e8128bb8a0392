"""The quality reviewer: checks a plan by program, then asks an agent questions about the plan."""
