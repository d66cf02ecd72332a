"""What a person sees on the way to a release: one screen for all stages, then the verdict in a paragraph."""

import json
import shlex
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text
from skillstill.skills.registry import Registry

from skillstill_training.cli.judged_output import judged_lines
from skillstill_training.report.formats import VERDICT_TEXTS
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Gate, Scorecard, Trained, Verdict

if TYPE_CHECKING:  # the first two take the extra `training`, which telling of a measure does without
    from skillstill_training.export.adapter import Exported
    from skillstill_training.export.merging import Merged
    from skillstill_training.stages.pipeline import PipelineResult, Tell

EVERY = 10.0  # seconds between two lines of progress if nobody watches a terminal
WIDTH = 100
_out = Console(soft_wrap=True, highlight=False, markup=False)
_err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


class StageScreen:
    """A row a stage on a terminal; elsewhere lines, at its beginning, every ten seconds and at its end."""

    def __init__(self, rows: Progress) -> None:
        self._rows = rows

    def kept(self, name: str) -> None:
        row = self._rows.add_task(f"{name:9}", total=1, note="is there already")
        self._rows.update(row, completed=1)  # so its clock stands still
        self._line(f"{name}: is there already")

    @contextmanager
    def stage(self, name: str) -> Iterator["Tell"]:
        row = self._rows.add_task(f"{name:9}", total=None, note="")
        began = last = time.monotonic()
        self._line(name)

        def tell(done: int, total: int, note: str) -> None:
            nonlocal last
            self._rows.update(
                row, completed=done, total=total or None, note=f"{done}/{total} {note}" if total else note
            )
            if not total or time.monotonic() - last >= EVERY:
                last = time.monotonic()
                self._line(f"{name}: {done} of {total}, {note}" if total else f"{name}: {note}")

        yield tell
        self._rows.update(row, completed=1, total=1)
        self._line(f"{name}: done in {time.monotonic() - began:.0f} s")

    def _line(self, text: str) -> None:
        if not _err.is_terminal:
            _err.print(Text(text))


@contextmanager
def stage_screen() -> Iterator[StageScreen]:
    """Return one screen for all stages, on standard error."""
    columns = (
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )  # fmt: skip
    with Progress(*columns, console=_err, disable=not _err.is_terminal) as rows:
        yield StageScreen(rows)


def print_result(ending: "PipelineResult", skill: str, registry: Path, *, as_json: bool) -> None:
    """Print the verdict in one paragraph, where the whole is, and how a release is called."""
    if as_json:
        return _json({"verdict": ending.verdict, "report": ending.report and str(ending.report), "why": ending.why}
                     | _judged(ending) | _gates(ending.scorecard))  # fmt: skip
    _out.print(Text(textwrap.fill(paragraph(ending.verdict, skill, ending.scorecard, ending.why), WIDTH)))
    for line in judged_lines(ending.judged) if ending.judged else ():
        _out.print(Text(line))
    if ending.report:
        _out.print(Text(str(ending.report)))
    if ending.scorecard:
        _tell_registered(ending.scorecard, registry)
    return None


def print_verdict(scorecard: Scorecard, run: RunFolder, registry: Path, *, as_json: bool) -> None:
    """Print every gate with its sentence, then the verdict, and how a release is called."""
    if as_json:
        return _json({"folder": str(run.path), "verdict": scorecard.verdict} | _gates(scorecard))
    for gate in scorecard.gates:
        _out.print(_gate(gate))
    assert scorecard.verdict
    _out.print(Text(textwrap.fill(paragraph(scorecard.verdict, scorecard.skill, scorecard), WIDTH)))
    return _tell_registered(scorecard, registry)


def print_scorecard(scorecard: Scorecard, run: RunFolder, *, as_json: bool) -> None:
    """Print a line an arm, and what the confidence is worth."""
    if as_json:
        return _json({"folder": str(run.path), **scorecard.model_dump(mode="json", exclude={"calibration"})})
    for arm in scorecard.arms:
        one, asked = arm.success, arm.goals.asked
        _out.print(
            Text(
                f"{arm.arm:8} {one.value:6.1%} ({one.low:.1%} to {one.high:.1%}) of {asked:4}, {arm.seconds:.1f} s each"
            )
        )
    sure = scorecard.selective
    _out.print(Text(f"sure of {sure.coverage:.0%}, {sure.accuracy:.1%} of them right; {run.scorecard}"))
    return None


def print_training(trained: Trained, run: RunFolder, *, as_json: bool) -> None:
    """Print what was learned from, and where the adapter is."""
    if as_json:
        return _json({"folder": str(run.path), **trained.model_dump(mode="json")})
    tokens = f"{trained.tokens:,} tokens ({trained.learned_tokens:,} learned)"
    _out.print(Text(f"{trained.traces} traces, {tokens}, {trained.seconds:.0f} s, loss {trained.loss:.3f}"))
    return print_place(run.adapter)


def print_export(exported: "Exported", parity: Gate, merged: "Merged | None", *, as_json: bool) -> None:
    """Print the files that can ship, and whether they answer as what was trained."""
    files: list[Exported | Merged] = [exported, merged] if merged else [exported]
    if as_json:
        found = [{"file": str(one.path), "sha256": one.sha256, "kind": one.kind} for one in files]
        return _json({"files": found, "parity": parity.model_dump()})
    _out.print(_gate(parity))
    for one in files:
        print_place(f"{one.path}  {one.kind}, {one.path.stat().st_size / 1e6:.1f} MB")
    return None


def print_place(place: object) -> None:
    """Print where an artifact is."""
    _out.print(Text(str(place)))


def paragraph(verdict: Verdict, skill: str, scorecard: Scorecard | None, why: str = "") -> str:
    """Return what the verdict means, what ours is worth, and what did not hold."""
    parts = [f"{skill}: {verdict}: {VERDICT_TEXTS[verdict]}."]
    if scorecard and (ours := scorecard.arm("ours")):
        one = ours.success
        parts.append(f"Verified success {one.value:.1%} (95 %: {one.low:.1%} to {one.high:.1%}) on {ours.goals.asked} "
                     f"goals, {ours.seconds:.1f} s each.")  # fmt: skip
        if scorecard.made:
            parts.append(f"{scorecard.made} of its test workspaces were made by a model: they are no real files.")
    failed = [gate for gate in scorecard.gates if not gate.passed] if scorecard else []
    parts += [f"{gate.name}: {gate.told}." for gate in failed]
    return " ".join([*parts, f"{why}." if why else ""]).strip()


def call_of(name: str, registry: Path) -> str:
    """Return what to type for a release; the registry is named if none of the usual ones leads to it."""
    found = [one.origin.resolve() for one in Registry().entries() if one.entry.name == name]
    option = "" if found == [registry.resolve()] else f" --registry {shlex.quote(str(registry))}"
    return f'skillstill run {name}{option} "..."'


def _tell_registered(scorecard: Scorecard, registry: Path) -> None:
    if scorecard.verdict == "released":
        _out.print(Text(f"registered in {registry}: {call_of(scorecard.skill, registry)}"))


def _gate(gate: Gate) -> Text:
    mark = Text("ok   ", style="green") if gate.passed else Text("FAIL ", style="red")
    return mark + Text(f"{gate.name}: {gate.told}")


def _judged(ending: "PipelineResult") -> dict[str, Any]:
    return {"judged": ending.judged.model_dump(mode="json")} if ending.judged else {}


def _gates(scorecard: Scorecard | None) -> dict[str, Any]:
    return {"gates": [gate.model_dump() for gate in scorecard.gates] if scorecard else []}


def _json(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")
