"""The developer role: writes the code that a plan describes, in the scratch git worktree."""
