"""The image of the driver `docker`: what it is called, whether an engine has it, and how it is built."""

import hashlib
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from skillstill.errors import SandboxError
from skillstill.util.text import one_line

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.images import Image

DOCKERFILE = Path(__file__).with_name("Dockerfile")
ENVIRONMENT = "SKILLSTILL_SANDBOX_IMAGE"  # names another image, with Python 3.9 or newer as python3
PYTHON = "skillstill.python"  # the label that says which version of Python is in an image
BUILD = "skillstill build-sandbox"


def image_name() -> str:
    """Return the name of the image, which changes with its Dockerfile."""
    own = f"skillstill-sandbox:{hashlib.sha256(DOCKERFILE.read_bytes()).hexdigest()[:12]}"
    return os.environ.get(ENVIRONMENT) or own


def find_image(client: "DockerClient") -> "Image":
    """Return the image. Raise SandboxError if the engine does not have it, with what to type."""
    from docker.errors import ImageNotFound

    try:
        return client.images.get(image_name())
    except ImageNotFound as error:
        remedy = f"{ENVIRONMENT} names it" if os.environ.get(ENVIRONMENT) else f"type: {BUILD}"
        raise SandboxError(f"the engine has no image {image_name()}; {remedy}") from error


def image_python(image: "Image") -> str:
    """Return the version of an image's Python, `3.11`; empty if the image does not say it."""
    return str(image.labels.get(PYTHON, ""))


def build_image(client: "DockerClient") -> str:
    """Build the image and return its name. It needs the network, and takes a minute. Raise SandboxError."""
    from docker.errors import BuildError, DockerException

    name = image_name()
    try:
        client.images.build(fileobj=io.BytesIO(DOCKERFILE.read_bytes()), tag=name, rm=True, forcerm=True)
    except (BuildError, DockerException) as error:
        raise SandboxError(one_line(f"the image cannot be built: {error}", 500)) from error
    return name
