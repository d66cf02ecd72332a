"""What models cost: a TOML file of USD for a million tokens, by the name of the model.

["claude-sonnet-5-5"]
prompt = 3.0        # read anew
cached = 0.3        # read from the provider's cache
completion = 15.0   # written
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from skillstill.errors import UsageError

from skillstill_training.teachers.ledger import Price

PRICES = TypeAdapter(dict[str, Price])


def read_prices(file: Path) -> Mapping[str, Price]:
    """Raise UsageError."""
    try:
        return PRICES.validate_python(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error
        raise UsageError(
            f"{file} is no price file ({said}): for each model a table with prompt, cached and completion"
        ) from error


def price_of(prices: Mapping[str, Price], model: str) -> Price | None:
    """Return the price of a model. Raise UsageError if the file names others alone."""
    if prices and model not in prices:
        raise UsageError(f"the price file does not name {model}: it names {', '.join(sorted(prices))}")
    return prices.get(model)
