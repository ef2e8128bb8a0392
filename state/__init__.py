"""What is remembered: the plan, its edits and checks, the files and the database that hold them."""
