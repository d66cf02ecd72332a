"""A skill that is small enough to go through all stages within a test, and a place for its runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from skillstill.models.remote import Endpoint
from skillstill_training.run.folder import RunFolder
from skillstill_training.teachers.large_models import EndpointModel
from skillstill_training.teachers.ledger import Ledger, Price
from skillstill_training.teachers.model_teacher import ModelTeacher
from skillstill_training.teachers.retries import RetryPolicy

from tests.scenes import move_home, write
from tests.server.models.openai_server import OpenAiServer
from tests.training.runs import copy_run, copy_settings, run_with_goals, run_with_traces
from tests.training.teachers.toy import CART, QUICK, RETRY, SKILL, Make


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """The skill `settings`, a copy that a test may change."""
    return copy_settings(tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path / "runs" / "settings" / "1")


@pytest.fixture(scope="session")
def settings_goals(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """The goals of `settings` unchanged, made once."""
    home = tmp_path_factory.mktemp("settings-goals")
    with pytest.MonkeyPatch.context() as patch:
        move_home(home, patch)
        return run_with_goals(home)


@pytest.fixture(scope="session")
def settings_traces(settings_goals: RunFolder, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Those goals solved, once and without a detour."""
    home = tmp_path_factory.mktemp("settings-traces")
    with pytest.MonkeyPatch.context() as patch:
        move_home(home, patch)
        return run_with_traces(home, settings_goals)


@pytest.fixture
def frozen(settings_goals: RunFolder, folder: RunFolder) -> RunFolder:
    """The run's folder, with frozen goals."""
    return copy_run(settings_goals, folder)


@pytest.fixture
def traced(settings_traces: RunFolder, folder: RunFolder) -> RunFolder:
    """The run's folder, with frozen goals and a trace of each."""
    return copy_run(settings_traces, folder)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return write(tmp_path / "toy", {"cart.py": CART, "retry.py": RETRY})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAiServer]:
    monkeypatch.setenv("NO_PROXY", "*")
    with OpenAiServer() as served:
        yield served


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.jsonl", Price.parse("1,1,10")) as opened:
        yield opened


@pytest.fixture
def teacher(server: OpenAiServer, ledger: Ledger) -> Make:
    def made(
        ledger: Ledger = ledger, retries: RetryPolicy = QUICK, samples: int = 1, failures: int = 20
    ) -> ModelTeacher:
        endpoint = EndpointModel(Endpoint(server.url, "Org/Big-Model:7b"))
        return ModelTeacher(SKILL, endpoint, ledger, samples=samples, retries=retries, failures=failures)

    return made


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long was waited between requests, which takes no time here."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("skillstill_training.teachers.retries.anyio.sleep", sleep)
    return waited
