"""The developer: turns intents into changes, in the scratch worktree."""
