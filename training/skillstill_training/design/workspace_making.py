"""Workspaces that a teacher makes in the sandbox, for a skill whose user has too few folders, and their checks.

The teacher works in our own loop with `write` and `shell` on a copy of an empty folder. What it leaves comes back as a
patch, which holds regular text files and nothing else.
"""

import hashlib
import os
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from skillstill.errors import StageError, TeacherError
from skillstill.library.definition import Definition
from skillstill.skills.skill import Limits, Skill, Subagent, WorkspaceUse
from skillstill.types import ModelFile
from skillstill.util.text import clean, one_line

from skillstill_training.design.skill_text import quote_definition
from skillstill_training.design.workspaces import MadeFolder
from skillstill_training.sampling.gates import SMALL
from skillstill_training.teachers.forecast import FIRST, Forecast
from skillstill_training.teachers.large_models import LargeModel
from skillstill_training.teachers.ledger import Ledger
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.redaction import redact
from skillstill_training.workspaces import tree

TRIES = 2  # at one workspace
LEAST, MOST, BYTES = 3, 200, 400_000  # files of a workspace; bytes in all
LIMITS = Limits(steps=40, turn_tokens=4_000, tokens=400_000, seconds=1_800, context=65_536)
BODY = 12_000  # characters of the skill's text that a teacher is told
NAMED = 40  # files of an earlier workspace that it is told
ROLE = "You prepare folders that a small subagent will be taught and tested in. Make the files, then say so."
PROMPT = """\
Make a small folder of the kind that the skill below is used on: {least} to 20 text files, together at most 60,000
characters, as they would lie on somebody's disk. Give it a subject of its own, with the irregularities of real work:
things that are missing, outdated, said twice or in another place than expected. Write no instructions for a subagent,
no answers to what it may be asked, and no secrets, not even invented ones. Leave nothing behind but text files.
{others}
The skill, {definition}"""


@dataclass(frozen=True, slots=True)
class Making:
    """`id` and `prompt` of the run that makes one workspace."""

    id: str
    prompt: str


async def make_workspaces(
    definition: Definition,
    count: int,
    place: Path,
    model: LargeModel,
    ledger: Ledger,
    *,
    base: ModelFile,
    agrees: Callable[[Forecast], bool],
    on_told: Callable[[str], None],
) -> tuple[MadeFolder, ...]:
    """Return folders `1`, `2`, … below `place`. Those that are there already are not made again.

    After the first few, whoever pays is asked. Raise BudgetSpent, and TeacherError if one cannot be made.
    """
    teacher = ModelTeacher(_maker(base), model, ledger, limits=LIMITS)
    folders = [place / str(number) for number in range(1, count + 1)]
    left = [folder for folder in folders if not folder.is_dir()]
    for at, folder in enumerate(left):
        if at == FIRST and not agrees(Forecast.of(ledger.entries, len(left) - at, len(left) - at)):
            raise TeacherError("nothing more was spent; the workspaces that are made stay: the same command asks again")
        on_told(f"the teacher makes workspace {folder.name} of {count}")
        await _make(teacher, definition, folder, [one for one in folders if one.is_dir()])
    makers = {entry.goal: entry.teacher for entry in ledger.entries}  # the last try at each is the one that stayed
    return tuple(MadeFolder(folder, makers.get(_run_id(folder), model.name)) for folder in folders)


def _maker(base: ModelFile) -> Skill:
    """Return what the teacher is in the loop; the base is never loaded."""
    subagent = Subagent(
        system="maker of workspaces", tools=("write", "shell"), base=base, workspace=WorkspaceUse(mode="scratch")
    )
    return Skill(name="workspace-maker", description="Makes workspaces.", instructions=ROLE, subagent=subagent)


async def _make(teacher: ModelTeacher, definition: Definition, folder: Path, earlier: Collection[Path]) -> None:
    """Raise TeacherError: why the last try was no workspace."""
    why = ""
    for sample in range(TRIES):
        with _folders(folder.parent) as (empty, part):
            making = Making(_run_id(folder), _prompt(definition, earlier, why))
            row = await teacher.run(making, empty, sample, "workspaces")
            if row.trace is None or row.transient:
                raise TeacherError(f"the teacher could not make a workspace: {row.reason}")
            why = _unpack(row.trace.patch, part) or _fault(part, earlier)
            if not why:
                part.rename(folder)
                return
    raise TeacherError(f"the teacher has made no workspace {folder.name} in {TRIES} tries: {why}")


def _run_id(folder: Path) -> str:
    return f"workspace-{folder.name}"


@contextmanager
def _folders(place: Path) -> Iterator[tuple[Path, Path]]:
    """Return an empty folder to work on a copy of, and one for what comes of that; both go unless they are moved."""
    place.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=place, prefix=".part-", ignore_cleanup_errors=True) as around:
        empty, part = Path(around, "workspace"), Path(around, "made")
        empty.mkdir()
        part.mkdir()
        yield empty, part


def _prompt(definition: Definition, earlier: Collection[Path], failed: str) -> str:
    """Return what the teacher is told; `failed` is why its last try at this one did not count, if there was one."""
    told = (", ".join(islice(tree.files(folder), NAMED)) for folder in earlier)
    others = "".join(f"Another one was made before; be about something else: {files}\n" for files in told)
    others += f"Your last try did not count: {failed}. Begin anew.\n" if failed else ""
    return PROMPT.format(
        least=LEAST,
        others=others,
        definition=quote_definition(definition, BODY),
    )


def _unpack(patch: str, into: Path) -> str:
    """Write the files of a patch into a folder; return why that cannot be."""
    head = patch.partition("diff --git ")[0].strip()
    if head or not patch:
        return one_line(head, 300) or "it is empty"
    # No repository around the folder takes part, and no path leads out of it: git refuses those.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_CEILING_DIRECTORIES"] = str(into.parent.resolve())
    try:
        subprocess.run(
            ["git", "apply", "--whitespace=nowarn", "-"],
            cwd=into, env=environment, input=patch.encode(), capture_output=True, check=True,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise StageError("there is no git here, which unpacks what was made: install it") from error
    except subprocess.CalledProcessError as error:
        return one_line(error.stderr.decode(errors="replace"), 300)
    return ""


def _fault(folder: Path, earlier: Collection[Path]) -> str:
    """Return what speaks against a folder as a workspace: too little or too much, secrets, files of an earlier one."""
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in tree.files(folder)}
    size = sum(len(text.encode()) for text in texts.values())
    if not LEAST <= len(texts) <= MOST or size > BYTES:
        return f"{len(texts)} files of {size:,} bytes; expected {LEAST} to {MOST} with at most {BYTES:,}"
    unfit = (f"{name} holds {why}" for name, text in texts.items() if (why := _unfit(text)))
    return next(unfit, "") or _repeated(folder, earlier)


def _unfit(text: str) -> str:
    if removed := redact(text)[1]:
        return f"what looks like a secret: {', '.join(removed)}"
    return "" if clean(text) == text else "characters that nobody sees"


def _repeated(folder: Path, earlier: Collection[Path]) -> str:
    mine = _hashes(folder)
    for other in earlier:
        if same := mine.keys() & _hashes(other).keys():
            return f"{min(mine[one] for one in same)} is also in workspace {other.name}"
    return "" if mine else f"no file of it has {SMALL} bytes"


def _hashes(folder: Path) -> Mapping[str, str]:
    """Return the names of its files by what they contain, without those so small that they are alike by chance."""
    files = ((name, (folder / name).read_bytes()) for name in tree.files(folder))
    return {hashlib.sha256(data).hexdigest(): name for name, data in files if len(data) >= SMALL}
