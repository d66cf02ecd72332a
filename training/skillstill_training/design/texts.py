"""The files of a designed skill's folder, as texts by their paths; and the folder, written whole or not at all."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from skillstill.types import Frozen

from skillstill_training.authoring.checks import Judged
from skillstill_training.authoring.families import load_families, load_wordings
from skillstill_training.authoring.kinds import FILE as KINDS
from skillstill_training.authoring.proposed import FILE as PROPOSED
from skillstill_training.authoring.proposed import TEST_WORDINGS, TRAIN_WORDINGS
from skillstill_training.authoring.rubric import FILE as RUBRIC
from skillstill_training.design import soft, tomltext
from skillstill_training.design.borrowing import baseline_pin, code_pin, lender, tool_files
from skillstill_training.design.draft import Design
from skillstill_training.design.goal_counts import count_goals, measured_in
from skillstill_training.design.notes import design_md
from skillstill_training.design.skill_text import skill_md, subagent_toml
from skillstill_training.evaluation.baseline import freeze_baseline
from skillstill_training.util.jsonl import write_text
from skillstill_training.workspaces import Source

SHARES = """\
# How deep goals are, and how many hits they meet, follows from the families that were chosen: free here, while our own
# skills hold 30 % and 15 to 25 %.
[goals.shares]
deep = {}
several = {}
"""
NO_ABSENT = """\
# Nothing that was proposed or declared is bound to have no answer, or to be hard.
absent = {}
hard = {}

[dataset]
abstain = 0
"""
OWN_EVALUATION: Mapping[str, Any] = {"arms": ["baseline", "stock", "ours"], "field": 0, "calibration": 100}
DECLARED_BASELINE = '''\
"""The script to beat: the nearest wording of kinds.toml tells the kind, and its query the answer."""

from pathlib import Path

from skillstill_training.authoring.kind_baseline import answer_by_kinds

answer = answer_by_kinds(Path(__file__).parent)
'''
RUBRIC_HEAD = """\
# What a good answer holds: drawn by {judge} from SKILL.md, and asked of every answer with yes or no. Nothing verifies
# it. You may change, add or remove criteria (3 to 7) before goals are made; `source` is what in the text each is from.
"""
OWN = """\
# Nobody has asked natural questions of it yet: its figures are those of made ones. With thirty questions of your own
# (docs/field.md), set `field = 30`; with as many validation goals, `calibration = 400`. With a larger stock model to
# compare with, add "larger" to the arms; with another release on this base, "wrong".
"""


def write_skill(design: Design, folder: Path) -> None:
    """Raise StageError."""
    for path, text in texts(design).items():
        write_text(folder / path, text)
    if design.families or design.declared:
        freeze_baseline(folder)
    else:  # of an earlier state of the design, whose families are all gone
        for file in folder.glob("baseline.*"):
            file.unlink()


def texts(design: Design) -> Mapping[str, str]:
    """Return the texts by their paths in the folder."""
    found = {
        "SKILL.md": skill_md(design),
        "subagent.toml": subagent_toml(design),
        "sources.toml": _sources(design),
        "recipe.toml": _recipe(design),
        "design.md": design_md(design),
    }
    if design.families or design.proposed:
        found["goals.py"] = _goals(design)
        found["wordings/train.toml"] = _wordings(design, "train", TRAIN_WORDINGS)
        found["wordings/test.toml"] = _wordings(design, "test", TEST_WORDINGS)
    if design.declared:
        found[KINDS] = design.declared.text
    if design.rubric:
        found[RUBRIC] = _rubric(design.rubric, design.judge)
    if not set(design.brought).isdisjoint(design.tools):
        found |= tool_files(design.lender)
    if design.lender and not design.workspaces:
        found["steps.py"] = _steps(design.lender)
    if design.families:
        found["baseline.py"] = _baseline(design.lender)
    elif design.declared:
        found["baseline.py"] = DECLARED_BASELINE
    found |= {PROPOSED: _lines(design.proposed)} if design.proposed else {}
    return found | ({soft.FILE: _lines(design.soft)} if design.soft else {})


def _rubric(rubric: Judged, judge: str) -> str:
    criteria = (f"\n[[criterion]]\n{tomltext.table(one.model_dump())}" for one in rubric.criteria)
    return RUBRIC_HEAD.format(judge=judge) + "".join(criteria)


def _goals(design: Design) -> str:
    names = "".join(f'\n    "{one.name}",' for one in design.families)
    parts, imports = [], []
    if names:
        imports.append("from skillstill_training.design.borrowing import borrowed_families")
        parts.append(f'borrowed_families(\n    "{design.lender}", "{code_pin(design.lender)}",{names}\n)')
    if design.proposed:
        imports.append("from skillstill_training.authoring.proposed import proposed_families")
        parts.append("proposed_families(Path(__file__).parent)")
    heads = ["from pathlib import Path\n"] if design.proposed else []
    what = f"what can be asked of it{f', borrowed from {design.lender}' if names else ''}"
    families = parts[0] if len(parts) == 1 else f"({', '.join(f'*{part}' for part in parts)})"
    return "\n".join(
        [f'"""The goal families of {design.name}: {what}."""\n', *heads, *imports, f"\nFAMILIES = {families}\n"]
    )


def _steps(lent: str) -> str:
    return (
        f'"""The steps that make the workspaces, borrowed from {lent}."""\n\n'
        "from skillstill_training.design.borrowing import borrowed_steps\n\n"
        f'globals().update(borrowed_steps("{lent}", "{code_pin(lent)}"))\n'
    )


def _baseline(lent: str) -> str:
    return (
        f'"""The script to beat, borrowed from {lent} as it was frozen there: nothing proposed is known to it."""\n\n'
        "from skillstill_training.design.borrowing import borrowed_baseline\n\n"
        f'answer = borrowed_baseline("{lent}", "{baseline_pin(lent)}")\n'
    )


def _sources(design: Design) -> str:
    if not design.workspaces:
        return (lender(design.lender) / "sources.toml").read_text(encoding="utf-8")
    made = "# Those with `made_by` were made by that model, and are nobody's files.\n"
    return "".join(
        [
            "# The folders that were named, as they were then: each is copied, and its hash pinned.\n",
            made if any(one.made_by for one in design.workspaces) else "",
            *map(_source, design.workspaces),
        ]
    )


def _source(source: Source) -> str:
    fields = source.model_dump(mode="json", exclude_defaults=True)
    return f"\n[[workspace]]\n{tomltext.table(fields)}"


def _wordings(design: Design, kind: str, ours: Iterable[str]) -> str:
    known = _known_wordings(design, kind)
    borrowed = ((one.name, known[one.name]) for one in design.families if one.name in known)
    proposed = ((name, ours) for name in dict.fromkeys(one.family for one in design.proposed))
    return "\n".join(f"{name} = [\n{_listed(words)}]\n" for name, words in (*borrowed, *proposed))


def _known_wordings(design: Design, kind: str) -> Mapping[str, tuple[str, ...]]:
    if not design.families:
        return {}
    return load_wordings(folder := lender(design.lender), kind, load_families(folder))


def _listed(words: Iterable[str]) -> str:
    return "".join(f"    {tomltext.value(text)},\n" for text in words)


def _recipe(design: Design) -> str:
    lent = _lent_recipe(design)
    names = {one.name for one in design.families}
    every, goals = count_goals(design, lent.get("goals", {}).get("families", {}))
    few = measured_in(design)
    dataset = lent.get("dataset", {})
    cells = {cell: least for cell, least in dataset.get("cells", {}).items() if cell.partition("/")[0] in names}
    intents = {name: intent for name, intent in dataset.get("intents", {}).items() if name in names}
    tables = {
        "goals": {"per_family": every} if every else {},
        "goals.families": goals,
        "dataset.cells": cells,
        "dataset.intents": intents,
        "constructed": lent.get("constructed", {}),
        "train": lent.get("train", {}),
        "evaluate": {**({"workspaces": few} if few else {}), **(OWN_EVALUATION if design.declared else {})},
    }
    shares = SHARES if design.families else SHARES + NO_ABSENT
    notes = [OWN] if design.declared else []
    written = (f"[{name}]\n{tomltext.table(fields)}" for name, fields in tables.items() if fields)
    return "\n".join([shares, *notes, *written])


def _lent_recipe(design: Design) -> Mapping[str, Any]:
    """Return the lender's recipe, whose numbers hold for its own workspaces."""
    if design.workspaces or not design.lender:
        return {}
    return tomllib.loads((lender(design.lender) / "recipe.toml").read_text(encoding="utf-8"))


def _lines(values: Iterable[Frozen]) -> str:
    return "".join(value.model_dump_json() + "\n" for value in values)
