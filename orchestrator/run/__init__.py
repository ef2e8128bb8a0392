"""A run (one request): start, status, end, audit; examine the machine and frozen plans."""
