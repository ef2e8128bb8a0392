"""What assistants send while they explore, and the projects in which they do."""
