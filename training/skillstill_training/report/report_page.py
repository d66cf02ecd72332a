"""`report.html` of a run: what its adapter is worth, how that was measured, and how to measure it again.

One file without a network and without a script: tables are HTML, charts are SVG drawn here, and what comes from a
workspace or a model is text to both. It is made from the scorecard; what else the folder holds is told where it is
there, and said to be missing where it is not.
"""

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from pydantic import ValidationError
from skillstill.errors import StageError
from skillstill.util.text import clean

from skillstill_training.report.arms import arms
from skillstill_training.report.charts import picture
from skillstill_training.report.curves import curves, loss, success
from skillstill_training.report.episodes import episodes
from skillstill_training.report.failures import failures
from skillstill_training.report.families import families
from skillstill_training.report.history import TrainedPoint
from skillstill_training.report.repeating import repeating
from skillstill_training.report.standing import standing
from skillstill_training.run.folder import RunFolder
from skillstill_training.run.scorecard import Outcome, Scorecard
from skillstill_training.util.jsonl import read_lines, write_text

__all__ = ["draw_curves", "write_report"]


def write_report(folder: RunFolder) -> Path:
    """The file, written anew from the scorecard and what lies beside it. Raises StageError."""
    card, history = _scorecard(folder), _history(folder)
    style = _part("report.page", "page.css") + _part("report", "charts.css") + _part("report", "report.css")
    page = Template(_part("report", "report.html")).substitute(
        title=escape(clean(f"{card.skill} · report of {folder.path.name}")),
        policy=f"default-src 'none'; style-src '{_hash(style)}'",
        style=style,
        standing=standing(card, folder),
        arms=arms(card),
        families=families(card),
        curves=curves(card, history),
        failures=failures(card, folder),
        episodes=episodes(folder, _outcomes(folder)),
        repeating=repeating(card, folder),
    )
    write_text(folder.report, page)
    return folder.report


def draw_curves(folder: RunFolder) -> Path:
    """`curves.svg` beside the adapter: loss and success so far, over what was read. Raises StageError."""
    history = _history(folder)
    style = _part("report", "charts.css")
    drawn = picture("Loss and success over what was read.", loss(history), success(history), style=style)
    write_text(folder.adapter / "curves.svg", drawn)
    return folder.adapter / "curves.svg"


def _scorecard(folder: RunFolder) -> Scorecard:
    skill = folder.path.parent.name
    try:
        return Scorecard.model_validate_json(folder.scorecard.read_text(encoding="utf-8"))
    except OSError as error:
        raise StageError(f"{folder.path} holds no scorecard: type `skillstill evaluate {skill}` first") from error
    except ValidationError as error:
        raise StageError(
            f"{folder.scorecard} is no scorecard of this version ({error.errors()[0]['msg']}): "
            f"type `skillstill evaluate {skill}` again"
        ) from error


def _history(folder: RunFolder) -> Sequence[TrainedPoint]:
    file = folder.adapter / "history.jsonl"
    return read_lines(file, TrainedPoint, torn=True) if file.exists() else ()


def _outcomes(folder: RunFolder) -> Sequence[Outcome]:
    file = folder.outcomes("test", "ours")
    return read_lines(file, Outcome) if file.exists() else ()


def _part(room: str, name: str) -> str:
    return files(f"skillstill_training.{room}").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
