"""What success is: golden answers and the verdicts about them."""

import json
from typing import Any

import pytest
from skillstill_training.authoring import checks, verdicts
from skillstill_training.authoring.verdicts import golden_verdicts, judges_hash

CASES = list(golden_verdicts())


@pytest.mark.parametrize(("case", "verdict"), CASES, ids=[json.dumps(case) for case, _ in CASES])
def test_an_answer_is_judged_as_it_was_when_goals_were_frozen(case: dict[str, Any], verdict: checks.Judgement) -> None:
    assert (verdict.why, verdict.passed) == (case.get("why", ""), "why" not in case)


def test_every_kind_of_check_has_a_golden_pass_and_a_golden_failure() -> None:
    kinds = {"locations", "value", "set", "rows", "quoted", "absent", "declined"}
    assert {case["check"]["kind"] for case, verdict in CASES if verdict.passed} == kinds
    assert {case["check"]["kind"] for case, verdict in CASES if not verdict.passed} == kinds


@pytest.mark.parametrize("changed", [("MAX_EXTRA", 3), ("MAX_SENTENCES", 9)])
def test_another_verdict_is_another_hash(monkeypatch: pytest.MonkeyPatch, changed: tuple[str, int]) -> None:
    before = judges_hash()
    monkeypatch.setattr(checks, *changed)
    assert verdicts.judges_hash.__wrapped__() != before
