"""`recipe.toml` of a skill: how many goals and traces of which kind. The resolved copy lies beside what it made."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError
from skillstill.errors import GoalsError
from skillstill.skills.skill import mistake
from skillstill.types import Frozen

from skillstill_training.authoring.goal import SPLITS, Split
from skillstill_training.run.scorecard import ARMS, ArmName

Share = Annotated[float, Field(ge=0, le=1)]
Precision = Literal["auto", "fp32", "bf16"]
Count = Annotated[int, Field(ge=0)]


class SpeechConfig(Frozen):
    """How often people speak so: a name loosely, with a typo, limited to a place of the workspace."""

    loose: Share = 0.15
    typo: Share = 0.05
    scoped: Share = 0.1


class Band(Frozen):
    """The least and the largest share that is fit."""

    least: Share = 0.0
    most: Share = 1.0


class Shares(Frozen):
    """Of the goals of a split: three or more calls; several hits to choose from; no answer; hard families.

    The defaults are the project's: below them, templated look-ups would carry the figures.
    """

    deep: Band = Band(least=0.3)
    several: Band = Band(least=0.15, most=0.25)
    absent: Band = Band(least=0.1, most=0.4)
    hard: Band = Band(least=0.5)


ANY_SHARES = Shares(deep=Band(), several=Band(), absent=Band(), hard=Band())


class GoalConfig(Frozen):
    """How many goals a family gets in each split, and in which words.

    per_family   by split; `families` overrides it by family, then split
    seen         of the test goals: in training wordings, so that the difference can be told
    also         in so many more wordings a training goal can be asked: a trace that is learned twice begins otherwise
    """

    per_family: Mapping[Split, Count] = {"train": 150, "validation": 32, "test": 60}
    families: Mapping[str, Mapping[Split, Count]] = {}
    seen: Annotated[float, Field(ge=0, lt=1)] = 0.25
    also: Count = 12
    speech: SpeechConfig = SpeechConfig()
    shares: Shares = Shares()

    def wanted(self, family: str, split: Split) -> int:
        return self.families.get(family, {}).get(split, self.per_family.get(split, 0))


class OracleConfig(Frozen):
    """How often a plan takes a detour on purpose, by kind, 0..1."""

    detours: Mapping[str, Share] = {"miss": 0.15, "wrong": 0.1}


class DatasetConfig(Frozen):
    """What the training data must hold.

    abstain   the least share of traces that end in `it is not there` or hand the work back
    cells     patterns of `family/tools/calls/outcome` with the least number of samples that match; tools are told as
              `search+read`, an outcome is found, absent or declined. Cells without a pattern are only listed
    cap       the largest share of a family's traces in one wording
    intents   what a turn says in place of its family's name, if words alone cannot tell two families apart
    """

    abstain: Share = 0.1
    cells: Mapping[str, int] = {}
    cap: Share = 0.15
    intents: Mapping[str, Annotated[str, Field(pattern=r"^[a-z_]{1,40}$")]] = {}


BUNDLE = 1_024  # tokens of a bundle, if no conversation is longer


class TrainConfig(Frozen):
    """How the adapter is trained.

    The defaults come from docs/experiments.md: small steps at a high rate learn most from few traces.

    start         an adapter file of the skill folder that training goes on from: `releases/….gguf`; else it begins anew
    tokens        in all, at most, without what all questions about a folder share; families get equally many
    traces        at most so many
    openings      the share of the tokens that goes to first turns of more traces: what was asked, told from its words
    field         the share that goes to field questions, if the skill has plans for them; families share the rest
    curve         numbers of traces that are trained on before, each by itself, to see what more of them would bring
    longest       tokens of a conversation; longer ones are left out, and counted
    own           tokens of a conversation without what all questions about a folder share, likewise; default: longest
    batch         conversations a step; they are packed into one row, and do not see each other
    checkpoints   of them the one with the best success on `episodes` fixed validation goals is kept
    precision     auto: bfloat16 if this machine is faster with it, else float32
    """

    start: str = ""
    tokens: Annotated[int, Field(ge=1)] = 600_000
    traces: Annotated[int, Field(ge=1)] | None = None
    openings: Annotated[float, Field(ge=0, lt=1)] = 0.25
    field: Annotated[float, Field(ge=0, le=1)] = 0.5
    curve: tuple[Annotated[int, Field(ge=1)], ...] = ()
    rank: Annotated[int, Field(ge=1)] = 16
    alpha: Annotated[int, Field(ge=1)] = 32
    learning_rate: Annotated[float, Field(gt=0)] = 2e-3
    warmup: Share = 0.03
    longest: Annotated[int, Field(ge=16)] = 2_048
    own: Annotated[int, Field(ge=16)] | None = None
    batch: Annotated[int, Field(ge=1)] = 4
    checkpoints: Annotated[int, Field(ge=1)] = 2
    episodes: Annotated[int, Field(ge=1)] = 100
    precision: Precision = "auto"

    @property
    def bundle_tokens(self) -> int:
        """Return how many tokens a bundle of conversations has at most: attention costs their square."""
        return max(BUNDLE, self.longest)

    def going_on(self, start: str) -> "TrainConfig":
        """Return the plan of a training that goes on from a release: a quarter of the tokens at a fifth of the rate.

        At the full rate an adapter forgets what it knew (docs/experiments.md).
        """
        changed = {"start": start, "tokens": max(1, self.tokens // 4), "learning_rate": self.learning_rate / 5}
        return self.model_copy(update=changed)


class EvaluationConfig(Frozen):
    """How much is asked of whom before a release.

    arms          who is compared; `larger` and `wrong` only if a file for them is named
    per_family    test goals in wordings from another hand that ours and the baseline are asked, of each family
    seen          beside them, in training wordings
    paired        of these goals, those that the other arms are asked: they are slow, and a difference needs pairs
    workspaces    of the test that a difference must come from: fewer say little of any other one
    calibration   validation goals that the confidence is calibrated on, and without which there is none
    field         test questions of the field that a release needs; 0: none are asked for
    """

    arms: tuple[ArmName, ...] = ARMS
    per_family: Annotated[int, Field(ge=1)] = 40
    seen: Count = 10
    paired: Annotated[int, Field(ge=1)] = 60
    workspaces: Annotated[int, Field(ge=1)] = 8
    calibration: Annotated[int, Field(ge=1)] = 400
    field: Count = 30


class SizeRecipe(Frozen):
    """How a release on a larger base is trained and measured: it needs fewer tokens and a lower rate."""

    train: TrainConfig = TrainConfig()
    evaluate: EvaluationConfig = EvaluationConfig()


class Recipe(Frozen):
    """The whole file; every part has a default.

    size    of the release that a run makes, such as `0.5b`; empty for the default one
    sizes   what is said of training and measuring other sizes
    """

    seed: int = 1
    size: str = ""
    goals: GoalConfig = GoalConfig()
    constructed: OracleConfig = OracleConfig()
    dataset: DatasetConfig = DatasetConfig()
    train: TrainConfig = TrainConfig()
    evaluate: EvaluationConfig = EvaluationConfig()
    sizes: dict[str, SizeRecipe] = Field(default_factory=dict)

    def sized(self, size: str) -> "Recipe":
        """Return the recipe of a release of this size."""
        own = self.sizes.get(size)
        changed = {"train": own.train, "evaluate": own.evaluate} if own else {}
        return self.model_copy(update={"size": size, "sizes": {}, **changed})

    def makes_what(self, other: "Recipe") -> bool:
        """Return whether the other one makes the same goals and the same dataset."""
        return self.model_copy(update={"train": other.train, "evaluate": other.evaluate}) == other

    def changed(self, seed: int | None = None, few: int | None = None) -> "Recipe":
        """Return the recipe with another seed, or with only a `few` goals of each family, whose mix is then free."""
        recipe = self if seed is None else self.model_copy(update={"seed": seed})
        if few is None:
            return recipe
        goals = recipe.goals.model_copy(
            update={"per_family": dict.fromkeys(SPLITS, few), "families": {}, "shares": ANY_SHARES}
        )
        evaluated = recipe.evaluate.model_copy(update={"calibration": few})
        return recipe.model_copy(update={"goals": goals, "dataset": DatasetConfig(abstain=0), "evaluate": evaluated})


def load_recipe(skill: Path) -> Recipe:
    """Return the recipe of a skill folder, the defaults if it has none. Raise GoalsError."""
    file = skill / "recipe.toml"
    if not file.exists():
        return Recipe()
    try:
        return Recipe.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise GoalsError(f"{file}: {': '.join(mistake(error))}") from error
    except (OSError, ValueError) as error:
        raise GoalsError(f"{file} cannot be read as TOML: {error}") from error
