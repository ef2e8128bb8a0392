"""The workflows that the main assistant (the host) runs itself."""
