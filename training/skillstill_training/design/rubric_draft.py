"""The rubric of a skill whose answers no program can check: a teacher draws it from the skill's own words."""

from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue, ValidationError
from skillstill.errors import TeacherError
from skillstill.library.definition import Definition
from skillstill.skills.skill import mistake

from skillstill_training.authoring.checks import LEAST_CRITERIA, MOST_CRITERIA, Criterion, Judged
from skillstill_training.design.skill_text import quote_definition
from skillstill_training.design.topics import likeness
from skillstill_training.teachers.asker import Asker

BODY = 24_000  # characters of the text that a teacher is told
ALIKE = 0.7  # of the words of two criteria: from here on they are one
PROMPT = """\
A subagent is taught by the text below. It answers single questions about a workspace, and changes nothing there. No
program can tell a good answer of it from a bad one: a reader will, with a list of criteria that you draw from the text.

Name {least} to {most} criteria. Each is a question about an answer that is asked with yes or no, that a reader can
decide from the answer and what the subagent's tools have shown, and that a careless answer fails. Together they hold
what the text cares for most. `source` is quoted from the text, word by word: what the criterion is drawn from.

Reply in the form {{"criteria": [{{"asks": "Does the answer …?", "source": "…"}}]}}, with your own words for the dots.

The text, {definition}"""


async def draw_rubric(asker: Asker, definition: Definition, on_told: Callable[[str], None]) -> Judged:
    """Return the first criteria that are drawn from the text and differ. Raise TeacherError if they are too few."""
    on_told(f"drawing a rubric from the text of {definition.name}")
    reply = await asker.ask(_prompt(definition), "rubric")
    kept, rejected = _sort_criteria(reply, f"{definition.description}\n{definition.body}")
    if len(kept) < LEAST_CRITERIA:
        count = f"{len(kept)} criteria are drawn from the text, and {LEAST_CRITERIA} are needed"
        raise TeacherError(f"no rubric: {'; '.join([count, *rejected])}")
    return Judged(criteria=tuple(kept[:MOST_CRITERIA]))


def _prompt(definition: Definition) -> str:
    return PROMPT.format(
        least=LEAST_CRITERIA,
        most=MOST_CRITERIA,
        definition=quote_definition(definition, BODY),
    )


def _sort_criteria(reply: Mapping[str, JsonValue], text: str) -> tuple[list[Criterion], list[str]]:
    """Return the criteria that are fit, and why the others are not."""
    kept, rejected = list[Criterion](), list[str]()
    found = reply.get("criteria")
    for told in found if isinstance(found, list) else ():
        try:
            one = Criterion.model_validate(told)
        except ValidationError as error:
            rejected.append(": ".join(mistake(error)))
            continue
        if why := _fault(one, text, kept):
            rejected.append(f"{one.asks!r}: {why}")
        else:
            kept.append(one)
    return kept, rejected


def _fault(one: Criterion, text: str, kept: Sequence[Criterion]) -> str:
    if _words(one.source) not in _words(text):
        return "its source is not in the text"
    return "it repeats another" if any(likeness(one.asks, other.asks) >= ALIKE for other in kept) else ""


def _words(text: str) -> str:
    """Return the words, each between spaces, whatever marks stand between them in the text."""
    return f" {' '.join(''.join(sign if sign.isalnum() else ' ' for sign in text.lower()).split())} "
