"""A plan is frozen, shown to a person, revised."""
