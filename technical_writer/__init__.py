"""The technical writer agent: documents reasons that the code itself cannot show."""
