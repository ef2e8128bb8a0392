"""Keep a repository's runs well: look, repair, take over, shrink, and tell what happened."""
