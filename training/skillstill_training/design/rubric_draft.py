"""The rubric of a skill whose answers no program can check: a teacher draws it from the skill's own words."""

from collections.abc import Callable, Iterator, Mapping

from pydantic import JsonValue, ValidationError
from skillstill.errors import TeacherError
from skillstill.library.definition import Definition
from skillstill.skills.skill import mistake
from skillstill.util.text import clean, shorten

from skillstill_training.authoring.checks import Criterion, Judged
from skillstill_training.design.topics import likeness
from skillstill_training.teachers.asker import Asker

BODY = 24_000  # characters of the text that a teacher is told
LEAST, MOST = 3, 7  # criteria
ALIKE = 0.7  # of the words of two criteria: from here on they are one
PROMPT = """\
A subagent is taught by the text below. It answers single questions about a workspace, and changes nothing there. No
program can tell a good answer of it from a bad one: a reader will, with a list of criteria that you draw from the text.

Name {least} to {most} criteria. Each is a question about an answer that is asked with yes or no, that a reader can
decide from the answer and what the subagent's tools have shown, and that a careless answer fails. Together they hold
what the text cares for most. `source` is quoted from the text, word by word: what the criterion is drawn from.

Reply in the form {{"criteria": [{{"asks": "Does the answer …?", "source": "…"}}]}}, with your own words for the dots.

The text, {name}: {description}
{body}"""


async def draw_rubric(asker: Asker, definition: Definition, on_told: Callable[[str], None]) -> Judged:
    """Return the first criteria that are drawn from the text and differ. Raise TeacherError if they are too few."""
    on_told(f"drawing a rubric from the text of {definition.name}")
    text = f"{definition.description}\n{definition.body}"
    body = shorten(clean(definition.body), BODY)
    prompt = PROMPT.format(least=LEAST, most=MOST, name=definition.name, description=definition.description, body=body)
    kept: list[Criterion] = []
    rejected: list[str] = []
    for one in _criteria(await asker.ask(prompt, "rubric")):
        if isinstance(one, str):
            rejected.append(one)
        elif why := _fault(one, text, kept):
            rejected.append(f"{one.asks!r}: {why}")
        else:
            kept.append(one)
    if len(kept) < LEAST:
        why = f": {'; '.join(rejected)}" if rejected else ""
        raise TeacherError(f"no rubric: {len(kept)} criteria are drawn from the text, and {LEAST} are needed{why}")
    return Judged(criteria=tuple(kept[:MOST]))


def _criteria(told: Mapping[str, JsonValue]) -> Iterator[Criterion | str]:
    found = told.get("criteria")
    for one in found if isinstance(found, list) else ():
        try:
            yield Criterion.model_validate(one)
        except ValidationError as error:
            yield ": ".join(mistake(error))


def _fault(one: Criterion, text: str, kept: list[Criterion]) -> str:
    if _plain(one.source) not in _plain(text):
        return "its source is not in the text"
    return "it repeats another" if any(likeness(one.asks, other.asks) >= ALIKE for other in kept) else ""


def _plain(text: str) -> str:
    """Return the words, whatever marks and spaces stand between them."""
    return " ".join("".join(sign if sign.isalnum() else " " for sign in text.lower()).split())
