"""Ruby, PHP and .NET: Gemfile, gemspec, composer.json, project files, and their lock files."""

import re

from skillstill.facts.readers.project.findings import Findings, Kind, lines_of
from skillstill.facts.readers.trees import Node, decoded, parse_json, parse_xml

_GEM = re.compile(r"""^(\s*)gem\s*\(?\s*["']([\w.-]+)["'](.*)$""")
_GROUP = re.compile(r"^(\s*)group\s*\(?\s*(.*?)\s*\)?\s+do\b")
_QUOTED = re.compile(r"""^\s*,\s*(?:\[\s*)?["']([^"']*)["']""")
_INLINE_GROUP = re.compile(r"(?:groups?:|:groups?\s*=>)\s*(\[[^\]]*\]|:?[\w\"']+)")
_END = re.compile(r"^(\s*)end\b")
_RUBY = re.compile(r"""^\s*ruby\s*\(?\s*["']([^"']+)["']""")
_SPECIFIED = re.compile(r"""^\s*\w+\.add_(runtime_|development_)?dependency\s*\(?\s*["']([\w.-]+)["'](.*)$""")
_FIELD = re.compile(r"""^\s*\w+\.(name|version|summary|required_ruby_version)\s*=\s*["']([^"']*)["']""")
_LOCKED = re.compile(r"^ {4}([\w.-]+) \(([^)]+)\)\s*$")
_SYMBOL = re.compile(r"\w+")


def read_gemfile(_name: str, data: bytes) -> Findings:
    found = Findings("rubygems")
    groups: list[tuple[str, str]] = []  # indentation of `group ... do`, and its names
    for number, line in enumerate(decoded(data).split("\n"), 1):
        group, gem, end, ruby = (pattern.match(line) for pattern in (_GROUP, _GEM, _END, _RUBY))
        if group is not None:
            groups.append((group[1], ", ".join(_SYMBOL.findall(group[2]))))
        elif end is not None and groups and groups[-1][0] == end[1]:
            groups.pop()
        elif ruby is not None:
            found.add_dependency((number, number), "ruby", ruby[1], "runtime", "ruby")
        elif gem is not None:
            inline = _INLINE_GROUP.search(gem[3])
            section = ", ".join(_SYMBOL.findall(inline[1])) if inline else (groups[-1][1] if groups else "")
            found.add_dependency((number, number), gem[2], _versions(gem[3]), _gem_kind(section), section)
    return found


def _gem_kind(section: str) -> Kind:
    return "dev" if re.search("dev|test", section) else ("optional" if section and section != "default" else "runtime")


def _versions(rest: str) -> str | None:
    """Return the quoted versions that follow a name: `, "~> 1.0", ">= 1.0.2"`."""
    versions = []
    while (match := _QUOTED.match(rest)) is not None:
        versions.append(match[1])
        rest = rest[match.end() :]
    return ", ".join(versions) or None


def read_gemspec(_name: str, data: bytes) -> Findings:
    found, fields, place = Findings("rubygems"), dict[str, str](), 0
    for number, line in enumerate(decoded(data).split("\n"), 1):
        match, described = _SPECIFIED.match(line), _FIELD.match(line)
        if match is not None:
            kind: Kind = "dev" if match[1] == "development_" else "runtime"
            section = f"{match[1] or ''}dependency"
            found.add_dependency((number, number), match[2], _versions(match[3]), kind, section)
        elif described is not None:
            fields[described[1]] = described[2]
            place = number if described[1] == "name" else place
    if "name" in fields:
        texts = [fields.get(name) for name in ("version", "summary", "required_ruby_version")]
        found.add_package((place, place), fields["name"], *texts)
    return found


def read_gemfile_lock(_name: str, data: bytes) -> Findings:
    found, section = Findings("rubygems"), ""
    for number, line in enumerate(decoded(data).split("\n"), 1):
        match = _LOCKED.match(line)
        if match is not None and section in ("GEM", "GIT", "PATH"):
            found.add_dependency((number, number), match[1], match[2], "locked", section)
        elif line[:1].isalpha():
            section = line.strip()
    return found


def read_composer(_name: str, data: bytes) -> Findings:
    found, tree = Findings("composer"), parse_json(decoded(data))
    root = tree.root
    found.describe(root, root.text_at("require", "php"))
    sections: dict[str, Kind] = {"require": "runtime", "require-dev": "dev"}
    for section, kind in sections.items():
        for name, node in root.at(section).children:
            if name != "php":
                found.add_dependency(lines_of(node), name, node.text, kind, section)
    found.add_scripts(root.at("scripts"))
    if tree.damage:
        found.gaps.append(("", tree.damage))
    return found


def read_composer_lock(_name: str, data: bytes) -> Findings:
    found, root = Findings("composer"), parse_json(decoded(data)).root
    for section in ("packages", "packages-dev"):
        for package in root.at(section).values():
            name, version = package.child("name"), package.child("version")
            if name is not None:
                lines = name.first, (version or name).last
                found.add_dependency(lines, name.text, version.text if version else None, "locked", section)
    return found


def read_msbuild(_name: str, data: bytes) -> Findings:
    """Read project files of .NET, Directory.Packages.props and packages.config."""
    found, tree = Findings("nuget"), parse_xml(data)
    work = [tree.root]
    properties: dict[str, Node] = {}
    while work:
        for name, node in reversed(work.pop().children):
            if name in _REFERENCES:
                _take_reference(found, name, node)
            elif node.type == "element":
                work.append(node)
                properties.setdefault(name, node)
    found.dependencies.sort(key=lambda row: int(str(row[0])))
    texts = {name: node.text for name, node in properties.items()}
    language = texts.get("TargetFramework") or texts.get("TargetFrameworks") or texts.get("TargetFrameworkVersion")
    field = next((field for field in ("PackageId", "AssemblyName", "RootNamespace") if field in texts), None)
    if field is not None:
        lines = lines_of(properties[field])
        found.add_package(lines, texts[field], texts.get("Version"), texts.get("Description"), language)
    if tree.damage:
        found.gaps.append(("", tree.damage))
    return found


def _take_reference(found: Findings, name: str, node: Node) -> None:
    package = next((text for field in ("@Include", "@Update", "@id") if (text := node.text_at(field))), None)
    version = next((text for field in _VERSIONS if (text := node.text_at(field))), None)
    if package is not None:
        kind: Kind = "dev" if node.text_at("@developmentDependency") == "true" else _REFERENCES[name]
        found.add_dependency(lines_of(node), package, version, kind, name, node.text_at("@Condition"))


_REFERENCES: dict[str, Kind] = {
    "PackageReference": "runtime",
    "PackageVersion": "runtime",
    "ProjectReference": "runtime",
    "DotNetCliToolReference": "build",
    "GlobalPackageReference": "build",
    "package": "locked",  # of packages.config
}
_VERSIONS = ("@Version", "Version", "@VersionOverride", "@version")
