"""Does the work of the requirements lifecycle: each transition from one state to the next."""
