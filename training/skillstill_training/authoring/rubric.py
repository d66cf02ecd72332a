"""`rubric.toml` of a skill whose answers no program can check: what a good answer holds, drawn from the skill's text.

A person may read and change it. The goals of such a skill carry its criteria, and a teacher judges by them.
"""

import tomllib
from pathlib import Path

from pydantic import ValidationError
from skillstill.errors import GoalsError
from skillstill.skills.skill import mistake

from skillstill_training.authoring.checks import Judged

FILE = "rubric.toml"


def load_rubric(skill: Path) -> Judged | None:
    """Return the check that a skill folder's rubric makes; None if it has none. Raise GoalsError."""
    file = skill / FILE
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
        return Judged.model_validate({"criteria": found.get("criterion", ())})
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise GoalsError(f"{file}: {': '.join(mistake(error))}") from error
    except (OSError, ValueError) as error:
        raise GoalsError(f"{file} cannot be read as TOML: {error}") from error


def is_judged(skill: Path) -> bool:
    """Return whether nothing but a rubric says what is right in a skill folder."""
    return (skill / FILE).is_file()
