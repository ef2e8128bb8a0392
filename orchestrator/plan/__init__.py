"""Planning: context, work steps, script checks, gates."""
