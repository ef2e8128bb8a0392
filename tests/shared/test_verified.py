"""What is said of a verify command: where it ran, who chose it, and what came out (VR-4)."""

from __future__ import annotations

import pytest

from shared.verified import facts_of, lines_for_review
from state.results import VerifyResult

pytestmark = pytest.mark.requirement("VR-4")
