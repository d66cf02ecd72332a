"""Which questions looking at files cannot answer: learned of training questions, in all their wordings."""

from pathlib import Path

from skillstill.skills.registry import bundled
from skillstill.tools.facts.beyond import chance_beyond
from skillstill_training.field.beyond import fit_beyond
from skillstill_training.field.question import FieldQuestion, Gold, questions_file
from skillstill_training.field.rewordings import Rewording, rewordings_file
from skillstill_training.util.jsonl import write_lines

ASKED = {
    "did the nightly build pass yesterday": "beyond",
    "how many people use it every day": "beyond",
    "where is the timeout set": "answer",
    "what is the default port": "answer",
}


def test_other_questions_in_the_same_words_are_told_apart(tmp_path: Path) -> None:
    golds = {
        "beyond": Gold(outcome="beyond", answer="nobody can tell"),
        "answer": Gold(outcome="answer", answer="30", facts=(("30",),)),
    }
    questions = [
        FieldQuestion(id=f"shop/{at}", prompt=prompt, gold=golds[outcome])
        for at, (prompt, outcome) in enumerate(ASKED.items())
    ]
    for file in (questions_file(tmp_path, "train"), rewordings_file(tmp_path)):
        file.parent.mkdir(parents=True)
    write_lines(questions_file(tmp_path, "train"), questions)
    write_lines(rewordings_file(tmp_path), [Rewording(question="shop/0", texts=("was last night's run green",))])
    model = fit_beyond([tmp_path])
    assert model.logit("was yesterday's build green") > 0 > model.logit("where is the default set")


def test_the_model_that_ships_is_that_of_the_bundled_questions() -> None:
    skills = [bundled() / "skills" / name for name in ("explore", "logs", "tables")]
    fitted = fit_beyond(skills)
    for question in ("did the nightly build pass yesterday?", "where do we set the default port?"):
        chance = chance_beyond(question)
        assert (chance > 0.5) == (fitted.logit(question) > 0)
        assert (chance > 0.5) == ("nightly" in question)
