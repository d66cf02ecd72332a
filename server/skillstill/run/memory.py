"""Answers that are remembered: the same question about unchanged files is answered at once.

An answer is true as long as the folder is as it was when it was given, by the hash of its root. If it is not, the calls
of its run are made again: if each result is what it was, the model would say the same, because it sees nothing else.
So a change forgets the answers that it touches and no others, absences and counts among them.
"""

import hashlib
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skillstill.errors import Refusal, SkillstillError
from skillstill.tools import Tool
from skillstill.tools.kit.indexing import folder_state, forget_folder, keep_no_index
from skillstill.types import ReasonKind, Receipt, Trace
from skillstill.util.storage import state_folder
from skillstill.workspace import Workspace

FILE = "answers.sqlite"
KEEP = 30 * 86_400  # as long as traces are kept
MOST = 10_000  # answers
PASSING = {ReasonKind.TIME, ReasonKind.MODEL, ReasonKind.UNEXPECTED}  # reasons that may be gone the next time
LAYOUT = """
    create table if not exists answers (key blob primary key, state blob, created real, trace text) without rowid;
"""
log = logging.getLogger(__name__)
__all__ = ["Asked", "forget_answers", "forget_folder", "keep_no_index", "remembered"]


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


async def remembered(
    asked: Asked, workspace: Workspace, tools: Sequence[Tool], answer: Callable[[], Awaitable[Trace]]
) -> tuple[Trace, bool]:
    """Return the trace of an answer that is still true, and True; else that of a new answer, and False.

    What cannot be remembered is answered all the same.
    """
    by_name = {tool.name: tool for tool in tools}
    state = await _state(workspace)
    if state and (trace := await _recall(asked, state, workspace, by_name)):
        return trace, True
    trace = await answer()
    if any(receipt.tool in by_name and by_name[receipt.tool].looks_outside for receipt in trace.receipts):
        return trace, False  # what they saw may change, and nobody would notice
    if state and state == await _state(workspace):  # otherwise a file changed meanwhile: nobody knows what was seen
        _remember(asked, state, trace)
    return trace, False


def forget_answers() -> int:
    """Forget all answers. Return how many there were. Raise SkillstillError."""
    with _answers() as answers:
        return answers.execute("delete from answers").rowcount


async def _state(workspace: Workspace) -> bytes:
    """Return the hash of the folder's state; empty if it cannot be told."""
    try:
        return await folder_state(workspace)
    except (SkillstillError, Refusal) as error:
        log.info("%s", error)
        return b""


async def _recall(asked: Asked, state: bytes, workspace: Workspace, tools: Mapping[str, Tool]) -> Trace | None:
    """Return the trace of the answer if it is still true. Forget it if it is not."""
    try:
        with _answers() as answers:
            row = answers.execute("select state, trace from answers where key = ?", (asked.key,)).fetchone()
        if row is None:
            return None
        trace = Trace.model_validate_json(row[1])
        if row[0] == state:
            return trace
        is_same = await _is_same_again(trace, workspace, tools)
        change = "update answers set state = :state" if is_same else "delete from answers"
        with _answers() as answers:
            answers.execute(f"{change} where key = :key", {"state": state, "key": asked.key})
    except (SkillstillError, ValueError) as error:
        log.info("%s", error)
        return None
    return trace if is_same else None


def _remember(asked: Asked, state: bytes, trace: Trace) -> None:
    """Keep an answer for that state of the files. One that ended for a passing reason, or lacks leads, is not kept."""
    if (trace.report.reason and trace.report.reason.kind in PASSING) or trace.index_leads is None:
        return
    newest = "select key from answers order by created desc limit ?"
    try:
        with _answers() as answers:
            row = (asked.key, state, time.time(), trace.model_dump_json())
            answers.execute("insert or replace into answers values (?, ?, ?, ?)", row)
            answers.execute("delete from answers where created < ?", (time.time() - KEEP,))
            answers.execute(f"delete from answers where key not in ({newest})", (MOST,))  # noqa: S608
    except (SkillstillError, ValueError) as error:
        log.info("%s", error)


async def _is_same_again(trace: Trace, workspace: Workspace, tools: Mapping[str, Tool]) -> bool:
    """Make the calls of a run again. Return whether all results are the same.

    A result that a model helped to choose is not made again, so it counts as another one.
    """
    chosen = {message.receipt for message in trace.messages if message.role == "tool" and message.decisions}
    for receipt in (one for filed in trace.receipts for one in filed.executed):
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
