"""What a caller may ask."""

from skillstill.errors import UsageError
from skillstill.types import PROMPT_CHARACTERS
from skillstill.util.text import clean


def check_prompt(prompt: str) -> str:
    """Return the prompt without surrounding space. Raise UsageError if it has nothing to read, or is too long."""
    text = prompt.strip()
    if text != text.encode("utf-8", "replace").decode():
        raise UsageError("the prompt is not UTF-8 text")
    if not clean(text).strip():  # a model reads nothing of characters that nobody can see
        raise UsageError("the prompt is empty: say what you want to know")
    if len(text) > PROMPT_CHARACTERS:
        raise UsageError(
            f"the prompt has {len(text):,} characters, at most {PROMPT_CHARACTERS:,} fit: "
            "put long material into a file of the workspace and name it"
        )
    return text
