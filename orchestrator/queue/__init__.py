"""Plans that wait for their turn, and templates of several."""
