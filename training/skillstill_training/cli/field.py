"""`skillstill field SKILL`: how well a subagent answers natural questions about real folders."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from skillstill.console.options import Json

from skillstill_training.cli.data import Offline, Ray, Run, Runs, Size, Skill, run_folder, skill_folder
from skillstill_training.cli.release import Larger

if TYPE_CHECKING:
    from skillstill.types import ModelFile

    from skillstill_training.authoring.goal import FieldSplit
    from skillstill_training.field.measure import FieldOptions, FieldSet, Subject
    from skillstill_training.run.folder import RunFolder
    from skillstill_training.run.scorecard import FieldArmName

FIRST = "ours,baseline,retrieval"


def field(
    skill: Skill,
    runs: Runs = Path("runs"),
    run: Run = None,
    split: Annotated[str, typer.Option(help="train, validation, test or plain.")] = "validation",
    reason: Annotated[str, typer.Option(help="Why the test questions are looked at; it is logged.")] = "",
    arms: Annotated[
        str,
        typer.Option(help="Also: stock, larger and largest, each also with -direct, and plan.", show_default=True),
    ] = FIRST,
    larger: Larger = None,
    largest: Annotated[Path | None, typer.Option(help="A still larger one, a GGUF file.")] = None,
    paired: Annotated[int, typer.Option(min=1, help="Questions that the slow arms are asked.")] = 60,
    questions: Annotated[
        Path | None, typer.Option(help="Questions of your own, one JSON object a line, about --workspace.")
    ] = None,
    workspace: Annotated[Path | None, typer.Option(help="The folder that --questions are about.")] = None,
    unchecked: Annotated[bool, typer.Option("--unchecked", help="Also ask what no second hand has checked.")] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Write the figures into the release's scorecard and the registry.")
    ] = False,
    calibrate: Annotated[
        bool,
        typer.Option("--calibrate", help="Raise the release's threshold until few validation answers mislead."),
    ] = False,
    freeze: Annotated[bool, typer.Option("--freeze", help="Only write the hash of the test questions.")] = False,
    threads: Annotated[int | None, typer.Option(min=1, max=256, help="Threads of a model.")] = None,
    size: Size = None,
    ray: Ray = "",
    offline: Offline = False,
    json: Json = False,
) -> int:
    """Ask natural questions about real folders, and judge the answers. Without --run: of the registered release.

    Example: skillstill field explore --questions mine.jsonl --workspace ~/src/app
    """
    import anyio

    from skillstill_training.cli import field_output
    from skillstill_training.executors.ray_cluster import executor_at
    from skillstill_training.field.familiarity import fit_familiarity
    from skillstill_training.field.measure import FieldOptions
    from skillstill_training.field.question import freeze_questions
    from skillstill_training.field.score import graded_field
    from skillstill_training.stages.field import ask_field
    from skillstill_training.stages.publish import recalibrate, record_field, registry_of

    folder = skill_folder(skill)
    _check_calibration(calibrate, run, split, arms)
    if freeze:
        field_output.print_frozen(freeze_questions(folder), folder)
        return 0
    options = FieldOptions(
        split=_split(split),
        arms=arms_named(arms),
        larger=file_of(larger),
        largest=file_of(largest),
        paired=paired,
        unchecked=unchecked,
        reason=reason,
        offline=offline,
        threads=threads,
    )
    subject = subject_of(folder, run_folder(run, runs, folder) if run else None, registry_of(folder), size)
    if calibrate:
        subject = subject.to_calibrate(None if size else fit_familiarity(folder))
    results = runs / folder.absolute().name / "field"
    if questions:
        results = results / questions.stem
    with executor_at(ray) as executor, field_output.field_progress() as on_progress:
        options = replace(options, executor=executor)
        asked = anyio.run(_questions, folder, options, questions, workspace)
        test = anyio.run(lambda: ask_field(folder, subject, asked, results, options, on_progress=on_progress))
    if record:
        record_field(folder, registry_of(folder), test.result, size)
    field_output.print_field(test.result, results, as_json=json)
    if calibrate:
        graded = graded_field(test.judged["ours"])
        raised = recalibrate(folder, registry_of(folder), graded, subject.familiarity, size)
        field_output.print_threshold(raised.threshold)
    return 0


def _check_calibration(calibrate: bool, run: Path | None, split: str, arms: str) -> None:
    """Raise UsageError if a threshold is to come of what it is tested on, or of another adapter's answers."""
    from skillstill.errors import UsageError

    if calibrate and (run or split != "validation" or "ours" not in arms_named(arms)):
        raise UsageError(
            "--calibrate asks the registered release the validation questions: leave out --run and --split"
        )


async def _questions(folder: Path, options: "FieldOptions", file: Path | None, workspace: Path | None) -> "FieldSet":
    """Return the questions of the file, else those of the skill. Raise UsageError and StageError."""
    from skillstill.errors import UsageError

    from skillstill_training.field.draft import read_drafts
    from skillstill_training.field.measure import FieldSet, load_field_set

    if file is None:
        return await load_field_set(folder, options)
    if workspace is None:
        raise UsageError("name the folder that the questions are about: --workspace FOLDER")
    root = workspace.expanduser().resolve()
    drafts = read_drafts(file, root, "own")
    return FieldSet(drafts, {draft.id: draft for draft in drafts}, {"own": root})


def subject_of(folder: Path, run: "RunFolder | None", registry: Path, size: str | None = None) -> "Subject":
    """Return what is tested: the adapter of a run, else this size's release of the skill, else the skill untrained.

    Raise StageError if there is no release of a size that is named.
    """
    from skillstill.errors import StageError
    from skillstill.skills.registry import read_registry
    from skillstill.skills.skill import load_skill

    from skillstill_training.field.measure import Subject, subject_of_run

    if run:
        return subject_of_run(run)
    name = folder.absolute().name
    entries = read_registry(registry).entries if registry.is_file() else ()
    found = (one for one in entries if (one.name, one.size) == (name, size))
    entry = next((one.resolved_from(registry.absolute().parent) for one in found), None)
    if entry:
        return Subject.served(entry.base, entry.adapter, entry.calibration, size or "")
    if size:
        raise StageError(f"{registry} has no {name}@{size}")
    return Subject(load_skill(folder).subagent.base)


def _split(name: str) -> "FieldSplit":
    """Raise UsageError."""
    from skillstill.errors import UsageError

    from skillstill_training.authoring.goal import FIELD_SPLITS

    if found := next((split for split in FIELD_SPLITS if split == name), None):
        return found
    raise UsageError(f"--split: expected one of {', '.join(FIELD_SPLITS)}, got {name!r}")


def arms_named(names: str) -> "tuple[FieldArmName, ...]":
    """Raise UsageError."""
    from skillstill.errors import UsageError

    from skillstill_training.run.scorecard import FIELD_ARMS

    asked = [name.strip() for name in names.split(",") if name.strip()]
    if unknown := next((name for name in asked if name not in FIELD_ARMS), ""):
        raise UsageError(f"--arms: expected some of {', '.join(FIELD_ARMS)}, got {unknown!r}")
    return tuple(arm for arm in FIELD_ARMS if arm in asked)


def file_of(path: Path | None) -> "ModelFile | None":
    from skillstill.models.sources import model_file

    return model_file(path) if path else None
