"""What is measured against the budgets; `benchmarks/run` prints it."""
