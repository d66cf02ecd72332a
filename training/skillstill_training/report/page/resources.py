"""The parts of a page that are files of this package, and their hashes for its content security policy."""

import base64
import hashlib
from importlib.resources import files
from string import Template


def read_resource(package: str, name: str) -> str:
    """Return the text of a file, of the package `report` or `report.page`."""
    return files(f"skillstill_training.{package}").joinpath(name).read_text("utf-8")


def policy_hash(content: str) -> str:
    """Return the source expression that allows this style or script: `sha256-` and base64."""
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def frame(title: str, style: str, body: str, script: str = "") -> str:
    """Return a page of this title and body, both of HTML. No other style and script than these may act in it."""
    scripts = f"; script-src '{policy_hash(script)}'" if script else ""
    policy = f"default-src 'none'; style-src '{policy_hash(style)}'{scripts}"
    return Template(read_resource("report.page", "frame.html")).substitute(
        title=title, policy=policy, style=style, body=body
    )
