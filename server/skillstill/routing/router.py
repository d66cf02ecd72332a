"""A task and a folder to a subagent, or to the reason why none fits."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skillstill.routing.candidates import Candidate, candidate
from skillstill.routing.experience import experience
from skillstill.routing.folder import Kind, count_kinds
from skillstill.routing.model import RoutingModel, routing_model
from skillstill.skills.consent import is_servable
from skillstill.skills.registry import Registry

NO_SUBAGENT = "there is no subagent"
NO_FILES = "no subagent reads the files that are there ({})"
NOT_ASKED = "it does not ask what stands in files, and the subagents here do nothing else"
LIKE = -0.5  # nats a word, of the likeness of a task and a skill that may do more than look


@dataclass(frozen=True, slots=True)
class Choice:
    """The subagent that a task is for, if there is one; else why not."""

    subagent: str = ""
    reason: str = ""


@dataclass(slots=True)
class Router:
    """Chooses among the entries of a registry as it stands."""

    registry: Registry
    model: RoutingModel = field(default_factory=routing_model)
    _stamp: object = None
    _candidates: Sequence[Candidate] = ()

    def route(self, task: str, folder: Path, within: str = "") -> Choice:
        """Return the choice for a task in a folder, or in a part of it."""
        kinds = count_kinds(folder / within)
        priors = {name: count.prior for name, count in experience(folder).items()}
        return choose(self.model, task, self.candidates(), kinds, priors)

    def candidates(self) -> Sequence[Candidate]:
        """Return what is known of each subagent that an orchestrator may read of."""
        if (stamp := self.registry.stamp()) != self._stamp:
            learned = self.model.head.subagents
            found = (candidate(listed, learned) for listed in self.registry.entries() if is_servable(listed))
            self._candidates, self._stamp = tuple(one for one in found if one), stamp
        return self._candidates


def choose(
    model: RoutingModel,
    task: str,
    candidates: Sequence[Candidate],
    kinds: Mapping[Kind, int],
    priors: Mapping[str, float] | None = None,
) -> Choice:
    """Return the likeliest subagent if the task is likely enough for it."""
    logits = model.logits(task)
    scored = [(_score(model, task, one, logits, kinds) + (priors or {}).get(one.name, 0.0), one) for one in candidates]
    score, best = max(scored, key=lambda one: one[0], default=(-math.inf, None))
    if best is None:
        return Choice(reason=NO_SUBAGENT)
    if score == -math.inf:
        return Choice(reason=NO_FILES.format(", ".join(sorted(kinds))))
    return Choice(best.name) if _is_for(model, task, best, logits) else Choice(reason=NOT_ASKED)


def _score(
    model: RoutingModel, task: str, one: Candidate, logits: Mapping[str, float], kinds: Mapping[Kind, int]
) -> float:
    """Return how much speaks for a subagent, in nats: its words, and the share of files that it reads."""
    if (share := _share(one, kinds)) == 0:
        return -math.inf
    if one.is_learned:
        return model.head.fit * logits[one.name] + math.log(share)
    slope, offset = model.head.likeness
    return slope * model.likeness(task, one.texts) + offset + math.log(share)


def _share(one: Candidate, kinds: Mapping[Kind, int]) -> float:
    """Return the share of the kinds that it reads; logarithms of counts, so that a few tables in a tree count."""
    if not kinds:
        return 1.0  # nothing is known of the folder
    weights = {kind: math.log1p(count) for kind, count in kinds.items()}
    return sum(weight for kind, weight in weights.items() if kind in one.kinds) / sum(weights.values())


def _is_for(model: RoutingModel, task: str, one: Candidate, logits: Mapping[str, float]) -> bool:
    if not one.only_looks:
        return model.likeness(task, one.texts) > LIKE
    gate = model.head.known if one.is_learned else model.head.stranger
    return gate.asks * logits[""] + gate.fits * (logits[one.name] if one.is_learned else 0.0) + gate.bias > 0
