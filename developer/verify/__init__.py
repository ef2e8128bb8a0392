"""Runs the project's verify commands on the scratch worktree and returns their results (PL-34).

A command calls `background.verify`; `worker.worker_main` does the work in a process that outlives
the command. Only commands that a person has confirmed are run. Code that reads or changes the
worktree holds `lock.undisturbed`, since its files are broken on purpose part of the time.
"""
