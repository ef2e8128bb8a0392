"""The architect: explores, decides, writes milestones and intents."""
