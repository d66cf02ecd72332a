"""The official conformance suite, both versions that we care for, over HTTP and in both protocol eras."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.counterparts import serving
from tests.clients.programs import ALPHA, STABLE, TASKS, Counts, suite, tasks_scenario

pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def url(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("server"), workspace, "--conformance") as url:
        yield url


@pytest.mark.parametrize(
    ("name", "revision", "counts"),
    [(STABLE, "2025-11-25", Counts(32, 9, 28)), (ALPHA, "2025-11-25", Counts(33, 9, 65)),
     (ALPHA, "2026-07-28", Counts(40, 12, 132))],
)  # fmt: skip
def test_the_suite_passes_but_for_what_we_do_not_offer(
    name: str, revision: str, counts: Counts, url: str, tmp_path: Path
) -> None:
    assert suite(name, revision, url, tmp_path) == counts


@pytest.mark.parametrize(("scenario", "checks"), list(TASKS.items()))
def test_tasks_do_what_their_extension_says(scenario: str, checks: int, url: str, tmp_path: Path) -> None:
    assert tasks_scenario(scenario, url, tmp_path) == (checks, checks)
