"""A run: started, shown, ended, audited; the machine and frozen plans examined."""
