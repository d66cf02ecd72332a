"""Answers that are remembered: the same question about unchanged files is answered at once.

An answer is true as long as the folder is as it was when it was given, by the hash of its root. If it is not, the calls
of its run are made again: if each result is what it was, the model would say the same, because it sees nothing else.
So a change forgets the answers that it touches and no others, absences and counts among them.
"""

import hashlib
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from skillstill.errors import Refusal, SkillstillError
from skillstill.facts.opened import OPENED
from skillstill.tools import Tool
from skillstill.tools.kit.ripgrep import visible_files
from skillstill.types import ReasonKind, Receipt, Trace
from skillstill.util.storage import state_folder
from skillstill.workspace import Workspace

FILE = "answers.sqlite"
KEEP_SECONDS = 30 * 86_400  # as long as traces are kept
MOST = 10_000  # answers
PASSING = {ReasonKind.TIME, ReasonKind.MODEL, ReasonKind.UNEXPECTED}  # reasons that may be gone the next time
LAYOUT = """
    create table if not exists answers (key blob primary key, state blob, created real, trace text) without rowid;
"""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it is remembered: everything that its answer depends on beside the files."""

    release: str
    model: str
    question: str
    root: Path

    @property
    def key(self) -> bytes:
        parts = (self.release, self.model, self.question, str(self.root))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()


async def folder_state(workspace: Workspace) -> bytes:
    """Return the hash of the folder's root: of the names and contents of all files that tools may see.

    Raise SkillstillError and Refusal if it cannot be told.
    """
    paths = await visible_files(workspace)
    index = OPENED.get(workspace.root, ())
    return (await to_thread.run_sync(index.refresh, paths)).root


async def recall(asked: Asked, state: bytes, workspace: Workspace, tools: Mapping[str, Tool]) -> Trace | None:
    """Return the trace of the answer, if it is still true; forget it, if it is not."""
    with _answers() as answers:
        row = answers.execute("select state, trace from answers where key = ?", (asked.key,)).fetchone()
    if row is None:
        return None
    trace = Trace.model_validate_json(row[1])
    if row[0] == state:
        return trace
    is_same = await _is_same_again(trace, workspace, tools)
    with _answers() as answers:
        if is_same:
            answers.execute("update answers set state = ? where key = ?", (state, asked.key))
        else:
            answers.execute("delete from answers where key = ?", (asked.key,))
    return trace if is_same else None


def remember(asked: Asked, state: bytes, trace: Trace) -> None:
    """Keep an answer for that state of the files. One that ended for a passing reason is not kept."""
    if trace.report.reason and trace.report.reason.kind in PASSING:
        return
    with _answers() as answers:
        row = (asked.key, state, time.time(), trace.model_dump_json())
        answers.execute("insert or replace into answers values (?, ?, ?, ?)", row)
        answers.execute("delete from answers where created < ?", (time.time() - KEEP_SECONDS,))
        newest = "select key from answers order by created desc limit ?"
        answers.execute(f"delete from answers where key not in ({newest})", (MOST,))  # noqa: S608


def forget_answers() -> int:
    """Forget all answers. Return how many there were."""
    with _answers() as answers:
        return answers.execute("delete from answers").rowcount


async def _is_same_again(trace: Trace, workspace: Workspace, tools: Mapping[str, Tool]) -> bool:
    """Make the calls of a run again. Return whether all results are the same.

    A result that a model helped to choose is not made again, so it counts as another one.
    """
    chosen = {message.receipt for message in trace.messages if message.role == "tool" and message.decisions}
    for receipt in trace.receipts:
        if receipt.id in chosen or receipt.tool not in tools:
            return False
        if await _sha256(receipt, workspace, tools[receipt.tool]) != receipt.sha256:
            return False
    return True


async def _sha256(receipt: Receipt, workspace: Workspace, tool: Tool) -> str:
    try:
        text = (await tool.call(workspace, receipt.arguments)).text
    except Refusal as refusal:
        text = str(refusal)
    return hashlib.sha256(text.encode()).hexdigest()


@contextmanager
def _answers() -> Iterator[sqlite3.Connection]:
    """Open what is remembered. Raise SkillstillError if it cannot be read or written; a damaged file is begun anew."""
    file = state_folder() / FILE
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = sqlite3.connect(file, timeout=10)
        try:
            file.chmod(0o600)
            with connection:
                connection.executescript(LAYOUT)
                yield connection
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        raise SkillstillError(f"{file} cannot be used ({error})") from error
    except sqlite3.DatabaseError as error:
        file.unlink(missing_ok=True)
        raise SkillstillError(f"{file} was damaged and is begun anew ({error})") from error
    except OSError as error:
        raise SkillstillError(f"{file} cannot be used ({error.strerror})") from error
