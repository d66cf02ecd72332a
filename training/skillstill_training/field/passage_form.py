"""The form for code: the passages that BM25 finds, the question, and an answer that names one of them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anyio import to_thread
from skillstill.run.evidence import DENIES
from skillstill.types import Message

from skillstill_training.field.direct import DirectModel
from skillstill_training.field.judge import FieldAnswer
from skillstill_training.field.retrieval import Piece, Reader, Retrieval, handed_over

TOKENS = 120  # of an answer
NOT_HERE = "cannot tell"
TOLD = (
    "You answer questions about files from passages that a search found. Answer in one line with the name, number or "
    "value that was asked for, and name the passage that shows it. If there is no such thing, write `There is none.` "
    f"If the passages do not answer the question, write `{NOT_HERE}`."
)


@dataclass
class PassageForm:
    """One answer in a line, and the number of the passage that shows it."""

    reader: Reader
    count: int = 5
    name: str = "passages"
    _indexes: dict[Path, Retrieval] = field(default_factory=dict)

    async def answer(self, model: DirectModel, prompt: str, root: Path) -> tuple[FieldAnswer, int, int]:
        pieces = await to_thread.run_sync(self._find, prompt, root)
        shown = "\n\n".join(f"[{number}] {piece.place}\n{piece.excerpt}" for number, piece in enumerate(pieces, 1))
        messages = [
            Message(role="system", content=TOLD),
            Message(role="user", content=f"{shown}\n\nQuestion: {prompt}"),
        ]
        written = await model.write(messages, _grammar(len(pieces)), tokens=TOKENS)
        return _read(written.text, pieces), written.read, written.written

    def _find(self, prompt: str, root: Path) -> Sequence[Piece]:
        if root not in self._indexes:
            self._indexes.clear()  # questions come workspace by workspace
            self._indexes[root] = Retrieval(self.reader(root))
        return self._indexes[root].best(prompt, self.count)


def _grammar(passages: int) -> str:
    numbers = " | ".join(f'"{number}"' for number in range(1, passages + 1))
    return f'start: "Answer: " LINE "\\nPassage: " ({numbers} | "none")\nLINE: /[^\\n]{{1,300}}/'


def _read(text: str, pieces: Sequence[Piece]) -> FieldAnswer:
    said, _, number = text.removeprefix("Answer: ").partition("\nPassage: ")
    if NOT_HERE in said.casefold():
        return handed_over(said, pieces)
    places = (pieces[int(number) - 1].place,) if number.isdigit() else ()
    return FieldAnswer(status="answered", text=said, places=places, absent=DENIES.match(said) is not None)
