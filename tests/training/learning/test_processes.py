"""Two processes that train together: the course of one, also after an interruption."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from platformdirs import user_cache_path
from skillstill.errors import UsageError
from skillstill_training.gguf.lora import read_peft
from skillstill_training.learning.checkpoints import whole_checkpoints
from skillstill_training.learning.rows import IGNORED, TrainingRow
from skillstill_training.run.recipe import TrainConfig
from skillstill_training.stages.pipeline import check_shares
from skillstill_training.util.hashes import file_sha256

from tests.training.tiny import TINY, save_torch

pytest.importorskip("torch", reason="pip install 'skillstill[training]'")
PLAN = TrainConfig(batch=4, checkpoints=2, rank=4, precision="fp32", learning_rate=2e-2)
STEPS = 6
Losses = dict[int, float]
Tune = Callable[..., None]


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A base that was converted before: two layers of random weights."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    (base := tmp_path / "tiny.gguf").write_bytes(b"GGUF")
    student = save_torch(user_cache_path("skillstill") / "students" / file_sha256(base))
    words = {f"w{number}": number for number in range(TINY.vocabulary)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="w0"))
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="w1", pad_token="w2").save_pretrained(student)
    return base


def rows() -> list[TrainingRow]:
    """Conversations of unequal lengths, of which unequal parts are learned."""
    chance = Random(1)
    drawn = [tuple(chance.choices(range(3, TINY.vocabulary), k=chance.randint(9, 40))) for _ in range(4 * STEPS)]
    asked = [chance.randint(2, len(tokens) - 2) for tokens in drawn]
    return [
        TrainingRow("any", tokens, (IGNORED,) * first + tokens[first:])
        for tokens, first in zip(drawn, asked, strict=True)
    ]


def losses(tune: Tune, base: Path, target: Path) -> Losses:
    found: Losses = {}

    def on_log(step: int, steps: int, logs: Mapping[str, Any]) -> None:
        if "loss" in logs:
            found[step] = float(logs["loss"])

    tune(rows(), base, target, PLAN, 1, on_log)
    return found


def together(*order: Any) -> None:
    from skillstill_training.learning.processes import tune_together

    tune_together(2, *order)


def test_two_processes_learn_what_one_learns_and_go_on_where_they_were_ended(base: Path, tmp_path: Path) -> None:
    from skillstill_training.learning.tuning import tune

    alone = losses(tune, base, tmp_path / "alone")
    shared = losses(together, base, tmp_path / "shared")
    assert alone.keys() == shared.keys() == set(range(1, STEPS + 1))
    assert shared == pytest.approx(alone, abs=1e-3)
    first, second = (whole_checkpoints(tmp_path / name)[-1] for name in ("alone", "shared"))
    pairs = read_peft(second).pairs
    for module, sides in read_peft(first).pairs.items():
        np.testing.assert_allclose(pairs[module][1], sides[1], atol=1e-3)

    (second / "trainer_state.json").unlink()  # as a kill leaves it
    rest = losses(tune, base, tmp_path / "shared")  # by any number of processes
    assert rest == pytest.approx({step: shared[step] for step in range(STEPS // 2 + 1, STEPS + 1)}, abs=1e-3)


TRAINS = """
import sys
from multiprocessing import active_children
from pathlib import Path
from skillstill_training.learning.processes import tune_together
from tests.training.learning.test_processes import PLAN, rows
def tell(*_):
    print(*(child.pid for child in active_children()), flush=True)
if __name__ == "__main__":
    tune_together(2, 1_000 * rows(), *map(Path, sys.argv[1:]), PLAN, 1, tell)
"""


def trains(pid: int) -> bool:
    """Whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_no_process_trains_on_if_the_one_that_started_it_is_killed(base: Path, tmp_path: Path) -> None:
    """Started as a shell starts what goes on in the background: without the signal that torch ends processes by."""
    (script := tmp_path / "trains.py").write_text(TRAINS)
    background = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    command = [*background, sys.executable, str(script), str(base), str(tmp_path / "killed")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as started:
        assert started.stdout
        children = started.stdout.readline().split()
        started.send_signal(signal.SIGKILL)
    assert len(children) == 2
    until = time.monotonic() + 30
    while any(trains(int(child)) for child in children) and time.monotonic() < until:
        time.sleep(0.1)
    assert not any(trains(int(child)) for child in children)


def test_a_step_that_cannot_be_shared_is_refused() -> None:
    with pytest.raises(UsageError, match="a step of 4 conversations is shared by 1, 2, 4, not by 3"):
        check_shares(PLAN.batch, 3)
