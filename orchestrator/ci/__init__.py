"""What CI asks: is a plan of this repository approved, and is what was committed what it holds."""
