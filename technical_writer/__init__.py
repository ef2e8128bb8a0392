"""The technical writer: documents why, where the code cannot say it."""
