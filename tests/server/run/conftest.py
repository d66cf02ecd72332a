"""What all tests of runs share."""

import pytest
from skillstill.run import leads

from tests.scenes import HANGS


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is waited for: what a report says does not depend on how busy the machine is."""
    monkeypatch.setattr(leads, "SECONDS", HANGS)
