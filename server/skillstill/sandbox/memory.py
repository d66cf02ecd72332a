"""Control groups: the kernel's limits of memory, processes and CPU time for all that runs in a sandbox together.

Making one takes the rights of root, or a part of the hierarchy that was handed over to the user.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio

from skillstill.sandbox.sandbox import SandboxLimits

ROOT = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
PERIOD = 100_000  # microseconds, over which CPU time is counted
OWN = 3  # processes of the sandbox itself: two of bubblewrap, the runner
PATIENCE = 2.0  # seconds for a group to become empty
RETRY = 0.02


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """A group that was made; `folders` are those of its controllers, one and the same in the newer version.

    counted   where its folder of memory has to be inside, so that the runner sees what the kernel killed (runner.py)
    """

    folders: tuple[Path, ...]
    counted: tuple[Path, Path]

    def entering(self, command: Sequence[str]) -> list[str]:
        """Return the command that runs this one in the group."""
        script = 'for one in $1; do echo 0 > "$one/cgroup.procs" || exit; done; shift; exec "$@"'
        return ["/bin/sh", "-c", script, "sh", " ".join(map(str, self.folders)), *command]

    async def remove(self) -> None:
        """Remove the group as soon as it is empty, even if the caller is being cancelled."""
        with anyio.move_on_after(PATIENCE, shield=True):
            for folder in self.folders:
                while folder.is_dir():
                    with suppress(OSError):
                        folder.rmdir()
                        break
                    await anyio.sleep(RETRY)


def make_group(limits: SandboxLimits) -> ControlGroup | None:
    """Return a new group with these limits; None if this process may not make one that has them all."""
    name = f"skillstill-{secrets.token_hex(8)}"
    settings = _unified(limits) if (ROOT / "cgroup.controllers").exists() else _separate(limits)
    made: list[Path] = []
    try:
        for parent, values in settings:
            folder = parent / name
            folder.mkdir()
            made.append(folder)
            for file, value in values.items():
                (folder / file).write_text(value)
    except OSError:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        return None
    inside = ROOT / "memory" if len(made) > 1 else ROOT
    return ControlGroup(tuple(made), (made[0], inside))


def _unified(limits: SandboxLimits) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Yield the folder and files of version 2. A group that holds processes has no groups: ours goes beside it."""
    own = Path(OWN_GROUPS.read_text("ascii").strip().rpartition("::")[2])
    yield (
        ROOT / own.parent.relative_to("/"),
        {
            "memory.max": str(limits.memory << 20),
            "memory.swap.max": "0",
            "pids.max": str(limits.processes + OWN),
            "cpu.max": f"{int(limits.cpus * PERIOD)} {PERIOD}",
        },
    )


def _separate(limits: SandboxLimits) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Yield the folder and files of each controller of version 1, memory first."""
    groups = {
        controller: path
        for _, controllers, path in (line.split(":", 2) for line in OWN_GROUPS.read_text("ascii").splitlines())
        for controller in controllers.split(",")
    }
    values = {
        "memory": {"memory.limit_in_bytes": str(limits.memory << 20)},
        "pids": {"pids.max": str(limits.processes + OWN)},
        "cpu": {"cpu.cfs_period_us": str(PERIOD), "cpu.cfs_quota_us": str(int(limits.cpus * PERIOD))},
    }
    for controller, files in values.items():
        yield ROOT / controller / groups.get(controller, "/").removeprefix("/"), files
