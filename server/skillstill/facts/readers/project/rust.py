"""Rust: Cargo.toml and Cargo.lock."""

from skillstill.facts.readers.project.findings import Findings, Kind, lines_of
from skillstill.facts.readers.project.python import take_package_tables
from skillstill.facts.readers.trees import Node, decoded, parse_toml

_SECTIONS: dict[str, Kind] = {"dependencies": "runtime", "dev-dependencies": "dev", "build-dependencies": "build"}


def read_cargo(_name: str, data: bytes) -> Findings:
    found, tree = Findings("cargo"), parse_toml(decoded(data))
    root = tree.root
    package = root.at("package")
    found.describe(package, package.text_at("rust-version"))
    _take_sections(found, root, "", None)
    _take_sections(found, root.at("workspace"), "workspace.", None)
    for condition, target in root.at("target").children:
        _take_sections(found, target, "target.", condition)
    found.add_scripts(root.at("alias"))
    if tree.damage:
        found.gaps.append(("", tree.damage))
    return found


def _take_sections(found: Findings, table: Node, prefix: str, condition: str | None) -> None:
    for section, kind in _SECTIONS.items():
        for name, node in table.at(section).children:
            kind_here: Kind = "optional" if node.text_at("optional") == "true" else kind
            real = node.text_at("package") or name
            found.add_dependency(lines_of(node), real, _version(node), kind_here, prefix + section, condition)


def _version(node: Node) -> str | None:
    if not node.children:
        return node.text
    if node.text_at("workspace") == "true":
        return "workspace"
    return next((text for field in ("version", "path", "git") if (text := node.text_at(field))), None)


def read_cargo_lock(_name: str, data: bytes) -> Findings:
    found = Findings("cargo")
    take_package_tables(found, parse_toml(decoded(data)).root)
    return found
