"""Real clients: each test here runs another project's program against the product."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the scripted runs search; read only."""
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "cart.py").write_text("import os\n\nclass Cart(dict):\n    pass\n", encoding="utf-8")
    return folder
