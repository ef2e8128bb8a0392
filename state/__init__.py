"""Store the plan and the history of each run: models, edits, validation, files and database."""
