"""What is searched of a thing, and which words of a question count."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from skillstill.library.definition import Definition
from skillstill.util.text import one_line

LABELS = {"tags", "keywords", "triggers", "trigger", "category", "categories", "domain", "when_to_use", "when-to-use"}
LONGEST = 8_000  # characters of one column: a description has 5,700 at most, and a file may hold anything
WORDS = 60  # of a question; more make it slow and no better
HEADING = re.compile(r"^#{1,3}[ \t]+(.+)$", re.MULTILINE)
_STOP = (
    "a about an and are as at be been by can could did do does for from get had has have help how i if in into is it"
    " its make me my need no not of on or our please should so than that the their them then there they this to use"
    " using want was we were what when where which will with would you your"
)
STOP = frozenset(_STOP.split())


@dataclass(frozen=True, slots=True)
class Passage:
    """The columns of one thing in the index. `labels`: its tags, triggers, category and first heading."""

    name: str
    description: str
    examples: str = ""
    labels: str = ""

    @property
    def meaning(self) -> str:
        """Return what its vector is made of."""
        return f"{self.name}: {self.description}"


def passage(definition: Definition) -> Passage:
    """Return what is indexed of a definition: all but its body, whose many words would bury what it is for."""
    heading = HEADING.search(definition.body)
    labels = [*_labels(definition.fields), heading[1] if heading else ""]
    columns = (definition.name, definition.description, "\n".join(definition.examples), "\n".join(labels))
    return Passage(*(text[:LONGEST] for text in columns))


def words(question: str) -> list[str]:
    """Return the words that tell something, each once; all of them if none does."""
    found = list(dict.fromkeys(re.findall(r"[^\W_]+", question.lower())))[: 4 * WORDS]
    return [word for word in found if word not in STOP][:WORDS] or found[:WORDS]


def first_sentence(text: str, width: int) -> str:
    """Return the first sentence of a stranger's text, on one line, cleaned of what a reader does not see."""
    line = one_line(text, 10 * width)
    end = re.search(r"(?<=[.!?])\s+(?=[^a-z\s])|(?<=[。！？])|\s(?=<example>)", line)
    return one_line(line[: end.start()] if end else line, width)


def _labels(fields: Mapping[str, JsonValue]) -> Iterator[str]:
    """Yield the labels of the front matter, its `metadata` included."""
    for key, value in fields.items():
        if key.lower() in LABELS:
            yield from _texts(value)
        elif key.lower() == "metadata" and isinstance(value, dict):
            yield from _labels(value)


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
