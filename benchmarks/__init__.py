"""What is measured against the budgets; `benchmarks/run` prints it."""

from shared.dependencies import ensure

ensure()
