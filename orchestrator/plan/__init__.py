"""Planning: the task, the work steps, the program's checks, pass or fail of each phase."""
