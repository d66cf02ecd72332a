"""A base whose file is not the measured one: served if it behaves alike, with a warning, and refused if it does not."""

import logging
import struct
from pathlib import Path
from typing import Any

import pytest
from skillstill.console.doctor import Check, examine
from skillstill.contract import serving_hash
from skillstill.errors import BaseError
from skillstill.models import likeness
from skillstill.models.forms import requantise
from skillstill.models.likeness import MOST_DIVERGENCE, compare_behaviour, comparison_engine, measure_behaviour
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.models.sources import model_file
from skillstill.runtime import Runtime
from skillstill.skills.registry import FILE, Document, Registry, RegistryEntry, bundled, read_registry, write_registry
from skillstill.skills.skill import load_skill
from skillstill.types import BaseBehaviour, ModelFile, ModelSpec, ReasonKind

from tests.scenes import SHOP
from tests.server.models.conftest import FormFiles
from tests.server.models.hub import Hub
from tests.training.tiny import save_base

SOURCE = f"hf:{Hub.repository}/model.gguf@{Hub.commit}"
ALIKE = (
    "This base is another file than the one that the release was measured with; it behaves alike (largest divergence "
    "0.000 nats)."
)
pytestmark = pytest.mark.anyio


@pytest.fixture(scope="session")
def behaviour(gguf_file: Path) -> BaseBehaviour:
    """What the measured base says."""
    with comparison_engine(gguf_file) as engine:
        return measure_behaviour(engine)


@pytest.fixture(scope="session")
def otherwise(gguf_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model in a coarser form, which answers otherwise."""
    file = tmp_path_factory.mktemp("otherwise") / "folder" / "model.gguf"
    file.parent.mkdir()
    requantise(gguf_file, file, "Q4_0")
    return file


@pytest.fixture
def release(tmp_path: Path, gguf_file: Path, behaviour: BaseBehaviour) -> Path:
    """A registry with `explore` as released on a hub's base, of which it says how it behaves."""
    return registered(tmp_path, gguf_file, base_behaviour=behaviour)


def registered(folder: Path, measured: Path, **changes: Any) -> Path:
    entry = next(one for one in read_registry(bundled() / FILE).entries if one.name == "explore")
    base = ModelFile(source=SOURCE, sha256=model_file(measured).sha256)
    agreed = serving_hash(load_skill(bundled() / entry.skill), base, entry.adapter)
    (folder / "skills").symlink_to(bundled() / "skills")
    entry = entry.model_copy(update={"base": base, "serving_hash": agreed, "before": None, **changes})
    write_registry(folder / FILE, Document(entries=(RegistryEntry.model_validate(entry.model_dump()),)))
    return folder / FILE


def with_another_line(gguf: bytes) -> bytes:
    """The same model with one more line of metadata, as long as the alignment of its tensors wants it."""
    head, key = struct.Struct("<4sIQQ"), b"general.note"
    magic, version, tensors, fields = head.unpack_from(gguf)
    line = struct.pack("<Q", len(key)) + key + struct.pack("<IQ", 8, 32) + b"packed anew, for nobody to know."
    return head.pack(magic, version, tensors, fields + 1) + line + gguf[head.size :]


def served(registry: Path) -> Runtime:
    """With llama.cpp in this process; nothing is made of what comes from the hub."""
    return Runtime(Registry(registry), LocalModels(LocalOptions(threads=1, form="shipped")), remembers=False)


async def lease(registry: Path) -> None:
    """Have the base loaded, and nothing said."""
    entry = Registry(registry).entry("explore").entry
    models = LocalModels(LocalOptions(threads=1, form="shipped"))
    async with models.lease(ModelSpec(base=entry.base, base_behaviour=entry.base_behaviour)):
        pass


async def refusal(registry: Path) -> str:
    with pytest.raises(BaseError) as caught:
        await lease(registry)
    return str(caught.value)


def base_check(registry: Path) -> Check:
    return next(check for check in examine(Registry(registry), "shipped") if check.name == "explore: base")


async def test_a_hub_s_file_with_another_line_of_metadata_is_served_with_a_warning(
    hub: Hub, release: Path, gguf_file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.files = {"model.gguf": with_another_line(gguf_file.read_bytes())}
    report = (await served(release).run("explore", "Where is Cart defined?", SHOP)).report
    assert report.status == "answered"
    assert [one.getMessage().partition(": ")[2] for one in caplog.records if one.levelno == logging.WARNING] == [ALIKE]
    monkeypatch.delattr(likeness, "compare_behaviour")
    monkeypatch.delattr("hashlib.file_digest")
    await lease(release)  # what was found is remembered


async def test_doctor_tells_that_another_file_stands_in(hub: Hub, release: Path, gguf_file: Path) -> None:
    hub.files = {"model.gguf": with_another_line(gguf_file.read_bytes())}
    check = base_check(release)
    assert check.ok
    assert check.found.endswith(f"model.gguf: {ALIKE}")


async def test_a_hub_s_file_with_other_weights_is_refused_with_both_hashes_and_what_to_do(
    hub: Hub, release: Path, gguf_file: Path, otherwise: Path
) -> None:
    hub.files = {"model.gguf": otherwise.read_bytes()}
    expected, found = (model_file(file).sha256[:12] for file in (gguf_file, otherwise))
    report = (await served(release).run("explore", "Where is Cart defined?", SHOP)).report
    assert (report.status, report.reason and report.reason.kind) == ("failed", ReasonKind.MODEL)
    assert report.reason
    told = report.reason.text
    assert (
        f"model.gguf is not the measured base (expected sha256 {expected}…, found {found}…) and another model: " in told
    )
    assert "what it says after short texts is up to 0.827 nats away, and 0.02 are allowed" in told
    assert f"the measured file is {SOURCE}: type `rm " in told
    assert f"if {hub.url} sends the same again, set HF_ENDPOINT to a hub that has the measured file" in told


async def test_a_file_that_is_no_model_is_refused_in_a_sentence_by_doctor_too(hub: Hub, release: Path) -> None:
    hub.files = {"model.gguf": b"GGUF, but nothing more"}
    told = await refusal(release)
    assert "llama.cpp cannot load" in told
    assert f"the measured file is {SOURCE}" in told
    check = base_check(release)
    assert (check.ok, check.found) == (False, told)


async def test_an_entry_that_says_nothing_of_its_base_takes_no_other_file(
    hub: Hub, tmp_path: Path, gguf_file: Path
) -> None:
    hub.files = {"model.gguf": with_another_line(gguf_file.read_bytes())}
    assert "is not the file that was meant: expected sha256" in await refusal(registered(tmp_path, gguf_file))


async def test_a_faster_form_behaves_like_its_base(form: FormFiles, behaviour: BaseBehaviour) -> None:
    with comparison_engine(form.file) as engine:
        found = compare_behaviour(behaviour, engine)
    assert 0 < found.divergence < MOST_DIVERGENCE
    assert found.difference == ""


async def test_a_model_without_words_is_another_one(tmp_path: Path, behaviour: BaseBehaviour) -> None:
    with comparison_engine(save_base(tmp_path / "tiny.gguf")) as engine:
        found = compare_behaviour(behaviour, engine)
    assert found.difference == "its vocabulary has 0 tokens and not 49,152"


async def test_a_behaviour_reads_back_as_it_was_written(behaviour: BaseBehaviour) -> None:
    assert BaseBehaviour.model_validate_json(behaviour.model_dump_json()) == behaviour
    with pytest.raises(ValueError, match="expected tokens of a vocabulary of 9"):
        BaseBehaviour.model_validate({**behaviour.model_dump(), "vocabulary": 9})
