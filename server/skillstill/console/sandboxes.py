"""The command and the option about sandboxes."""

import os

import typer

from skillstill.sandbox.choice import ENVIRONMENT, Setting


def use_sandbox(setting: Setting) -> None:
    """Let this process, and those that it starts, build sandboxes with this driver."""
    os.environ[ENVIRONMENT] = setting


def build_sandbox() -> int:
    """Build the image of the sandbox driver `docker`: once, and again after an update that changes it.

    The engine fetches Python's official image and Debian packages, 60 MB.
    """
    from skillstill.sandbox.engine import connect
    from skillstill.sandbox.image import build_image

    client, engine = connect()
    typer.echo(f"built {build_image(client)} with {engine.name}")
    return 0
