"""The container engine of this machine, through docker's SDK: Docker, or Podman, which speaks the same over its socket.

All functions here block. They raise SandboxError, with what to type, if there is no engine that can be used.
"""

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillstill.errors import SandboxError
from skillstill.types import Frozen
from skillstill.util.text import one_line

if TYPE_CHECKING:
    from docker import DockerClient

LABEL = "skillstill.sandbox"  # on every container of ours, with its owner as the value
PING = 2  # seconds for an engine to take a connection
PATIENCE = 60  # seconds for what it is asked
HERE = "unix://"
# What an engine may not be able to limit: the field of its information that says so, and what does not hold then.
LIMITS = {
    "MemoryLimit": "memory is not limited",
    "SwapLimit": "swap is not limited, and so neither is memory where there is swap",
    "PidsLimit": "processes are not limited",
    "CpuCfsQuota": "CPU time is not limited",
}


class Engine(Frozen):
    """An engine that answered. `gaps` are what it cannot limit here, for people; `api` is how it is spoken to."""

    name: str
    api: str
    is_rootless: bool
    cpus: int
    gaps: tuple[str, ...]


_known: dict[str, Engine] = {}  # by address: Podman takes seconds to say what it is


def connect() -> "tuple[DockerClient, Engine]":
    """Return a client of the first engine that answers: DOCKER_HOST or docker's context, else Podman's sockets."""
    try:
        from docker import DockerClient
        from docker.errors import DockerException
    except ImportError as error:
        raise SandboxError("docker's SDK is missing; type: pip install 'skillstill[docker]'") from error
    failures = []
    for address in _addresses():
        if not address.startswith(HERE):
            raise SandboxError(f"the engine at {address} is not on this machine, so it cannot bind a folder")
        try:
            _check_listening(address.removeprefix(HERE))
            known = _known.get(address)
            client = DockerClient(address, version=known.api if known else None, timeout=PATIENCE)
            return client, known or _known.setdefault(address, describe(client))
        except (DockerException, OSError) as error:
            failures.append(one_line(f"{address}: {getattr(error, 'strerror', None) or error}", 200))
    raise SandboxError(f"no engine answers ({'; '.join(failures)}); start Docker or `podman system service`")


def _addresses() -> Iterator[str]:
    """Yield where an engine may listen, the place that docker's own client would use first."""
    from docker.context import ContextAPI

    if named := os.environ.get("DOCKER_HOST"):
        yield named
        return
    yield ContextAPI.kwargs_from_context().get("base_url") or f"{HERE}/var/run/docker.sock"
    for folder in (os.environ.get("XDG_RUNTIME_DIR"), "/run"):
        if folder and (file := Path(folder, "podman", "podman.sock")).exists():
            yield f"{HERE}{file}"


def _check_listening(path: str) -> None:
    """Raise OSError if nobody listens there. The SDK would retry, and leave sockets open."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(PING)
        probe.connect(path)


def describe(client: "DockerClient") -> Engine:
    info: Mapping[str, Any] = client.info()
    podman = [one for one in client.version().get("Components", ()) if one["Name"] == "Podman Engine"]
    options = " ".join(map(str, info.get("SecurityOptions") or ()))
    is_rootless = "name=rootless" in options or bool(info.get("Rootless"))
    return Engine(
        name=f"podman {podman[0]['Version']}" if podman else f"docker {info['ServerVersion'].partition('+')[0]}",
        api=client.api.api_version,
        is_rootless=is_rootless,
        cpus=info["NCPU"],
        gaps=tuple(_gaps(info, is_rootless, "name=seccomp" in options)),
    )


def _gaps(info: Mapping[str, Any], is_rootless: bool, filters_calls: bool) -> Iterator[str]:
    for field, gap in LIMITS.items():
        # Without root an engine cannot use old control groups. Podman says nevertheless that it limits everything.
        if not info.get(field) or (is_rootless and str(info.get("CgroupVersion")) == "1"):
            yield gap
    if not filters_calls:
        yield "no system call is filtered"


def owner() -> str:
    """Return what tells this process from all others on this machine, also from a later one with the same number."""
    return f"{Path('/proc/self/ns/pid').readlink()} {os.getpid()} {_began(str(os.getpid()))}"


def reap(client: "DockerClient") -> None:
    """Remove the containers of processes of ours that are gone. Most went by themselves, with their standard input."""
    from docker.errors import DockerException

    # Sparse: another process may remove one meanwhile, and asking Podman for that is a failure of the server.
    for container in client.containers.list(all=True, filters={"label": LABEL}, sparse=True):
        if _is_gone(container.attrs["Labels"][LABEL]):
            with suppress(DockerException):
                container.remove(force=True)


def _is_gone(owner: str) -> bool:
    """Return whether an owner has ended. One in another namespace of processes cannot be seen, and is left alone."""
    namespace, pid, began = (*owner.split(), "", "", "")[:3]
    return namespace == str(Path("/proc/self/ns/pid").readlink()) and _began(pid) != began


def _began(pid: str) -> str:
    """Return when a process began, in ticks since the machine did; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except OSError:
        return ""
