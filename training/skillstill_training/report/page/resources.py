"""The parts of a page that are files of this package, and their hashes for its content security policy."""

import base64
import hashlib
from importlib.resources import files


def read_resource(package: str, name: str) -> str:
    """Return the text of a file, of the package `report` or `report.page`."""
    return files(f"skillstill_training.{package}").joinpath(name).read_text("utf-8")


def policy_hash(content: str) -> str:
    """Return the source expression that allows this style or script: `sha256-` and base64."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
