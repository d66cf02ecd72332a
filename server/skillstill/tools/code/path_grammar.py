"""Which words of what was said read like the path of a file: a taught model reads nothing else."""

import json
import re
from collections.abc import Mapping

WORD = re.compile(r"[^\s:;,\"'`‘’“”<>|=*?!]+")
# With a folder, with an ending, or one of the files that have neither.
LIKE_A_FILE = re.compile(
    r"[^/]*/.*\w|.*\.[A-Za-z]\w*|[A-Z][a-z]*file|LICENSE|README|COPYING|NOTICE|AUTHORS|CHANGELOG", re.DOTALL
)


def said_paths(said: str) -> Mapping[str, str]:
    """Of a Lark grammar, the words of what was said that read like a file. Empty where none does."""
    words = {form for word in WORD.findall(said) for form in (word.rstrip("."), word.strip("()[]{}."))}
    files = filter(LIKE_A_FILE.fullmatch, sorted(words))
    return {"PATH": " | ".join(json.dumps(file, ensure_ascii=False) for file in files)}
