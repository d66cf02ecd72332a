"""The model card of a release on a hub: what it does, what it is made of, what its maker measured, how to use it."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from skillstill.packs.archive import read_archive
from skillstill.packs.manifest import SCORECARD, Licences, Manifest
from skillstill.util.text import one_line

ARMS = {
    "ours": "this subagent",
    "stock": "its base with the skill's text",
    "larger": "a larger stock model, the same way",
    "wrong": "its base with another skill's adapter",
    "baseline": "a script without a model",
    "teacher": "the teacher",
}
ESCAPES = {ord(letter): f"\\{letter}" for letter in "|<>[]`"}
ABOUT = (
    "A LoRA adapter and the skill that it was made of, for skillstill: a small local model that answers one kind of "
    "question, with its evidence, as a tool over MCP."
)
SAFETY = (
    "What the pack contains is verified before it is placed, and none of it is executed. Its Python, which makes goals "
    "and measures, runs only after `skillstill trust`."
)
# The hub's names of licences are SPDX's in small letters; what it does not know goes as `other`.
KNOWN = {"apache-2.0", "mit", "bsd-2-clause", "bsd-3-clause", "cc-by-4.0", "cc-by-sa-4.0", "cc0-1.0", "gpl-3.0",
         "lgpl-3.0", "mpl-2.0", "unlicense"}  # fmt: skip


class _Seen(BaseModel):
    """Of a scorecard, what a card tells. What else stands there is another version's business."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class Interval(_Seen):
    value: float
    low: float
    high: float


class Count(_Seen):
    solved: int
    asked: int


class Arm(_Seen):
    arm: str
    success: Interval
    goals: Count
    seconds: float = 0.0


class Figures(_Seen):
    machine: str = ""
    goals: str = ""
    arms: tuple[Arm, ...] = ()


def model_card(pack: Path, repository: str) -> str:
    """Return the README.md of a repository that holds this pack, which a person and the hub read. Raise PackError."""
    with read_archive(pack) as (manifest, archive):
        scorecard = archive.read(SCORECARD)
    entry = manifest.entry
    parts = [
        f"---\n{yaml.safe_dump(_fields(manifest), sort_keys=False, allow_unicode=True)}---",
        f"# {_plain(entry.title)}",
        _plain(entry.description),
        ABOUT,
        f"## Figures\n\n{_figures(manifest, _read(scorecard))}",
        f"## Made of\n\n{_made_of(manifest)}",
        f"## Use\n\n```sh\n{_use(entry.name, repository)}\n```",
        SAFETY,
    ]
    return "\n\n".join(parts) + "\n"


def _use(name: str, repository: str) -> str:
    install, pull = 'pip install "skillstill[embedded]"', f"skillstill pull hub:{repository}"
    return f'{install}\n{pull}\nskillstill run {name} "..." --workspace FOLDER'


def _fields(manifest: Manifest) -> Mapping[str, object]:
    kind, _, rest = manifest.entry.base.source.partition(":")
    declared = manifest.licences.adapter.lower()
    named = {} if declared in KNOWN or not declared else {"license_name": manifest.licences.adapter}
    return {
        **({"license": declared if declared in KNOWN else "other"} if declared else {}),
        **named,
        **({"base_model": "/".join(rest.split("/")[:2]), "base_model_relation": "adapter"} if kind == "hf" else {}),
        "library_name": "skillstill",
        "tags": ["skillstill", "subagent", "mcp", "lora", "gguf"],
    }


def _figures(manifest: Manifest, figures: Figures) -> str:
    claimed = manifest.claimed
    if not figures.arms and not claimed:
        return "None: nobody measured it."
    if not figures.arms and claimed:
        verified = f"{claimed.success:.0%} of {claimed.n} held-out goals verified"
        return f"As its maker states: {verified}, {claimed.seconds:.1f} s each."
    how = (
        "As its maker measured them, on held-out goals that a program checks; success is the equal-weight mean over "
        "families of goals, an answer that is handed back is none, the interval is a 95 % bootstrap over workspaces."
    )
    where = f" Machine: {_plain(figures.machine)}." if figures.machine else ""
    head = "| | success | 95 % interval | goals | seconds |\n|---|---|---|---|---|"
    return f"{how}{where} Goals: sha256 `{_plain(figures.goals)[:12]}`.\n\n{head}\n{_rows(figures.arms)}"


def _rows(arms: Iterable[Arm]) -> str:
    def row(arm: Arm) -> Iterator[str]:
        yield ARMS.get(arm.arm, _plain(arm.arm))
        yield f"{arm.success.value:.1%}"
        yield f"{arm.success.low:.1%} to {arm.success.high:.1%}"
        yield f"{arm.goals.asked}"
        yield f"{arm.seconds:.1f}"

    ordered = sorted(arms, key=lambda arm: list(ARMS).index(arm.arm) if arm.arm in ARMS else len(ARMS))
    return "\n".join(f"| {' | '.join(row(arm))} |" for arm in ordered)


def _made_of(manifest: Manifest) -> str:
    entry, licences, contract = manifest.entry, manifest.licences, manifest.contract
    adapter = entry.adapter.sha256 if entry.adapter else ""
    tools = ", ".join(contract.tools)
    return "\n".join([
        "| | | licence |\n|---|---|---|",
        f"| skill | `{entry.skill.rpartition('/')[2]}`, tools {tools} | {_read_claims(licences, 'skill')} |",
        f"| base | `{entry.base.source}`, sha256 `{entry.base.sha256}` | {_read_claims(licences, 'base')} |",
        f"| adapter | sha256 `{adapter}` | {_read_claims(licences, 'adapter')} |",
        f"| serving hash | `{entry.serving_hash}`, dialect {contract.dialect}, skillstill {contract.skillstill} | |",
        f"| provenance hash | `{entry.provenance_hash or 'none'}` | |",
    ])  # fmt: skip


def _read_claims(licences: Licences, part: str) -> str:
    return _plain(str(getattr(licences, part))) or "not stated"


def _read(scorecard: bytes) -> Figures:
    try:
        return Figures.model_validate_json(scorecard)
    except ValidationError:
        return Figures()


def _plain(text: str) -> str:
    """Return the text on one line, with no character that begins a table, a tag or a link."""
    return one_line(text, 1_000).translate(ESCAPES)
