"""What was imported: a skill, a subagent or a command as its author wrote it, and all that must be said of it.

The text is data from a stranger. Nothing of it is executed, and what lint finds is a report, never a gate.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal

from pydantic import Field, JsonValue

from skillstill.types import Frozen
from skillstill.util.suspicion import Finding

Kind = Literal["skill", "agent", "command"]
Terms = Literal["allowed", "forbidden", "unclear"]  # of derived works: what a distilled model is, to be careful
UNSAFE = {"hidden", "injection"}  # kinds of findings


class Origin(Frozen):
    """Where a definition comes from: `source` is a repository's address or a folder, `path` is relative to it.

    `commit` is empty outside git; `sha256` is of the file's bytes as they were, `mode` 0o644 or 0o755.
    """

    source: str
    path: str
    commit: str = ""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    mode: int = 0o644


class Licence(Frozen):
    """`name` as it is declared or recognised, an SPDX identifier if it is one; `where` it was found."""

    name: str = ""
    where: str = ""
    derived_works: Terms = "unclear"


class Bundled(Frozen):
    """A file that lies beside a SKILL.md. Scripts are kept, never run. `mode` is 0o644 or 0o755."""

    path: str
    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    script: bool = False
    mode: int = 0o644


class NamedServer(Frozen):
    """An MCP server as its author starts it, or the address of one that runs elsewhere.

    tools         those that may be used; none named: all
    environment   names of what it is handed in
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    tools: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()


class Definition(Frozen):
    """One definition, understood. `text` is the file as it was, so that it can be written again unchanged.

    name         a slug: a-z, 0-9 and single hyphens; `title` is the name as its author wrote it
    tools        as Claude Code spells them (`Read`, `Grep`, `Bash(git *)`), none if it declares none
    fields       the whole front matter, every scalar a text
    examples     what stood in `<example>` blocks of its description: one text each
    """

    kind: Kind
    name: str
    title: str
    description: str
    examples: tuple[str, ...] = ()
    body: str
    text: str
    tools: tuple[str, ...] = ()
    fields: Mapping[str, JsonValue] = {}
    bundle: tuple[Bundled, ...] = ()
    servers: tuple[NamedServer, ...] = ()
    origin: Origin
    licence: Licence = Licence()
    findings: tuple[Finding, ...] = ()

    @property
    def key(self) -> str:
        """Return what two definitions share that are the same: their bytes."""
        return self.origin.sha256

    @property
    def suspicions(self) -> tuple[Finding, ...]:
        """Return what a person must have seen before it is kept."""
        return tuple(finding for finding in self.findings if finding.kind in UNSAFE)

    @property
    def folder(self) -> PurePosixPath:
        """Return where its bundle lies, relative to its source."""
        return PurePosixPath(self.origin.path).parent
