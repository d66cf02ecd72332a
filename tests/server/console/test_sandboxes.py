"""Sandboxes on the command line: which driver, what `doctor` says about it, and the command that builds the image."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from skillstill import cli
from skillstill.console.doctor import check_sandbox
from skillstill.console.settings import settings_file
from skillstill.sandbox.choice import ENVIRONMENT, drivers

from tests.scenes import write

Typed = Callable[..., int]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Typed:
    """The command in this process, without its work; its exit code."""

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["skillstill", *arguments])
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as exit:
            cli.main()
        return int(exit.value.code or 0)

    return run


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere.sock")


def test_a_flag_comes_before_the_environment_and_the_file(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    write(settings_file().parent, {settings_file().name: 'sandbox = "none"\n'})
    typed("run", "nobody", "?")
    assert os.environ[ENVIRONMENT] == "none"
    monkeypatch.setenv(ENVIRONMENT, "docker")
    typed("run", "nobody", "?")
    assert os.environ[ENVIRONMENT] == "docker"
    typed("run", "nobody", "?", "--sandbox", "bubblewrap")
    assert os.environ[ENVIRONMENT] == "bubblewrap"


def test_another_name_is_wrong_usage(typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("run", "nobody", "?", "--sandbox", "chroot") == cli.USAGE
    assert "'docker', 'bubblewrap', 'none'" in capsys.readouterr().err


@pytest.mark.usefixtures("no_engine")
def test_doctor_fails_if_the_driver_that_was_asked_for_does_not_work() -> None:
    check = check_sandbox("docker")
    assert not check.ok
    assert "tools that execute are not offered (docker: no engine answers (unix:///nowhere.sock: " in check.found


def test_doctor_says_that_sandboxes_are_switched_off() -> None:
    check = check_sandbox("none")
    assert check.ok
    assert check.found == "none, so tools that execute are not offered (sandboxes are switched off)"


@pytest.mark.usefixtures("no_engine")
def test_doctor_tries_what_works_and_names_what_does_not() -> None:
    if problem := anyio.run(drivers()["bubblewrap"].problem):
        pytest.skip(problem)
    check = check_sandbox("auto")
    assert check.ok
    assert check.found.startswith("bubblewrap ")
    assert ", limits tried" in check.found
    assert "; not docker: no engine answers" in check.found


@pytest.mark.usefixtures("no_engine")
def test_without_an_engine_no_image_is_built(typed: Typed, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed("build-sandbox") == cli.FAILED
    assert "no engine answers" in capsys.readouterr().err
