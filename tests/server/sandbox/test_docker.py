"""What is special about containers: an engine that may fail, and that others use, too.

scripts/docker-engine runs these tests with a real engine. They skip where there is none, if it is not asked for.
"""

import gc
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from skillstill.errors import SandboxError, SandboxLost
from skillstill.sandbox import image
from skillstill.sandbox.docker import DockerDriver
from skillstill.sandbox.engine import LABEL, LIMITS, connect, describe, owner, reap
from skillstill.sandbox.image import build_image, find_image
from skillstill.sandbox.sandbox import SandboxPlan

from tests.scenes import HANGS, write

if TYPE_CHECKING:
    from docker import DockerClient
    from docker.models.containers import Container

pytestmark = pytest.mark.anyio
REQUIRE = "SKILLSTILL_REQUIRE_DOCKER"
ALL_LIMITS, OF_LIMITS = dict.fromkeys(LIMITS, True), ["memory", "swap", "processes", "CPU"]
HOST = """
import anyio, sys
from pathlib import Path
from skillstill.sandbox.docker import DockerDriver
from skillstill.sandbox.sandbox import SandboxPlan

async def main():
    async with DockerDriver().open(Path(sys.argv[1]), SandboxPlan()) as sandbox:
        print((await sandbox.exec(["hostname"])).output, flush=True)
        await anyio.sleep_forever()

anyio.run(main)
"""


@pytest.fixture
def client() -> "Iterator[DockerClient]":
    """A client of an engine that has the image."""
    try:
        client, _ = connect()
        find_image(client)
    except SandboxError as error:
        if os.environ.get(REQUIRE):
            pytest.fail(str(error))
        pytest.skip(str(error))
    yield client
    client.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace that everybody may look into."""
    (tmp_path / "workspace").mkdir()
    return write(tmp_path / "workspace", {"a.txt": "a"})


def of(pid: int, client: "DockerClient") -> "list[Container]":
    """The containers of a process."""
    found = client.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True)
    return [one for one in found if one.labels[LABEL].split()[1] == str(pid)]


def wait_until_gone(pid: int, client: "DockerClient") -> None:
    end = time.monotonic() + HANGS
    while of(pid, client):
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture
def host(folder: Path, client: "DockerClient") -> Iterator[subprocess.Popen[str]]:
    """Another process of ours, with a sandbox of its own."""
    process = subprocess.Popen([sys.executable, "-c", HOST, str(folder)], stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdout
        assert process.stdout.readline()
        yield process
        process.kill()


async def test_a_container_that_somebody_removes_is_replaced(client: "DockerClient", folder: Path) -> None:
    async with DockerDriver().open(folder, SandboxPlan()) as sandbox:
        of(os.getpid(), client)[0].remove(force=True)
        with pytest.raises(SandboxLost):
            await sandbox.exec(["true"])
        assert (await sandbox.exec(["cat", "a.txt"])).output == "a"
    assert not of(os.getpid(), client)


async def test_two_sandboxes_of_one_folder_do_not_meet(client: "DockerClient", folder: Path) -> None:
    async with DockerDriver().open(folder, SandboxPlan()) as one, DockerDriver().open(folder, SandboxPlan()) as two:
        await one.write("/tmp/a", b"one")
        assert (await two.exec(["ls", "/tmp"])).output == ""
        assert (await one.exec(["ps", "ax"])).code == 127  # in no image of ours
        assert len(of(os.getpid(), client)) == 2
    assert not of(os.getpid(), client)


async def test_the_containers_of_a_killed_process_go_by_themselves(
    client: "DockerClient", host: subprocess.Popen[str]
) -> None:
    host.kill()
    wait_until_gone(host.pid, client)


async def test_what_a_killed_process_left_goes_with_the_next_start(
    client: "DockerClient", folder: Path, host: subprocess.Popen[str]
) -> None:
    of(host.pid, client)[0].pause()  # so that it cannot notice
    host.kill()
    host.wait()
    assert of(host.pid, client)
    async with DockerDriver().open(folder, SandboxPlan()):
        assert not of(host.pid, client)


async def test_the_containers_of_a_process_that_lives_stay(
    client: "DockerClient", folder: Path, host: subprocess.Popen[str]
) -> None:
    reap(client)
    assert of(host.pid, client)


async def test_a_number_that_another_process_has_now_is_no_owner(client: "DockerClient") -> None:
    namespace, pid, began = owner().split()
    stale = f"{namespace} {pid} {int(began) - 1}"
    container = client.containers.create(image.image_name(), command=["true"], labels={LABEL: stale})
    reap(client)
    assert container.id not in [one.id for one in of(os.getpid(), client)]


class Line:
    """A unix socket that leads to the engine's until it is cut."""

    def __init__(self, path: Path, engine: str) -> None:
        self.listener, self.engine = socket.socket(socket.AF_UNIX), engine
        self.listener.bind(str(path))
        self.listener.listen()
        self.ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, far = self.listener.accept()[0], socket.socket(socket.AF_UNIX)
                far.connect(self.engine)
                self.ends += (near, far)
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=(source, target), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        for one in (self.listener, *self.ends):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the SDK leaves sockets open then
async def test_an_engine_that_goes_is_an_error_and_not_a_command_outside(
    client: "DockerClient", folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")
    line = Line(tmp_path / "line", engine)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/line")
    async with DockerDriver().open(folder, SandboxPlan()) as sandbox:
        line.cut()
        with pytest.raises(SandboxLost):
            await sandbox.exec(["true"])
        with pytest.raises(SandboxError, match="the engine starts no container"):
            await sandbox.exec(["true"])
    assert "no engine answers" in await DockerDriver().problem()
    wait_until_gone(os.getpid(), client)
    gc.collect()


async def test_a_password_of_the_users_proxy_does_not_get_in(client: "DockerClient", folder: Path, home: Path) -> None:
    proxy = '{"proxies": {"default": {"httpProxy": "http://me:secret@proxy.example.org"}}}'
    write(home, {".docker/config.json": proxy})
    async with DockerDriver().open(folder, SandboxPlan()) as sandbox:
        assert "secret" not in (await sandbox.exec(["env"])).output


async def test_a_folder_of_roots_alone_is_told(client: "DockerClient", folder: Path) -> None:
    if os.getuid():
        pytest.skip("only root has such folders")
    folder.chmod(0o700)
    async with DockerDriver().open(folder, SandboxPlan()) as sandbox:
        assert (await sandbox.exec(["cat", "a.txt"])).output == "a"
        assert "commands are root's, without capabilities" in " ".join(sandbox.held.gaps)


async def test_other_users_do_not_limit_the_processes_inside(client: "DockerClient", folder: Path) -> None:
    """The kernel counts the processes of a user on the whole machine."""
    others = [subprocess.Popen(["sleep", str(HANGS)], user=1000) for _ in range(20)] if os.getuid() == 0 else []
    try:
        plan = SandboxPlan.model_validate({"limits": {"processes": 8}})
        async with DockerDriver().open(folder, plan) as sandbox:
            assert (await sandbox.exec(["sh", "-c", "sleep 0 & sleep 0 & wait; echo ok"])).output == "ok\n"
    finally:
        for other in others:
            other.kill()
            other.wait()


async def test_a_missing_image_is_told_with_what_to_type(
    client: "DockerClient", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(image.ENVIRONMENT, raising=False)
    monkeypatch.setattr(image, "DOCKERFILE", Path(__file__))
    assert (await DockerDriver().problem()).endswith("; type: skillstill build-sandbox")


def test_an_image_is_built(client: "DockerClient", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text(f"FROM {image.image_name()}\nLABEL skillstill.python=3.99\n", encoding="utf-8")
    monkeypatch.delenv(image.ENVIRONMENT, raising=False)
    monkeypatch.setattr(image, "DOCKERFILE", file)
    name = build_image(client)
    assert image.image_python(find_image(client)) == "3.99"
    client.images.remove(name)


def test_an_image_that_cannot_be_built_is_one_sentence(
    client: "DockerClient", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text(f"FROM {image.image_name()}\nRUN false\n", encoding="utf-8")
    monkeypatch.delenv(image.ENVIRONMENT, raising=False)
    monkeypatch.setattr(image, "DOCKERFILE", file)
    with pytest.raises(SandboxError, match="the image cannot be built: "):
        build_image(client)


def test_the_image_for_users_is_pinned() -> None:
    base = image.DOCKERFILE.read_text(encoding="utf-8").partition("\nFROM ")[2].splitlines()[0]
    assert re.fullmatch(r"python:3\.11-slim-bookworm@sha256:[0-9a-f]{64}", base)


async def test_no_engine_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    problem = await DockerDriver().problem()
    assert problem.startswith("no engine answers (unix:///nowhere.sock: No such file or directory); start Docker")


async def test_an_engine_on_another_machine_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert "is not on this machine" in await DockerDriver().problem()


@pytest.mark.parametrize(
    ("said", "gaps"),
    [
        ({}, [*OF_LIMITS, "no"]),
        ({**ALL_LIMITS, "SecurityOptions": ["name=seccomp,profile=default"]}, []),
        ({**ALL_LIMITS, "SecurityOptions": ["name=seccomp"], "Rootless": True, "CgroupVersion": "1"}, OF_LIMITS),
    ],
    ids=["nothing", "everything", "podman without root, on old control groups"],
)
def test_an_engine_says_what_it_does_not_limit(said: dict[str, Any], gaps: list[str]) -> None:
    info = {"ServerVersion": "9+a", "NCPU": 2, **said}
    api = SimpleNamespace(api_version="1.41")
    fake: Any = SimpleNamespace(info=lambda: info, version=partial(dict, Components=[]), api=api)
    engine = describe(fake)
    assert engine.name == "docker 9"
    assert [gap.split(" ")[0] for gap in engine.gaps] == gaps
