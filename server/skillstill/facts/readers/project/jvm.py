"""Java and Kotlin: pom.xml, simple declarations of Gradle, and its version catalogue."""

import re
from collections.abc import Iterator

from skillstill.facts.readers.project.findings import Findings, Kind, lines_of, span
from skillstill.facts.readers.trees import Node, decoded, parse_toml, parse_xml

_SCOPES: dict[str, Kind] = {"test": "dev"}
_LANGUAGES = ("maven.compiler.release", "java.version", "maven.compiler.source")
# implementation("group:name:version"), testImplementation 'group:name', api(libs.some.name), project(":x")
_GRADLE = re.compile(
    r"""^\s*([a-zA-Z]\w*)\s*\(?\s*(?:(?:enforcedPlatform|platform|testFixtures|kotlin)\s*\(\s*)?
    (?:["']([\w.-]+:[\w.-]+)(?::([^"'@]+))?[^"']*["']
      | group\s*[:=]\s*["']([^"']+)["']\s*,\s*name\s*[:=]\s*["']([^"']+)["']
        (?:\s*,\s*version\s*[:=]\s*["']([^"']+)["'])?
      | (libs\.[\w.]+) | project\s*\(\s*(?:path\s*[:=]\s*)?["'](:[^"']+)["'])""",
    re.VERBOSE,
)
_PLUGIN = re.compile(
    r"""^\s*(?:id\s*\(?\s*["']|alias\s*\(?\s*(?=libs\.))([\w.-]+)["']?\s*\)?(?:\s*version\s*\(?\s*["']?([^"'\s)]+))?"""
)
_CONFIGURATION = re.compile(
    r"(?i)classpath|ksp|kapt|coreLibraryDesugaring|\w*(?:implementation|api|compile|compileOnly|compileOnlyApi|runtime|"
    r"runtimeOnly|provided|annotationProcessor)"
)
_BUILD = re.compile(r"(?i)classpath|ksp|kapt|annotationProcessor")


def read_pom(_name: str, data: bytes) -> Findings:
    found, tree = Findings("maven"), parse_xml(data)
    project = tree.root.at("project")
    _describe(found, project)
    parent = project.child("parent")
    if parent is not None:
        found.add_dependency(lines_of(parent), _coordinates(parent), parent.text_at("version"), "build", "parent")
    for section, kind, dependency in _declared(project):
        scope = dependency.text_at("scope") or ""
        kind_here: Kind = "optional" if dependency.text_at("optional") == "true" else _SCOPES.get(scope, kind)
        found.add_dependency(
            lines_of(dependency), _coordinates(dependency), dependency.text_at("version"), kind_here, scope or section
        )
    if tree.damage:
        found.gaps.append(("", tree.damage))
    return found


def _describe(found: Findings, project: Node) -> None:
    artifact = project.child("artifactId")
    if artifact is not None:
        version = project.child("version")
        properties = project.at("properties")
        language = next((text for name in _LANGUAGES if (text := properties.text_at(name))), None)
        lines = span(artifact, version) if version else lines_of(artifact)
        parent = project.at("parent")
        name = f"{project.text_at('groupId') or parent.text_at('groupId') or ''}:{artifact.text}"
        number = version.text if version else parent.text_at("version")
        found.add_package(lines, name, number, project.text_at("description"), language)


def _declared(project: Node) -> Iterator[tuple[str, Kind, Node]]:
    """Yield section, kind and element of dependencies and plugins, of the profiles as well."""
    for part in [project, *project.at("profiles").all("profile")]:
        for node in part.at("dependencies").all("dependency"):
            yield "dependencies", "runtime", node
        for node in part.at("dependencyManagement", "dependencies").all("dependency"):
            yield "dependencyManagement", "runtime", node
        for path in (("build", "plugins"), ("build", "pluginManagement", "plugins"), ("reporting", "plugins")):
            for node in part.at(*path).all("plugin"):
                yield "plugins", "build", node
                for inner in node.at("dependencies").all("dependency"):
                    yield "plugin dependencies", "build", inner


def _coordinates(node: Node) -> str:
    group = node.text_at("groupId") or "org.apache.maven.plugins"  # what a plugin without a group means
    return f"{group}:{node.text_at('artifactId') or ''}"


def read_gradle(_name: str, data: bytes) -> Findings:
    """Read declarations that are on one line and name their package; nothing is computed."""
    found = Findings("maven")
    for number, line in enumerate(decoded(data).split("\n"), 1):
        match, plugin = _GRADLE.match(line), _PLUGIN.match(line)
        if plugin is not None:
            found.add_dependency((number, number), plugin[1], plugin[2], "build", "plugins")
        elif match is not None and _CONFIGURATION.fullmatch(match[1]):
            coordinates, version, group, artifact, mapped, catalogued, local = match.groups()[1:]
            name = coordinates or (f"{group}:{artifact}" if group else catalogued or local)
            found.add_dependency((number, number), name, version or mapped, _gradle_kind(match[1]), match[1])
    found.gaps.append(("dependencies", "of Gradle only declarations on one line are read"))
    return found


def _gradle_kind(configuration: str) -> Kind:
    if _BUILD.search(configuration):
        return "build"
    return "dev" if "test" in configuration.lower() else "runtime"


def read_catalogue(_name: str, data: bytes) -> Findings:
    """Read libs.versions.toml. A version that is a reference is the one that it refers to."""
    found, root = Findings("maven"), parse_toml(decoded(data)).root
    versions = root.at("versions")
    for section, field in (("libraries", "module"), ("plugins", "id")):
        kind: Kind = "build" if section == "plugins" else "runtime"
        for alias, node in root.at(section).children:
            name, version = node.text_at(field), _catalogued_version(node, versions)
            if not node.children:
                name, _, version = node.text.rpartition(":")
            if name is None and node.child("group") is not None:
                name = f"{node.text_at('group')}:{node.text_at('name')}"
            found.add_dependency(lines_of(node), name or alias, version, kind, section)
    return found


def _catalogued_version(node: Node, versions: Node) -> str | None:
    reference = node.text_at("version", "ref")
    return versions.text_at(reference) if reference else node.text_at("version")
