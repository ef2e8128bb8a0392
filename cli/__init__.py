"""Thin commands: parse the arguments, call the code of other folders, print the result."""
