"""The tables of a project, and the rows of one file of it."""

from dataclasses import dataclass, field
from typing import Literal

from skillstill.facts.readers.trees import Node
from skillstill.facts.table import FactColumn, FactTable, Row

ECOSYSTEMS = (
    *("python", "npm", "cargo", "go", "maven", "rubygems"),
    *("composer", "nuget", "docker", "actions"),
)

DEPENDENCIES = FactTable(
    "dependencies",
    "a package that a manifest or lock file names, a base image, or an action of a workflow",
    (
        FactColumn("name", "word"),
        FactColumn("version", "text", "as written, such as '^1.2' or '>=3,<4'; null if none is given"),
        FactColumn("kind", "word", "locked: of a lock file", ("runtime", "dev", "optional", "build", "locked")),
        FactColumn("section", "text", "where it is listed, such as devDependencies or the name of an extra"),
        FactColumn("ecosystem", "word", values=ECOSYSTEMS),
        FactColumn("condition", "text", "when it applies, such as python_version<'3.9'; null if always"),
    ),
    indexed=("name",),
)
SCRIPTS = FactTable(
    "scripts",
    "a command that a project has a name for (package.json, pyproject.toml, composer.json, Pipfile, makefile, ...)",
    (FactColumn("name", "word"), FactColumn("command", "text", "what is run, or what it points to")),
    indexed=("name",),
)
PACKAGES = FactTable(
    "packages",
    "a package that a manifest describes",
    (
        FactColumn("name", "word"),
        FactColumn("version", "text", "as written"),
        FactColumn("description", "text"),
        FactColumn("language", "text", "which version of the language it asks for, as written, such as '>=3.9'"),
        FactColumn("ecosystem", "word", values=ECOSYSTEMS),
    ),
)
TEST_RESULTS = FactTable(
    "test_results",
    "a test case of a JUnit XML report",
    (
        FactColumn("suite", "word"),
        FactColumn("name", "text"),
        FactColumn("class", "word", "as the report calls it; null if it says none"),
        FactColumn("status", "word", values=("passed", "failed", "error", "skipped")),
        FactColumn("seconds", "real"),
        FactColumn("message", "text", "of a failure, an error, or why it was skipped"),
    ),
    indexed=("status",),
)

Kind = Literal["runtime", "dev", "optional", "build", "locked"]
Lines = tuple[int, int]
_TEXT = 300  # characters of a text


@dataclass(slots=True)
class Findings:
    """The rows of a file. `gaps` are reasons, each for a table."""

    ecosystem: str
    dependencies: list[Row] = field(default_factory=list)
    scripts: list[Row] = field(default_factory=list)
    packages: list[Row] = field(default_factory=list)
    test_results: list[Row] = field(default_factory=list)
    gaps: list[tuple[str, str]] = field(default_factory=list)  # table, reason

    def add_dependency(
        self, lines: Lines, name: str, version: str | None, kind: Kind, section: str, condition: str | None = None
    ) -> None:
        row = (name[:_TEXT], cut(version), kind, section[:_TEXT], self.ecosystem, cut(condition))
        self.dependencies.append((*lines, *row))

    def add_script(self, lines: Lines, name: str, command: str | None) -> None:
        self.scripts.append((*lines, name[:_TEXT], cut(command)))

    def add_package(
        self, lines: Lines, name: str | None, version: str | None, description: str | None, language: str | None
    ) -> None:
        row = (cut(name), cut(version), cut(description), cut(language), self.ecosystem)
        self.packages.append((*lines, *row))

    def describe(self, node: Node, language: str | None) -> None:
        """Take name, version and description of a manifest's main table, if it has a name."""
        name, version, text = (node.text_at(field) for field in ("name", "version", "description"))
        if name:
            given = [child for field in ("name", "version") if (child := node.child(field)) is not None]
            self.add_package(span(*given), name, version, text, language)

    def add_scripts(self, table: Node, *fields: str) -> None:
        """Take the commands of a table: texts, lists of texts, or tables with the command in one of these fields."""
        for name, node in table.children:
            self.add_script(lines_of(node), name, _command(node, fields))


def _command(node: Node, fields: tuple[str, ...]) -> str:
    if node.type == "array":
        return "; ".join(part.text or _command(part, fields) for part in node.values())
    if node.children:
        return next((text for field in fields if (text := node.text_at(field))), "")
    return node.text.strip()


def cut(text: str | None) -> str | None:
    return None if text is None else text.strip()[:_TEXT]


def lines_of(node: Node) -> Lines:
    return node.first, node.last


def span(*nodes: Node) -> Lines:
    """Return the lines from the first to the last of these nodes, if they are near each other; else of the first."""
    first, last = min(node.first for node in nodes), max(node.last for node in nodes)
    return (first, last) if last - first <= len(nodes) * 4 else lines_of(nodes[0])
