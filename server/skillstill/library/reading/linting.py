"""What a definition breaks of the Agent Skills specification (agentskills.io): a report, never a gate.

Each finding reads `rule: what came`, so that findings can be counted by rule.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import PurePosixPath

from pydantic import JsonValue

from skillstill.library.definition import Kind
from skillstill.library.reading.frontmatter import Fields
from skillstill.library.reading.naming import LONGEST, slug
from skillstill.util.suspicion import Finding
from skillstill.util.text import one_line

SPECIFIED = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
LONGEST_DESCRIPTION, LONGEST_COMPATIBILITY = 1_024, 500
LINES, TOKENS = 500, 5_000  # what the specification advises for a body
REFERENCES = 500  # of one body that are looked for
CHARACTERS_PER_TOKEN = 4  # of English text, by every tokenizer of today
_REFERENCE = re.compile(r"\]\(\s*<?([^)\s>#?]+)|`((?:\./)?(?:scripts|references|assets|resources|examples)/[^`\s]+)`")
_PLACEHOLDER = re.compile(r"[{}$<>*|…]|\.\.\.|^(?:/|~|[a-z]+:|path/)|YYYY|xxx", re.IGNORECASE)


def lint(
    kind: Kind,
    fields: Fields | None,
    twice: tuple[str, ...],
    body: str,
    called: str,
    there: Callable[[str], bool],
) -> Iterator[Finding]:
    """Yield what is wrong with a definition.

    `fields` are None without front matter. `called` is its name by its place. `there` returns whether a path from the
    file's folder leads to something.
    """
    if fields is None:
        yield _finding("no-front-matter", "expected a first line '---', fields, and a line '---'", 1)
    else:
        for key in twice:
            yield _finding("duplicate-field", key)
        yield from _name(kind, fields.get("name"), called)
        yield from _description(fields.get("description"))
        if kind == "skill":
            yield from _specified(fields)
    yield from _length(body)
    yield from _dangling(body, there)


def _finding(rule: str, text: str, line: int = 0) -> Finding:
    return Finding(kind="lint", text=f"{rule}: {text}", line=line)


def _name(kind: Kind, name: JsonValue, called: str) -> Iterator[Finding]:
    if not name:
        if kind != "command":  # a command is called by its file
            yield _finding("name-missing", "expected a field `name`")
        return
    if not isinstance(name, str) or name != slug(name):
        yield _finding(
            "name-invalid", f"expected 1-{LONGEST} of a-z, 0-9 and single hyphens, got {one_line(repr(name), 80)}"
        )
    if name != called:
        yield _finding(
            "name-differs", f"expected {called!r}, as its {'folder' if kind == 'skill' else 'file'} is called"
        )


def _description(description: JsonValue) -> Iterator[Finding]:
    if not description:
        yield _finding("description-missing", "expected a field `description`")
    elif not isinstance(description, str):
        yield _finding("description-invalid", "expected a text")
    elif len(description) > LONGEST_DESCRIPTION:
        yield _finding("description-long", f"expected at most {LONGEST_DESCRIPTION} characters, got {len(description)}")


def _specified(fields: Fields) -> Iterator[Finding]:
    for name in fields:
        if name not in SPECIFIED:
            yield _finding("extra-field", one_line(name, 80))
    tools = fields.get("allowed-tools")
    if tools is not None and not isinstance(tools, str):
        yield _finding("tools-not-text", "expected allowed-tools as one text with spaces")
    elif tools is not None and "," in re.sub(r"\([^)]*\)", "", tools):
        yield _finding("tools-with-commas", "expected allowed-tools with spaces between them")
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict) or any(not isinstance(value, str) for value in metadata.values()):
        yield _finding("metadata-invalid", "expected texts by name")
    compatibility = fields.get("compatibility", "")
    if not isinstance(compatibility, str) or len(compatibility) > LONGEST_COMPATIBILITY:
        yield _finding("compatibility-long", f"expected a text of at most {LONGEST_COMPATIBILITY} characters")


def _length(body: str) -> Iterator[Finding]:
    if not body.strip():
        yield _finding("body-empty", "expected instructions after the front matter")
    if (lines := body.count("\n") + 1) > LINES:
        yield _finding("body-lines", f"expected at most {LINES} lines, got {lines}")
    if (tokens := len(body) // CHARACTERS_PER_TOKEN) > TOKENS:
        yield _finding("body-tokens", f"expected at most about {TOKENS} tokens, got about {tokens}")


def _dangling(body: str, there: Callable[[str], bool]) -> Iterator[Finding]:
    """Yield references to files that are not there, each once; what looks like an example of a path is none."""
    targets = dict.fromkeys(linked or quoted for linked, quoted in _REFERENCE.findall(body))
    for target in islice(targets, REFERENCES):
        if "." in PurePosixPath(target).name and not _PLACEHOLDER.search(target) and not there(target):
            at = body.find(target)
            yield _finding("dangling-reference", one_line(target, 120), body.count("\n", 0, at) + 1)
