"""The execution of a plan's milestones: how they stand, and the deeds that change it."""
