"""The workflows that the host assistant runs itself."""
