"""Everything that is done with git: the scratch worktree, capture, apply, commit and its proof."""
