"""The names under which the audit records who acted."""

from __future__ import annotations

# The assistant that the user talks to; its answers carry no role.
HOST = "host"
# A person whose approval came through a channel that an assistant cannot use.
PERSON = "person"
# A person's command that an assistant could have typed as well.
UNPROVEN = "person (unproven)"
