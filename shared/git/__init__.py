"""The planner's use of git: scratch worktree, capture of changes, apply, commit and its proof."""
