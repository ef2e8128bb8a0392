"""The workflows of a plan whose steps the main AI assistant (the host) runs one after the other."""
