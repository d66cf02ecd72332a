"""What a skill asks of its sandboxes, by each driver that works here: packages, and hosts."""

import zipfile
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteStream, SocketStream
from skillstill.errors import SandboxError
from skillstill.sandbox import bubblewrap, docker
from skillstill.sandbox.choice import chosen, drivers
from skillstill.sandbox.packages import LOCK, installed
from skillstill.sandbox.proxy import Proxy
from skillstill.sandbox.sandbox import Driver, SandboxPlan

pytestmark = pytest.mark.anyio
FETCH = "import urllib.request; print(urllib.request.urlopen('http://example.org/page').read().decode())"
GREET = "def main(): print('hello from', __file__)\nif __name__ == '__main__': main()\n"


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place where packages come from: greet 1.0, with a program of that name, and greet 2.0, as a source."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    info = "greet-1.0.dist-info"
    files = {
        "greet.py": GREET,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\ngreet = greet:main\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(tmp_path / "greet-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    with zipfile.ZipFile(tmp_path / "greet-2.0.zip", "w") as source:
        source.writestr("greet-2.0/setup.py", f"open({str(tmp_path / 'ran')!r}, 'w')")
    return tmp_path


async def test_named_packages_are_inside_with_their_programs(driver: Driver, folder: Path, wheels: Path) -> None:
    async with driver.open(folder, SandboxPlan(packages=("greet==1.0",))) as sandbox:
        assert (await sandbox.exec(["greet"])).output == "hello from /opt/packages/greet.py\n"
        assert (await sandbox.exec(["python3", "-m", "greet"])).code == 0
        assert "ead-only" in (await sandbox.exec(["sh", "-c", "echo > /opt/packages/greet.py"])).output


async def test_a_named_host_is_reached_and_no_other(
    driver: Driver, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def page(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

    async def connect(host: str, port: int) -> ByteStream:
        return await anyio.connect_tcp("127.0.0.1", server.extra(anyio.abc.SocketAttribute.local_port))

    for module in (docker, bubblewrap):
        monkeypatch.setattr(module, "Proxy", partial(Proxy, connect=connect))
    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as server,
        anyio.create_task_group() as tasks,
        driver.open(folder, SandboxPlan(hosts=("example.org",))) as sandbox,
    ):
        tasks.start_soon(server.serve, page)
        assert (await sandbox.exec(["python3", "-c", FETCH])).output == "hello\n"
        other = await sandbox.exec(["python3", "-c", FETCH.replace("example", "other")])
        assert "403: Forbidden" in other.output
        around = await sandbox.exec(["python3", "-c", FETCH], environment={"http_proxy": ""})
        assert "urlopen error" in around.output
        tasks.cancel_scope.cancel()


async def test_a_named_host_is_still_reached_after_a_breakdown(
    driver: Driver, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new sandbox has a new way to the same proxy."""
    async with driver.open(folder, SandboxPlan(hosts=("localhost",))) as sandbox:
        transport = sandbox._transport  # type: ignore[attr-defined]
        await transport.close()
        with pytest.raises(SandboxError):
            await sandbox.exec(["true"])
        said = await sandbox.exec(["python3", "-c", FETCH.replace("example.org", "localhost")])
        assert "403: Forbidden" in said.output


async def test_without_named_hosts_there_is_no_proxy(driver: Driver, folder: Path) -> None:
    async with driver.open(folder, SandboxPlan()) as sandbox:
        assert "proxy" not in (await sandbox.exec(["env"])).output.lower()
        assert "urlopen error" in (await sandbox.exec(["python3", "-c", FETCH])).output


async def test_packages_are_installed_once(wheels: Path) -> None:
    folder = await installed(["greet==1.0"], "3.11")
    (wheels / "greet-1.0-py3-none-any.whl").unlink()
    assert await installed(["Greet == 1.0", "greet==1.0"], "3.11") == folder
    assert (folder / LOCK).read_text(encoding="utf-8").startswith("greet==1.0 --hash=sha256:")
    with pytest.raises(SandboxError, match=r"greet==1\.0 cannot be installed for Python 3\.12: ERROR"):
        await installed(["greet==1.0"], "3.12")


async def test_nothing_of_a_package_runs_outside(wheels: Path) -> None:
    with pytest.raises(SandboxError, match="No matching distribution"):
        await installed(["greet==2.0"], "3.11")
    assert not (wheels / "ran").exists()


@pytest.mark.parametrize("package", ["greet", "greet>=1", "greet==1.*", "greet @ file:///a", "--index-url=a", "a;b"])
async def test_a_package_that_is_not_pinned_is_refused(package: str) -> None:
    with pytest.raises(SandboxError, match="names no "):
        await installed([package], "3.11")


async def test_an_image_that_does_not_say_its_python_gets_no_packages() -> None:
    with pytest.raises(SandboxError, match=r"skillstill\.python=3\.11"):
        await installed(["greet==1.0"], "")


async def test_without_a_driver_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLSTILL_SANDBOX", "none")
    with pytest.raises(SandboxError, match="sandboxes are switched off"):
        await chosen()


async def test_auto_takes_the_next_driver_where_one_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    if problem := await drivers()["bubblewrap"].problem():
        pytest.skip(problem)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")
    monkeypatch.setattr("skillstill.sandbox.choice._working", {})
    assert (await chosen("auto")).name == "bubblewrap"
    with pytest.raises(SandboxError, match=r"docker: no engine answers \(unix:///nowhere.sock"):
        await chosen("docker")
