"""JavaScript: package.json and the lock files of npm, Yarn, pnpm and Bun."""

import re
from collections.abc import Iterator

from skillstill.facts.readers.project.findings import Findings, Kind, lines_of
from skillstill.facts.readers.trees import Node, decoded, parse_json, parse_yaml

_SECTIONS: dict[str, Kind] = {
    "dependencies": "runtime",
    "devDependencies": "dev",
    "peerDependencies": "runtime",
    "optionalDependencies": "optional",
}
_FLAGS = ("dev", "optional", "peer")
_YARN_ENTRY = re.compile(r'"?((?:@[^/"@]+/)?[^@",:]+)@')
_YARN_VERSION = re.compile(r'\s+"?version"?:?\s+"?([^"\s]+)"?\s*')
_PNPM_ENTRY = re.compile(r"/?((?:@[^/]+/)?[^/@]+)[@/]([^(_]+)")  # /name/1.0_peer, /name@1.0(peer), name@1.0


def read_package_json(_name: str, data: bytes) -> Findings:
    found, tree = Findings("npm"), parse_json(decoded(data))
    root = tree.root
    found.describe(root, root.text_at("engines", "node"))
    for section, kind in _SECTIONS.items():
        for name, node in root.at(section).children:
            found.add_dependency(lines_of(node), name, node.text, kind, section)
    found.add_scripts(root.at("scripts"))
    if tree.damage:
        found.gaps.append(("", tree.damage))
    return found


def read_package_lock(_name: str, data: bytes) -> Findings:
    found, root = Findings("npm"), parse_json(decoded(data)).root
    packages = root.child("packages")
    entries = _packages(packages) if packages is not None else _nested(root)
    for name, node in entries:
        section = ", ".join(flag for flag in _FLAGS if node.text_at(flag) == "true")
        version = next((part for field in ("version", "resolved") if (part := node.at(field)).text), node)
        lines = node.first, version.last if version is not node else node.first
        found.add_dependency(lines, name, version.text or None, "locked", section)
    return found


def _packages(packages: Node) -> Iterator[tuple[str, Node]]:
    """Yield the packages by the paths where they are installed. The project's own folders are none."""
    for path, node in packages.children:
        _, mark, name = path.rpartition("node_modules/")
        if mark and node.text_at("link") != "true":
            yield name, node


def _nested(root: Node) -> Iterator[tuple[str, Node]]:
    work = [root]
    while work:
        for name, node in work.pop().at("dependencies").children:
            if node.type == "object":
                yield name, node
                work.append(node)


def read_yarn_lock(_name: str, data: bytes) -> Findings:
    """Read both forms, the old one and the one that is YAML, by their lines."""
    found = Findings("npm")
    entry, first = "", 0
    for number, line in enumerate(decoded(data).split("\n"), 1):
        if line[:1] not in ("", " ", "#", "\r"):
            match = _YARN_ENTRY.match(line)
            entry, first = match[1] if match else "", number
        elif entry and (version := _YARN_VERSION.fullmatch(line)) is not None:
            if version[1] != "0.0.0-use.local":  # a folder of the project itself
                found.add_dependency((first, number), entry, version[1], "locked", "")
            entry = ""
    return found


def read_pnpm_lock(_name: str, data: bytes) -> Findings:
    found, tree = Findings("npm"), parse_yaml(decoded(data))
    for document in tree.documents:
        for key, node in document.at("packages").children:
            match = _PNPM_ENTRY.match(key)
            if match is not None:
                line = max(1, node.first - 1) if node.type == "object" else node.first
                section = ", ".join(flag for flag in _FLAGS if node.text_at(flag) == "true")
                found.add_dependency((line, line), match[1], match[2], "locked", section)
    return found


def read_bun_lock(_name: str, data: bytes) -> Findings:
    found, root = Findings("npm"), parse_json(decoded(data)).root
    for _, node in root.at("packages").children:
        name, _, version = next((child.text for child in node.values()), "").rpartition("@")
        if name:
            found.add_dependency(lines_of(node), name, version, "locked", "")
    return found
