"""How tests run scripts: in the real loop, with real tools and the real interpreter. Only the model is scripted."""

from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import loop
from skillstill.skills.registry import Registry
from skillstill.skills.skill import Limits, Skill
from skillstill.types import Message, Trace
from skillstill.workspace import Workspace

FILES = {
    "shop/cart.py": "import os\n\nclass Cart(dict):\n    items = 3\n",
    "shop/till.py": "from shop.cart import Cart\n\nclass Till(Cart):\n    drawer = 'open'\n",
    "data/rows.csv": "name,price\nbolt,3\nnut,4\ngear,20\n",
}


def skill_with_scripts(*, steps: int = 20) -> Skill:
    explore = Registry().entry("explore").skill()
    tools = ("list", "search", "read", "sql", "script")
    limits = Limits(steps=steps, turn_tokens=400)
    return explore.model_copy(
        update={"subagent": explore.subagent.model_copy(update={"tools": tools, "limits": limits})}
    )


def script(code: str, check: str = "value") -> Message:
    return call("script", check=check, code=code)


async def run(root: Path, turns: Iterable[Message | str], *, steps: int = 20, **options: Any) -> Trace:
    skill = skill_with_scripts(steps=steps)
    brief = loop.Brief(skill, "Where is Cart?", skill.instructions)
    return await loop.run(brief, nullcontext(ScriptedModel(turns)), Workspace(root), **options)


async def told(root: Path, code: str, check: str = "value") -> str:
    """Return what the model is told of one script."""
    trace = await run(root, [script(code, check), "escalate: no more"])
    return trace.messages[3].content.removeprefix("r1: ")
