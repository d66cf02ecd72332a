"""The distribution: a wheel works away from the checkout, and so does an editable install."""

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.scenes import ROOT

BUNDLED = (
    "import skillstill.skills.registry as r; print(r.bundled()); print(r.Registry().entry('explore').skill().name)"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def environment(folder: Path) -> Path:
    """A virtual environment that finds the dependencies of this one, but not skillstill; its Python."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    dependencies = folder / "dependencies"
    dependencies.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "skillstill" not in entry.name:
            (dependencies / entry.name).symlink_to(entry)
    (site / "dependencies.pth").write_text(f"{dependencies}\n", encoding="utf-8")
    return python


def install(python: Path, *what: str) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    options = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, *options, *what], check=True, capture_output=True, text=True)


def said(python: Path, *arguments: str, cwd: Path) -> list[str]:
    done = subprocess.run([str(python), *arguments], cwd=cwd, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


@pytest.mark.usefixtures("as_shipped")
def test_a_wheel_brings_its_skills_and_registry(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)  # which would bring a checkout's in their place
    python = environment(tmp_path / "venv")
    install(python, str(wheel))
    bundled, name = said(python, "-c", BUNDLED, cwd=tmp_path)
    assert name == "explore"
    assert Path(bundled).is_relative_to(tmp_path / "venv")
    command = python.with_name("skillstill")
    entries = json.loads(said(command, "list", "--json", cwd=tmp_path)[0])
    assert entries[0]["origin"].startswith(str(tmp_path / "venv"))


def test_an_editable_install_uses_the_checkout(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    install(python, "--editable", str(ROOT))
    assert said(python, "-c", BUNDLED, cwd=tmp_path) == [str(ROOT), "explore"]


def test_the_training_command_explains_its_extra(wheel: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "skillstill_training"], capture_output=True, text=True, check=False)
    if done.returncode:
        assert "pip install 'skillstill[training]'" in done.stderr
    else:
        assert "Everything that training needs is installed" in done.stdout
