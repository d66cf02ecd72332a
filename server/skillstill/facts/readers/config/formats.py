"""Which file names are configuration, and how each sort is parsed."""

import re
from collections.abc import Callable
from pathlib import PurePath

from skillstill.facts.readers.trees import (
    Tree,
    decoded,
    parse_dockerfile,
    parse_environment,
    parse_ini,
    parse_json,
    parse_makefile,
    parse_properties,
    parse_toml,
    parse_xml,
    parse_yaml,
)

Parse = Callable[[bytes], Tree]

_LOCK_FILES = frozenset({"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "packages.lock.json"})
_INI_HEAD = re.compile(rb"(?:\s*(?:[#;][^\n]*)?\n)*\s*\[[^\]\n]+\]\s*\n")
_REPORT_HEAD = re.compile(rb"\s*(?:<\?xml[^>]*>)?\s*(?:<!--.*?-->\s*)?<testsuites?\b", re.DOTALL)
_FRONT_MATTER = re.compile(rb"(?:\xef\xbb\xbf)?(---|\+\+\+)[ \t]*\r?\n(.*?\r?\n)\1[ \t]*(?:\r?\n|\Z)", re.DOTALL)


def _of_text(parse: Callable[[str], Tree]) -> Parse:
    return lambda data: parse(decoded(data))


def _git(text: str) -> Tree:
    return parse_ini(text, "=")


def _front_matter(data: bytes) -> Tree:
    """Return what stands before a Markdown text, in YAML or TOML."""
    match = _FRONT_MATTER.match(data)
    if match is None:
        return Tree()
    lines = "\n" + match[2].decode("utf-8", "replace")  # the line of the fence is kept for the count
    return parse_toml(lines) if match[1] == b"+++" else parse_yaml(lines)


_BY_NAME: dict[str, Callable[[str], Tree]] = {
    ".editorconfig": parse_ini,
    ".flake8": parse_ini,
    ".coveragerc": parse_ini,
    ".pylintrc": parse_ini,
    "pylintrc": parse_ini,
    ".gitconfig": _git,
    ".gitmodules": _git,
    ".npmrc": _git,
    "pipfile": parse_toml,
    ".clang-format": parse_yaml,
    ".clang-tidy": parse_yaml,
    ".babelrc": parse_json,
    ".eslintrc": parse_yaml,  # JSON or YAML, and JSON is YAML
    ".prettierrc": parse_yaml,
    ".stylelintrc": parse_yaml,
    ".swcrc": parse_json,
    "makefile": parse_makefile,
    "gnumakefile": parse_makefile,
    "dockerfile": parse_dockerfile,
    "containerfile": parse_dockerfile,
}
_BY_SUFFIX: dict[str, Callable[[str], Tree]] = {
    **dict.fromkeys((".json", ".jsonc", ".json5", ".webmanifest", ".code-workspace"), parse_json),
    **dict.fromkeys((".yaml", ".yml"), parse_yaml),
    ".toml": parse_toml,
    **dict.fromkeys((".ini", ".cfg", ".desktop"), parse_ini),
    **dict.fromkeys((".service", ".timer", ".socket", ".mount", ".target", ".network"), _git),
    ".properties": parse_properties,
    ".env": parse_environment,
    ".mk": parse_makefile,
    ".dockerfile": parse_dockerfile,
}
_XML_SUFFIXES = frozenset(
    [
        ".xml",
        ".csproj",
        ".fsproj",
        ".vbproj",
        ".props",
        ".targets",
        ".nuspec",
        ".config",
        ".plist",
        ".resx",
        ".xaml",
        ".wsdl",
        ".xsd",
    ]
)
_BY_STEM = {".env": parse_environment, "dockerfile": parse_dockerfile, "containerfile": parse_dockerfile}
_MARKDOWN = frozenset({".md", ".markdown", ".mdx"})


def is_lock_file(name: str) -> bool:
    """Return whether a file has a suffix of configuration, but is written by a package manager."""
    return name.lower() in _LOCK_FILES


def parser_of(name: str, head: bytes) -> Parse | None:
    """Return how a file is parsed, or None if it is no configuration."""
    lower = name.lower()
    suffix = PurePath(lower).suffix
    parse = _BY_NAME.get(lower) or _BY_SUFFIX.get(suffix) or _BY_STEM.get(_stem(lower))
    if parse is None and suffix in (".conf", ".inf", ".cnf") and _INI_HEAD.match(head):
        parse = parse_ini
    if parse is not None:
        return _of_text(parse)
    if suffix in _XML_SUFFIXES and not _REPORT_HEAD.match(head):
        return parse_xml
    if suffix in _MARKDOWN and head.startswith((b"---", b"+++", b"\xef\xbb\xbf---")):
        return _front_matter
    return None


def _stem(name: str) -> str:
    """Return the first part of names such as `.env.example` and `Dockerfile.dev`."""
    return name[:1] + name[1:].partition(".")[0]
