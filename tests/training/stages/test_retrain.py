"""From what was said of runs to the next release: what is learned from, what is asked at the gate, what is kept apart.

Runs, feedback, questions, plans, goals, publishing and the gates are real; what trains, exports and measures goals is
replaced as in the tests of the pipeline, and the two releases say what a script says.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from string import ascii_lowercase

import pytest
import typer
from skillstill.models.scripted import ScriptedModel, call
from skillstill.run import store
from skillstill.run.feedback import Feedback, all_feedback, give_feedback
from skillstill.skills.registry import ListedEntry, Registry, user_registry
from skillstill.types import Message, Report, ToolCall, Trace
from skillstill_training.cli.retrain import retrain as command
from skillstill_training.field.feedback import gold_of, split_of
from skillstill_training.field.plans import load_plans
from skillstill_training.field.question import load_questions
from skillstill_training.stages.publish import registry_of
from skillstill_training.stages.retrain import plan_retraining
from skillstill_training.workspaces import load_sources
from typer.testing import CliRunner

from tests.scenes import ScriptedModels, write
from tests.training.stages.test_pipeline import Train, Watch, Workshop, settings_dataset, train, with_dataset, workshop

__all__ = ["settings_dataset", "train", "with_dataset", "workshop"]  # fixtures
KEYS = [f"limit_{letter}" for letter in ascii_lowercase]  # so many that neither half is short in any folder
Retrain = Callable[..., tuple[int, str]]


@pytest.fixture
def office(tmp_path: Path) -> Path:
    """The user's own folder: a setting a line."""
    lines = "".join(f"{key} = {number}\n" for number, key in enumerate(KEYS, 10))
    return write(tmp_path / "office", {"main.ini": lines})


def asked(office: Path, key: str, answer: str, pattern: str = "", status: str = "answered") -> Trace:
    """A stored run of `settings`."""
    look = ToolCall(name="search", arguments={"pattern": pattern or key})
    trace = Trace(
        run=f"{sum(map(ord, key)):08x}{len(store.trace_files()):08x}",
        release="settings@1",
        skill="settings",
        model="",
        dialect="chatml-lines/2",
        created=datetime.now(UTC),
        workspace=str(office),
        prompt=f"What is {key}?",
        tools=(),
        messages=(Message(role="user", content=f"What is {key}?"), Message(role="assistant", calls=(look,))),
        receipts=(),
        report=Report.model_validate({"answer": answer, "status": status}),
    )
    store.store(trace)
    return trace


def right_answer(key: str) -> str:
    return f"`{KEYS.index(key) + 10}` (main.ini:{KEYS.index(key) + 1})."


def said_right(office: Path, keys: Iterable[str] = KEYS) -> None:
    for key in keys:
        give_feedback(asked(office, key, right_answer(key)), "right")


@pytest.fixture
def released(train: Train, settings: Path, with_dataset: None) -> ListedEntry:
    """The present release of `settings`, of a dataset that is there already."""
    assert train(Watch()).verdict == "released"
    return Registry(registry_of(settings)).entry("settings")


@pytest.fixture
def retrain(released: ListedEntry, workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Retrain:
    """The command, in a folder of runs of its own; both releases say these turns, one after the other."""

    def run(turns: Iterable[Message | str] = (), registry: Path | None = None) -> tuple[int, str]:
        models = ScriptedModels(ScriptedModel(list(turns)))
        monkeypatch.setattr("skillstill_training.field.measure.LocalModels", lambda _: models)
        monkeypatch.setattr(
            "skillstill_training.stages.export.ship",
            lambda run, base, *, name: workshop.ship(run, base, name=f"{name} of {run.path.name}"),
        )
        app = typer.Typer()
        app.command()(command)
        arguments = [
            "settings",
            "--yes",
            "--runs",
            str(tmp_path / "again"),
            "--registry",
            str(registry or released.origin),
        ]
        result = CliRunner().invoke(app, arguments, standalone_mode=False)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return int(result.return_value or 0), result.output

    return run


def at_the_gate() -> list[Feedback]:
    return [one for one in all_feedback() if split_of(one) == "validation"]


def releases_say(*wrong: int) -> Iterable[Message | str]:
    """What each release says to the questions of the gate, in the order of the feedback, so many of them wrong."""
    for count in wrong:
        for number, one in enumerate(at_the_gate()):
            key = one.prompt.removeprefix("What is ").removesuffix("?")
            yield call("search", pattern=key)
            yield "`999` (main.ini:1)." if number < count else right_answer(key)


def test_half_is_learned_from_and_the_other_half_asked_and_it_is_released(
    retrain: Retrain, released: ListedEntry, settings: Path, office: Path, workshop: Workshop
) -> None:
    said_right(office)
    code, said = retrain(releases_say(0, 0))
    assert code == 0
    train, gate = load_questions(settings, "train"), load_questions(settings, "validation")
    assert not {one.prompt for one in train} & {one.prompt for one in gate}
    assert len(train) + len(gate) == len(KEYS)
    assert load_plans(settings, "train").keys() == {one.id for one in train}
    assert f"feedback   {len(train)} lessons, {len(gate)} questions for the gate" in said
    assert "settings: released" in said
    plan = workshop.plans[-1]
    assert (plan.start, plan.tokens) == (str(settings / "releases" / Path(plan.start).name), 150_000)
    entry = Registry(released.origin).entry("settings").entry
    assert (entry.state, entry.before is not None) == ("released", True)
    assert entry.adapter != released.entry.adapter


def test_more_feedback_goes_on_from_the_next_release_and_is_measured_on_other_goals(
    retrain: Retrain, released: ListedEntry, office: Path, tmp_path: Path
) -> None:
    said_right(office, KEYS[:20])
    assert retrain(releases_say(0, 0))[0] == 0
    before = Registry(released.origin).entry("settings").entry
    said_right(office, KEYS[20:])
    assert retrain(releases_say(0, 0))[0] == 0
    after = Registry(released.origin).entry("settings").entry
    assert (after.adapter != before.adapter, after.goals_hash != before.goals_hash) == (True, True)
    assert len(list((tmp_path / "again" / "settings").iterdir())) == 2


def test_a_release_that_is_worse_on_what_was_said_is_held_back(
    retrain: Retrain, released: ListedEntry, office: Path
) -> None:
    said_right(office)
    code, said = retrain(releases_say(0, 2))
    assert code == 2
    gate = len(at_the_gate())
    assert f"feedback: of {gate} questions of feedback {gate - 2} right" in " ".join(said.split())
    assert Registry(released.origin).entry("settings").entry == released.entry


def test_too_little_feedback_is_told_and_nothing_is_written(
    retrain: Retrain, settings: Path, office: Path, workshop: Workshop
) -> None:
    said_right(office, KEYS[:2])
    trained = len(workshop.plans)
    code, said = retrain()
    assert code == 2
    assert "at least 3 of each are needed: say more with `skillstill feedback RUN right|wrong`" in said
    assert not (settings / "field").exists()
    assert len(workshop.plans) == trained


def test_a_bundled_subagent_gets_its_next_release_in_the_users_own_folder(
    retrain: Retrain, released: ListedEntry, settings: Path, office: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillstill.skills.registry.bundled", lambda: released.origin.parent)
    said_right(office)
    before = released.origin.read_bytes()
    code, _ = retrain(releases_say(0, 0))
    assert code == 0
    assert (released.origin.read_bytes(), (settings / "field").exists()) == (before, False)
    listed = Registry().entry("settings")
    assert listed.origin == user_registry()
    assert (listed.entry.title, listed.entry.description) == (released.entry.title, released.entry.description)
    assert "own-train" in (listed.skill_folder / "field" / "sources.toml").read_text(encoding="utf-8")


def corrected(office: Path, right: Callable[[str], str]) -> list[str]:
    """The keys of which a wrong run can be learned from."""
    given = {key: give_feedback(asked(office, key, "`999`."), "wrong", right(key)) for key in KEYS}
    return [key for key, one in given.items() if split_of(one) == "train"]


def test_a_wrong_run_is_a_lesson_if_another_run_of_the_question_shows_how(released: ListedEntry, office: Path) -> None:
    shown, *rest = corrected(office, lambda key: f"`{KEYS.index(key) + 10}`")
    asked(office, shown, right_answer(shown))
    own = plan_retraining(released).own
    assert [question.prompt for question, _ in own.lessons] == [f"What is {shown}?"]
    assert own.left_out == {"no way leads to it": len(rest)}
    assert {one.checked for one in own.asked} == {"settled"}


def test_a_wrong_run_is_a_lesson_if_a_word_of_the_question_leads_to_the_place_that_was_named(
    released: ListedEntry, office: Path
) -> None:
    lessons = corrected(office, right_answer)
    own = plan_retraining(released).own
    assert [plan.calls for _, plan in own.lessons] == [
        (ToolCall(name="search", arguments={"pattern": key}),) for key in lessons
    ]
    assert not own.left_out


def test_a_place_that_a_search_does_not_show_is_opened_if_a_tool_does_so(
    released: ListedEntry, settings: Path, office: Path
) -> None:
    file = settings / "subagent.toml"
    file.write_text(file.read_text(encoding="utf-8").replace('["search"]', '["search", "read"]'), encoding="utf-8")
    first = corrected(office, lambda key: f"`{KEYS.index(key) + 11}` main.ini:{KEYS.index(key) + 2}")[0]  # one below
    (_, plan), *_ = plan_retraining(released).own.lessons
    line = KEYS.index(first) + 2
    assert plan.calls == (
        ToolCall(name="search", arguments={"pattern": first}),
        ToolCall(name="read", arguments={"path": "main.ini", "line": line}),
    )


def test_what_cannot_be_judged_or_whose_folder_is_gone_is_left_out(released: ListedEntry, office: Path) -> None:
    give_feedback(asked(office, KEYS[0], "no idea"), "wrong", "it depends on what the operator chose on that day")
    give_feedback(asked(office / "gone", KEYS[1], "`11`."), "right")
    give_feedback(asked(office, KEYS[2], "`12`."), "wrong", "see main.ini:900")
    own = plan_retraining(released).own
    assert own.left_out == {"no program can judge it": 2, "its folder is gone": 1}


def test_the_folders_are_pinned_as_they_are_now(retrain: Retrain, settings: Path, office: Path) -> None:
    said_right(office)
    retrain(releases_say(0, 0))
    sources = load_sources(settings / "field")
    assert {source.split for source in sources} == {"train", "validation"}
    assert all(source.sha256 for source in sources)


@pytest.mark.parametrize(
    ("right", "facts", "places", "outcome"),
    [
        ("it is `0.5`, shop/retry.py:14", (("0.5",),), ("shop/retry.py:14",), "answer"),
        ("12 of them", (("12",),), (), "answer"),
        ("cart.py:3", (), ("cart.py:3",), "answer"),
        ("cart.py:3: class Cart (to line 9)", (), ("cart.py:3",), "answer"),
        ("10 (cart.py:3).", (("10",),), ("cart.py:3",), "answer"),
        ("the class Basket", (("the class Basket",),), (), "answer"),
        ("There is none.", (), (), "absent"),
    ],
)
def test_what_is_right_becomes_facts_and_places(
    office: Path, right: str, facts: object, places: object, outcome: str
) -> None:
    gold = gold_of(give_feedback(asked(office, KEYS[0], "?"), "wrong", right))
    assert gold
    assert (gold.facts, gold.places, gold.outcome) == (facts, places, outcome)


def test_a_follow_up_is_in_the_half_of_its_first_question(office: Path) -> None:
    first = asked(office, KEYS[0], "`10`.")
    later = first.model_copy(update={"run": "ff", "prompt": f"{first.prompt}\n\n`10`.\n\nand where is it read?"})
    assert split_of(give_feedback(first, "right")) == split_of(give_feedback(later, "right"))
