"""What tests of teachers behind endpoints set up alike: a tiny workspace, goals in it, and what an endpoint says."""

import json
from collections.abc import Callable

from skillstill.skills.skill import Skill, Subagent
from skillstill.types import ModelFile, Span
from skillstill_training.authoring.checks import Check, Locations
from skillstill_training.authoring.goal import Goal
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.retries import RetryPolicy

from tests.server.models.openai_server import Said, turn

CART = "MAX_ITEMS = 50\n\n\nclass Cart:\n    def total(self) -> int:\n        return 3\n"
RETRY = "DELAY = 0.25\nTRIES = 4\n\n\ndef backoff(attempt: int) -> float:\n    return DELAY * 2**attempt\n"
SKILL = Skill(
    name="scout",
    description="Finds things in code.",
    instructions="You answer one question about the code. Search first, then quote `path:line`.",
    subagent=Subagent(
        system="scout", tools=("search", "read"), base=ModelFile(source="file:base.gguf", sha256="0" * 64)
    ),
)
QUICK = RetryPolicy(tries=3, first=0.001, longest=10, request=5)
DOWN = Said('{"error": {"message": "out of memory"}}', 500)
TOO_MANY = Said("", 429, headers={"Retry-After": "7"})
Make = Callable[..., ModelTeacher]


def place(path: str, line: int) -> Locations:
    return Locations(gold=(Span(path=path, first=line, last=line),))


def goal(number: int, prompt: str = "Where is Cart?", check: Check | None = None, family: str = "lookup") -> Goal:
    check = check or place("cart.py", 4)
    return Goal(
        id=f"{number:016x}", skill="scout", family=family, split="validation", workspace="toy", wording="w",
        prompt=prompt, check=check, calls=1, hits=1, answer="known",
    )  # fmt: skip


def called(name: str, **arguments: object) -> Said:
    return turn(None, [{"name": name, "arguments": json.dumps(arguments)}], finish="tool_calls")


SEARCH = called("search", pattern="class Cart")
RIGHT = turn("Cart is defined at cart.py:4.")
WRONG = turn("Cart is a class (r1).")
SOLVED = (SEARCH, RIGHT)
