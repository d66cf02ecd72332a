"""Projects: what they depend on, the commands they name, the packages they describe, the results of their tests."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from skillstill.facts.reader import HEAD, Facts, Gap, Source
from skillstill.facts.readers.project import go, jvm, node, others, python, reports, rust, services
from skillstill.facts.readers.project.findings import DEPENDENCIES, PACKAGES, SCRIPTS, TEST_RESULTS, Findings
from skillstill.facts.table import FactTable

LIMIT = 20_000_000  # bytes: the lock files of large projects have 2 to 5 MB

_Parse = Callable[[str, bytes], Findings]
_JOBS = re.compile(rb"^(?:jobs|runs):", re.MULTILINE)
_REPORT = re.compile(rb"<testsuites?\b")
_ANY = re.compile(b"")
# Patterns of a file's name and of its head, and what reads it; the first that matches
_PARSERS: tuple[tuple[re.Pattern[str], re.Pattern[bytes], _Parse], ...] = tuple(
    (re.compile(name), head, parse)
    for name, head, parse in (
        (r"pyproject\.toml", _ANY, python.read_pyproject),
        (r"setup\.cfg", _ANY, python.read_setup_cfg),
        (r"[\w.-]*(?:requirements|constraints)[\w.-]*\.(?:txt|in)", _ANY, python.read_requirements),
        (r".*\.(?:txt|in)", python.REQUIREMENTS_HEAD, python.read_requirements),
        (r"Pipfile", _ANY, python.read_pipfile),
        (r"Pipfile\.lock", _ANY, python.read_pipfile_lock),
        (r"(?:poetry|uv|pdm)\.lock", _ANY, python.read_package_tables),
        (r"package\.json", _ANY, node.read_package_json),
        (r"package-lock\.json|npm-shrinkwrap\.json", _ANY, node.read_package_lock),
        (r"yarn\.lock", _ANY, node.read_yarn_lock),
        (r"pnpm-lock\.yaml", _ANY, node.read_pnpm_lock),
        (r"bun\.lock", _ANY, node.read_bun_lock),
        (r"Cargo\.toml", _ANY, rust.read_cargo),
        (r"Cargo\.lock", _ANY, rust.read_cargo_lock),
        (r"go\.mod", _ANY, go.read_go_mod),
        (r"go\.sum", _ANY, go.read_go_sum),
        (r"pom\.xml|[\w.-]+\.pom", _ANY, jvm.read_pom),
        (r".*\.gradle(?:\.kts)?", _ANY, jvm.read_gradle),
        (r"libs\.versions\.toml", _ANY, jvm.read_catalogue),
        (r"Gemfile|gems\.rb", _ANY, others.read_gemfile),
        (r".*\.gemspec", _ANY, others.read_gemspec),
        (r"Gemfile\.lock|gems\.locked", _ANY, others.read_gemfile_lock),
        (r"composer\.json", _ANY, others.read_composer),
        (r"composer\.lock", _ANY, others.read_composer_lock),
        (r".*\.(?:cs|fs|vb)proj|Directory\.Packages\.props|packages\.config", _ANY, others.read_msbuild),
        (r"(?:Docker|Container)file[\w.-]*|[\w.-]+\.[Dd]ockerfile", _ANY, services.read_dockerfile),
        (r"(?:docker-)?compose[\w.-]*\.ya?ml", _ANY, services.read_compose),
        (r".*\.ya?ml", _JOBS, services.read_workflow),
        (r"(?:GNU)?[Mm]akefile", _ANY, services.read_makefile),
        (r".*\.xml", _REPORT, reports.read_report),
    )
)


@dataclass(frozen=True, slots=True)
class ProjectReader:
    """Reads manifests by their name, workflows and test reports by how they begin."""

    name: str = "project"
    version: int = 1
    tables: tuple[FactTable, ...] = (DEPENDENCIES, SCRIPTS, PACKAGES, TEST_RESULTS)

    def takes(self, name: str, head: bytes) -> bool:
        return _parser_of(name, head) is not None

    def read(self, source: Source) -> Iterator[Facts]:
        data = source.whole(LIMIT)
        parse = _parser_of(source.name, data[:HEAD])
        if parse is not None:
            found = parse(source.name, data)
            rows = {table.name: getattr(found, table.name) for table in self.tables}
            gaps = tuple(Gap(reason, table) for table, reason in found.gaps)
            yield Facts({table: list_ for table, list_ in rows.items() if list_}, gaps)


def _parser_of(name: str, head: bytes) -> _Parse | None:
    return next((parse for pattern, begin, parse in _PARSERS if pattern.fullmatch(name) and begin.search(head)), None)


PROJECT = ProjectReader()
