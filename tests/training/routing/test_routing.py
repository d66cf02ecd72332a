"""The router's model: made again of the same examples as the same bytes, and measured on others."""

from collections import Counter
from pathlib import Path

import pytest
from skillstill.routing.candidates import Candidate
from skillstill.routing.model import write_model
from skillstill_training.routing.examples import Example, load_examples
from skillstill_training.routing.fitting import fit_model
from skillstill_training.routing.measuring import accuracies, route_all, stranger

from tests.scenes import ROOT

SKILLS = [ROOT / "skills" / name for name in ("explore", "logs", "tables")]
ASKED = {
    "explore": ["where is {} defined", "which function calls {}", "what does {} raise"],
    "logs": ["how many errors of {}", "when did {} fail first", "last warning of {}"],
    "": ["write a poem on {}", "translate {} into French", "deploy {} and tell me"],
}
NOUNS = ("cart", "stock", "order", "price", "label", "retry", "queue", "worker")
WORDS = {"explore": "where is the function defined and called", "logs": "errors and warnings of a log, first, last"}
TEXTS = {name: (Counter(text.split()),) for name, text in WORDS.items()}


def made(nouns: tuple[str, ...]) -> list[Example]:
    return [
        Example(task=form.format(noun), subagent=name, group=noun if name else f"{name} {noun}")
        for noun in nouns
        for name, forms in ASKED.items()
        for form in forms
    ]


def known() -> list[Candidate]:
    kinds = {"explore": "code", "logs": "logs"}
    return [
        Candidate(name, TEXTS[name][0], frozenset({kind}), only_looks=True, is_learned=True)  # type: ignore[arg-type]
        for name, kind in kinds.items()
    ]


@pytest.fixture(scope="module")
def model() -> object:
    return fit_model(made(NOUNS[:6]), TEXTS)


def test_the_same_examples_make_the_same_bytes(model: object, tmp_path: Path) -> None:
    for number, one in enumerate((model, fit_model(made(NOUNS[:6]), TEXTS))):
        write_model(one, tmp_path / str(number), 0o644)  # type: ignore[arg-type]
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


def test_what_was_learned_holds_for_other_nouns(model: object) -> None:
    folders = {f"{name}/{noun}": {kind: 3} for name, kind in (("explore", "code"), ("logs", "logs")) for noun in NOUNS}
    routed = route_all(model, known(), made(NOUNS[6:]), folders)  # type: ignore[arg-type]
    found = {one.of: one.share.value for one in accuracies(routed)}
    assert found["own: all"] > 0.9
    assert found["mixed: all"] > 0.9


def test_a_stranger_has_nothing_but_its_texts() -> None:
    assert not any(stranger(one).is_learned for one in known())


@pytest.mark.parametrize("split", ["train", "validation"])
def test_the_examples_can_be_read_and_no_task_is_for_two(split: str) -> None:
    examples = load_examples(SKILLS, split)  # type: ignore[arg-type]
    beyond = {one.task for one in examples if not one.subagent}
    assert len(beyond) > 900
    assert not beyond & {one.task for one in examples if one.subagent}


def test_no_task_is_learned_and_measured() -> None:
    learned, measured = (
        {one.task.lower() for one in load_examples(SKILLS, split) if not one.subagent}
        for split in ("train", "validation")
    )
    assert not learned & measured
