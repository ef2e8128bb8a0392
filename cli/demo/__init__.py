"""The demo: a sample project, what its assistant would have invented, and who plays the assistant.

Nothing here but `command` needs a package that is not ours: the bot in real clients uses the rest.
"""
