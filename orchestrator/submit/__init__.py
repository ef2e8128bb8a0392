"""Freeze a plan, show it to a person for approval, open its next revision."""
