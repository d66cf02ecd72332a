"""Settings: each value of a configuration file, under its full path, with its line."""

from collections.abc import Iterator
from dataclasses import dataclass

from skillstill.facts.reader import Facts, Gap, Source
from skillstill.facts.readers.config.formats import is_lock_file, parser_of
from skillstill.facts.readers.config.paths import MOST_SETTINGS, setting_rows
from skillstill.facts.readers.trees import MAX_DEPTH, Tree
from skillstill.facts.table import FactColumn, FactTable

LIMIT = 1_000_000  # bytes; what is larger was written by a program and is data

SETTINGS = FactTable(
    "settings",
    "a value of a configuration file (JSON, YAML, TOML, INI, XML, properties, .env, Dockerfile, makefile)",
    (
        FactColumn("key", "text", "full path, such as services.web.ports[0]"),
        FactColumn("name", "word", "last part of the key, without index"),
        FactColumn("value", "text", "as it is meant, without quotes; at most 300 characters"),
        FactColumn("type", "word", "string, integer, float, boolean, null, date, instruction, target, ..."),
    ),
    indexed=("name",),
)


@dataclass(frozen=True, slots=True)
class ConfigReader:
    """Reads files by their name: `formats.py` says which."""

    name: str = "config"
    version: int = 1
    tables: tuple[FactTable, ...] = (SETTINGS,)

    def takes(self, name: str, head: bytes) -> bool:
        return parser_of(name, head) is not None

    def read(self, source: Source) -> Iterator[Facts]:
        if is_lock_file(source.name):
            yield Facts(gaps=(Gap("a lock file is no configuration: its packages are in dependencies", "settings"),))
            return
        data = source.whole(LIMIT)
        parse = parser_of(source.name, data)
        if parse is not None:
            yield _facts(parse(data))


def _facts(tree: Tree) -> Facts:
    rows, cut = setting_rows(tree)
    reasons = {
        tree.damage: bool(tree.damage),
        f"more than {MOST_SETTINGS} settings": cut == "rows",
        f"nested more than {MAX_DEPTH} deep": cut == "depth",
    }
    return Facts({"settings": rows}, tuple(Gap(reason, "settings") for reason, holds in reasons.items() if holds))


CONFIG = ConfigReader()
