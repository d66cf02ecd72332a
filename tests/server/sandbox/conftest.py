"""Sandboxes for tests, once with each driver that works here. Without one, a test is skipped and says why."""

import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import anyio
import pytest
from skillstill.sandbox import bubblewrap
from skillstill.sandbox.choice import ENVIRONMENT, drivers
from skillstill.sandbox.sandbox import Driver, Sandbox, SandboxLimits, SandboxPlan

LIMITS = SandboxLimits(seconds=10, memory=128, processes=24, output=16, file=8, tmp=16)
Opened = Callable[..., AbstractAsyncContextManager[Sandbox]]


@cache
def problem(name: str) -> str:
    return anyio.run(drivers()[name].problem)


@pytest.fixture(params=["bubblewrap", "docker"])
def driver(request: pytest.FixtureRequest) -> Driver:
    if reason := problem(request.param):
        if request.param == "docker" and os.environ.get("SKILLSTILL_REQUIRE_DOCKER"):  # set by scripts/docker-engine
            pytest.fail(reason)
        pytest.skip(f"{request.param}: {reason}")
    return drivers()[request.param]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace that everybody may read, beside a file that is none of its business."""
    tmp_path.chmod(0o755)
    (tmp_path / "outside.txt").write_text("not yours\n", encoding="utf-8")
    made = tmp_path / "workspace"
    made.mkdir()
    made.chmod(0o755)
    (made / "a.txt").write_text("hello\n", encoding="utf-8")
    return made


@pytest.fixture
def opened(driver: Driver, folder: Path) -> Opened:
    """What opens a sandbox around the workspace; arguments are parts of the plan."""

    @asynccontextmanager
    async def sandbox(**plan: Any) -> AsyncIterator[Sandbox]:
        async with driver.open(folder, SandboxPlan(**{"limits": LIMITS, **plan})) as made:
            yield made

    return sandbox


@pytest.fixture(scope="module")
def inner_pytest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """In the sandboxes is the pytest that runs this test: none is fetched."""
    if reason := problem("bubblewrap"):
        pytest.skip(f"bubblewrap: {reason}")
    folder = tmp_path_factory.mktemp("packages")
    folder.chmod(0o755)
    for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        for file in distribution(name).files or ():
            if file.suffix == ".py" and ".." not in file.parts:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.locate(), folder / file)

    async def installed(packages: Sequence[str], python: str) -> Path:
        return folder

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bubblewrap, "installed", installed)
        patch.setenv(ENVIRONMENT, "bubblewrap")
        yield
