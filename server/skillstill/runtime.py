"""The subagents of one process: a name and a prompt in, a stored trace out."""

import shlex
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skillstill.contract import provenance_hash, serving_hash
from skillstill.errors import ModelError, UsageError
from skillstill.run import loop, memory, store
from skillstill.run.feedback import Feedback, give_feedback
from skillstill.run.finish import finish_with_index, noted
from skillstill.run.following import follow_up
from skillstill.run.prompt import check_prompt
from skillstill.skills.registry import ListedEntry, Registry
from skillstill.skills.skill import Skill
from skillstill.types import DialectName, ModelFile, Models, ModelSpec, OnStep, Tally, Trace
from skillstill.workspace import Workspace

EVALUATE = ("skillstill", "evaluate")


@dataclass(frozen=True, slots=True)
class Runtime:
    """Runs subagents. `base` replaces the base model of untrained entries; a release keeps its own.

    remembers   whether the same question about unchanged files is answered at once, as it was before
    may_write   whether skills that ask for it may change the workspace
    """

    registry: Registry
    models: Models
    base: ModelFile | None = None
    keep_traces: bool = True
    remembers: bool = True
    may_write: bool = False

    async def run(
        self,
        name: str,
        prompt: str,
        workspace: Path,
        on_step: OnStep | None = None,
        *,
        within: str = "",
        after: Trace | None = None,
    ) -> Trace:
        """Return the trace of a subagent's work. Its report says what went wrong once the work began.

        `within` is a file or folder of the workspace, from its root, that the question is about. `after` is an earlier
        run of the same subagent and workspace that it goes on from.

        Raise SkillstillError if there is nothing to run: an unknown name, a bad prompt, workspace or skill, a stale
        release.
        """
        checked = check_prompt(prompt)
        question = f"In {PurePosixPath(within)}: {checked}" if within not in {"", "."} else checked
        listed, folder = self.registry.entry(name), Workspace(workspace)
        if after:
            question = follow_up(after, question, listed.entry.name, folder)
        skill = listed.skill()
        check_fresh(listed, skill)
        spec = self._spec(listed, skill)
        brief = _brief(listed, skill, question, self.models.label(spec), spec.dialect, after.run if after else "")
        if listed.entry.state != "released" or skill.executes or not self.remembers:
            return await self._answer(brief, listed, spec, folder, on_step)
        return await self._remembered(brief, listed, spec, folder, on_step)

    def earlier(self, run: str) -> Trace:
        """Return a stored run by its id, the beginning of one, or `last`. Raise UsageError and TraceError."""
        return store.load(run)

    def judge(self, trace: Trace, verdict: str, right: str = "") -> Feedback:
        """Return what somebody said of a run, which is kept for the next training. Raise UsageError and TraceError."""
        if not self.keep_traces:
            raise UsageError("nothing is kept here: serve without --no-trace to collect feedback")
        return give_feedback(trace, verdict, right)

    async def _remembered(
        self, brief: loop.Brief, listed: ListedEntry, spec: ModelSpec, folder: Workspace, on_step: OnStep | None
    ) -> Trace:
        """Return the trace of the same question, if its answer is still true, else that of a new run."""
        asked = memory.Asked(brief.release, brief.model, brief.prompt, folder.root)
        trace, is_old = await memory.remembered(
            asked, folder, brief.skill.tools, lambda: self._answer(brief, listed, spec, folder, on_step)
        )
        if not is_old:
            return trace
        if self.keep_traces:
            store.store_if_possible(trace)  # again: `last` is the run that the caller saw last
        return _recalled(trace)

    async def _answer(
        self, brief: loop.Brief, listed: ListedEntry, spec: ModelSpec, folder: Workspace, on_step: OnStep | None
    ) -> Trace:
        trace = await loop.run(brief, self.models.lease(spec), folder, on_step, may_write=self.may_write)
        trace = await finish_with_index(trace, brief.skill, folder, listed.entry.calibration)
        if listed.entry.claimed:  # so would its confidence be, and nothing that travels with it could say so
            trace = trace.model_copy(update={"confidence": None})
        if self.keep_traces:
            store.store_if_possible(trace)
        return trace

    def _spec(self, listed: ListedEntry, skill: Skill) -> ModelSpec:
        entry = listed.entry
        released = entry.state == "released"
        if self.base and released:
            raise UsageError(f"{entry.name} is trained on {entry.base.source}: run it without --base")
        return ModelSpec(
            base=self.base or entry.base,
            base_behaviour=None if self.base else entry.base_behaviour,
            adapter=entry.adapter,
            dialect=DialectName.LINES if released else DialectName.HERMES,
            context=skill.subagent.limits.context,
        )


def check_fresh(listed: ListedEntry, skill: Skill) -> None:
    """Raise ModelError if a release no longer has what its adapter was measured with."""
    entry = listed.entry
    if entry.serving_hash and entry.serving_hash != serving_hash(skill, entry.base, entry.adapter):
        raise ModelError(
            f"{entry.name} is stale: its system line, chat dialect, tools, base or adapter changed since it was "
            "measured; train it again or install the version it was released with"
        )


def reason_to_remeasure(listed: ListedEntry) -> str:
    """Return why a release should be measured again though it still serves, or "" if nothing has changed."""
    entry = listed.entry
    if not (entry.provenance_hash and entry.goals_hash):
        return ""
    try:
        same = provenance_hash(listed.skill_folder, entry.goals_hash) == entry.provenance_hash
    except OSError as error:
        return f"{listed.skill_folder} cannot be read: {error.strerror}"
    command = shlex.join([*EVALUATE, str(listed.skill_folder)])  # a name would find bundled skills alone
    return "" if same else f"its skill, goals or checks changed since it was measured: type `{command}`"


def _brief(listed: ListedEntry, skill: Skill, prompt: str, model: str, dialect: DialectName, after: str) -> loop.Brief:
    entry = listed.entry
    return loop.Brief(
        skill,
        prompt,
        system=skill.subagent.system if entry.state == "released" else skill.instructions,
        release=f"{entry.label}@{(entry.serving_hash or entry.state)[:12]}",
        model=model,
        dialect=dialect,
        after=after,
        familiarity=entry.calibration.familiarity if entry.calibration else None,
    )


def _recalled(trace: Trace) -> Trace:
    """Return the trace with a note that it is not of now. Nothing was read or written for it."""
    note = f"(Answered at {trace.created.astimezone():%Y-%m-%d %H:%M}; what it rests on has not changed.)"
    return noted(trace, note).model_copy(update={"tally": Tally()})
