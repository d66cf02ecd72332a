"""The tool `passages`: the passages of the workspace's documents that are likeliest to answer a question."""

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Annotated

from anyio import to_thread
from pydantic import Field

from skillstill.errors import Refusal
from skillstill.facts.ask import FactRows
from skillstill.facts.index import FactIndex
from skillstill.facts.readers import BUNDLED
from skillstill.tools.kit.indexing import fresh_index
from skillstill.tools.kit.redaction import redact
from skillstill.tools.kit.tool import Line, Result
from skillstill.tools.web.passages import Section
from skillstill.tools.web.ranking import Document, best_passages
from skillstill.tools.web.shown import SHOWN, passage_lines
from skillstill.types import PROMPT_CHARACTERS, Copied
from skillstill.workspace import Workspace

REFERENCES = (BUNDLED["documents"],)
SECTIONS = "select path, first, last, coalesce(title, ''), coalesce(parent, '') from sections order by path, first"
BLOCKS = "select path, first, last from code_blocks"
MOST = 200_000  # rows of either
ROOM = 50_000_000  # characters of the documents that stay in memory, of all folders

Asked = Annotated[
    str,
    Field(min_length=1, max_length=PROMPT_CHARACTERS, description="a question, or what to look for"),
    Copied(),
]


async def passages(workspace: Workspace, text: Asked) -> Result:
    """Show the five passages of the documentation that are likeliest to answer a question, each with its place, the
    titles above it and its text. Code is marked."""
    index = await fresh_index(workspace, REFERENCES)
    return await to_thread.run_sync(_found, workspace, index, text)


def _found(workspace: Workspace, index: FactIndex, text: str) -> Result:
    if not (documents := OPENED.of(workspace, index)):
        return Result((Line("there is no Markdown, reStructuredText or AsciiDoc here"),), empty=True, guess=True)
    if not (best := best_passages(text, documents, SHOWN)):
        return Result((Line("no passage has a word of it"),), empty=True, guess=True)
    return Result((Line("likeliest passages:"), *passage_lines(best)), guess=True)


class OpenDocuments:
    """The documents of the folders that were asked last, each in one state."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Path, tuple[bytes, Sequence[Document]]] = OrderedDict()
        self._lock = Lock()

    def of(self, workspace: Workspace, index: FactIndex) -> Sequence[Document]:
        """Return the documents of a folder, those that lie higher first. Its index is fresh."""
        sections = index.ask(SECTIONS, MOST)
        with self._lock:
            known = self._kept.pop(workspace.root, None)
            if known is None or known[0] != sections.root:
                known = (sections.root, [*_read(workspace, sections, index.ask(BLOCKS, MOST))])
            self._kept[workspace.root] = known
            while len(self._kept) > 1 and self._size() > ROOM:
                self._kept.popitem(last=False)
            return known[1]

    def _size(self) -> int:
        return sum(len(document.text) for _, documents in self._kept.values() for document in documents)


OPENED = OpenDocuments()


def _read(workspace: Workspace, sections: FactRows, blocks: FactRows) -> Iterator[Document]:
    found: defaultdict[str, list[Section]] = defaultdict(list)
    for path, *section in sections.rows:
        found[path].append(Section(*section))
    code: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for path, first, last in blocks.rows:
        code[path].append((first, last))
    for path in sorted(found, key=lambda path: (path.count("/"), path)):
        with suppress(Refusal):  # it went away, or has become too large
            text = redact(workspace.read(path).decode("utf-8", "replace"))
            yield Document(path, text, found[path], code[path])
