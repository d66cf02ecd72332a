"""A Ray cluster of two machines on loopback, each with one worker: what lies on one has to travel to the other."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from tests.scenes import move_home

TOKEN = "0" * 32  # a cluster answers nobody without its token


@dataclass(frozen=True)
class TwoMachines:
    """The address of a cluster, and the home that its workers have: another one than that of any test."""

    address: str
    home: Path


@pytest.fixture(scope="session")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoMachines]:
    pytest.importorskip("ray", reason="pip install 'skillstill[ray]'")
    home, sessions = (
        tmp_path_factory.mktemp("workers"),
        mkdtemp(prefix="ray-", dir="/tmp"),
    )  # its sockets' names are long
    with pytest.MonkeyPatch.context() as patch:
        move_home(home, patch)
        patch.setenv("RAY_AUTH_TOKEN", TOKEN)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_TMPDIR", sessions)
        from ray.cluster_utils import Cluster

        node: dict[str, Any] = {"num_cpus": 1, "include_log_monitor": False, "object_store_memory": 80_000_000}
        head = {**node, "include_dashboard": False, "no_monitor": True}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        cluster.add_node(**node)
        yield TwoMachines(f"127.0.0.1:{cluster.address.rpartition(':')[2]}", home)
        cluster.shutdown()  # type: ignore[no-untyped-call, unused-ignore]
    shutil.rmtree(sessions, ignore_errors=True)


@pytest.fixture
def cluster(machines: TwoMachines, monkeypatch: pytest.MonkeyPatch) -> TwoMachines:
    """That cluster, for a test that may join it."""
    monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
    assert os.environ["HOME"] != str(machines.home)
    return machines
