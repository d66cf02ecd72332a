"""The section on how to reproduce a run: the commands, the inputs, the recipe and the machine."""

import json
from collections.abc import Iterator

from skillstill_training.evaluation.looks import read_looks
from skillstill_training.report.formats import format_duration
from skillstill_training.report.page.table import text
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Scorecard

STAGES = ("goals", "traces", "dataset", "sft", "export", "evaluate", "publish", "report")


def render_reproduction(card: Scorecard, run: RunFolder) -> str:
    """Return the commands, one for all stages and one for each, and the facts that the figures depend on."""
    facts = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in _facts(card, run))
    recipe = _recipe(run)
    settings = f"<details class=trace><summary>recipe.json</summary><pre>{recipe}</pre></details>" if recipe else ""
    return (
        f"<section><h2>How to repeat it</h2><pre class=commands>{_commands(card)}</pre>"
        f"<dl class=facts>{facts}</dl>{settings}</section>"
    )


def _commands(card: Scorecard) -> str:
    skill = text(card.skill)
    options = {"evaluate": _comparison_options(card)}
    stages = "\n".join(f"skillstill {stage} {skill}{options.get(stage, '')}" for stage in STAGES)
    return f"scripts/train-skill skills/{skill}{_comparison_options(card)}\n\n# or stage by stage\n{stages}"


def _comparison_options(card: Scorecard) -> str:
    """Return the options with the model files of two arms."""
    larger, wrong = card.arm("larger"), card.arm("wrong")
    option = f" --larger {text(larger.label.partition(',')[0])}.gguf" if larger else ""
    return f"{option} --wrong {text(wrong.label.rpartition(' ')[2])}.gguf" if wrong else option


def _facts(card: Scorecard, run: RunFolder) -> Iterator[tuple[str, str]]:
    trained = card.trained
    yield "base", f"{text(card.base.source)} {_code(card.base.sha256)}"
    yield "adapter", f"{text(card.adapter.source)} {_code(card.adapter.sha256)}"
    yield "dialect", text(card.dialect)
    yield "goals", _code(card.goals)
    yield "looks at them", str(sum(1 for _ in read_looks(run)))
    for name, value in _frozen_hashes(run).items():
        yield f"{text(name)}, frozen", _code(value)
    yield "seed", str(trained.seed)
    yield "training", f"{trained.traces:,} traces, {trained.tokens:,} tokens, {format_duration(trained.seconds)}"
    yield "machine", text(card.machine)


def _code(words: str) -> str:
    return f"<code>{text(words)}</code>"


def _frozen_hashes(run: RunFolder) -> dict[str, str]:
    """Return the hashes of checks and skill from the time when the goals were frozen; empty if they were not."""
    try:
        frozen = json.loads((run.path / "frozen.json").read_text(encoding="utf-8"))
        return {str(name): str(value) for name, value in frozen.items() if name != "goals"}
    except (OSError, ValueError, AttributeError):
        return {}


def _recipe(run: RunFolder) -> str:
    try:
        return text((run.path / "recipe.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
