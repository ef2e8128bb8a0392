"""What the planner remembers: the plan, its edits and checks, its files and its database."""
