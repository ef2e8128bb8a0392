"""A hook of mkdocs: every decision is a page, named by its title, without a line for each."""

from __future__ import annotations

import os
from typing import Any


def on_config(config: dict[str, Any]) -> dict[str, Any]:
    """Put the decisions at the end of the navigation, in their order."""
    folder = os.path.join(config["docs_dir"], "decisions")
    pages = [f"decisions/{name}" for name in sorted(os.listdir(folder))]
    config["nav"].append({"Decisions": pages})
    return config
