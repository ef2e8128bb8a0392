"""Approve, apply, commit and prove a plan, or take it back."""
