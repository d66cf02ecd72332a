"""Goals drawn from families and workspaces: a fair share of each, each proven, none twice."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from skillstill.errors import GoalsError, SkillstillError

from skillstill_training.authoring.attempt import Attempt
from skillstill_training.authoring.checks import judge
from skillstill_training.authoring.families import Family, Wordings
from skillstill_training.authoring.goal import Draft, Goal, Split
from skillstill_training.run.recipe import GoalConfig
from skillstill_training.sampling.goal_builder import GoalBuilder, UnfitGoal, Wording
from skillstill_training.sampling.wording import normal
from skillstill_training.util.tasks import each
from skillstill_training.workspaces import BuiltWorkspace

BATCH = 4  # drafts that are proven at once: what two cores keep busy
PATIENCE = 12  # drafts that are tried for each goal that is wanted, before a family has to do with fewer
OTHERS = 3  # answers of its neighbours that a check must refuse
HELD_BACK = 5  # every fifth training wording is kept for validation

OnProgress = Callable[["FamilyTally"], None]
Drafted = tuple[Draft, BuiltWorkspace, Sequence[Wording]]


@dataclass
class FamilyTally:
    """How far the drawing of one family in one split is; `dropped` counts drafts by reason."""

    family: str
    split: Split
    wanted: int
    made: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Sampler:
    """Everything that goals are drawn from."""

    builder: GoalBuilder
    plan: GoalConfig
    train_wordings: Wordings
    test_wordings: Wordings
    workspaces: Mapping[Split, Sequence[BuiltWorkspace]]
    at_once: int = BATCH
    asked: set[str] = field(default_factory=set)  # prompts of all families and splits so far

    async def draw(self, family: Family, split: Split, on_progress: OnProgress) -> tuple[list[Goal], FamilyTally]:
        """Draw as many goals of a family as the recipe wants, or as there are. Raise GoalsError if there is none."""
        wanted = 0 if family.held_out and split != "test" else self.plan.wanted(family.name, split)
        tally = FamilyTally(family.name, split, wanted)
        goals: dict[str, Goal] = {}
        seen: set[tuple[str, str]] = set()  # workspace and question
        drafts = islice(self._drafts(family, split), wanted * PATIENCE)
        while len(goals) < wanted and (batch := list(islice(drafts, self.at_once))):
            for goal in await self._prove(batch, family, split):
                if len(goals) == wanted:
                    break  # how many are proven at once changes nothing, not even what is counted
                if isinstance(goal, UnfitGoal):
                    tally.dropped[str(goal)] += 1
                elif self._is_new(goal, seen, tally):
                    goals[goal.id] = goal
            tally.made = len(goals)
            on_progress(tally)
        kept = _without_weak_checks(list(goals.values()), tally)
        tally.made = len(kept)
        on_progress(tally)
        if wanted and not kept:
            raise GoalsError(_yields_nothing(tally, self.workspaces[split]))
        return kept, tally

    def _drafts(self, family: Family, split: Split) -> Iterator[Drafted]:
        """Yield from each workspace in turn, each with the wording that has served least; a pair shares one.

        A training goal has others beside it, drawn from all that training may know.
        """
        rng = Random(f"{self.builder.seed}/{family.name}/{split}")  # noqa: S311 - no secret
        wordings = self._wordings(family, split, rng)
        used: Counter[str] = Counter()
        paired: dict[tuple[str, str], Wording] = {}
        for draft, built in _in_turn(family, self.workspaces[split], self.builder.seed):
            key = (built.name, draft.pair)
            wording = paired.get(key) if draft.pair else None
            wording = wording or min(wordings, key=lambda one: used[one[0]])
            paired[key] = wording
            used[wording[0]] += 1
            others = [one for one in wordings if one != wording] if split == "train" else []
            yield draft, built, [wording, *rng.sample(others, min(self.plan.also, len(others)))]

    def _wordings(self, family: Family, split: Split, rng: Random) -> list[Wording]:
        """Return the wordings of a split with their names, shuffled.

        For tests, `seen` of the goals in training wordings.
        """
        trained = [(f"train/{at}", text) for at, text in enumerate(self.train_wordings.get(family.name, ()))]
        kept_back = [one for at, one in enumerate(trained) if at % HELD_BACK == HELD_BACK - 1] or trained
        if split == "validation":
            chosen = kept_back
        elif split == "train":
            chosen = [one for one in trained if one not in kept_back] or trained
        else:
            unseen = [(f"test/{at}", text) for at, text in enumerate(self.test_wordings[family.name])]
            again = [one for one in trained if one not in kept_back]
            share = 0.0 if family.held_out else self.plan.seen
            chosen = unseen + rng.sample(again, min(len(again), round(len(unseen) * share / (1 - share))))
        rng.shuffle(chosen)
        return chosen

    async def _prove(self, batch: Sequence[Drafted], family: Family, split: Split) -> Sequence[Goal | UnfitGoal]:
        """Return the proven goals of a batch, in its order whichever is done first, or why they are none."""
        proven: dict[int, Goal | UnfitGoal] = {}

        async def prove(numbered: tuple[int, Drafted]) -> None:
            at, (draft, built, wordings) = numbered
            try:
                goal = self.builder.compose(draft, family, built, split, wordings)
                proven[at] = await self.builder.prove(goal, family, built)
            except UnfitGoal as unfit:
                proven[at] = unfit

        await each(enumerate(batch), prove, len(batch))
        return [proven[at] for at in sorted(proven)]

    def _is_new(self, goal: Goal, seen: set[tuple[str, str]], tally: FamilyTally) -> bool:
        """Return whether neither this prompt nor this question was there.

        In another wording it is the same question.
        """
        prompt, question = normal(goal.prompt), (goal.workspace, f"{goal.check}{sorted(goal.words.items())}")
        if prompt in self.asked or question in seen:
            tally.dropped["a near-duplicate"] += 1
            return False
        self.asked.update({prompt, *map(normal, goal.also)})
        seen.add(question)
        return True


def _in_turn(family: Family, workspaces: Sequence[BuiltWorkspace], seed: int) -> Iterator[tuple[Draft, BuiltWorkspace]]:
    pending = [(_drafts_of(family, built, seed), built) for built in workspaces]
    while pending:
        left = []
        for drafts, built in pending:
            if draft := next(drafts, None):
                yield draft, built
                left.append((drafts, built))
        pending = left


def _drafts_of(family: Family, built: BuiltWorkspace, seed: int) -> Iterator[Draft]:
    """Yield what the skill's own code drafts. Raise GoalsError if that code breaks off."""
    try:
        yield from family.drafts(built, Random(f"{seed}/{family.name}/{built.name}"))  # noqa: S311 - no secret
    except SkillstillError:
        raise
    except Exception as error:
        why = " ".join(f"{type(error).__name__}: {error}".split())
        raise GoalsError(f"the drafts of the family {family.name!r} break off in {built.name}: {why}") from error


def _without_weak_checks(goals: Sequence[Goal], tally: FamilyTally) -> list[Goal]:
    """Return the goals whose check refuses an empty answer, its neighbours' answers, and all answers at once."""
    neighbours: dict[str, list[Goal]] = defaultdict(list)
    for goal in goals:
        neighbours[goal.workspace].append(goal)
    kept = []
    for goal in goals:
        if accepted := accepts_wrong(goal, neighbours[goal.workspace]):
            tally.dropped[f"its check accepts {accepted}"] += 1
        else:
            kept.append(goal)
    return kept


def accepts_wrong(goal: Goal, neighbours: Sequence[Goal]) -> str:
    """Return what its check lets pass and should not, of an empty answer and its neighbours'.

    Empty if it refuses all.
    """
    others = [one for one in neighbours if _gold(one) != _gold(goal) and one.answer][:OTHERS]
    tries = {"an empty answer": ""} | {f"the answer {one.answer!r}": one.answer for one in others}
    alike = [one.answer for one in others if one.check.kind == goal.check.kind]
    if len(alike) == OTHERS:
        tries["everything at once"] = "\n".join([goal.answer, *alike])
    for name, answer in tries.items():
        if judge(goal.check, Attempt.of_text(goal.prompt, answer)).passed:
            return name
    return ""


def _yields_nothing(tally: FamilyTally, workspaces: Sequence[BuiltWorkspace]) -> str:
    reasons = "; ".join(f"{reason} ({count})" for reason, count in tally.dropped.most_common(3))
    names = ", ".join(built.name for built in workspaces) or "no workspace"
    why = f"dropped: {reasons}" if reasons else "it drafts nothing there"
    return f"the family {tally.family!r} yields no goal for the split {tally.split!r} in {names}: {why}"


def _gold(goal: Goal) -> tuple[str, object]:
    """Return what a right answer says; two checks that differ only in what is wrong want the same."""
    return goal.check.kind, getattr(goal.check, "gold", None)
