"""The architect agent: explores the code, makes decisions, writes the plan's milestones."""
