"""The work of strategy.py: check the strategic plan, follow its route, keep verdicts and memory."""
