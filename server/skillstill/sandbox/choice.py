"""Which driver builds the sandboxes of this process: the one that was asked for, or the first that works here.

There is no last resort: without a driver no sandbox is had, and nothing is executed.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, get_args

from skillstill.errors import SandboxError, UsageError

if TYPE_CHECKING:
    from skillstill.sandbox.sandbox import Driver

Setting = Literal["auto", "docker", "bubblewrap", "none"]
ENVIRONMENT = "SKILLSTILL_SANDBOX"
_working: "dict[str, Driver]" = {}  # by setting: to try one takes a second


async def chosen(setting: str = "") -> "Driver":
    """Return the driver of a setting, that of the environment if none is given.

    Raise SandboxError if it does not work here, with what to type; UsageError if there is no such setting.
    """
    setting = setting or os.environ.get(ENVIRONMENT) or "auto"
    if setting not in _working:
        found = await problems(setting)
        works = next((name for name, problem in found.items() if not problem), None)
        if works is None:
            raise SandboxError(told(found))
        _working[setting] = drivers()[works]
    return _working[setting]


async def problems(setting: str) -> Mapping[str, str]:
    """Return why each driver of a setting builds no sandbox here, in the order in which they are tried.

    The last one is empty if it works: those behind it are not tried. Raise UsageError if there is no such setting.
    """
    if setting not in get_args(Setting):
        raise UsageError(f"a sandbox is {', '.join(get_args(Setting))}, not {setting!r}")
    found = {}
    for name, driver in drivers().items():
        if setting in {"auto", name}:
            found[name] = await driver.problem()
            if not found[name]:
                break
    return found


def told(found: Mapping[str, str]) -> str:
    """Return why there is no sandbox, on one line."""
    return "; ".join(f"{name}: {problem}" for name, problem in found.items()) or "sandboxes are switched off"


def drivers() -> "Mapping[str, Driver]":
    """Return all drivers by name, the one that is tried first first."""
    # Delayed: the command line knows the settings without what the drivers need.
    from skillstill.sandbox.bubblewrap import BubblewrapDriver
    from skillstill.sandbox.docker import DockerDriver

    return {driver.name: driver for driver in (DockerDriver(), BubblewrapDriver())}
