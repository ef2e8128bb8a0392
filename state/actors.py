"""Who the audit names as the one who acted."""

from __future__ import annotations

# Who answers where the host can start no agents; its answers carry no role.
HOST = "host"


# Whom the audit names for a person's command where no channel tells them from the host.
PERSON = "person (unproven)"
