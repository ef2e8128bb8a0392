"""A run (the work on one request): start, status, end, audit; also check machine and plans."""
