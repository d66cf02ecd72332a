"""`python -m skillstill_training.workspaces`: the lines of sources.toml, ready to paste.

first-upload NAME…      when a project of the package index was first uploaded
pin SOURCE…             an entry with its hash; NAME==VERSION is short for pypi:NAME==VERSION
"""

import re
import sys
from pathlib import Path

from pydantic import ValidationError
from skillstill.errors import WorkspaceSourceError

from skillstill_training.workspaces.building import build_workspace
from skillstill_training.workspaces.fetching.pypi import first_upload
from skillstill_training.workspaces.sources import FORMS, Source


def main(arguments: list[str]) -> str:
    """Return what to print. Raise WorkspaceSourceError."""
    match arguments:
        case ["first-upload", *names] if names:
            return "".join(f'{name}: first_uploaded = "{first_upload(name)}"\n' for name in names)
        case ["pin", *sources] if sources:
            return "\n".join(pin_text(source if ":" in source else f"pypi:{source}") for source in sources)
    raise WorkspaceSourceError("expected `first-upload NAME…` or `pin SOURCE…`, such as `pin langextract==1.7.1`")


def pin_text(text: str) -> str:
    """Return the entry of a source. Its split is a guess, to be changed by hand."""
    path = re.split(r"=|@|#", text.partition(":")[2].rstrip("/"))[0]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(path).name.removesuffix(".git")).strip("-.")
    try:
        source = Source(name=name, split="train", source=text)
    except ValidationError as error:
        raise WorkspaceSourceError(f"{text!r} is no source: expected one of {FORMS}") from error
    lines = ["[[workspace]]", f'name = "{name}"', 'split = "train"', f'source = "{text}"']
    if sha256 := _hash(source):
        lines.append(f'sha256 = "{sha256}"')
    if source.scheme == "pypi":
        lines.append(_uploaded(name))
    return "\n".join(lines) + "\n"


def _hash(source: Source) -> str | None:
    """Return what the error about the missing pin says; None for a source that is its own pin."""
    try:
        build_workspace(source, Path.cwd())
    except WorkspaceSourceError as error:
        if found := re.search(r"`sha256 = \"([0-9a-f]{64})\"`", str(error)):
            return found[1]
        raise
    return None


def _uploaded(name: str) -> str:
    try:
        return f'first_uploaded = "{first_upload(name)}"'
    except WorkspaceSourceError as error:
        return f"# {error}"


if __name__ == "__main__":
    try:
        sys.stdout.write(main(sys.argv[1:]))
    except WorkspaceSourceError as error:
        sys.exit(str(error))
