"""The faster form of a base: made once, compared, found again, made anew if it must be, and never in the way."""

import os
import resource
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from skillstill.models import forms
from skillstill.models.forms import KIND, SHIPPED, forms_folder, serving_form
from skillstill.models.likeness import MOST_DIVERGENCE
from skillstill.models.pool import LocalModels, LocalOptions
from skillstill.runtime import Runtime
from skillstill.skills.registry import Registry

from tests.scenes import SHOP
from tests.server.models.conftest import FormFiles

BASE = "b" * 64


def form_files() -> list[str]:
    return sorted(file.suffix for file in forms_folder().iterdir() if file.suffix)


@pytest.mark.anyio
@pytest.mark.usefixtures("as_shipped")
async def test_a_release_answers_alike_from_a_faster_form_of_its_base() -> None:
    shipped, fast = (
        Runtime(Registry(), LocalModels(LocalOptions(threads=1, form=form)), remembers=False)
        for form in ("shipped", "fast")
    )
    expected = await shipped.run("explore", "Where is Cart defined?", SHOP)
    assert not forms_folder().exists()
    answered = await fast.run("explore", "Where is Cart defined?", SHOP)
    assert answered.report.answer.split(" Run ")[0] == expected.report.answer.split(" Run ")[0]
    assert form_files() == [".gguf", ".json"]


def test_it_is_made_once(form: FormFiles) -> None:
    made = form.file.stat().st_mtime_ns
    found = serving_form(form.base, form.sha256)
    assert (found.path, found.kind, found.reason) == (form.file, KIND, "")
    assert 0 < found.divergence < MOST_DIVERGENCE
    assert form.file.stat().st_mtime_ns == made


def test_two_at_once_make_one(gguf_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Path] = []
    quantised = forms.requantise

    def requantise(source: Path, target: Path, kind: str) -> None:
        made.append(target)
        quantised(source, target, kind)

    monkeypatch.setattr(forms, "requantise", requantise)
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: serving_form(gguf_file, BASE), range(2))
    assert one == other
    assert one.kind == KIND
    assert len(made) == 1


def test_a_damaged_one_is_noticed_and_made_again(form: FormFiles, caplog: pytest.LogCaptureFixture) -> None:
    whole = form.file.read_bytes()
    form.file.unlink()  # it is a link to what other tests use
    form.file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert serving_form(form.base, form.sha256).path == form.file
    assert form.file.read_bytes() == whole
    assert f"{form.file} is damaged or gone: it is made again" in caplog.messages


def test_another_llama_cpp_makes_its_own(form: FormFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "llama_build", lambda: "0.4.0-12345678")
    found = serving_form(form.base, form.sha256)
    assert (found.kind, found.path.name) == (KIND, f"{form.sha256[:16]}-Q8_0-0.4.0-12345678.gguf")
    assert form.file.exists()  # two installations may take turns


def test_what_nothing_used_for_a_week_goes_and_what_a_killed_process_left(
    form: FormFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    (forms_folder() / ".part-killed").mkdir()
    old = time.time() - forms.UNUSED - 1
    os.utime(form.file.with_suffix(".json"), (old, old))
    monkeypatch.setattr(forms, "llama_build", lambda: "0.4.0-12345678")
    monkeypatch.setattr(forms, "SLOW", "none")
    serving_form(form.base, form.sha256)
    assert [file.name for file in forms_folder().iterdir() if file.suffix] == [
        f"{form.sha256[:16]}-Q8_0-0.4.0-12345678.json"
    ]
    assert not (forms_folder() / ".part-killed").exists()


def test_one_that_answers_otherwise_is_not_served_and_not_made_again(
    gguf_file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(forms, "KIND", "Q4_0")
    refused = serving_form(gguf_file, BASE)
    assert (refused.path, refused.kind) == (gguf_file, SHIPPED)
    assert refused.reason.startswith("as Q4_0 it answers otherwise here (")
    assert caplog.messages == [f"{gguf_file.name} is served as it ships: made faster, it answers otherwise"]
    monkeypatch.delattr(forms, "requantise")
    assert serving_form(gguf_file, BASE) == refused
    assert form_files() == [".json"]


def test_a_base_of_another_type_is_served_as_it_ships(form: FormFiles, caplog: pytest.LogCaptureFixture) -> None:
    found = serving_form(form.file, BASE)
    assert (found.path, found.kind) == (form.file, SHIPPED)
    assert found.reason == "no faster form is known for its type of file, 7"
    assert not caplog.messages


def test_a_cache_that_cannot_be_written_costs_only_speed(gguf_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    forms_folder().parent.mkdir(parents=True)
    forms_folder().touch()
    found = serving_form(gguf_file, BASE)
    assert (found.path, found.kind) == (gguf_file, SHIPPED)
    told = f"{gguf_file.name} is served as it ships, which is slower: {forms_folder()}: File exists"
    assert caplog.messages == [told]


def test_a_disk_that_fills_up_costs_only_speed(gguf_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000_000, limits[1]))
    try:
        found = serving_form(gguf_file, BASE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (found.path, found.kind) == (gguf_file, SHIPPED)
    assert "llama.cpp could not write" in caplog.messages[0]
    assert [file.name for file in forms_folder().iterdir()] == [".lock"]


def test_a_disk_that_is_nearly_full_is_left_alone(gguf_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "ROOM", 1e12)
    assert " MB free, and its faster form wants " in serving_form(gguf_file, BASE).reason
    assert [file.name for file in forms_folder().iterdir()] == [".lock"]


def test_a_graphics_processor_gets_what_ships(gguf_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llama_cpp.llama_supports_gpu_offload", lambda: True)
    assert serving_form(gguf_file, BASE, gpu_layers=None).kind == SHIPPED
    assert not forms_folder().exists()
