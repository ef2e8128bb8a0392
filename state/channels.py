"""The words for how an approval was given, and which of them prove a person (PP-7)."""

from __future__ import annotations

COMMAND = "command"  # typed into a client that itself told its hook so
SIGNED = "signed"  # by a key that a person has to touch
SIGNED_OPEN = "signed, key open to programs"
TERMINAL = "terminal"
UNPROVEN_CHANNEL = "unproven"
IN_ADVANCE = "in advance"  # within the limits that a person set for the run by `auto on`
CHANNELS = (COMMAND, SIGNED, SIGNED_OPEN, TERMINAL, IN_ADVANCE, UNPROVEN_CHANNEL)
PROVEN = (COMMAND, SIGNED)


def label(channel: str) -> str:
    """Return the word for a channel with whether it proves a person, as it is shown to people."""
    if channel in PROVEN:
        return f"{channel} (proven)"
    return channel if channel == UNPROVEN_CHANNEL else f"{channel} (not proven)"


def approval_text(approved: tuple[str, str] | None) -> str:
    """Return an approval, as its channel and who gave it, in words; "" for none.

    Only a signature names a person.
    """
    if approved is None:
        return ""
    channel, who = approved
    return label(channel) + (f", by {who}" if channel in (SIGNED, SIGNED_OPEN) else "")
