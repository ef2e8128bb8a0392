"""The command line: each command parses its arguments, calls other packages, prints the result."""
