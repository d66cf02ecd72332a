"""`skillstill-train`: says what training needs, and whether it is installed."""

import importlib.util
import sys

NEEDED = ("torch", "transformers", "peft", "trl", "datasets", "accelerate", "gguf")


def missing() -> list[str]:
    """Return the packages of the `training` extra that are not installed."""
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def main() -> None:
    """Return 1 and print what to type if the extra is missing, else 0."""
    if lacking := missing():
        sys.exit(f"training needs {', '.join(lacking)}: type `pip install 'skillstill[training]'` (about 1.5 GB)")
    sys.stdout.write(
        "Everything that training needs is installed: type `skillstill train SKILL` to go the whole way.\n"
    )


if __name__ == "__main__":
    main()
