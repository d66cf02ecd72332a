"""How to make this run again: the command, what it was made from, and on what machine."""

import json
from collections.abc import Iterator

from skillstill_training.evaluation.looks import read_looks
from skillstill_training.report.page.table import text
from skillstill_training.report.words import duration
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Scorecard

STAGES = ("goals", "traces", "dataset", "sft", "export", "evaluate", "publish", "report")


def repeating(card: Scorecard, folder: RunFolder) -> str:
    """One command for all, the stages one by one, and each thing that the figures depend on."""
    facts = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in _facts(card, folder))
    recipe = _recipe(folder)
    settings = f"<details class=trace><summary>recipe.json</summary><pre>{recipe}</pre></details>" if recipe else ""
    return (
        f"<section><h2>How to repeat it</h2><pre class=commands>{_commands(card)}</pre>"
        f"<dl class=facts>{facts}</dl>{settings}</section>"
    )


def _commands(card: Scorecard) -> str:
    skill = text(card.skill)
    options = {"evaluate": _comparisons(card)}
    stages = "\n".join(f"skillstill {stage} {skill}{options.get(stage, '')}" for stage in STAGES)
    return f"scripts/train-skill skills/{skill}{_comparisons(card)}\n\n# or stage by stage\n{stages}"


def _comparisons(card: Scorecard) -> str:
    """The options without which two comparisons are not made."""
    larger, wrong = card.arm("larger"), card.arm("wrong")
    named = f" --larger {text(larger.label.partition(',')[0])}.gguf" if larger else ""
    return f"{named} --wrong {text(wrong.label.rpartition(' ')[2])}.gguf" if wrong else named


def _facts(card: Scorecard, folder: RunFolder) -> Iterator[tuple[str, str]]:
    trained = card.trained
    yield "base", f"{text(card.base.source)} {_code(card.base.sha256)}"
    yield "adapter", f"{text(card.adapter.source)} {_code(card.adapter.sha256)}"
    yield "dialect", text(card.dialect)
    yield "goals", _code(card.goals)
    yield "looks at them", str(sum(1 for _ in read_looks(folder)))
    for name, value in _frozen(folder).items():
        yield f"{text(name)}, frozen", _code(value)
    yield "seed", str(trained.seed)
    yield "training", f"{trained.traces:,} traces, {trained.tokens:,} tokens, {duration(trained.seconds)}"
    yield "machine", text(card.machine)


def _code(words: str) -> str:
    return f"<code>{text(words)}</code>"


def _frozen(folder: RunFolder) -> dict[str, str]:
    """The hashes that hold success still; nothing where the goals were not frozen."""
    try:
        frozen = json.loads((folder.path / "frozen.json").read_text(encoding="utf-8"))
        return {str(name): str(value) for name, value in frozen.items() if name != "goals"}
    except (OSError, ValueError, AttributeError):
        return {}


def _recipe(folder: RunFolder) -> str:
    try:
        return text((folder.path / "recipe.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
