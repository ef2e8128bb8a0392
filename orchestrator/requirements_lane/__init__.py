"""Does the work of the requirements lane: each transition from one state to the next."""
