"""How tests call a tool: by its name, over a folder."""

from pathlib import Path
from typing import Any

import pytest
from skillstill.errors import Refusal
from skillstill.tools import TOOLS, Result
from skillstill.workspace import Workspace


async def call(name: str, root: Path, **arguments: Any) -> Result:
    return await TOOLS[name].call(Workspace(root), arguments)


async def lines(name: str, root: Path, **arguments: Any) -> list[str]:
    return (await call(name, root, **arguments)).text.split("\n")


async def refused(name: str, root: Path, **arguments: Any) -> str:
    """What it says no in."""
    with pytest.raises(Refusal) as caught:
        await call(name, root, **arguments)
    return str(caught.value)
