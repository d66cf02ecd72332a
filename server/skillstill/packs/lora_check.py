"""Whether an adapter is what it has to be: a LoRA, and one for this base.

By what the files say of themselves, before native code sees them. Not covered: numbers that are wrong, and a file that
is made to harm the program that loads it.
"""

from pathlib import Path

from skillstill.errors import PackError
from skillstill.packs.gguf_head import Head, read_head

ARCHITECTURE, LICENCE = "general.architecture", "general.license"
SIDES = (".lora_a", ".lora_b")


def check_lora(adapter: Path, base: Path | None) -> None:
    """Raise PackError; `base` is None if it is not on this machine, and then only half of this is known."""
    head = read_head(adapter)
    if (head.fields.get("general.type"), head.fields.get("adapter.type")) != ("adapter", "lora"):
        kind = head.fields.get("general.type") or "GGUF file of no stated type"
        raise PackError(f"{adapter.name} is no LoRA adapter: it says that it is a {kind}")
    if odd := [name for name in head.shapes if not name.endswith(SIDES)]:
        raise PackError(f"{adapter.name} is no plain LoRA: it holds the tensor {odd[0]!r}")
    if not head.shapes:
        raise PackError(f"{adapter.name} is no LoRA adapter: it holds no tensor")
    if base:
        _check_base(adapter.name, head, read_head(base))


def licence_of(model: Path) -> str:
    """Return the licence that the file itself states, else ""."""
    return str(read_head(model).fields.get(LICENCE) or "")


def _check_base(adapter: str, head: Head, base: Head) -> None:
    wanted, found = head.fields.get(ARCHITECTURE), base.fields.get(ARCHITECTURE)
    if wanted != found:
        raise PackError(f"{adapter} is for another base: its architecture is {wanted}, that of the base is {found}")
    for name in sorted({name.rpartition(".")[0] for name in head.shapes}):
        sides = tuple(head.shapes.get(name + side, ()) for side in SIDES)
        if not _fits(sides, base.shapes.get(name, ())):
            raise PackError(f"{adapter} is for another base: it changes {name}, which is not so in this one")


def _fits(sides: tuple[tuple[int, ...], ...], weight: tuple[int, ...]) -> bool:
    match sides, weight:
        case ((inner, rank), (rank_again, outer)), (width, height):
            return (inner, outer, rank) == (width, height, rank_again)
    return False
