"""Says whether a shell command provably changes nothing, and how it is to be run."""
