"""Names of who acts: the agents' roles, and other actors' names in the audit log."""

from __future__ import annotations

ARCHITECT, DEVELOPER, WRITER = "architect", "developer", "technical-writer"
REVIEWER = "quality-reviewer"
ROLES = (ARCHITECT, DEVELOPER, WRITER, REVIEWER)

# The assistant that the user talks to; where it can start no agents, its answers carry no role.
HOST = "host"
# A person whose approval came through a channel that an assistant cannot use.
PERSON = "person"
# A person's command that an assistant could have typed as well.
UNPROVEN = "person (unproven)"
