"""ChatML's markers, which are the same in every dialect, and text that can no longer be taken for one."""

import json
import re
from typing import Any

END = "<|im_end|>"
HEADER = "<|im_start|>assistant\n"


def turn(role: str, text: str) -> str:
    return f"<|im_start|>{role}\n{text}{END}\n"


def escape(text: str) -> str:
    """Return text whose `<|…|>` can no longer be taken for the markers of a turn, whoever wrote them there."""
    return re.sub(r"<\|(?=\w+\|>)", "< |", text)


def escaped_json(value: Any) -> str:
    """Return the value as JSON, which has its own way to keep a marker from being one: read back, it is the same."""
    return json.dumps(value, ensure_ascii=False).replace("<|", "\\u003c|")
