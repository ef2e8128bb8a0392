"""The technical writer role: documents reasons where the code cannot show them."""
