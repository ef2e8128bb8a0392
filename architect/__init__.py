"""The architect role: explores the code, decides, writes milestones and intents."""
