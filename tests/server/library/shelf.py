"""Definitions made by hand, for tests of what becomes of them."""

import hashlib
from collections.abc import Mapping

from pydantic import JsonValue
from skillstill.library.definition import Definition, Kind, Licence, Origin, Terms
from skillstill.util.suspicion import Finding

SHELF = {
    "sql-analyst": "Answers questions about a database by writing read-only queries.",
    "log-triage": "Finds the first failing component in service logs.",
    "frontend-design": "Builds web pages and components with a distinctive visual style.",
    "git-historian": "Tells who changed what and when, from the commit history.",
    "tax-advisor": "Prepares the yearly declaration of income for a household.",
}


def made(
    name: str,
    description: str = "",
    *,
    source: str = "library",
    path: str = "",
    kind: Kind = "skill",
    body: str = "Body.",
    examples: tuple[str, ...] = (),
    fields: Mapping[str, JsonValue] | None = None,
    terms: Terms = "allowed",
    findings: tuple[Finding, ...] = (),
) -> Definition:
    description = description or SHELF[name]
    text = f"---\nname: {name}\ndescription: {description}\n---\n{body}"
    return Definition(
        kind=kind,
        name=name,
        title=name,
        description=description,
        examples=examples,
        body=body,
        text=text,
        fields=fields or {},
        origin=Origin(source=source, path=path or f"{name}/SKILL.md", sha256=hashlib.sha256(text.encode()).hexdigest()),
        licence=Licence(name="MIT", where="LICENSE", derived_works=terms),
        findings=findings,
    )


def shelf() -> list[Definition]:
    return [made(name) for name in SHELF]
