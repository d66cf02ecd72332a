"""The user's configuration file: what stands in it takes the place of an option's default.

    flag -> environment -> config.toml -> default

The command line does the rest: it looks an option up in this order by itself.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillstill.errors import UsageError
from skillstill.models.decoding import FormChoice
from skillstill.sandbox.choice import Setting
from skillstill.util.storage import config_folder
from skillstill.util.text import one_line

if TYPE_CHECKING:
    from pydantic import ValidationError

FILE = "config.toml"
REGISTRY = "SKILLSTILL_REGISTRY"
MAX_THREADS = 256  # llama.cpp is built for 512; two thousand hang it, a million crash it


def settings_file() -> Path:
    return config_folder() / FILE


def settings() -> Mapping[str, Any]:
    """Return what the file says, by the names of the options' parameters. Raise UsageError if it cannot be read."""
    file = settings_file()
    return _read(file) if file.is_file() else {}


def _read(file: Path) -> dict[str, Any]:
    from pydantic import BaseModel, ConfigDict, Field, ValidationError  # 0.1 s, which only those who have a file pay

    class Settings(BaseModel):
        model_config = ConfigDict(strict=True, extra="forbid")

        registry: str | None = None
        threads: int | None = Field(default=None, ge=1, le=MAX_THREADS)
        gpu_layers: int | str | None = None
        endpoint: str | list[str] | None = None
        base: str | None = None
        form: FormChoice | None = None
        sandbox: Setting | None = None
        offline: bool | None = None
        no_trace: bool | None = None
        no_remember: bool | None = None
        no_index: bool | None = None

    try:
        said = Settings.model_validate(tomllib.loads(file.read_text(encoding="utf-8"))).model_dump(exclude_none=True)
    except ValidationError as error:
        raise UsageError(f"{file}: {_mistake(error, list(Settings.model_fields))}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(one_line(f"{file} cannot be read as TOML: {error}", 300)) from error
    return _as_parameters(said, file.parent)


def _as_parameters(said: dict[str, Any], folder: Path) -> dict[str, Any]:
    for name in {"registry", "base"} & said.keys():
        said[name] = str(folder / Path(said[name]).expanduser())  # from the file's folder, wherever one stands
    for name in {"no_trace", "no_remember", "no_index"} & said.keys():
        said[name.removeprefix("no_")] = not said.pop(name)
    if isinstance(said.get("endpoint"), str):
        said["endpoint"] = [said["endpoint"]]
    if "gpu_layers" in said:
        said["gpu_layers"] = str(said["gpu_layers"])
    if os.environ.get(REGISTRY):  # it is merged behind the flag, and must come before the file
        said.pop("registry", None)
    return said


def _mistake(error: "ValidationError", names: list[str]) -> str:
    first = error.errors(include_url=False)[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        return one_line(f"there is no setting {name!r}; there are: {', '.join(names)}", 300)
    return one_line(f"{name}: {first['msg']}", 300)
