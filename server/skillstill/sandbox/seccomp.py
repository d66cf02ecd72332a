"""The filter of system calls for this machine's CPU, which scripts/seccomp writes."""

import platform
from pathlib import Path

from skillstill.errors import SandboxError

FILTERS = Path(__file__).with_name("filters")


def filter_file() -> Path:
    """Return the compiled filter. Raise SandboxError if there is none for this CPU."""
    file = FILTERS / f"{platform.machine()}.bpf"
    if not file.is_file():
        raise SandboxError(f"bubblewrap has no filter of system calls for this CPU ({platform.machine()}); use docker")
    return file
