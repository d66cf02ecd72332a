"""What success is, as a hash over verdicts: golden answers are judged by the checks as they are now."""

import hashlib
import json
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import TypeAdapter

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import Check, Judgement, judge

CHECK: TypeAdapter[Check] = TypeAdapter(Check)


def golden_verdicts() -> Iterator[tuple[dict[str, Any], Judgement]]:
    """Yield each golden answer and what its check says of it today."""
    text = files("skillstill_training.authoring").joinpath("golden_verdicts.toml").read_text("utf-8")
    for case in tomllib.loads(text)["case"]:
        check = CHECK.validate_python(case["check"])
        for one in case["attempts"]:
            attempt = Attempt.of_text(case.get("prompt", ""), one["answer"], case.get("shown", ()))
            yield {**one, "check": case["check"]}, judge(check, attempt)


@cache
def judges_hash() -> str:
    """Return the SHA-256 of the golden answers and of today's verdicts about them."""
    found = [[one, verdict.passed, verdict.why] for one, verdict in golden_verdicts()]
    return hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
