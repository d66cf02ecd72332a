"""Bytes of a stranger's file -> a definition. Nothing of it is executed; only to say nothing at all is an error."""

import codecs
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath

from skillstill.errors import LibraryError
from skillstill.library.definition import Bundled, Definition, Kind, Licence, NamedServer, Origin
from skillstill.library.reading.frontmatter import Fields, FrontMatter, read_front_matter
from skillstill.library.reading.licences import declared_licence
from skillstill.library.reading.linting import lint
from skillstill.library.reading.naming import slug, stem
from skillstill.library.reading.servers import named_servers
from skillstill.library.reading.tools_named import named_tools
from skillstill.util.suspicion import Finding, suspicions
from skillstill.util.text import one_line

SUMMARY = 300  # characters of a body that stand in for a description
_EXAMPLE = re.compile(r"<example>(.*?)(?:</example>|(?=<example>)|$)", re.DOTALL | re.IGNORECASE)
_LEAD = re.compile(r"(?:(?:specific )?examples?(?: include| of use)?|<examples>|</examples>)[:\s-]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Read:
    """A file's text as it was, and its front matter, read from it without mark and with line feeds alone."""

    text: str
    front: FrontMatter
    sha256: str
    repairs: tuple[str, ...]


def decode(raw: bytes) -> Read:
    """Raise LibraryError if it is no text."""
    text, repair = _text(raw)
    front = read_front_matter(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
    repairs = (*((repair,) if repair else ()), *front.repairs)
    return Read(text, front, hashlib.sha256(raw).hexdigest(), repairs)


def _text(raw: bytes) -> tuple[str, str]:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return raw.decode("utf-16", "replace").encode("utf-8", "replace").decode("utf-8"), "encoding: read as UTF-16"
    if b"\0" in raw:
        raise LibraryError("not a text")
    try:
        return raw.decode("utf-8"), ""
    except UnicodeDecodeError as error:
        return raw.decode("utf-8", "replace"), f"encoding: not UTF-8 at byte {error.start}"


@dataclass(frozen=True, slots=True)
class FileContext:
    """What a file cannot say of itself. `path` is relative to its source; `folder` is what the file's folder is called,
    which a path at the source's top does not say. `own_licence`: the licence lies in the very folder of the definition.
    `servers`: those of the nearest `.mcp.json`.
    """

    source: str
    commit: str
    path: PurePosixPath
    folder: str
    mode: int
    licence: Licence
    own_licence: bool
    bundle: tuple[Bundled, ...]
    there: Callable[[str], bool]
    findings: tuple[Finding, ...] = ()
    servers: tuple[NamedServer, ...] = ()


def build_definition(read: Read, kind: Kind, around: FileContext) -> Definition:
    """Raise LibraryError if it says nothing at all."""
    fields = read.front.fields or {}
    description, examples, repair = _description(fields, read.front.body)
    if not description and not read.front.body.strip():
        raise LibraryError("empty: neither a description nor a body")
    called = stem(around.path, around.folder)
    title = _one_text(fields.get("name")) or called
    repairs = [*read.repairs, *((repair,) if repair else ())]
    return Definition(
        kind=kind,
        name=slug(title) or slug(called) or f"unnamed-{read.sha256[:8]}",
        title=title,
        description=description,
        examples=examples,
        body=read.front.body,
        text=read.text,
        tools=named_tools(fields),
        fields=fields,
        bundle=around.bundle,
        servers=named_servers(fields, named_tools(fields), around.servers),
        origin=Origin(
            source=around.source,
            path=str(around.path),
            commit=around.commit,
            sha256=read.sha256,
            mode=around.mode,
        ),
        licence=_licence(fields, around),
        findings=(
            *(Finding(kind="repaired", text=text) for text in repairs),
            *lint(kind, read.front.fields, read.front.twice, read.front.body, called, around.there),
            *suspicions(read.text),
            *around.findings,
        ),
    )


def _description(fields: Fields, body: str) -> tuple[str, tuple[str, ...], str]:
    """Return the description without its `<example>` blocks, the examples, and how it was repaired."""
    written = _one_text(fields.get("description")).replace("\\n", "\n")
    examples = tuple(text for match in _EXAMPLE.finditer(written) if (text := match[1].strip()))
    description = _LEAD.sub("", _EXAMPLE.sub("", written).strip()).strip()
    if description or examples:
        return description or one_line(examples[0], SUMMARY), examples, ""
    lines = [line.strip() for line in body.split("\n")]
    first = next((line for line in lines if line and not line.startswith(("#", "```", "---", "<", "|", "!["))), "")
    summary = one_line(first or body, SUMMARY)
    return summary, (), "description: its first line, for it has none" if summary else ""


def _one_text(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value)).strip()
    return value.strip() if isinstance(value, str) else ""


def _licence(fields: Fields, around: FileContext) -> Licence:
    """Return the licence by the file's own field; if that only refers to the file beside it, by that file."""
    text = _one_text(fields.get("license") or fields.get("licence"))
    if not text:
        return around.licence
    stated = declared_licence(text, f"{around.path}: license")
    return around.licence if stated.derived_works == "unclear" and around.own_licence else stated
