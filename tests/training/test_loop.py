"""The code that outcomes depend on: what changes it, and what does not."""

import shutil
from pathlib import Path

import pytest
from skillstill_training.loop import hash_of, loop_hash

from tests.scenes import ROOT


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("agent.py", True),
        ("evidence.py", True),
        ("tools/search.py", True),
        ("chat/lines.py", True),
        ("symbols/go.py", True),
        ("models/slot.py", True),
        ("cli.py", False),
        ("show.py", False),
    ],
)
def test_the_loop_its_tools_and_its_models_count_and_a_word_of_help_does_not(
    tmp_path: Path, file: str, counts: bool
) -> None:
    package = shutil.copytree(ROOT / "server" / "skillstill", tmp_path / "skillstill")
    assert hash_of(package) == loop_hash()
    with (package / file).open("a", encoding="utf-8") as code:
        code.write("# otherwise\n")
    assert (hash_of(package) != loop_hash()) == counts
