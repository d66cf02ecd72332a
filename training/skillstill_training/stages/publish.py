"""Stage 8, `skillstill publish SKILL`: a measured adapter becomes a release, or is told why it does not.

Adapter and scorecard go into the skill's `releases/`, then the entry that stood before, then the registry: whoever is
killed in between has released nothing, and does it again with the same command.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError
from skillstill.contract import provenance_hash, serving_hash
from skillstill.errors import BaseError, ModelError, StageError
from skillstill.models.likeness import comparison_engine, measure_behaviour
from skillstill.models.sources import locate
from skillstill.skills.calibration import Calibration
from skillstill.skills.familiarity import Familiarity
from skillstill.skills.registry import (
    DIGITS,
    FILE,
    RELEASES,
    Document,
    FieldFigures,
    Measured,
    RegistryEntry,
    read_registry,
)
from skillstill.skills.releases import amend, register
from skillstill.skills.skill import Skill, load_skill
from skillstill.types import BaseBehaviour, ModelFile
from skillstill.util.storage import ALL_READ, write_atomically

from skillstill_training.authoring.goal import check_verifiable
from skillstill_training.evaluation.calibration import GradedField, raised_for_field
from skillstill_training.evaluation.looks import fresh_test_set_gate
from skillstill_training.evaluation.verdicts import judge_scorecard
from skillstill_training.field.score import HANDED_BACK_RIGHTLY, RIGHT, SILENTLY_WRONG
from skillstill_training.run.base import public_base
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.recipe import load_recipe
from skillstill_training.run.scorecard import ExportProof, FieldResult, Gate, Scorecard
from skillstill_training.util.hashes import file_sha256
from skillstill_training.util.jsonl import write_text

TITLE = 80  # characters of an entry's title
log = logging.getLogger(__name__)


def publish(
    skill_folder: Path,
    run: RunFolder,
    registry: Path,
    proof: ExportProof,
    size: str | None = None,
    others: Sequence[Gate] = (),
) -> Scorecard:
    """Return the scorecard with gates and verdict, written where it stood; registered only if all gates hold.

    With a size, it is registered beside the default release, under a label such as `explore@0.5b`. `others` are
    gates that were judged elsewhere.

    Raise StageError if what was measured, or proven, is not what would be served; GateError if the goals were
    changed, or if a rubric judges them.
    """
    skill, measured = load_skill(skill_folder).sized(size or ""), _measured(skill_folder, run)
    _check_served(skill, measured, proof)
    size_gates = [_size_gate(measured, _known(registry, skill.name))] if size else []
    known = (proof.gate, fresh_test_set_gate(run, measured), *size_gates, *others)
    # By the skill's own recipe, not that of the run: `goals --few` wants less than a release does.
    scorecard = judge_scorecard(measured, known, load_recipe(skill_folder).sized(size or "").evaluate)
    if scorecard.verdict == "released":
        _release(skill, skill_folder, run, registry, scorecard, size)
    write_text(run.scorecard, scorecard.model_dump_json(indent=1) + "\n")
    return scorecard


def _size_gate(measured: Scorecard, default: RegistryEntry | None) -> Gate:
    """Return the gate of a release beside the default one: who waits longer for its answers is told more."""
    ours = field_figures(measured.field) if measured.field else None
    theirs = default.measured.field if default and default.measured else None
    if ours is None or theirs is None:
        told = "no field test of it and of the default release; expected one of each"
        return Gate(name="default", passed=False, told=told, measured=False)
    told = f"{ours.share:.1%} of natural questions, the default release {theirs.share:.1%}; expected more"
    return Gate(name="default", passed=ours.share > theirs.share, told=told)


def registry_of(skill_folder: Path) -> Path:
    """Return where a skill is registered: the registry.json around it, or one folder up.

    Else a new one beside the skill.
    """
    around = skill_folder.absolute().parents
    return next((folder / FILE for folder in around[:2] if (folder / FILE).is_file()), around[0] / FILE)


def _measured(skill_folder: Path, run: RunFolder) -> Scorecard:
    check_verifiable(run.frozen_goals())
    try:
        scorecard = Scorecard.model_validate_json(run.scorecard.read_text(encoding="utf-8"))
        same = (file_sha256(run.goals), file_sha256(run.exported)) == (scorecard.goals, scorecard.adapter.sha256)
    except FileNotFoundError as error:
        raise StageError(
            f"{error.filename} is missing: type `skillstill evaluate {skill_folder.name}` first"
        ) from error
    except (OSError, ValidationError) as error:
        raise StageError(f"{run.scorecard} cannot be read: evaluate again") from error
    if not same:
        raise StageError(f"{run.scorecard} was measured on other goals or another adapter: evaluate again")
    return scorecard


def _check_served(skill: Skill, scorecard: Scorecard, proof: ExportProof) -> None:
    """Raise StageError."""
    if scorecard.contract != serving_hash(skill, scorecard.base, scorecard.adapter):
        raise StageError(
            f"{skill.name} would not be served as it was measured: its system line, opening, tools or dialect have "
            f"changed since; type `skillstill evaluate {skill.name}` again"
        )
    if proof.base not in {"", scorecard.base.sha256}:
        raise StageError(
            f"the adapter was compared with torch on another base than it was measured on: type `skillstill export "
            f"{skill.name}` and `skillstill evaluate {skill.name}` again, with the same --base"
        )


def _release(
    skill: Skill, skill_folder: Path, run: RunFolder, registry: Path, scorecard: Scorecard, size: str | None
) -> None:
    place = _place(skill_folder, registry)
    known = _known(registry, skill.name)
    entry = _entry(skill, skill_folder, place, known, scorecard).model_copy(update={"size": size})
    releases, name = skill_folder / RELEASES, scorecard.adapter.sha256[:DIGITS]
    shipped = scorecard.model_copy(
        update={"adapter": entry.adapter}
    )  # where it lies now, not on whose machine it was made
    try:
        write_atomically(releases / f"{name}.gguf", run.exported.read_bytes(), mode=ALL_READ)
        write_atomically(releases / f"{name}.json", shipped.model_dump_json(indent=1) + "\n", mode=ALL_READ)
    except OSError as error:
        raise StageError(f"{releases} cannot be written: {error.strerror}; nothing was registered") from error
    register(registry, entry)


def _entry(
    skill: Skill, skill_folder: Path, place: Path, known: RegistryEntry | None, scorecard: Scorecard
) -> RegistryEntry:
    """Return what the registry will say; title and description stay those of a known entry."""
    own = skill.subagent.base
    base = own if own.sha256 == scorecard.base.sha256 else public_base(scorecard.base)
    file = place / RELEASES / f"{scorecard.adapter.sha256[:DIGITS]}.gguf"
    adapter = ModelFile(source=f"beside:{file.as_posix()}", sha256=scorecard.adapter.sha256)
    return RegistryEntry(
        name=skill.name,
        title=known.title if known else skill.name[:TITLE],
        description=known.description if known else skill.description[:1_000],
        state="released",
        skill=place.as_posix(),
        base=base,
        base_behaviour=_behaviour(scorecard.base),
        adapter=adapter,
        measured=_figures(scorecard),
        search_hint=known.search_hint if known else "",
        serving_hash=serving_hash(skill, base, adapter),
        goals_hash=scorecard.goals,
        provenance_hash=provenance_hash(skill_folder, scorecard.goals),
        calibration=scorecard.calibration,
    )


def _behaviour(base: ModelFile) -> BaseBehaviour | None:
    """Return what the base says after a few texts; None if it was measured elsewhere and cannot be had here."""
    try:
        with comparison_engine(locate(base, offline=True)) as engine:
            return measure_behaviour(engine)
    except (BaseError, ModelError) as error:
        log.warning("no other file will do as the base of this release, since it could not be asked: %s", error)
        return None


def _figures(scorecard: Scorecard) -> Measured:
    ours = scorecard.arm("ours")
    assert ours
    sure = scorecard.selective.coverage > 0
    return Measured(
        success=round(ours.success.value, 4),
        n=ours.goals.asked,
        seconds=round(ours.seconds, 2),
        sure=round(scorecard.selective.coverage, 4) if sure else None,
        right=round(scorecard.selective.accuracy, 4) if sure else None,
        field=field_figures(scorecard.field) if scorecard.field else None,
    )


def field_figures(result: FieldResult) -> FieldFigures | None:
    """Return what the registry says of a field test; None if ours was not asked."""
    ours = result.score("ours")
    if ours is None or not ours.questions:
        return None
    return FieldFigures(
        asked=ours.questions,
        workspaces=ours.workspaces,
        right=ours.verdicts.get(RIGHT, 0),
        handed_back=ours.verdicts.get(HANDED_BACK_RIGHTLY, 0),
        sure=ours.unwarned_answers,
        silently_wrong=ours.verdicts.get(SILENTLY_WRONG, 0),
        led=ours.led.value,
        seconds=round(ours.seconds, 2),
    )


def record_field(skill_folder: Path, registry: Path, result: FieldResult, size: str | None = None) -> None:
    """Write a field test of the registered release of a size into its scorecard and the registry.

    What other arms scored before stays; a difference from them does not. Raise StageError if it is a test of something
    else, or not of the test questions.
    """
    known = _known(registry, result.skill, size)
    if known is None or known.adapter is None or result.adapter is None or known.measured is None:
        raise StageError(f"{registry} has no measured release of {result.skill}")
    if known.adapter.sha256 != result.adapter.sha256 or result.split != "test":
        raise StageError("only a test of the registered release on the test questions is recorded: --split test")
    file = skill_folder / RELEASES / f"{known.adapter.sha256[:DIGITS]}.json"
    scorecard = _scorecard(skill_folder, known.adapter)
    asked = {score.arm for score in result.scores}
    before = scorecard.field.scores if scorecard.field else ()
    scores = (*result.scores, *(score for score in before if score.arm not in asked))
    field = result.model_copy(update={"adapter": known.adapter, "scores": scores})
    written = scorecard.model_copy(update={"field": field})
    write_atomically(file, written.model_dump_json(indent=1) + "\n", mode=ALL_READ)
    measured = known.measured.model_copy(update={"field": field_figures(result)})
    amend(registry, known.model_copy(update={"measured": measured}))


def recalibrate(
    skill_folder: Path,
    registry: Path,
    field: GradedField,
    familiarity: Familiarity | None,
    size: str | None = None,
) -> Calibration:
    """Return the calibration of a release, raised until few of these field questions are answered wrongly unwarned.

    It stands in the registry then, with what tells the questions that are asked and the share of made questions that
    are still answered without a warning. Raise StageError if there is none to raise.
    """
    name = skill_folder.absolute().name
    known = _known(registry, name, size)
    if known is None or known.calibration is None or known.measured is None or known.adapter is None:
        raise StageError(f"{registry} has no release of {name} with a calibrated confidence")
    raised = raised_for_field(known.calibration, field).model_copy(update={"familiarity": familiarity})
    curve = _scorecard(skill_folder, known.adapter).selective.curve
    point = next((point for point in curve if point.threshold >= raised.threshold), None)
    sure = {"sure": point.coverage, "right": point.accuracy} if point else {"sure": None, "right": None}
    measured = known.measured.model_copy(update=sure)
    amend(registry, known.model_copy(update={"calibration": raised, "measured": measured}))
    return raised


def _scorecard(skill_folder: Path, adapter: ModelFile) -> Scorecard:
    """Raise StageError."""
    file = skill_folder / RELEASES / f"{adapter.sha256[:DIGITS]}.json"
    try:
        return Scorecard.model_validate_json(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StageError(f"{file} cannot be read as the scorecard of a release: {error}") from error


def _place(skill_folder: Path, registry: Path) -> Path:
    """Return the skill's path from the registry's folder. Raise StageError."""
    around, inside = registry.absolute().parent.resolve(), skill_folder.resolve()
    if not inside.is_relative_to(around):
        raise StageError(f"{skill_folder} lies outside {around}, the folder of its registry: name one with --registry")
    return inside.relative_to(around)


def _known(registry: Path, name: str, size: str | None = None) -> RegistryEntry | None:
    """Raise RegistryError."""
    document = read_registry(registry) if registry.exists() else Document()
    return next((entry for entry in document.entries if (entry.name, entry.size) == (name, size)), None)
